package tui

import (
	"bytes"
	"io"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"

	"github.com/bizhook/whd/tui/theme"
)

// The terminal responds with its background, or does not; afterwards its mode is
// restored and keys arrive.
func TestQueryThemeRestoresTerminal(t *testing.T) {
	const never = time.Hour // a busy machine may need longer than queryTimeout
	for _, test := range []struct {
		name, response, theme string
		limit                 time.Duration
	}{
		{"light", "\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b[?62c", theme.Light, never},
		{"dark", "\x1b]11;rgb:1010/1010/1010\x1b\\\x1b[?62c", theme.Dark, never},
		{"device attributes only", "\x1b[?62c", theme.Dark, never},
		{"no response", "", theme.Dark, queryTimeout},
	} {
		t.Run(test.name, func(t *testing.T) {
			primary, tty, err := pty.Open()
			if err != nil {
				t.Fatal(err)
			}
			defer primary.Close()
			defer tty.Close()
			before, err := term.GetState(int(tty.Fd()))
			if err != nil {
				t.Fatal(err)
			}
			theme := make(chan string, 1)
			go func() { theme <- queryTheme(tty, tty, test.limit) }()
			queried := make([]byte, len(backgroundQuery))
			if _, err := io.ReadFull(primary, queried); err != nil || string(queried) != backgroundQuery {
				t.Fatalf("the terminal received %q, want the query: %v", queried, err)
			}
			if _, err := io.WriteString(primary, test.response); err != nil {
				t.Fatal(err)
			}
			if got := <-theme; got != test.theme {
				t.Errorf("%s, want %s", got, test.theme)
			}
			if after, err := term.GetState(int(tty.Fd())); err != nil || *after != *before {
				t.Errorf("the terminal mode is not restored, %v", err)
			}
			if _, err := primary.WriteString("k\n"); err != nil {
				t.Fatal(err)
			}
			key := make([]byte, 8)
			if n, err := tty.Read(key); err != nil || !bytes.Equal(key[:n], []byte("k\n")) {
				t.Errorf("received %q, %v", key[:n], err)
			}
		})
	}
}
