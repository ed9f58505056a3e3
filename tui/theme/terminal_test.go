package theme

import (
	"strings"
	"testing"
)

// env returns the function that looks up variables of an environment.
func env(pairs ...string) func(string) string {
	return func(name string) string {
		for _, pair := range pairs {
			if value, ok := strings.CutPrefix(pair, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

// The glyph set depends on the terminal.
func TestGlyphSetDependsOnTerminal(t *testing.T) {
	for _, test := range []struct {
		name, system, want string
		env                []string
	}{
		{"empty environment", "linux", Full, nil},
		{"xterm", "linux", Full, []string{"TERM=xterm-256color", "LANG=en_GB.UTF-8"}},
		{"lower case", "linux", Full, []string{"TERM=xterm", "LC_ALL=C.utf8"}},
		{"linux console", "linux", ASCII, []string{"TERM=linux", "LANG=en_GB.UTF-8"}},
		{"dumb", "darwin", ASCII, []string{"TERM=dumb"}},
		{"no locale", "linux", ASCII, []string{"LANG=en_GB.UTF-8", "LC_ALL=C"}},
		{"east asian locale", "linux", ASCII, []string{"LANG=ja_JP.UTF-8"}},
		{"legacy windows console", "windows", Limited, nil},
		{"Windows Terminal", "windows", Full, []string{"WT_SESSION=1"}},
		{"vscode", "windows", Full, []string{"TERM_PROGRAM=vscode"}},
		{"wezterm on windows", "windows", Full, []string{"TERM_PROGRAM=WezTerm"}},
	} {
		if got := GlyphSet(test.system, env(test.env...)); got != test.want {
			t.Errorf("%s: the glyph set is %s, want %s", test.name, got, test.want)
		}
	}
}

// TestThemeFromCOLORFGBG checks that only numbers select a theme. rxvt-unicode writes default for a
// background that is not one of its numbered colours, which may be light or dark.
func TestThemeFromCOLORFGBG(t *testing.T) {
	for value, want := range map[string]string{
		"":                  "",
		"15;0":              Dark,
		"0;15":              Light,
		"0;default;7":       Light,
		"12;8":              Dark,
		"0;default":         "",
		"default;default":   "",
		"0;default;default": "",
		"15;":               "",
		"nonsense":          "",
	} {
		if got := ThemeFromEnv(env("COLORFGBG=" + value)); got != want {
			t.Errorf("COLORFGBG=%s: %q, want %q", value, got, want)
		}
	}
}

// Terminals without colours or a response are not queried; remote ones are.
func TestTerminalsThatAreQueried(t *testing.T) {
	for _, test := range []struct {
		system string
		env    []string
		may    bool
	}{
		{"linux", []string{"TERM=xterm-256color", "LANG=C.UTF-8"}, true},
		{"darwin", []string{"TERM=tmux-256color", "LANG=C.UTF-8"}, true},
		{"linux", []string{"TERM=xterm", "LANG=C.UTF-8", "SSH_TTY=/dev/pts/1"}, true},
		{"linux", []string{"TERM=xterm", "SSH_CONNECTION=a b"}, true},
		{"windows", []string{"TERM=xterm-256color", "LANG=C.UTF-8"}, false},
		{"linux", []string{"TERM=dumb"}, false},
		{"linux", []string{"TERM=linux"}, false},
		{"linux", []string{"TERM=screen"}, false},
		{"linux", nil, false},
	} {
		if CanQueryBackground(test.system, env(test.env...)) != test.may {
			t.Errorf("%s, %v: CanQueryBackground is %v", test.system, test.env, !test.may)
		}
	}
}
