package query

import (
	"encoding/base64"
	"errors"
	"strings"
)

// splitList splits the text form of a list: a,b or [a,b]. An item with a comma is
// quoted, with quotes in it doubled. An empty text is an empty list.
func splitList(text string) ([]string, error) {
	if len(text) >= 2 && text[0] == '[' && text[len(text)-1] == ']' {
		text = text[1 : len(text)-1]
	}
	if text == "" {
		return nil, nil
	}
	var items []string
	for {
		item, rest, more, err := cutItem(text)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
		if !more {
			return items, nil
		}
		text = rest
	}
}

// cutItem returns the first item of a list; more reports whether another one
// follows. Spaces belong to an item, except around its quotes.
func cutItem(text string) (item, rest string, more bool, err error) {
	quoted, ok := strings.CutPrefix(strings.TrimLeft(text, " "), `"`)
	if !ok {
		item, rest, more = strings.Cut(text, ",")
		return item, rest, more, nil
	}
	if item, rest, ok = cutQuoted(quoted); !ok {
		return "", "", false, errors.New(`has an item without its closing "`)
	}
	rest = strings.TrimLeft(rest, " ")
	if rest != "" && rest[0] != ',' {
		return "", "", false, errors.New(`has text after the closing " of an item`)
	}
	rest, more = strings.CutPrefix(rest, ",")
	return item, rest, more, nil
}

// cutQuoted returns the text up to the closing quote, with doubled quotes decoded.
func cutQuoted(text string) (item, rest string, closed bool) {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, `"`)
		b.WriteString(before)
		if text, closed = strings.CutPrefix(after, `"`); !closed {
			return b.String(), after, found
		}
		b.WriteByte('"')
	}
}

// byteItems reads a list of byte values. Its declared type is byte[], so it is sent
// as base64; a plain list of numbers is accepted as well. The two are unambiguous:
// the length of base64 is a multiple of four, and no byte has four digits.
func byteItems(text string) ([]string, error) {
	if len(text)%4 == 0 {
		if raw, err := base64.StdEncoding.Strict().DecodeString(text); err == nil {
			items := make([]string, len(raw))
			for i, b := range raw {
				items[i] = itoa(int64(b))
			}
			return items, nil
		}
	}
	return splitList(text)
}
