package filter

import (
	"errors"
	"strings"
)

// Values are written as they are, or in double quotes where they hold what would
// mean something else: commas, "..", blanks at an end. A quote inside quotes
// is doubled.

var (
	errOpenQuote = errors.New(`a closing " is missing; a " inside a quoted value is doubled`)
	errBehind    = errors.New(`there is text behind the closing "; a " inside a quoted value is doubled`)
	errNoText    = errors.New(`a text must follow; write "" for an empty text, which matches all`)
	errEmptyItem = errors.New(`the list has an empty item; write "" for an empty text`)
)

// scalar reads one value.
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

// list reads values separated by commas.
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

// item takes the first value off a list; more says that another follows.
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

// quoted reads a value in quotes. The rest has no blanks before it.
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

// cutRange reads A..B. Text with several ".." is no range, and neither is a
// list.
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
