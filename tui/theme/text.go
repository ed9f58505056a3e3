package theme

import (
	"fmt"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Record text can contain control characters, invisible characters and characters with a
// width that differs between terminals. All of these are replaced by visible characters of
// known width.

// maxMarks is the maximum number of combining marks on a character.
const maxMarks = 3

// Sanitize returns text that is safe to print on one line and its width, which is at
// most room cells. Truncated text ends with Ellipsis.
func (g *Glyphs) Sanitize(text string, room int) (string, int) {
	if isPlainASCII(text, room) {
		return text, len(text)
	}
	w := sanitizer{glyphs: g, room: room}
	w.write(text)
	shown := string(w.out)
	if !w.complex || widthsAgree(" "+shown+" ", w.width+2) {
		return shown, w.width
	}
	w = sanitizer{glyphs: g, room: room, asciiOnly: true} // neighbouring characters change the width
	w.write(text)
	return string(w.out), w.width
}

// isPlainASCII reports whether text is printable ASCII of at most room characters.
func isPlainASCII(text string, room int) bool {
	if len(text) > room {
		return false
	}
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

// sanitizer writes characters until there is no more room.
type sanitizer struct {
	glyphs    *Glyphs
	out       []byte
	width     int
	room      int
	cutLen    int // length of out up to which Ellipsis still fits
	cutWidth  int // width of out[:cutLen]
	full      bool
	complex   bool // out has characters that are not handled by writeSimple
	asciiOnly bool // replace all other characters
}

func (w *sanitizer) write(text string) {
	for text != "" && !w.full {
		n := 0
		for n < len(text) && n < w.room+2 && text[n] >= ' ' && text[n] < 0x7f {
			n++
		}
		if n > 0 && n < len(text) && text[n] >= utf8.RuneSelf {
			n-- // the next character may be a combining mark
		}
		if n > 0 {
			w.writeASCII(text[:n])
			text = text[n:]
			continue
		}
		n = w.writeSimple(text)
		if n == 0 {
			w.complex = true
			n = w.writeChar(text)
		}
		text = text[n:]
	}
}

// writeSimple writes the leading characters of text that have a fixed width and no
// combining marks, and returns their length in bytes.
func (w *sanitizer) writeSimple(text string) int {
	done := 0
	r, size := utf8.DecodeRuneInString(text)
	width := simpleWidth(r)
	for width > 0 && !w.asciiOnly && !w.full {
		next, nextSize := utf8.DecodeRuneInString(text[done+size:])
		nextWidth := simpleWidth(next)
		mayCombine := nextSize > 0 && next >= utf8.RuneSelf && nextWidth == 0
		if mayCombine {
			break
		}
		w.put(text[done:done+size], width)
		done += size
		size = nextSize
		width = nextWidth
	}
	return done
}

// simpleWidth returns the width of characters of common scripts that all terminals
// agree on, 0 for other characters.
func simpleWidth(r rune) int {
	switch {
	case r < 0xa1:
		return 0
	case r <= 0x2ff && r != 0xad, // Latin, without the soft hyphen
		r >= 0x391 && r <= 0x3ff && r != 0x3a2,             // Greek
		r >= 0x400 && r <= 0x482, r >= 0x48a && r <= 0x52f: // Cyrillic
		return 1
	case r >= 0x3041 && r <= 0x3096, r >= 0x30a1 && r <= 0x30fa, // Hiragana, Katakana
		r >= 0x4e00 && r <= 0x9fff, // Chinese characters
		r >= 0xac00 && r <= 0xd7a3: // Hangul
		return 2
	}
	return 0
}

// put writes text of the given width, or Ellipsis if it does not fit.
func (w *sanitizer) put(text string, width int) {
	if w.full {
		return
	}
	if w.width+width > w.room {
		w.out = w.out[:w.cutLen]
		w.width = w.cutWidth
		w.full = true
		if w.room > 0 {
			w.out = append(w.out, w.glyphs.Ellipsis...)
			w.width++
		}
		return
	}
	w.out = append(w.out, text...)
	w.width += width
	if w.width < w.room {
		w.cutLen = len(w.out)
		w.cutWidth = w.width
	}
}

// writeASCII writes printable ASCII.
func (w *sanitizer) writeASCII(text string) {
	if fits := w.room - w.width - 1; fits > 0 {
		fits = min(fits, len(text))
		w.put(text[:fits], fits)
		text = text[fits:]
	}
	for i := range len(text) {
		if w.full {
			return
		}
		w.put(text[i:i+1], 1)
	}
}

// writeChar writes the first character of text and returns its length in bytes.
func (w *sanitizer) writeChar(text string) int {
	if text[0] < ' ' || text[0] == 0x7f {
		return w.writeControl(text)
	}
	cluster, width := ansi.FirstGraphemeCluster(prefix(text), ansi.GraphemeWidth)
	if w.accepts(cluster, width) {
		w.put(cluster, width)
		return len(cluster)
	}
	r, size := utf8.DecodeRuneInString(text)
	w.writeRune(r, size)
	return size
}

// accepts reports whether a grapheme cluster is written unchanged: it is a character that all
// terminals draw in width cells.
func (w *sanitizer) accepts(cluster string, width int) bool {
	return width > 0 && !w.asciiOnly && isCharacter(cluster) && widthsAgree(cluster, width)
}

// prefix returns the start of text up to the maximum length of a character. It bounds
// the cost of characters with many combining marks.
func prefix(text string) string {
	const maxBytes = 64
	if len(text) <= maxBytes {
		return text
	}
	end := maxBytes
	for end > maxBytes-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// writeControl writes a visible replacement of a control character.
func (w *sanitizer) writeControl(text string) int {
	switch {
	case strings.HasPrefix(text, "\r\n"):
		w.put(w.glyphs.Newline, 1)
		return 2
	case text[0] == '\n':
		w.put(w.glyphs.Newline, 1)
	case text[0] == '\t':
		w.put(w.glyphs.Tab, 1)
	default:
		w.put("^"+string(rune(text[0]^0x40)), 2)
	}
	return 1
}

// widthsAgree reports whether terminals that measure grapheme clusters and terminals
// that measure code points both find this width.
func widthsAgree(text string, width int) bool {
	return ansi.StringWidth(text) == width && ansi.StringWidthWc(text) == width
}

// isCharacter reports whether a grapheme cluster is one visible character with at most
// maxMarks combining marks.
func isCharacter(cluster string) bool {
	marks := -1
	for _, r := range cluster {
		marks++
		if marks > maxMarks || r == utf8.RuneError || isHidden(r) {
			return false
		}
		isFirst := marks == 0
		isMark := unicode.In(r, unicode.M)
		if isFirst == isMark { // marks follow a character that is not one
			return false
		}
	}
	return true
}

// isHidden reports whether a code point is invisible or modifies others.
func isHidden(r rune) bool {
	isSkinTone := r >= 0x1f3fb && r <= 0x1f3ff
	return isSkinTone || unicode.Is(unicode.Regional_Indicator, r) ||
		unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs,
			unicode.Variation_Selector)
}

// writeRune writes a code point that is not a displayable character.
func (w *sanitizer) writeRune(r rune, size int) {
	text := string(r)
	width := ansi.StringWidth(text)
	switch {
	case r == utf8.RuneError && size <= 1:
		w.put(w.glyphs.Replacement, 1)
	case isHidden(r) && r > 0xffff:
		w.put(fmt.Sprintf(`\U%08x`, r), 10)
	case isHidden(r):
		w.put(fmt.Sprintf(`\u%04x`, r), 6)
	case r < utf8.RuneSelf, w.accepts(text, width):
		w.put(text, width)
	default:
		w.put(w.glyphs.Replacement, 1)
	}
}

// fitting returns the length of the start of text that is drawn in at most room cells, but of at
// least one character, and its width.
func fitting(text string, room int) (end, width int) {
	for end < len(text) {
		size, cells := measure(text[end:])
		if end > 0 && width+cells > room {
			break
		}
		end += size
		width += cells
	}
	return end, width
}

// measure returns the length of the first character of text, and the cells in which Sanitize draws
// it. They are the same with all glyphs.
func measure(text string) (size, cells int) {
	r, size := utf8.DecodeRuneInString(text)
	cells = simpleWidth(r)
	if r >= ' ' && r <= '~' {
		cells = 1
	}
	after, _ := utf8.DecodeRuneInString(text[size:])
	isWhole := after < utf8.RuneSelf || simpleWidth(after) > 0 // nothing combines with it
	if cells > 0 && (isWhole || size == len(text)) {
		return size, cells
	}
	w := sanitizer{glyphs: &fullGlyphs, room: math.MaxInt32}
	size = w.writeChar(text)
	return size, w.width
}

// Fit truncates or pads text to width cells.
func (g *Glyphs) Fit(text string, width int, right bool) string {
	if width <= 0 {
		return ""
	}
	shown, used := g.Sanitize(text, width)
	if used == width {
		return shown
	}
	if right {
		return Spaces(width-used) + shown
	}
	return shown + Spaces(width-used)
}

// TruncateMiddle removes the middle of text that is longer than width cells, so that
// both ends remain. It truncates only printable ASCII, such as URLs; other text is
// returned unchanged.
func (g *Glyphs) TruncateMiddle(text string, width int) string {
	if len(text) <= width || width < 5 || !isPlainASCII(text, len(text)) {
		return text
	}
	end := width / 2
	return text[:width-1-end] + g.Ellipsis + text[len(text)-end:]
}

// Spaces returns n spaces.
func Spaces(n int) string { return strings.Repeat(" ", max(0, n)) }

// Width returns the width of a text in cells.
func Width(text string) int { return ansi.StringWidth(text) }
