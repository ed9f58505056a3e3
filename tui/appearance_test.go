package tui

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/bizhook/whd/tui/theme"
)

func said(pairs ...string) func(string) string {
	return func(name string) string {
		for _, pair := range pairs {
			if value, is := strings.CutPrefix(pair, name+"="); is {
				return value
			}
		}
		return ""
	}
}

// A terminal gets the signs that it is known to have.
func TestKnownSigns(t *testing.T) {
	for _, test := range []struct {
		name, system, signs string
		env                 []string
	}{
		{"nothing said", "linux", theme.Full, nil},
		{"xterm", "linux", theme.Full, []string{"TERM=xterm-256color", "LANG=en_GB.UTF-8"}},
		{"lower case", "linux", theme.Full, []string{"TERM=xterm", "LC_ALL=C.utf8"}},
		{"the console of linux", "linux", theme.ASCII, []string{"TERM=linux", "LANG=en_GB.UTF-8"}},
		{"dumb", "darwin", theme.ASCII, []string{"TERM=dumb"}},
		{"no locale", "linux", theme.ASCII, []string{"LANG=en_GB.UTF-8", "LC_ALL=C"}},
		{"wide signs", "linux", theme.ASCII, []string{"LANG=ja_JP.UTF-8"}},
		{"the old console of Windows", "windows", theme.Limited, nil},
		{"Windows Terminal", "windows", theme.Full, []string{"WT_SESSION=1"}},
		{"an editor", "windows", theme.Full, []string{"TERM_PROGRAM=vscode"}},
		{"another terminal on Windows", "windows", theme.Full, []string{"TERM_PROGRAM=WezTerm"}},
	} {
		if signs := theme.GlyphSet(test.system, said(test.env...)); signs != test.signs {
			t.Errorf("%s: %s, want %s", test.name, signs, test.signs)
		}
	}
}

// What somebody chose wins over what the terminal says.
func TestChosenLook(t *testing.T) {
	plain := said("TERM=linux", "COLORFGBG=0;15")
	if o := (Options{Env: said("TERM=xterm", "COLORFGBG=0;15"), Appearance: Appearance{ASCII: true, Theme: theme.Dark}}).complete(); o.Appearance.glyphs != theme.ASCII || o.Appearance.Theme != theme.Dark {
		t.Errorf("%s, %s", o.Appearance.glyphs, o.Appearance.Theme)
	}
	if o := (Options{Env: plain, Appearance: Appearance{Theme: theme.Auto}}).complete(); o.Appearance.glyphs != theme.ASCII || o.Appearance.Theme != theme.Light {
		t.Errorf("%s, %s", o.Appearance.glyphs, o.Appearance.Theme)
	}
}

func TestHintedTheme(t *testing.T) {
	for value, want := range map[string]string{"": "", "15;0": theme.Dark, "0;15": theme.Light, "0;default;7": theme.Light, "12;8": theme.Dark, "nonsense": theme.Dark} {
		if got := theme.Hinted(said("COLORFGBG=" + value)); got != want {
			t.Errorf("COLORFGBG=%s: %q, want %q", value, got, want)
		}
	}
}

// Only a terminal that is near is asked: a late answer would be taken for keys.
func TestMayAsk(t *testing.T) {
	for _, test := range []struct {
		env []string
		may bool
	}{
		{[]string{"TERM=xterm-256color", "LANG=C.UTF-8"}, true},
		{[]string{"TERM=tmux-256color", "LANG=C.UTF-8"}, true},
		{[]string{"TERM=xterm", "LANG=C.UTF-8", "SSH_TTY=/dev/pts/1"}, false},
		{[]string{"TERM=xterm", "SSH_CONNECTION=a b"}, false},
		{[]string{"TERM=linux"}, false},
		{[]string{"TERM=screen"}, false},
		{nil, false},
	} {
		if theme.MayAsk(said(test.env...)) != test.may {
			t.Errorf("%v: asked is %v", test.env, !test.may)
		}
	}
}

// Answers come in pieces, with other numbers of digits, and with keys between
// them, or not at all.
func TestBackgroundAnswers(t *testing.T) {
	const da1 = "\x1b[?62;22c"
	for answer, want := range map[string]string{
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
		if got := themeOf(readAnswer(iotest.OneByteReader(strings.NewReader(answer)))); got != want {
			t.Errorf("%q: %s, want %s", answer, got, want)
		}
	}
	if got := askedTheme(strings.NewReader(""), io.Discard); got != theme.Dark {
		t.Errorf("no terminal is %s", got)
	}
}

// On a light background nothing is yellow or cyan, which could not be read.
func TestLightTheme(t *testing.T) {
	d := drive(t, unreachable(t), Options{Appearance: Appearance{Theme: theme.Light}})
	for _, tab := range []string{"1", "2", "3", "4", "5", "6"} {
		d.press(tab)
		for _, pale := range []string{"33m", "36m"} {
			if strings.Contains(d.app.View(), pale) {
				t.Errorf("tab %s has %s:\n%q", tab, pale, d.app.View())
			}
		}
	}
}
