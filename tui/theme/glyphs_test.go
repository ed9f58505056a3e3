package theme

import (
	"fmt"
	"slices"
	"testing"
)

// The limited set is a subset of WGL4, which the fonts of the legacy Windows console
// provide.
func TestGlyphsOfSets(t *testing.T) {
	wgl4 := []rune("…¶»│─┼►●▌▲▼‹›·┌┐└┘√←→░▒▓█○–■┤")
	for _, set := range []string{Full, Limited, ASCII} {
		th := New(set, Mono)
		b := th.border
		border := b.TopLeft + b.Top + b.TopRight + b.Left + b.Right + b.BottomLeft + b.BottomRight
		all := fmt.Sprint(th.Glyphs, border)
		for status := range 4 {
			text, _ := th.StatusText(status)
			all += text
		}
		for _, r := range all {
			inSet := set == Full || set == Limited && slices.Contains(wgl4, r)
			if r >= 0x7f && !inSet {
				t.Errorf("the set %s has %q, which is not one of its characters", set, r)
			}
		}
	}
}
