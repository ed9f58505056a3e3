package theme

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Text of records may hold what a terminal takes for commands, what hides
// itself, and what terminals do not agree on how wide it is. All that is
// replaced by what can be seen and measured.

// maxMarks is how many marks may combine with one character.
const maxMarks = 3

// Inert is text fit for one line: at most room cells of it, counted in cells.
// What is left out is marked as cut.
func (g *Glyphs) Inert(text string, room int) (shown string, width int) {
	if plain(text, room) {
		return text, len(text)
	}
	w := writer{glyphs: g, room: room}
	w.all(text)
	if shown = string(w.out); w.odd && !agreed(" "+shown+" ", w.width+2) {
		w = writer{glyphs: g, room: room, strict: true} // some change their neighbours
		w.all(text)
		shown = string(w.out)
	}
	return shown, w.width
}

// plain reports whether text is all visible ASCII and fits.
func plain(text string, room int) bool {
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

// writer collects characters until there is no room.
type writer struct {
	glyphs *Glyphs
	out    []byte
	width  int
	room   int
	before int // length of out when it still had room for the mark of a cut
	edge   int // width then
	full   bool
	odd    bool // not only simple characters
	strict bool // nothing but ASCII
}

func (w *writer) all(text string) {
	for text != "" && !w.full {
		n := 0
		for n < len(text) && n < w.room+2 && text[n] >= ' ' && text[n] < 0x7f {
			n++
		}
		if n > 0 && n < len(text) && text[n] >= utf8.RuneSelf {
			n-- // a mark may follow that combines with it
		}
		if n > 0 {
			w.ascii(text[:n])
			text = text[n:]
			continue
		}
		if n = w.simple(text); n == 0 {
			w.odd = true
			n = w.next(text)
		}
		text = text[n:]
	}
}

// simple appends the characters that text begins with as long as each is what
// it looks like, and gives their length.
func (w *writer) simple(text string) int {
	done := 0
	r, size := utf8.DecodeRuneInString(text)
	width := simpleWidth(r)
	for width > 0 && !w.strict && !w.full {
		after, afterSize := utf8.DecodeRuneInString(text[done+size:])
		afterWidth := simpleWidth(after)
		if afterSize > 0 && after >= utf8.RuneSelf && afterWidth == 0 {
			break // it may combine with this one
		}
		w.put(text[done:done+size], width)
		done += size
		size, width = afterSize, afterWidth
	}
	return done
}

// simpleWidth is the width of letters and signs of the common scripts, whose
// width nobody disputes; 0 for everything else.
func simpleWidth(r rune) int {
	switch {
	case r < 0xa1:
		return 0
	case r <= 0x2ff && r != 0xad, r >= 0x391 && r <= 0x3ff && r != 0x3a2, r >= 0x400 && r <= 0x482, r >= 0x48a && r <= 0x52f:
		return 1
	case r >= 0x3041 && r <= 0x3096, r >= 0x30a1 && r <= 0x30fa, r >= 0x4e00 && r <= 0x9fff, r >= 0xac00 && r <= 0xd7a3:
		return 2
	}
	return 0
}

// put appends what is width cells wide, or marks the cut where it does not fit.
func (w *writer) put(text string, width int) {
	if w.full {
		return
	}
	if w.width+width > w.room {
		w.out, w.width, w.full = w.out[:w.before], w.edge, true
		if w.room > 0 {
			w.out = append(w.out, w.glyphs.Cut...)
			w.width++
		}
		return
	}
	w.out = append(w.out, text...)
	if w.width += width; w.width < w.room {
		w.before, w.edge = len(w.out), w.width
	}
}

// ascii appends visible ASCII, one cell each.
func (w *writer) ascii(text string) {
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

// next appends the character that text begins with and gives its length.
func (w *writer) next(text string) int {
	if text[0] < ' ' || text[0] == 0x7f {
		return w.control(text)
	}
	cluster, width := ansi.FirstGraphemeCluster(head(text), ansi.GraphemeWidth)
	if width > 0 && !w.strict && character(cluster) && agreed(cluster, width) {
		w.put(cluster, width)
		return len(cluster)
	}
	r, size := utf8.DecodeRuneInString(text)
	w.rune(r, size)
	return size
}

// head is as much of text as one character can reasonably be: one with endless
// marks must not make us read all of them again and again.
func head(text string) string {
	const enough = 64
	if len(text) <= enough {
		return text
	}
	end := enough
	for end > enough-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// control shows what is no character.
func (w *writer) control(text string) int {
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

// agreed reports whether terminals that measure characters and those that
// measure code points find the same width.
func agreed(text string, width int) bool {
	return ansi.StringWidth(text) == width && ansi.StringWidthWc(text) == width
}

// character reports whether a cluster is one character with at most a few marks
// and nothing in it hides.
func character(cluster string) bool {
	marks := -1
	for _, r := range cluster {
		if marks++; marks > maxMarks || r == utf8.RuneError || hides(r) {
			return false
		}
		if mark := unicode.In(r, unicode.M); mark == (marks == 0) {
			return false
		}
	}
	return true
}

// hides reports whether a code point acts on others or cannot be seen.
func hides(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs, unicode.Variation_Selector) ||
		unicode.Is(unicode.Regional_Indicator, r) || r >= 0x1f3fb && r <= 0x1f3ff
}

// rune shows a code point by itself that is no character that can be shown.
func (w *writer) rune(r rune, size int) {
	text := string(r)
	width := ansi.StringWidth(text)
	switch {
	case r == utf8.RuneError && size <= 1:
		w.put(w.glyphs.Replacement, 1)
	case hides(r) && r > 0xffff:
		w.put(fmt.Sprintf(`\U%08x`, r), 10)
	case hides(r):
		w.put(fmt.Sprintf(`\u%04x`, r), 6)
	case r < utf8.RuneSelf, !w.strict && width > 0 && character(text) && agreed(text, width):
		w.put(text, width)
	default:
		w.put(w.glyphs.Replacement, 1)
	}
}

// Fit is text in exactly width cells.
func (g *Glyphs) Fit(text string, width int, right bool) string {
	if width <= 0 {
		return ""
	}
	shown, used := g.Inert(text, width)
	switch {
	case used == width:
		return shown
	case right:
		return Blanks(width-used) + shown
	}
	return shown + Blanks(width-used)
}

// Middle cuts text in its middle where it takes more than width cells, so that
// both ends are seen. Only visible ASCII, such as addresses are, is cut so.
func (g *Glyphs) Middle(text string, width int) string {
	if len(text) <= width || width < 5 || !plain(text, len(text)) {
		return text
	}
	end := width / 2
	return text[:width-1-end] + g.Cut + text[len(text)-end:]
}

// Blanks is n spaces.
func Blanks(n int) string { return strings.Repeat(" ", max(0, n)) }
