//go:build linux

package main

import (
	"strings"
	"testing"
)

// On a terminal doctor asks for the colour of its background, and tells how long
// the answer took; one that never answers is not waited for long. The terminal
// is left as it was. Nobody else writes an escape sequence.
func TestDoctorAsksTheTerminal(t *testing.T) {
	for _, c := range []struct{ answer, told string }{
		{"\x1b]11;rgb:1e1e/2020/3030\x1b\\\x1b[?62;22c", "the terminal told it (OSC 11) after "},
		{"\x1b]11;rgb:1e1e/2020/3030\a\x1b[?6c", "rgb:1e1e/2020/3030"},
		{"\x1b[?1;2c", "the terminal does not tell it (OSC 11), but answered after "},
		{"", "the terminal answers no questions (OSC 11) within 1s"},
	} {
		t.Run(c.told, func(t *testing.T) {
			t.Parallel()
			d := converse(t, "doctor", "--url", "http://127.0.0.1:1")
			d.await(askBackground)
			d.typeKeys(c.answer)
			d.await(c.told)
			d.await("checks failed")
			if code := d.end(); code != 7 || strings.Count(string(d.seen), "\x1b") != strings.Count(askBackground, "\x1b") {
				t.Errorf("exit %d, screen %q", code, d.seen)
			}
		})
	}
	for _, args := range [][]string{{"--no-input"}, {"-o", "/dev/null"}, {"--table", "--output", "/dev/null"}} {
		d := converse(t, append(args, "doctor", "--url", "http://127.0.0.1:1")...)
		d.await("checks failed")
		if code := d.end(); code != 7 || strings.Contains(string(d.seen), "\x1b") {
			t.Errorf("%q: exit %d, screen %q", args, code, d.seen)
		}
	}
}

// By which way a copy gets to the clipboard, and what is said of signs.
func TestDoctorLooksAtThePlace(t *testing.T) {
	for _, c := range []struct {
		env      map[string]string
		terminal bool
		say      string
	}{
		{map[string]string{"WHCTL_CLIPBOARD": "file"}, true, `"clipboard","Result":"ok","Detail":"file (WHCTL_CLIPBOARD)"`},
		{map[string]string{"SSH_TTY": "/dev/pts/1"}, true, `by the terminal (OSC 52), since this is ssh"`},
		{map[string]string{"SSH_CONNECTION": "x", "TMUX": "x"}, true, `since this is ssh, through tmux, whose option allow-passthrough must be on`},
		{nil, false, `into a file: no program for it, and no terminal`},
		{map[string]string{"WHCTL_CLIPBOARD": "auto", "STY": "x"}, true, `there is no program for it here, through screen`},
		{map[string]string{"LANG": "C.UTF-8"}, true, `"glyphs","Result":"ok","Detail":"look at it: ✓`},
		{map[string]string{"LANG": "C.UTF-8", "LC_ALL": "C"}, true, `not UTF-8","Fix":"LANG=C.UTF-8`},
	} {
		env := map[string]string{envURL: "http://127.0.0.1:1"}
		for name, value := range c.env {
			env[name] = value
		}
		got := trial{env: env, terminal: c.terminal}.run(t, "doctor", "--json")
		if got.code != 7 || !strings.Contains(got.stdout, c.say) || strings.Contains(got.stdout+got.stderr, "\x1b") {
			t.Errorf("%v: exit %d, %s", c.env, got.code, got.stdout)
		}
	}
	ascii := trial{env: map[string]string{"LANG": "C.UTF-8", "WHCTL_ASCII": "1", envURL: "http://127.0.0.1:1"}, terminal: true}.run(t, "doctor", "--json")
	if strings.Contains(ascii.stdout, "glyphs") {
		t.Errorf("signs are shown to who wants none: %s", ascii.stdout)
	}
}
