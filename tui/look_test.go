package tui

import (
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
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
		{"nothing said", "linux", fullSigns, nil},
		{"xterm", "linux", fullSigns, []string{"TERM=xterm-256color", "LANG=en_GB.UTF-8"}},
		{"lower case", "linux", fullSigns, []string{"TERM=xterm", "LC_ALL=C.utf8"}},
		{"the console of linux", "linux", asciiSigns, []string{"TERM=linux", "LANG=en_GB.UTF-8"}},
		{"dumb", "darwin", asciiSigns, []string{"TERM=dumb"}},
		{"no locale", "linux", asciiSigns, []string{"LANG=en_GB.UTF-8", "LC_ALL=C"}},
		{"wide signs", "linux", asciiSigns, []string{"LANG=ja_JP.UTF-8"}},
		{"the old console of Windows", "windows", limitedSigns, nil},
		{"Windows Terminal", "windows", fullSigns, []string{"WT_SESSION=1"}},
		{"an editor", "windows", fullSigns, []string{"TERM_PROGRAM=vscode"}},
		{"another terminal on Windows", "windows", fullSigns, []string{"TERM_PROGRAM=WezTerm"}},
	} {
		if signs := knownSigns(test.system, said(test.env...)); signs != test.signs {
			t.Errorf("%s: %s, want %s", test.name, signs, test.signs)
		}
	}
}

// What somebody chose wins over what the terminal says.
func TestChosenLook(t *testing.T) {
	plain := said("TERM=linux", "COLORFGBG=0;15")
	if o := (Options{Env: said("TERM=xterm", "COLORFGBG=0;15"), ASCII: true, Theme: Dark}).complete(); o.signs != asciiSigns || o.Theme != Dark {
		t.Errorf("%s, %s", o.signs, o.Theme)
	}
	if o := (Options{Env: plain, Theme: Auto}).complete(); o.signs != asciiSigns || o.Theme != Light {
		t.Errorf("%s, %s", o.signs, o.Theme)
	}
}

func TestHintedTheme(t *testing.T) {
	for value, want := range map[string]string{"": "", "15;0": Dark, "0;15": Light, "0;default;7": Light, "12;8": Dark, "nonsense": Dark} {
		if got := hintedTheme(said("COLORFGBG=" + value)); got != want {
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
		if mayAsk(said(test.env...)) != test.may {
			t.Errorf("%v: asked is %v", test.env, !test.may)
		}
	}
}

// Answers come in pieces, with other numbers of digits, and with keys between
// them, or not at all.
func TestBackgroundAnswers(t *testing.T) {
	const da1 = "\x1b[?62;22c"
	for answer, want := range map[string]string{
		"\x1b]11;rgb:ffff/ffff/ffff\x1b\\" + da1:  Light,
		"\x1b]11;rgb:0000/0000/0000\a" + da1:      Dark,
		"\x1b]11;rgb:fd/f6/e3\a" + da1:            Light,
		"\x1b]11;rgb:0/0/f\a" + da1:               Dark,
		"jjj\x1b]11;rgb:eeee/eeee/eeee\ajj" + da1: Light,
		da1:                       Dark,
		"":                        Dark,
		"\x1b]11;rgb:ff":          Dark,
		strings.Repeat("j", 5000): Dark,
	} {
		if got := themeOf(readAnswer(iotest.OneByteReader(strings.NewReader(answer)))); got != want {
			t.Errorf("%q: %s, want %s", answer, got, want)
		}
	}
	if got := askedTheme(strings.NewReader(""), io.Discard); got != Dark {
		t.Errorf("no terminal is %s", got)
	}
}

// The limited set is of WGL4, which the fonts of Windows' old console have, and
// the smallest set is ASCII.
func TestSignsOfSets(t *testing.T) {
	wgl4 := []rune("…¶»│─┼►●▲▼‹›·┌┐└┘√←▄█▒")
	for _, set := range []string{fullSigns, limitedSigns, asciiSigns} {
		l := newTheme(set, Mono)
		g := l.Glyphs
		all := strings.Join([]string{g.Cut, g.Newline, g.Tab, g.Fence, g.Line, g.Cross, g.Pointer, g.Mark, g.Up, g.Down, g.Less, g.More, g.Loading, g.Nothing,
			g.Replacement, l.corner, l.side, l.bar, l.step, l.dot, l.good, l.again, l.bad, l.left, l.bars, l.failedBar}, "")
		for _, r := range all {
			if r < 0x7f || set == fullSigns || set == limitedSigns && slices.Contains(wgl4, r) {
				continue
			}
			t.Errorf("%s has %q", set, r)
		}
	}
}

// On a light background nothing is yellow or cyan, which could not be read.
func TestLightTheme(t *testing.T) {
	d := drive(t, unreachable(t), Options{Theme: Light})
	for _, tab := range []string{"1", "2", "3", "4", "5", "6"} {
		d.press(tab)
		for _, pale := range []string{"33m", "36m"} {
			if strings.Contains(d.app.View(), pale) {
				t.Errorf("tab %s has %s:\n%q", tab, pale, d.app.View())
			}
		}
	}
}
