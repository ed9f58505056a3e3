// Package csv writes the cells of CSV by RFC 4180, with quotes where they are necessary, and
// knows the texts that spreadsheets read as formulas. The rows of the service are written by
// daemon/encode, which quotes them as they are escaped.
package csv

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// IsFormula reports whether spreadsheets may read a text as a formula. OWASP's list also
// has tab, line breaks and full-width characters. LibreOffice drops zero bytes and byte order
// marks before it looks at the first character.
func IsFormula(text []byte) bool {
	text = bytes.TrimLeft(text, "\x00\ufeff")
	first, _ := utf8.DecodeRune(text)
	return strings.ContainsRune("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20", first)
}

// special has the bytes that require quotes.
var special = [256]bool{',': true, '"': true, '\n': true, '\r': true}

// Append appends a cell, in quotes if its text requires quoting.
func Append(line, text []byte) []byte {
	for _, c := range text {
		if special[c] {
			return AppendQuoted(line, text)
		}
	}
	return append(line, text...)
}

// AppendQuoted appends a cell in quotes and doubles the quotes inside.
func AppendQuoted(line, text []byte) []byte {
	line = append(line, '"')
	for {
		i := bytes.IndexByte(text, '"')
		if i < 0 {
			return append(append(line, text...), '"')
		}
		line = append(append(line, text[:i]...), `""`...)
		text = text[i+1:]
	}
}

// IsSYLK reports whether Excel would read a file that starts with a text in the format SYLK.
func IsSYLK(text string) bool { return strings.HasPrefix(text, "ID") }

// AppendNames appends the names of columns. The first one is in quotes if it would begin a
// file in the format SYLK.
func AppendNames(line []byte, names []string) []byte {
	for i, name := range names {
		if i > 0 {
			line = append(line, ',')
		}
		if i == 0 && IsSYLK(name) {
			line = AppendQuoted(line, []byte(name))
		} else {
			line = Append(line, []byte(name))
		}
	}
	return line
}
