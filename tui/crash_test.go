package tui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
)

// A panic of a command is logged like a panic of Update.
func TestCommandPanicIsLogged(t *testing.T) {
	c := crashLog{dir: t.TempDir()}
	inner := func() tea.Msg { panic("in a command") }
	several, _ := c.guard(tea.Batch(func() tea.Msg { return nil }, inner))().(tea.BatchMsg)
	func() {
		defer func() { _ = recover() }()
		for _, cmd := range several {
			cmd()
		}
		t.Error("the panic was not raised again")
	}()
	text, err := os.ReadFile(filepath.Join(c.dir, "crash.log"))
	if err != nil || !strings.Contains(string(text), "in a command") {
		t.Errorf("the log has %q, want the panic: %v", text, err)
	}
}
