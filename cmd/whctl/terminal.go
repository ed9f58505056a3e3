package main

import (
	"io"
	"os"
	"strconv"

	"golang.org/x/term"
)

// terminal is what is known of the place where standard output goes.
type terminal struct {
	is    bool // a person looks at it
	width int  // in cells
}

// unknownWidth is what is taken for the width where nobody knows it.
const unknownWidth = 80

// terminalOf asks the system, without writing to the terminal: one that does
// not answer would stall us.
func terminalOf(w io.Writer, env func(string) string) terminal {
	t := terminal{width: unknownWidth}
	if n, err := strconv.Atoi(env(envColumns)); err == nil && n > 0 {
		t.width = n
	}
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return t
	}
	t.is = true
	if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
		t.width = width
	}
	return t
}
