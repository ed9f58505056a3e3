package filter

import "strings"

// gap divides conditions whatever is around it.
const gap = "  "

// Split takes a line of conditions apart: two blanks divide them, and so does one
// where a field with an operator follows a whole condition. In quotes blanks
// are a value's.
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
		if strings.HasPrefix(line[i:], gap) || f.Whole(line[start:i]) && f.begins(line[i:]) {
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

// begins reports whether a text begins with a field and an operator.
func (f Reader) begins(text string) bool {
	_, _, ok := f.cutField(text)
	return ok
}

// Whole reports whether a text has all that a condition needs: a field, an
// operator, and a value.
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
