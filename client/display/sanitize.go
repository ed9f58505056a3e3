// Package display formats and sanitizes text for terminals.
package display

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Escape returns the visible replacement of a control or invisible character; empty for
// all other characters.
func Escape(r rune) string {
	switch {
	case r >= ' ' && r < 0x7f:
		return ""
	case r < ' ' || r == 0x7f:
		return "^" + string(r^0x40)
	case r >= 0x80 && r <= 0x9f, unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp):
		if r > 0xffff {
			return fmt.Sprintf(`\U%08x`, r)
		}
		return fmt.Sprintf(`\u%04x`, r)
	}
	return ""
}

// AppendSanitized appends text with such characters escaped, except those in keep.
// Invalid UTF-8 is replaced by U+FFFD.
func AppendSanitized(dst, text []byte, keep string) []byte {
	for len(text) > 0 {
		n := 0
		for n < len(text) && text[n] >= ' ' && text[n] < 0x7f {
			n++
		}
		dst = append(dst, text[:n]...)
		text = text[n:]
		if len(text) == 0 {
			break
		}
		r, size := utf8.DecodeRune(text)
		text = text[size:]
		shown := Escape(r)
		if shown == "" || strings.ContainsRune(keep, r) {
			dst = utf8.AppendRune(dst, r)
		} else {
			dst = append(dst, shown...)
		}
	}
	return dst
}

// Sanitize escapes a text for a single line.
func Sanitize(text string) string { return string(AppendSanitized(nil, []byte(text), "")) }

// Writer sanitizes output to a terminal, except for line breaks and tabs.
type Writer struct {
	To io.Writer

	incomplete []byte // a character at the end of the last write, as far as it was written
	out        []byte
}

// Write writes all complete characters.
func (w *Writer) Write(b []byte) (int, error) {
	text := append(w.incomplete, b...)
	end := wholeCharacters(text)
	w.out = AppendSanitized(w.out[:0], text[:end], "\n\t")
	w.incomplete = append([]byte(nil), text[end:]...)
	if _, err := w.To.Write(w.out); err != nil {
		return 0, err
	}
	return len(b), nil
}

// wholeCharacters returns the length of text without an incomplete character at the end.
func wholeCharacters(text []byte) int {
	for i := len(text) - 1; i >= 0 && i > len(text)-utf8.UTFMax; i-- {
		if !utf8.RuneStart(text[i]) {
			continue
		}
		if !utf8.FullRune(text[i:]) {
			return i
		}
		break
	}
	return len(text)
}
