package theme

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

func TestSanitizeReplacesUnsafeCharacters(t *testing.T) {
	for _, test := range []struct {
		name, text string
		room       int
		want       string
	}{
		{"plain", "D100418", 10, "D100418"},
		{"exact", "D100418", 7, "D100418"},
		{"cut", "D100418", 6, "D1004~"},
		{"one cell", "D100418", 1, "~"},
		{"no room", "D100418", 0, ""},
		{"line breaks", "a\nb\r\nc\rd", 20, "a$b$c^Md"},
		{"tab", "a\tb", 20, "a|b"},
		{"escape sequence", "\x1b[31mred\x1b]0;title\x07", 40, "^[[31mred^[]0;title^G"},
		{"eight-bit escape", "\u009b31mred", 40, `\u009b31mred`},
		{"right to left override", "abc\u202edef", 40, `abc\u202edef`},
		{"zero width", "a\u200bb\ufeffc\u00add", 40, `a\u200bb\ufeffc\u00add`},
		{"tags", "a\U000e0041b", 40, `a\U000e0041b`},
		{"wide", "世界", 10, "世界"},
		{"wide, cut between", "世界", 3, "世~"},
		{"wide, cut within", "世界世", 4, "世~"},
		{"combining", "e\u0301a", 10, "e\u0301a"},
		{"combining mark without base", "\u0301a", 10, "?a"},
		{"too many combining marks", "e" + strings.Repeat("\u0301", 1000), 8, "e???????"[:7] + "~"},
		{"flag", "\U0001f1e6\U0001f1fa", 40, `\U0001f1e6\U0001f1fa`},
		{"family", "👨\u200d👩", 40, `👨\u200d👩`},
		{"emoji variation", "❤\ufe0f", 40, `❤\ufe0f`},
		{"not UTF-8", "a\xff\xfeb", 10, "a??b"},
		{"Hebrew", "שלום", 10, "שלום"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, width := asciiGlyphs.Sanitize(test.text, test.room)
			if got != test.want || width != ansi.StringWidth(got) {
				t.Errorf("got %q of %d cells, want %q", got, width, test.want)
			}
		})
	}
}

// The result has the reported width by both ways to measure, and no control or
// invisible characters.
func TestSanitizeRandomText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		room := rapid.IntRange(0, 60).Draw(t, "room")
		checkSanitized(t, hostileText().Draw(t, "text"), room)
	})
}

func FuzzSanitize(f *testing.F) {
	f.Add("a\u0301\u0302\x1b[2J世\U0001f1e6", 5)
	f.Fuzz(func(t *testing.T, text string, room int) { checkSanitized(t, text, max(0, room%200)) })
}

func TestSimpleWidthMatchesMeasuredWidth(t *testing.T) {
	for r := range rune(0x11000) {
		width := simpleWidth(r)
		if width == 0 {
			continue // not a simple character
		}
		if text := string(r); !isCharacter(text) || !widthsAgree(text, width) {
			t.Errorf("simpleWidth of %U is %d, which is not its measured width", r, width)
		}
	}
}

// errorReporter is a test or a rapid check.
type errorReporter interface{ Errorf(string, ...any) }

// checkSanitized reports an error if sanitized text does not fit into the room, or contains
// hidden characters.
func checkSanitized(t errorReporter, text string, room int) {
	for _, glyphs := range []*Glyphs{&asciiGlyphs, &fullGlyphs} {
		got, width := glyphs.Sanitize(text, room)
		measured, measuredWc := ansi.StringWidth(got), ansi.StringWidthWc(got)
		if width > room || measured != width || measuredWc != width {
			t.Errorf("%q in %d cells: %q: width %d, measured %d and %d", text, room, got, width, measured, measuredWc)
		}
		if !utf8.ValidString(got) || len(got) > 200+16*room {
			t.Errorf("%q became %d bytes", text, len(got))
		}
		for _, r := range strings.ReplaceAll(got, glyphs.Replacement, "") {
			if isHidden(r) {
				t.Errorf("%q shows %q", text, got)
			}
		}
	}
}

// hostileText generates text with characters that records can contain.
func hostileText() *rapid.Generator[string] {
	part := rapid.OneOf(
		rapid.StringMatching(`[ -~]{0,12}`),
		rapid.String(),
		rapid.SampledFrom([]string{
			// control sequences, and characters that are invisible or modify others
			"\x1b[2J", "\x1b]0;x\x07", "\x9b1m", "\u202e", "\u2066", "\u200b",
			"\u200d", "\ufe0f", "\ufe0e", "\u0301", "\u20e3", "\u00ad",
			// wide, joined and combined characters
			"世", "界", "ｱ", "가", "ᄀ", "ᅡ", "ᆨ", "क", "ा", "्", "ष", "\u0d4e",
			"👨", "👩", "\U0001f3fd", "\U0001f1e6", "\U0001f1fa", "❤", "⸺", "⸻",
			// line breaks, invalid text, and characters of unusual width
			"\n", "\r\n", "\r", "\t", "\x00", "\xff", "\xc3", "\u0600", "\U000110bd",
			"\u115f", "\u3164", "\u3000", "﷽", "e\u0301", "\ue000", "\U000e0041",
		}),
	)
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(part, 0, 8).Draw(t, "parts"), "")
	})
}

// TruncateMiddle keeps both ends of an address, and leaves other text to Fit.
func TestTruncateMiddleKeepsBothEnds(t *testing.T) {
	g := &Glyphs{Ellipsis: "~"}
	for _, test := range []struct {
		text  string
		width int
		want  string
	}{
		{"hooks.acme.test/erp/in", 22, "hooks.acme.test/erp/in"},
		{"hooks.acme.test/erp/in", 21, "hooks.acme~est/erp/in"},
		{"hooks.acme.test/erp/in", 12, "hooks~erp/in"},
		{"hooks.acme.test/erp/in", 5, "ho~in"},
		{"hooks.acme.test/erp/in", 4, "hooks.acme.test/erp/in"},
		{"über.example/erp", 8, "über.example/erp"},
		{"a\x1b[31mbcdefgh", 6, "a\x1b[31mbcdefgh"},
		{"", 6, ""},
	} {
		if got := g.TruncateMiddle(test.text, test.width); got != test.want {
			t.Errorf("%q in %d: %q, want %q", test.text, test.width, got, test.want)
		}
	}
}

// Lines are wrapped between words, not within a date and its time.
func TestWrapLinesKeepsDates(t *testing.T) {
	got := New(Full, Mono).WrapLines("oldest added 2026-07-02 14:02", 18, 9)
	if want := []string{"oldest added", "2026-07-02 14:02"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Splitting long words does not split characters.
func TestWrapKeepsCharacters(t *testing.T) {
	for _, line := range Wrap(strings.Repeat("中", 30)+" "+strings.Repeat("é", 40), 16) {
		if strings.ContainsRune(line.Text, '\uFFFD') || ansi.StringWidth(line.Text) > 16 {
			t.Errorf("a line is %q, want at most 16 cells of complete characters", line.Text)
		}
	}
}
