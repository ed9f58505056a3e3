package query

import (
	"encoding/base64"
	"errors"
	"strings"
)

// splitList reads the text form of a list: a,b or [a,b], an item with a comma
// quoted, a quote inside it doubled. An empty text is an empty list.
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

// cutItem takes the first item off a list; more says that another follows.
// Spaces belong to an item, but not those around its quotes.
func cutItem(text string) (item, rest string, more bool, err error) {
	quoted, ok := strings.CutPrefix(strings.TrimLeft(text, " "), `"`)
	if !ok {
		item, rest, more = strings.Cut(text, ",")
		return item, rest, more, nil
	}
	for {
		before, after, closed := strings.Cut(quoted, `"`)
		if !closed {
			return "", "", false, errors.New(`has an item whose closing " is missing`)
		}
		item += before
		if quoted, ok = strings.CutPrefix(after, `"`); !ok {
			rest = strings.TrimLeft(after, " ")
			break
		}
		item += `"`
	}
	if rest != "" && rest[0] != ',' {
		return "", "", false, errors.New(`has text behind the closing " of an item`)
	}
	rest, more = strings.CutPrefix(rest, ",")
	return item, rest, more, nil
}

// byteItems reads a list of byte values. Its declared type is byte[], so it
// travels as base64; a plain list of numbers is taken too. The two cannot be
// confused: base64 comes in fours, and no single byte has four digits.
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
