package query

import (
	"encoding/base64"
	"errors"
	"strings"
)

// SplitList splits the text form of a list: a,b or [a,b]. An item with a comma is
// quoted, with quotes in it doubled. An empty text is an empty list.
func SplitList(text string) ([]string, error) {
	if len(text) >= 2 && text[0] == '[' && text[len(text)-1] == ']' {
		text = text[1 : len(text)-1]
	}
	if text == "" {
		return nil, nil
	}
	var items []string
	for {
		item, after, found, err := cutItem(text)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
		if !found {
			return items, nil
		}
		text = after
	}
}

// cutItem returns the first item of a list, and the text after its comma; found reports whether
// there is a comma. Spaces belong to an item, except around its quotes.
func cutItem(text string) (item, after string, found bool, err error) {
	quoted, ok := strings.CutPrefix(strings.TrimLeft(text, " "), `"`)
	if !ok {
		item, after, found = strings.Cut(text, ",")
		return item, after, found, nil
	}
	item, after, ok = cutQuoted(quoted)
	if !ok {
		return "", "", false, errors.New(`has an item without its closing "`)
	}
	after = strings.TrimLeft(after, " ")
	if after != "" && after[0] != ',' {
		return "", "", false, errors.New(`has text after the closing " of an item`)
	}
	after, found = strings.CutPrefix(after, ",")
	return item, after, found, nil
}

// cutQuoted returns the text up to the closing quote, with doubled quotes decoded, and the text
// after it; found reports whether there is a closing quote.
func cutQuoted(text string) (item, after string, found bool) {
	var b strings.Builder
	for {
		item, after, found = strings.Cut(text, `"`)
		b.WriteString(item)
		next, isDoubled := strings.CutPrefix(after, `"`)
		if !isDoubled {
			return b.String(), after, found
		}
		b.WriteByte('"')
		text = next
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
	return SplitList(text)
}
