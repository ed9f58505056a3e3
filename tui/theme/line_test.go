package theme

import (
	"slices"
	"strings"
	"testing"
)

// texts returns the texts of lines.
func texts(lines []Span) []string {
	var list []string
	for _, line := range lines {
		list = append(list, line.Text)
	}
	return list
}

// Lines are as wide as there is room in cells, in all scripts. Words that are longer are
// split between characters.
func TestWrapCountsCells(t *testing.T) {
	for text, want := range map[string][]string{
		"seven words of text are on lines": {"seven", "words of", "text are", "on lines"},
		"слово и ещё слово, на строках":    {"слово и", "ещё слово,", "на строках"},
		"abcdefghijklm":                      {"abcdefghij", "klm"},
		"абвгдежзийклм":                      {"абвгдежзий", "клм"},
		"日本語日本語":                             {"日本語日本", "語"},
		"one,two,three":                      {"one,two,", "three"},
		"ab 日本語日":                            {"ab", "日本語日"},
		"ee\u0301ee\u0301ee\u0301ee\u0301éé": {"ee\u0301ee\u0301ee\u0301ee\u0301éé"},
	} {
		if got := texts(Wrap(text, 10)); !slices.Equal(got, want) {
			t.Errorf("Wrap of %q to 10 cells: %q, want %q", text, got, want)
		}
	}
}

// Long lines of a value are split where they do not fit, in cells.
func TestHardWrapCountsCells(t *testing.T) {
	for text, want := range map[string][]string{
		strings.Repeat("a", 45):               {strings.Repeat("a", 20), strings.Repeat("a", 20), "aaaaa"},
		strings.Repeat("я", 45):               {strings.Repeat("я", 20), strings.Repeat("я", 20), "яяяяя"},
		strings.Repeat("語", 15):               {strings.Repeat("語", 10), strings.Repeat("語", 5)},
		"a" + strings.Repeat("語", 10):         {"a" + strings.Repeat("語", 9), "語"},
		"line\r\n\tnext \x1b[0m\n":            {"line", "\tnext \x1b[0m"},
		strings.Repeat("\x00", 11):            {strings.Repeat("\x00", 10), "\x00"},
		strings.Repeat("e\u0301", 20) + "end": {strings.Repeat("e\u0301", 20), "end"},
	} {
		if got := texts(HardWrap(text, 20)); !slices.Equal(got, want) {
			t.Errorf("HardWrap of %q to 20 cells: %q, want %q", text, got, want)
		}
	}
}
