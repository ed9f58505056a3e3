package client

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"slices"
	"unicode/utf8"
)

// maxDepth is how deep values may be nested, as in encoding/json.
const maxDepth = 10000

// scan reads one JSON object into the row, without copying or allocating but
// for the first rows. It accepts what encoding/json accepts, except that names
// may repeat.
func (r *Row) scan(text []byte) bool {
	r.json, r.members = text[:0], r.members[:0]
	i := skipSpace(text, 0)
	start := i
	if i == len(text) || text[i] != '{' {
		return false
	}
	i = skipSpace(text, i+1)
	if i < len(text) && text[i] == '}' {
		i++
	} else if i = r.scanMembers(text, i); i < 0 {
		return false
	}
	r.json = text[start:i]
	return skipSpace(text, i) == len(text)
}

// scanMembers reads members from i on and gives the place behind the closing
// brace, or -1. Every function of the scanner answers in this way.
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
		end := skipValue(text, start, 1)
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

func skipValue(text []byte, i, depth int) int {
	if i >= len(text) || depth > maxDepth {
		return -1
	}
	switch c := text[i]; c {
	case '"':
		return skipString(text, i)
	case 't':
		return skipWord(text, i, "true")
	case 'f':
		return skipWord(text, i, "false")
	case 'n':
		return skipWord(text, i, "null")
	case '{', '[':
		return skipNested(text, i, depth)
	}
	return skipNumber(text, i)
}

func skipWord(text []byte, i int, word string) int {
	if end := i + len(word); end <= len(text) && string(text[i:end]) == word {
		return end
	}
	return -1
}

// plain has the bytes that stand for themselves inside a string.
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
	i++
	for i < len(text) {
		if plain[text[i]] {
			i++
			continue
		}
		if text[i] == '"' {
			return i + 1
		}
		if i = skipEscape(text, i); i < 0 {
			return -1
		}
	}
	return -1
}

// skipEscape skips a backslash and what it escapes.
func skipEscape(text []byte, i int) int {
	if text[i] != '\\' || i+1 >= len(text) {
		return -1
	}
	switch text[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2
	case 'u':
		if _, err := hex.Decode(make([]byte, 2), text[i+2:min(i+6, len(text))]); err == nil && i+6 <= len(text) {
			return i + 6
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
	if end == i || text[i] == '0' && end > i+1 {
		return -1
	}
	if end < len(text) && text[end] == '.' {
		i, end = end+1, skipDigits(text, end+1)
		if end == i {
			return -1
		}
	}
	if end < len(text) && (text[end] == 'e' || text[end] == 'E') {
		i = end + 1
		if i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		if end = skipDigits(text, i); end == i {
			return -1
		}
	}
	return end
}

// skipNested skips an array, or an object that is a value in a row.
func skipNested(text []byte, i, depth int) int {
	closing := text[i] + 2 // ']' is '[' + 2, '}' is '{' + 2
	object := closing == '}'
	i = skipSpace(text, i+1)
	if i < len(text) && text[i] == closing {
		return i + 1
	}
	for {
		if object {
			if i = skipString(text, i); i < 0 {
				return -1
			}
			if i = skipSpace(text, i); i == len(text) || text[i] != ':' {
				return -1
			}
			i = skipSpace(text, i+1)
		}
		if i = skipValue(text, i, depth+1); i < 0 {
			return -1
		}
		i = skipSpace(text, i)
		switch {
		case i == len(text):
			return -1
		case text[i] == closing:
			return i + 1
		case text[i] != ',':
			return -1
		}
		i = skipSpace(text, i+1)
	}
}

// appendUnquoted appends what a valid JSON string stands for, which is without its
// quotes here. As in encoding/json, U+FFFD takes the place of what is no character.
func appendUnquoted(dst, text []byte) []byte {
	if bytes.IndexByte(text, '\\') < 0 && utf8.Valid(text) {
		return append(dst, text...)
	}
	var unquoted string
	_ = json.Unmarshal(slices.Concat([]byte{'"'}, text, []byte{'"'}), &unquoted) // it was scanned
	return append(dst, unquoted...)
}
