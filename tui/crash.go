package tui

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
)

// crash is what is known of a mistake of ours that ended the screens.
type crash struct {
	dir  string // where it is written, empty for nowhere
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

func (c *crash) write(text string) {
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
	if c.path == "" {
		return err
	}
	return fmt.Errorf("%w; what happened stands in %s", err, c.path)
}
