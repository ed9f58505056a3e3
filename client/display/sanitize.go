// Package display makes text of records and replies safe to show on a terminal.
package display

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Escape returns what is shown instead of a character that could act on a
// terminal or hide itself. It is empty for all other characters.
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

// AppendSanitized appends text with every such character made visible. Those in
// keep stay as they are. What is not UTF-8 becomes U+FFFD.
func AppendSanitized(dst, text []byte, keep string) []byte {
	for len(text) > 0 {
		n := 0
		for n < len(text) && text[n] >= ' ' && text[n] < 0x7f {
			n++
		}
		dst, text = append(dst, text[:n]...), text[n:]
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

// Sanitize is a message fit for one line.
func Sanitize(text string) string { return string(AppendSanitized(nil, []byte(text), "")) }

// Writer is for formats that keep record text as it is, on a
// terminal. Lines and tabs stay.
type Writer struct {
	To   io.Writer
	rest []byte // the beginning of a character whose end has not come yet
	out  []byte
}

// Write passes on all whole characters.
func (w *Writer) Write(b []byte) (int, error) {
	text := append(w.rest, b...)
	end := wholeCharacters(text)
	w.out = AppendSanitized(w.out[:0], text[:end], "\n\t")
	w.rest = append([]byte(nil), text[end:]...)
	if _, err := w.To.Write(w.out); err != nil {
		return 0, err
	}
	return len(b), nil
}

// wholeCharacters is the length of text without a character at its end that
// has only begun.
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
