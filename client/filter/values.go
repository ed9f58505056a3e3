package filter

import (
	"errors"
	"strings"
)

// Values are in double quotes if they contain commas, "..", or leading or trailing
// blanks. Quotes inside are doubled.

var (
	errOpenQuote = errors.New(`a closing " is missing; a " inside a quoted value is doubled`)
	errBehind    = errors.New(`unexpected text after the closing "; a " inside a quoted value is doubled`)
	errNoText    = errors.New(`missing text; write "" for an empty text, which matches all`)
	errEmptyItem = errors.New(`the list has an empty item; write "" for an empty text`)
)

// scalar parses a single value.
func scalar(text string) (string, error) {
	if !strings.HasPrefix(text, `"`) {
		return text, nil
	}
	value, after, err := quoted(text)
	if err == nil && after != "" {
		err = errBehind
	}
	return value, err
}

// list parses values separated by commas.
func list(text string) ([]string, error) {
	var values []string
	for {
		value, next, hasNext, err := item(text)
		if err != nil {
			return nil, err
		}
		values = append(values, value)
		if !hasNext {
			return values, nil
		}
		text = next
	}
}

// item parses the first value of a list. next is the text after its comma, if it has one.
func item(text string) (value, next string, hasNext bool, err error) {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, `"`) {
		value, next, hasNext = strings.Cut(text, ",")
		value = strings.TrimSpace(value)
		if value == "" {
			return "", "", false, errEmptyItem
		}
		return value, next, hasNext, nil
	}

	value, after, err := quoted(text)
	if err != nil || after == "" {
		return value, "", false, err
	}
	next, hasNext = strings.CutPrefix(after, ",")
	if !hasNext {
		return "", "", false, errBehind
	}
	return value, next, true, nil
}

// quoted parses the value in quotes that a text starts with, and returns the text after it
// without blanks.
func quoted(text string) (value, after string, err error) {
	var b strings.Builder
	text = text[1:]
	for {
		before, after, closed := strings.Cut(text, `"`)
		if !closed {
			return "", "", errOpenQuote
		}
		b.WriteString(before)
		if !strings.HasPrefix(after, `"`) {
			return b.String(), strings.TrimSpace(after), nil
		}
		b.WriteByte('"') // a doubled quote is one in the value
		text = after[1:]
	}
}

// cutRange splits A..B. A text with several ".." or a list is not a range.
func cutRange(text string) (from, to string, ok bool) {
	if strings.HasPrefix(text, `"`) {
		from, to, ok = cutQuotedRange(text)
	} else {
		from, to, ok = strings.Cut(text, "..")
		from = strings.TrimSpace(from)
		ok = ok && from != "" && !strings.Contains(from, ",")
	}
	if !ok {
		return "", "", false
	}

	to = strings.TrimSpace(to)
	if !strings.HasPrefix(to, `"`) {
		return from, to, to != "" && !strings.Contains(to, "..") && !strings.Contains(to, ",")
	}
	value, err := scalar(to)
	return from, value, err == nil
}

// cutQuotedRange splits a range of which the first value is in quotes.
func cutQuotedRange(text string) (from, to string, ok bool) {
	from, after, err := quoted(text)
	if err != nil {
		return "", "", false
	}
	to, ok = strings.CutPrefix(after, "..")
	return from, to, ok
}
