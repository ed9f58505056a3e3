package tui

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/bizhook/whd/tui/theme"
)

// Options take precedence over the environment.
func TestOptionsOverrideEnvironment(t *testing.T) {
	for _, test := range []struct {
		terminal   string
		configured Appearance
		glyphs     string
		theme      string
	}{
		{"xterm", Appearance{ASCII: true, Theme: theme.Dark}, theme.ASCII, theme.Dark},
		{"linux", Appearance{Theme: theme.Auto}, theme.ASCII, theme.Light},
	} {
		values := map[string]string{"TERM": test.terminal, "COLORFGBG": "0;15"}
		env := func(name string) string { return values[name] }
		got := Options{Env: env, Appearance: test.configured}.complete().Appearance
		if got.glyphs != test.glyphs || got.Theme != test.theme {
			t.Errorf("%+v on %s: glyphs %s, theme %s; want %s, %s",
				test.configured, test.terminal, got.glyphs, got.Theme, test.glyphs, test.theme)
		}
	}
}

// Responses arrive in pieces, with different numbers of digits, mixed with keys, or not
// at all.
func TestParseThemeOfBackgroundResponse(t *testing.T) {
	const da1 = "\x1b[?62;22c"
	for response, want := range map[string]string{
		"\x1b]11;rgb:ffff/ffff/ffff\x1b\\" + da1:  theme.Light,
		"\x1b]11;rgb:0000/0000/0000\a" + da1:      theme.Dark,
		"\x1b]11;rgb:fd/f6/e3\a" + da1:            theme.Light,
		"\x1b]11;rgb:0/0/f\a" + da1:               theme.Dark,
		"jjj\x1b]11;rgb:eeee/eeee/eeee\ajj" + da1: theme.Light,
		da1:                       theme.Dark,
		"":                        theme.Dark,
		"\x1b]11;rgb:ff":          theme.Dark,
		strings.Repeat("j", 5000): theme.Dark,
	} {
		if got := parseTheme(readResponse(iotest.OneByteReader(strings.NewReader(response)))); got != want {
			t.Errorf("%q: %s, want %s", response, got, want)
		}
	}
	if got := queryTheme(strings.NewReader(""), io.Discard, queryTimeout); got != theme.Dark {
		t.Errorf("without a terminal: %s", got)
	}
}
