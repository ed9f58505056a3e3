package tui

import (
	"bytes"
	"io"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/term"

	"github.com/bizhook/whd/tui/theme"
)

// A terminal tells its background, or does not; afterwards it is as before, and
// keys come through.
func TestAskedTheme(t *testing.T) {
	for _, test := range []struct{ name, answer, theme string }{
		{"light", "\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b[?62c", theme.Light},
		{"dark", "\x1b]11;rgb:1010/1010/1010\x1b\\\x1b[?62c", theme.Dark},
		{"it knows only what it is", "\x1b[?62c", theme.Dark},
		{"it says nothing", "", theme.Dark},
	} {
		t.Run(test.name, func(t *testing.T) {
			near, far, err := pty.Open()
			if err != nil {
				t.Fatal(err)
			}
			defer near.Close()
			defer far.Close()
			before, err := term.GetState(int(far.Fd()))
			if err != nil {
				t.Fatal(err)
			}
			theme := make(chan string, 1)
			go func() { theme <- askedTheme(far, far) }()
			asked := make([]byte, len(askBackground))
			if _, err := io.ReadFull(near, asked); err != nil || string(asked) != askBackground {
				t.Fatalf("%q, %v", asked, err)
			}
			if _, err := io.WriteString(near, test.answer); err != nil {
				t.Fatal(err)
			}
			if got := <-theme; got != test.theme {
				t.Errorf("%s, want %s", got, test.theme)
			}
			if after, err := term.GetState(int(far.Fd())); err != nil || *after != *before {
				t.Errorf("the terminal is not as before, %v", err)
			}
			if _, err := near.WriteString("k\n"); err != nil {
				t.Fatal(err)
			}
			key := make([]byte, 8)
			if n, err := far.Read(key); err != nil || !bytes.Equal(key[:n], []byte("k\n")) {
				t.Errorf("%q comes through, %v", key[:n], err)
			}
		})
	}
}
