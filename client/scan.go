package client

import (
	"bytes"
	"encoding/json"
	"slices"
	"unicode/utf8"
)

// scan parses a JSON object into the row. It does not copy, and allocates only for the
// first rows: see BenchmarkRows. It accepts the same objects as encoding/json, and duplicate
// names.
func (r *Row) scan(text []byte) bool {
	r.json = text[:0]
	r.members = r.members[:0]
	i := skipSpace(text, 0)
	start := i
	if i == len(text) || text[i] != '{' {
		return false
	}
	i = skipSpace(text, i+1)
	if i < len(text) && text[i] == '}' {
		i++
	} else {
		i = r.scanMembers(text, i)
	}
	if i < 0 {
		return false
	}
	r.json = text[start:i]
	return skipSpace(text, i) == len(text)
}

// scanMembers scans members from i on and returns the index after the closing brace, or
// -1 for invalid JSON, as do all functions of the scanner.
func (r *Row) scanMembers(text []byte, i int) int {
	for {
		nameEnd := skipString(text, i)
		if nameEnd < 0 {
			return -1
		}
		name := text[i+1 : nameEnd-1]
		i = skipSpace(text, nameEnd)
		if i == len(text) || text[i] != ':' {
			return -1
		}
		start := skipSpace(text, i+1)
		end := skipValue(text, start)
		if end < 0 {
			return -1
		}
		r.add(name, text[start:end:end])
		i = skipSpace(text, end)
		switch {
		case i == len(text):
			return -1
		case text[i] == '}':
			return i + 1
		case text[i] != ',':
			return -1
		}
		i = skipSpace(text, i+1)
	}
}

func (r *Row) add(name []byte, value Value) {
	if bytes.IndexByte(name, '\\') >= 0 || !utf8.Valid(name) {
		name = appendUnquoted(nil, name)
	}
	if value[0] == 'n' {
		value = nil
	}
	r.members = append(r.members, member{name, value})
}

func skipSpace(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\t' || text[i] == '\n' || text[i] == '\r') {
		i++
	}
	return i
}

func skipValue(text []byte, i int) int {
	if i >= len(text) {
		return -1
	}
	switch text[i] {
	case '"':
		return skipString(text, i)
	case '{', '[':
		return skipNested(text, i)
	}
	for _, word := range []string{"true", "false", "null"} {
		if end := i + len(word); end <= len(text) && string(text[i:end]) == word {
			return end
		}
	}
	return skipNumber(text, i)
}

// plain has the bytes that need no unescaping inside a string.
var plain = newPlain()

func newPlain() (table [256]bool) {
	for c := range table {
		table[c] = c >= ' ' && c != '"' && c != '\\'
	}
	return table
}

func skipString(text []byte, i int) int {
	if i >= len(text) || text[i] != '"' {
		return -1
	}
	start := i
	escaped := false
	for i++; i < len(text); i++ {
		switch c := text[i]; {
		case plain[c]:
		case c == '\\':
			escaped = true
			i++
		case c == '"':
			if escaped && !json.Valid(text[start:i+1]) {
				return -1
			}
			return i + 1
		default:
			return -1
		}
	}
	return -1
}

func skipDigits(text []byte, i int) int {
	for i < len(text) && text[i] >= '0' && text[i] <= '9' {
		i++
	}
	return i
}

func skipNumber(text []byte, i int) int {
	if text[i] == '-' {
		i++
	}
	end := skipDigits(text, i)
	if end == i {
		return -1
	}
	if text[i] == '0' && end > i+1 { // a leading zero
		return -1
	}
	if end < len(text) && text[end] == '.' {
		i = end + 1
		end = skipDigits(text, i)
		if end == i {
			return -1
		}
	}
	if end < len(text) && (text[end] == 'e' || text[end] == 'E') {
		i = end + 1
		if i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		end = skipDigits(text, i)
		if end == i {
			return -1
		}
	}
	return end
}

// skipNested skips an array or a nested object, which only rows of the request log have.
func skipNested(text []byte, i int) int {
	var nested json.RawMessage
	in := json.NewDecoder(bytes.NewReader(text[i:]))
	if in.Decode(&nested) != nil {
		return -1
	}
	return i + int(in.InputOffset())
}

// appendUnquoted appends the decoded text of a valid JSON string without its quotes. As
// in encoding/json, invalid UTF-8 is replaced by U+FFFD.
func appendUnquoted(dst, text []byte) []byte {
	if bytes.IndexByte(text, '\\') < 0 && utf8.Valid(text) {
		return append(dst, text...)
	}
	var unquoted string
	_ = json.Unmarshal(slices.Concat([]byte{'"'}, text, []byte{'"'}), &unquoted) // the string is valid
	return append(dst, unquoted...)
}
