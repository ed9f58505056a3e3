package filter

import "strings"

// gap always separates conditions.
const gap = "  "

// Split splits a line into conditions. They are separated by two blanks, or by one
// blank between a complete condition and a field with an operator. Blanks in quotes do
// not separate.
func (f Reader) Split(line string) []string {
	var parts []string
	start, quoted := 0, false
	for i := range len(line) {
		if line[i] == '"' {
			quoted = !quoted
		}
		if i < start || quoted || line[i] != ' ' {
			continue
		}
		if strings.HasPrefix(line[i:], gap) || f.Whole(line[start:i]) && f.startsCondition(line[i:]) {
			parts = appendPart(parts, line[start:i])
			start = i + 1
		}
	}
	return appendPart(parts, line[min(start, len(line)):])
}

func appendPart(parts []string, part string) []string {
	if part = strings.TrimSpace(part); part != "" {
		parts = append(parts, part)
	}
	return parts
}

// startsCondition reports whether a text starts with a field and an operator.
func (f Reader) startsCondition(text string) bool {
	_, _, ok := f.cutField(text)
	return ok
}

// Whole reports whether a text is a complete condition: field, operator and value.
func (f Reader) Whole(text string) bool {
	_, value, ok := f.cutField(text)
	return ok && value != ""
}

func (f Reader) cutField(text string) (name, value string, ok bool) {
	name, rest := cutName(strings.TrimSpace(text))
	if _, known := f.Kind.Member(name); !known {
		return name, "", false
	}
	_, value, ok = cutOperator(rest)
	return name, value, ok
}
