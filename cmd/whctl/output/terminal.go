package output

import (
	"io"
	"os"
	"strconv"

	"golang.org/x/term"
)

// Terminal is what is known of the place where standard output goes.
type Terminal struct {
	Is    bool // a person looks at it
	Width int  // in cells
}

// EnvColumns names the variable of the width, where no terminal says it.
const EnvColumns = "COLUMNS"

// UnknownWidth is the width where it is unknown.
const UnknownWidth = 80

// TerminalOf asks the system, without writing to the terminal: one that does
// not answer would stall us.
func TerminalOf(w io.Writer, env func(string) string) Terminal {
	t := Terminal{Width: UnknownWidth}
	if n, err := strconv.Atoi(env(EnvColumns)); err == nil && n > 0 {
		t.Width = n
	}
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return t
	}
	t.Is = true
	if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
		t.Width = width
	}
	return t
}
