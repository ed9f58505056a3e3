package tui

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"

	tea "github.com/charmbracelet/bubbletea"
)

// crash is what is known of a mistake of ours that ended the screens.
type crash struct {
	dir  string // where it is written, empty for nowhere
	mu   sync.Mutex
	path string // where it was written
}

// note writes down a panic that goes on from here: bubbletea, which ends the
// program and restores the terminal, is what catches it.
func (c *crash) note() {
	fault := recover()
	if fault == nil {
		return
	}
	c.write(fmt.Sprintf("%v\n\n%s", fault, debug.Stack()))
	panic(fault)
}

// guard notes what goes wrong in a command, and in those that it is made of.
func (c *crash) guard(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() tea.Msg {
		defer c.note()
		m := cmd()
		if several, ok := m.(tea.BatchMsg); ok {
			for i := range several {
				several[i] = c.guard(several[i])
			}
		}
		return m
	}
}

func (c *crash) write(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dir == "" || c.path != "" {
		return
	}
	path := filepath.Join(c.dir, "crash.log")
	if os.MkdirAll(c.dir, 0o700) == nil && os.WriteFile(path, []byte(text), 0o600) == nil {
		c.path = path
	}
}

// told is the error of a program that ended so.
func (c *crash) told(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.path == "" {
		return err
	}
	return fmt.Errorf("%w; what happened stands in %s", err, c.path)
}
