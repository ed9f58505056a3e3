package tuitest

import (
	"encoding/base64"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
)

// Of several texts, the last one is returned, without the output after it.
func TestLastCopied(t *testing.T) {
	d := &Driver{T: t}
	for _, text := range []string{"first", "second"} {
		d.Copied.WriteString("\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte(text)) + "\a\x1b[2J")
		if got := d.LastCopied(); got != text {
			t.Errorf("the last copied text is %q, want %q", got, text)
		}
	}
}

// The driver cannot run a sequence and must therefore recognize one, although its type is not exported.
func TestIsCommands(t *testing.T) {
	quit := func() tea.Msg { return tea.QuitMsg{} }
	for _, test := range []struct {
		name    string
		message tea.Msg
		want    bool
	}{
		{"batch", tea.Batch(quit, quit)(), true},
		{"sequence", tea.Sequence(quit, quit)(), true},
		{"one command", quit(), false},
		{"bytes", []byte("x"), false},
	} {
		if got := isCommands(test.message); got != test.want {
			t.Errorf("%s: isCommands returned %v, want %v", test.name, got, test.want)
		}
	}
}
