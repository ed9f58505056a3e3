package query

import (
	"encoding/base64"
	"errors"
	"strings"

	"github.com/bizhook/whd/client/record"
)

// splitList reads the text form of a list: a,b or [a,b], an item with a comma
// quoted, a quote inside it doubled.
func splitList(text string) ([]string, error) {
	if len(text) >= 2 && text[0] == '[' && text[len(text)-1] == ']' {
		text = text[1 : len(text)-1]
		if text == "" {
			return nil, nil
		}
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
func cutItem(text string) (item, rest string, more bool, err error) {
	if !strings.HasPrefix(text, `"`) {
		item, rest, more = strings.Cut(text, ",")
		return item, rest, more, nil
	}
	var b strings.Builder
	for rest = text[1:]; ; {
		before, after, closed := strings.Cut(rest, `"`)
		if !closed {
			return "", "", false, errors.New(`has an item whose closing " is missing`)
		}
		b.WriteString(before)
		if !strings.HasPrefix(after, `"`) {
			rest = after
			break
		}
		b.WriteByte('"')
		rest = after[1:]
	}
	if rest == "" {
		return b.String(), "", false, nil
	}
	if rest[0] != ',' {
		return "", "", false, errors.New(`has text behind the closing " of an item`)
	}
	return b.String(), rest[1:], true, nil
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

// items are the operands of a list operator, as texts.
func (m Member) items(t record.Type) ([]string, error) {
	if m.List || len(m.Texts) > 1 {
		return m.Texts, nil
	}
	if t == record.Byte {
		return byteItems(m.Texts[0])
	}
	return splitList(m.Texts[0])
}
