package tui

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"

	"github.com/bizhook/whd/tui/theme"
)

// The terminal responds with its background, or does not; keys arrive, also those that were
// pressed before the response, and its mode is restored.
func TestQueryThemeRestoresTerminal(t *testing.T) {
	const never = time.Hour // a busy machine may need longer than queryTimeout
	for _, test := range []struct {
		name, response, theme string
		limit                 time.Duration
		keys                  string // that are read
	}{
		{"light", "\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b[?62c", theme.Light, never, ""},
		{"dark", "\x1b]11;rgb:1010/1010/1010\x1b\\\x1b[?62c", theme.Dark, never, ""},
		{"keys before the response", "4\x1b[Aj\x1b]11;rgb:ffff/ffff/ffff\x1b\\k\x1b[?62c", theme.Light, never, "4\x1b[Ajk"},
		{"device attributes only", "\x1b[?62c", theme.Dark, never, ""},
		{"no response", "", theme.Dark, queryTimeout, ""},
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
			in, err := newTerminalInput(tty)
			if err != nil {
				t.Fatal(err)
			}
			defer in.suspend()
			theme := make(chan string, 1)
			go func() { theme <- in.queryTheme(tty, test.limit) }()
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
			if _, err := primary.WriteString("x"); err != nil {
				t.Fatal(err)
			}
			var all strings.Builder
			buffer := make([]byte, 256)
			for !strings.HasSuffix(all.String(), "x") {
				n, err := in.Read(buffer)
				if err != nil {
					t.Fatal(err)
				}
				all.Write(buffer[:n])
			}
			if all.String() != test.keys+"x" {
				t.Errorf("read %q, want %q", all.String(), test.keys+"x")
			}
			in.suspend()
			if after, err := term.GetState(int(tty.Fd())); err != nil || *after != *before {
				t.Errorf("the terminal mode is not restored, %v", err)
			}
		})
	}
}
