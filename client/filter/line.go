package filter

import (
	"errors"
	"strings"

	"github.com/bizhook/whd/client/record"
)

// gap always separates conditions.
const gap = "  "

// Split splits a line into conditions. They are separated by two blanks, or by one
// blank between a complete condition and a field with an operator. Blanks in quotes do
// not separate.
func (f Reader) Split(line string) []string {
	var parts []string
	start := 0
	quoted := false
	for i := range len(line) {
		if line[i] == '"' {
			quoted = !quoted
		}
		if i < start || quoted || line[i] != ' ' {
			continue
		}
		isBetween := f.Whole(line[start:i]) && f.startsCondition(line[i:])
		if isBetween || strings.HasPrefix(line[i:], gap) {
			parts = appendPart(parts, withoutAnd(line[start:i]))
			start = i + 1
		}
	}
	return appendPart(parts, line[min(start, len(line)):])
}

// withoutAnd removes the word between two conditions.
func withoutAnd(part string) string {
	if end := len(part) - len(" and"); end > 0 && strings.EqualFold(part[end:], " and") {
		return part[:end]
	}
	return part
}

func appendPart(parts []string, part string) []string {
	part = strings.TrimSpace(part)
	if part == "" {
		return parts
	}
	return append(parts, part)
}

// startsCondition reports whether a text starts with a field and an operator.
func (f Reader) startsCondition(text string) bool {
	_, ok := f.cutField(text)
	return ok
}

// Whole reports whether a text is a complete condition: field, operator and value.
func (f Reader) Whole(text string) bool {
	value, ok := f.cutField(text)
	return ok && value != ""
}

// cutField returns the value after a field and an operator.
func (f Reader) cutField(text string) (value string, ok bool) {
	name, comparison := cutName(strings.TrimSpace(text))
	if _, ok := f.Kind.Member(name); !ok {
		return "", false
	}
	_, value, ok = cutOperator(comparison)
	return value, ok
}

// conditions splits a text at each "and" between two conditions. A value that contains
// such a text must be in quotes.
func (f Reader) conditions(text string) ([]string, error) {
	var parts []string
	start := 0
	quoted := false
	for i := range len(text) {
		if text[i] == '"' {
			quoted = !quoted
		}
		isEnd := !quoted && text[i] == ' ' && i >= start && f.Whole(text[start:i])
		if !isEnd {
			continue
		}

		word, next, _ := strings.Cut(text[i+1:], " ")
		if !f.resemblesCondition(next) {
			continue
		}
		switch strings.ToLower(word) {
		case "or":
			return nil, errors.New(`conditions cannot be combined with or; "FIELD in A,B" matches several values`)
		case "and":
			parts = append(parts, text[start:i])
			start = i + 1 + len("and ")
		}
	}
	return append(parts, text[start:]), nil
}

// resemblesCondition reports whether a text starts with a field, or a name like one, and an
// operator.
func (f Reader) resemblesCondition(text string) bool {
	if f.startsCondition(text) {
		return true
	}
	name, comparison := cutName(strings.TrimSpace(text))
	_, _, hasOperator := cutOperator(comparison)
	return hasOperator && len(record.Suggest(name, f.Kind.FieldNames())) > 0
}
