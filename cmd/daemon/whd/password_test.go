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
	const ctrlC = "\x03"
	for name, c := range map[string]struct {
		answers []string
		status  int
		stderr  string
	}{
		"equal passwords":     {answers: []string{"pass-test-word", "pass-test-word"}},
		"different passwords": {answers: []string{"pass-test-word", "pass-test-ward"}, status: 1, stderr: "the two passwords differ"},
		"too short":           {answers: []string{"short", "short"}, status: 2, stderr: "must have at least"},
		"Ctrl-C":              {answers: []string{ctrlC}, status: 1, stderr: "interrupted"},
		"signal":              {status: 1, stderr: "interrupted"},
	} {
		t.Run(name, func(t *testing.T) {
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
				Args:    []string{"user", "add", "erin", "--role", "admin", "--data-dir", t.TempDir()},
				Stdin:   terminal,
				Stdout:  &stdout,
				Stderr:  d,
				Signals: signals,
			})
			shown := d.shown.String()
			if status != c.status {
				t.Errorf("user add ended with exit code %d, want %d", status, c.status)
			}
			if !strings.Contains(shown, c.stderr) {
				t.Errorf("user add reported %q, want %q", shown, c.stderr)
			}
			if stdout.Len() > 0 {
				t.Errorf("user add printed %q, want nothing", &stdout)
			}
			for _, answer := range c.answers {
				if strings.Contains(shown, answer) {
					t.Errorf("the password is echoed: %q", shown)
				}
			}
			after, err := term.GetState(int(terminal.Fd()))
			if err != nil {
				t.Fatal(err)
			}
			if *after != *before {
				t.Errorf("the terminal state is %v, want %v as before", after, before)
			}
		})
	}
}
