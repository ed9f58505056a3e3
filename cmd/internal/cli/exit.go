package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/check"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
)

// Exit is a row of a program's table of exit codes.
type Exit struct {
	Code    int
	Meaning string
	Is      func(error) bool // nil if no error has the code
}

// exitFailure is the code of errors without a row.
const exitFailure = 1

// ExitCode returns the code of the first row that matches the error.
func ExitCode(table []Exit, err error) int {
	for _, e := range table {
		if e.Is != nil && e.Is(err) {
			return e.Code
		}
	}
	return exitFailure
}

// UsageError is a mistake in the command line, the environment or the
// configuration.
type UsageError struct {
	Message string
	Command string // the command with the relevant help; empty for the program's
}

// Usagef formats a *UsageError.
func Usagef(format string, args ...any) error {
	return &UsageError{Message: fmt.Sprintf(format, args...)}
}

func (e *UsageError) Error() string { return e.Message }

// IsUsage reports whether an error is a *UsageError.
func IsUsage(err error) bool {
	_, ok := errors.AsType[*UsageError](err)
	return ok
}

// PrintError writes the program's name and an error on one line, then the details
// on indented lines. For a *UsageError, it also prints the help command.
func PrintError(w io.Writer, program string, err error, details ...string) {
	message := err.Error()
	if usage, ok := errors.AsType[*UsageError](err); ok {
		message += fmt.Sprintf(" (see: %s %s)", program, strings.TrimSpace("help "+usage.Command))
	}
	fmt.Fprintln(w, program+": "+display.Sanitize(message))
	for _, line := range details {
		fmt.Fprintln(w, "  "+display.Sanitize(line))
	}
}

// PrintChecks writes a line for each result. Names are padded to at least 13
// characters.
func PrintChecks(w io.Writer, results []check.Result) error {
	width := 13
	for _, r := range results {
		width = max(width, len(r.Name))
	}
	for _, r := range results {
		line := fmt.Sprintf("%-4s  %-*s  %s", r.Status.Short(), width, r.Name, display.Sanitize(r.Detail))
		if r.Fix != "" {
			line += "  (" + display.Sanitize(r.Fix) + ")"
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " ")); err != nil {
			return err
		}
	}
	return nil
}

// OneOf returns an error if the text, in lower case, is not one of the names.
func OneOf(text string, names []string) error {
	if slices.Contains(names, strings.ToLower(text)) {
		return nil
	}
	return fmt.Errorf("must be one of %s%s", strings.Join(names, ", "), record.DidYouMean(record.Suggest(text, names)))
}
