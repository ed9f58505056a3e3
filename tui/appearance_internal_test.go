package tui

import (
	"testing"

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

// The theme depends on the brightness of the background, which has different numbers of digits.
func TestParseThemeOfBackgroundResponse(t *testing.T) {
	for response, want := range map[string]string{
		"\x1b]11;rgb:ffff/ffff/ffff\x1b\\": theme.Light,
		"\x1b]11;rgb:0000/0000/0000\a":     theme.Dark,
		"\x1b]11;rgb:fd/f6/e3\a":           theme.Light,
		"\x1b]11;rgb:0/0/f\a":              theme.Dark,
		"\x1b]11;rgb:ff":                   "",
		"\x1b]10;rgb:ffff/ffff/ffff\x1b\\": "",
		"":                                 "",
	} {
		if got, _ := parseTheme([]byte(response)); got != want {
			t.Errorf("%q: %s, want %s", response, got, want)
		}
	}
}
