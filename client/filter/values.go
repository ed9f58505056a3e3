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
	value, rest, err := quoted(text)
	if err == nil && rest != "" {
		err = errBehind
	}
	return value, err
}

// list parses values separated by commas.
func list(text string) ([]string, error) {
	var values []string
	for {
		value, rest, more, err := item(text)
		if err != nil {
			return nil, err
		}
		values = append(values, value)
		if !more {
			return values, nil
		}
		text = rest
	}
}

// item parses the first value of a list; more reports whether another follows.
func item(text string) (value, rest string, more bool, err error) {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, `"`) {
		value, rest, more = strings.Cut(text, ",")
		if value = strings.TrimSpace(value); value == "" {
			err = errEmptyItem
		}
		return value, rest, more, err
	}
	if value, rest, err = quoted(text); err != nil || rest == "" {
		return value, "", false, err
	}
	if rest[0] != ',' {
		return "", "", false, errBehind
	}
	return value, rest[1:], true, nil
}

// quoted parses a value in quotes and trims the rest.
func quoted(text string) (value, rest string, err error) {
	var b strings.Builder
	for rest = text[1:]; ; {
		before, after, closed := strings.Cut(rest, `"`)
		if !closed {
			return "", "", errOpenQuote
		}
		b.WriteString(before)
		if !strings.HasPrefix(after, `"`) {
			return b.String(), strings.TrimSpace(after), nil
		}
		b.WriteByte('"')
		rest = after[1:]
	}
}

// cutRange splits A..B. A text with several ".." or a list is not a range.
func cutRange(text string) (from, to string, ok bool) {
	if strings.HasPrefix(text, `"`) {
		value, rest, err := quoted(text)
		if err != nil || !strings.HasPrefix(rest, "..") {
			return "", "", false
		}
		from, to = value, rest[2:]
	} else {
		from, to, ok = strings.Cut(text, "..")
		if from = strings.TrimSpace(from); !ok || from == "" || strings.Contains(from, ",") {
			return "", "", false
		}
	}
	to = strings.TrimSpace(to)
	if !strings.HasPrefix(to, `"`) {
		return from, to, to != "" && !strings.Contains(to, "..") && !strings.Contains(to, ",")
	}
	value, err := scalar(to)
	return from, value, err == nil
}
