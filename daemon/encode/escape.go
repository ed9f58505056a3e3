package encode

import (
	"encoding/base64"
	"encoding/binary"
	"strconv"
	"unicode/utf8"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/row"
)

// values writes values in formats with a text form that does not depend on the type.
type values struct {
	text func(dst, text []byte) []byte
	bool func(dst []byte, b bool) []byte
}

func (v *values) append(dst []byte, t record.Type, cell *row.Cell) []byte {
	if cell.Misfit {
		return v.text(dst, cell.Data)
	}
	switch t {
	case record.Decimal, record.Double, record.Text, record.DateTime, record.Epoch, record.Guid,
		record.Dictionary, record.Object:
		return v.text(dst, cell.Data)
	case record.Int, record.Short, record.Byte, record.Long:
		return strconv.AppendInt(dst, cell.Int, 10)
	case record.TimeSpan:
		return wire.AppendTimeSpan(dst, cell.Int)
	case record.Bool:
		return v.bool(dst, cell.Int != 0)
	case record.Bytes:
		return base64.StdEncoding.AppendEncode(dst, cell.Data)
	}
	panic(unhandled(t))
}

// escapes is the escape table of one format. Invalid UTF-8 becomes U+FFFD in every
// format.
type escapes struct {
	stop  [256]bool             // bytes that may need an escape
	ascii [utf8.RuneSelf]string // the replacement of a character; empty for none
	wide  func(r rune) string   // the same for characters beyond ASCII
}

// newEscapes builds an escape table from the replacements of characters.
func newEscapes(wide func(r rune) string, ascii map[byte]string) *escapes {
	e := &escapes{wide: wide}
	for c, text := range ascii {
		e.ascii[c] = text
	}
	for c := range e.stop {
		e.stop[c] = c >= utf8.RuneSelf || e.ascii[c] != ""
	}
	return e
}

func noEscape(rune) string { return "" }

// append appends text with its escapes.
func (e *escapes) append(dst, text []byte) []byte {
	for {
		n := e.plain(text)
		dst = append(dst, text[:n]...)
		if n == len(text) {
			return dst
		}
		r, size := utf8.DecodeRune(text[n:])
		switch {
		case r < utf8.RuneSelf:
			dst = append(dst, e.ascii[r]...)
		case r == utf8.RuneError:
			dst = utf8.AppendRune(dst, r)
		default:
			dst = append(dst, e.wide(r)...)
		}
		text = text[n+size:]
	}
}

// quoted appends text unchanged if no character needs an escape, else in double
// quotes with its escapes.
func (e *escapes) quoted(dst, text []byte) []byte {
	if e.plain(text) == len(text) {
		return append(dst, text...)
	}
	dst = append(dst, '"')
	dst = e.append(dst, text)
	return append(dst, '"')
}

// plain returns the length of the longest prefix of text that needs no escapes.
func (e *escapes) plain(text []byte) int {
	for i, c := range text {
		if e.stop[c] {
			return i + e.plainWide(text[i:])
		}
	}
	return len(text)
}

// plainWide is plain for text that starts with a byte in stop.
func (e *escapes) plainWide(text []byte) int {
	i := 0
	for i < len(text) {
		r, size := utf8.DecodeRune(text[i:])
		isInvalid := r == utf8.RuneError && size == 1
		if isInvalid {
			return i
		}
		isASCII := r < utf8.RuneSelf
		if isASCII && e.ascii[r] != "" {
			return i
		}
		if !isASCII && e.wide(r) != "" {
			return i
		}
		i += size
	}
	return i
}

// plainTexts has a bit for each type with cells that have the text of their values.
const plainTexts = 1<<record.Decimal | 1<<record.Double | 1<<record.Text |
	1<<record.DateTime | 1<<record.Epoch | 1<<record.Guid

// isPlain reports whether a text consists of the ASCII characters from '-' on, such as
// digits and letters, without < and >: none has an escape in CSV or XML. It tests eight
// characters at a time, which is faster than the table of escapes.
func isPlain(text []byte) bool {
	const each = 0x0101010101010101 // 1 in each of eight bytes
	const high = 0x80 * each        // the high bits of the bytes
	for len(text) >= 8 {
		w := binary.LittleEndian.Uint64(text)
		// Each sum sets the high bits of the bytes with a property, if no byte of w has it set.
		fromDash := w + (0x80-'-')*each
		noBracket := ((w | 2*each) ^ '>'*each) + 0x7f*each // < and > differ in the bit 2
		if fromDash&noBracket&^w&high != high {
			return false
		}
		text = text[8:]
	}
	for _, c := range text {
		if c < '-' || c|2 == '>' || c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// unhandled is the panic message for a type without an encoding. TestEveryType
// covers all types.
func unhandled(t record.Type) string { return "encode: no encoding for type " + t.String() }
