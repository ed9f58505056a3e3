//go:build unix

package whd

import (
	"bytes"
	"io"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/term"
)

// typist answers prompts on a terminal.
type typist struct {
	mu         sync.Mutex
	shown      bytes.Buffer
	answers    []string
	keys       io.Writer
	unanswered func() // called for a prompt after the last answer
}

// Write records the output of the program. If it is a prompt, which ends with a colon and
// a space, it types the next answer.
func (d *typist) Write(b []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.shown.Write(b)
	if !bytes.HasSuffix(b, []byte(": ")) {
		return len(b), nil
	}
	if len(d.answers) == 0 {
		d.unanswered()
		return len(b), nil
	}
	_, err := io.WriteString(d.keys, d.answers[0]+"\r")
	d.answers = d.answers[1:]
	return len(b), err
}

func TestPasswordPromptOnTerminal(t *testing.T) {
	cases := []struct {
		name    string
		answers []string
		status  int
		stderr  string
	}{
		{"equal passwords", []string{"pass-test-word", "pass-test-word"}, 0, ""},
		{"different passwords", []string{"pass-test-word", "pass-test-ward"}, 1, "the two passwords differ"},
		{"too short", []string{"short", "short"}, 2, "must have at least"},
		{"Ctrl-C", []string{"\x03"}, 1, "interrupted"},
		{"signal", nil, 1, "interrupted"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			keys, terminal, err := pty.Open()
			if err != nil {
				t.Fatal(err)
			}
			defer keys.Close()
			defer terminal.Close()
			before, err := term.GetState(int(terminal.Fd()))
			if err != nil {
				t.Fatal(err)
			}
			signals := make(chan os.Signal, 1)
			d := &typist{answers: c.answers, keys: keys, unanswered: func() { signals <- os.Interrupt }}
			var stdout bytes.Buffer
			status := Main(Process{
				Args:  []string{"user", "add", "erin", "--role", "admin", "--data-dir", t.TempDir()},
				Stdin: terminal, Stdout: &stdout, Stderr: d, Signals: signals,
			})
			shown := d.shown.String()
			if status != c.status || !strings.Contains(shown, c.stderr) || stdout.Len() > 0 {
				t.Errorf("status %d, standard output %q, standard error %q", status, &stdout, shown)
			}
			for _, answer := range c.answers {
				if strings.Contains(shown, answer) {
					t.Errorf("the password is echoed: %q", shown)
				}
			}
			if after, err := term.GetState(int(terminal.Fd())); err != nil || *after != *before {
				t.Errorf("the terminal state is %v, want %v as before (%v)", after, before, err)
			}
		})
	}
}
