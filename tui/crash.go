package tui

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"

	tea "github.com/charmbracelet/bubbletea"
)

// crashLog writes the panic that ended the screens to a file.
type crashLog struct {
	dir         string // directory of the file, empty for none
	restoreMode func() // restores the mode of the terminal before bubbletea prints the panic; nil for nothing

	mu   sync.Mutex
	path string // set once the file is written
}

// recordPanic writes a panic to the file and panics again. bubbletea recovers it, restores the
// terminal and ends the program.
func (c *crashLog) recordPanic() {
	fault := recover()
	if fault == nil {
		return
	}
	c.write(fmt.Sprintf("%v\n\n%s", fault, debug.Stack()))
	if c.restoreMode != nil {
		c.restoreMode()
	}
	panic(fault)
}

// guard wraps a command so that its panics are logged.
func (c *crashLog) guard(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() tea.Msg {
		defer c.recordPanic()
		m := cmd()
		if several, ok := m.(tea.BatchMsg); ok {
			for i := range several {
				several[i] = c.guard(several[i])
			}
		}
		return m
	}
}

// write writes the first panic to the file.
func (c *crashLog) write(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dir == "" || c.path != "" {
		return
	}
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return // the program ends with the panic anyway
	}
	path := filepath.Join(c.dir, "crash.log")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return
	}
	c.path = path
}

// wrap adds the path of the file to the error of the program.
func (c *crashLog) wrap(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.path == "" {
		return err
	}
	return fmt.Errorf("%w; details are in %s", err, c.path)
}
