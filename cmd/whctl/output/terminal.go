package output

import (
	"cmp"
	"io"
	"os"
	"strconv"

	"golang.org/x/term"
)

// Terminal describes standard output.
type Terminal struct {
	IsTerminal bool // standard output is a terminal
	Width      int  // in cells; 0 for no limit
	Colours    bool // it may show colours, unless the user has disabled them
}

// EnvColumns is the environment variable with the width, if standard output is not
// a terminal. Without it, tables are not truncated then.
const EnvColumns = "COLUMNS"

// UnknownWidth is the width of a terminal that does not report it.
const UnknownWidth = 80

// TerminalOf queries the operating system. It writes nothing to the terminal, because
// a terminal that does not respond would block the program.
func TerminalOf(w io.Writer, env func(string) string) Terminal {
	var t Terminal
	if n, err := strconv.Atoi(env(EnvColumns)); err == nil && n > 0 {
		t.Width = n
	}
	if !IsTerminal(w) {
		return t
	}
	file := w.(*os.File)
	t.IsTerminal = true
	t.Colours = true
	t.Width = cmp.Or(reportedWidth(file), t.Width, UnknownWidth)
	return t
}

// reportedWidth returns the width that a terminal reports, in cells; 0 if it does not.
func reportedWidth(terminal *os.File) int {
	width, _, err := term.GetSize(int(terminal.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// widthOf returns the present width of a terminal, in cells.
func widthOf(terminal io.Writer) int {
	file, isFile := terminal.(*os.File)
	if !isFile {
		return UnknownWidth
	}
	return cmp.Or(reportedWidth(file), UnknownWidth)
}

// IsTerminal reports whether a stream of the program, standard input for example, is a terminal.
func IsTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
