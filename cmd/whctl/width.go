package main

import "unicode"

// cellWidth is the number of terminal cells that text takes.
func cellWidth(text string) int {
	width := 0
	for _, r := range text {
		width += runeWidth(r)
	}
	return width
}

// runeWidth is 0 for marks that combine with what stands before, 2 for what
// East Asian scripts and pictures take, and else 1.
func runeWidth(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case unicode.Is(wide, r):
		return 2
	}
	return 1
}

// wide are the blocks of double width, roughly as terminals draw them.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x1100, 0x115f, 1}, // Hangul initials
		{0x2e80, 0x303e, 1}, // CJK radicals and punctuation
		{0x3041, 0xa4cf, 1}, // kana to Yi
		{0xa960, 0xa97f, 1},
		{0xac00, 0xd7a3, 1}, // Hangul syllables
		{0xf900, 0xfaff, 1},
		{0xfe30, 0xfe6f, 1},
		{0xff00, 0xff60, 1}, // full width forms
		{0xffe0, 0xffe6, 1},
	},
	R32: []unicode.Range32{
		{0x16fe0, 0x18cff, 1},
		{0x1b000, 0x1b2ff, 1},
		{0x1f300, 0x1f64f, 1}, // pictures
		{0x1f680, 0x1f6ff, 1},
		{0x1f900, 0x1faff, 1},
		{0x20000, 0x3fffd, 1}, // further ideographs
	},
}
