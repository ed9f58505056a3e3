package client

import (
	"bytes"
	"unicode/utf16"
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

// plain tells the bytes that stand for themselves inside a string.
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
		if hex4(text, i+2) >= 0 {
			return i + 6
		}
	}
	return -1
}

// hex4 is the value of four hex digits at i, or -1.
func hex4(text []byte, i int) rune {
	if i+4 > len(text) {
		return -1
	}
	var r rune
	for _, c := range text[i : i+4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
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

// appendUnquoted appends what the inside of a valid JSON string stands for. As
// in encoding/json, U+FFFD takes the place of what is no character.
func appendUnquoted(dst, text []byte) []byte {
	for len(text) > 0 {
		n := bytes.IndexByte(text, '\\')
		if n < 0 {
			return appendValid(dst, text)
		}
		dst = appendValid(dst, text[:n])
		c, size := unescape(text[n:])
		dst = utf8.AppendRune(dst, c)
		text = text[n+size:]
	}
	return dst
}

func appendValid(dst, text []byte) []byte {
	if utf8.Valid(text) {
		return append(dst, text...)
	}
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		dst = utf8.AppendRune(dst, r)
		text = text[size:]
	}
	return dst
}

// unescape reads the escape at the beginning of text, and a second one where
// both are the halves of a surrogate pair.
func unescape(text []byte) (r rune, size int) {
	if text[1] != 'u' {
		return simpleEscape(text[1]), 2
	}
	r = hex4(text, 2)
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if len(text) >= 12 && text[6] == '\\' && text[7] == 'u' {
		if pair := utf16.DecodeRune(r, hex4(text, 8)); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return utf8.RuneError, 6
}

func simpleEscape(c byte) rune {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return rune(c)
}
