package theme

import (
	"slices"
	"strings"
	"testing"
)

// The limited set is of WGL4, which the fonts of Windows' old console have, and
// the smallest set is ASCII.
func TestSignsOfSets(t *testing.T) {
	wgl4 := []rune("…¶»│─┼►●▲▼‹›·┌┐└┘√←▄█▒")
	for _, set := range []string{Full, Limited, ASCII} {
		l := New(set, Mono)
		g := l.Glyphs
		all := strings.Join([]string{g.Cut, g.Newline, g.Tab, g.Fence, g.Line, g.Cross, g.Pointer, g.Mark, g.Up, g.Down, g.Less, g.More, g.Loading, g.Nothing,
			g.Replacement, l.corner, l.side, l.bar, l.Step, l.dot, l.Good, l.again, l.Bad, l.Left, l.Bars, l.FailedBar}, "")
		for _, r := range all {
			if r < 0x7f || set == Full || set == Limited && slices.Contains(wgl4, r) {
				continue
			}
			t.Errorf("%s has %q", set, r)
		}
	}
}
