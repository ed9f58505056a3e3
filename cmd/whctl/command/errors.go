package command

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"syscall"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
)

// EndsQuietly reports whether an error is not printed: success, a dry run, and a
// closed pipe, such as to head.
func EndsQuietly(err error) bool {
	return err == nil || errors.Is(err, client.ErrNotSent) || brokenPipe(err)
}

// brokenPipe reports whether the reader of standard output has closed it. A
// connection closed by the service has the same code but is a *client.Error. Go does
// not translate the codes of Windows.
func brokenPipe(err error) bool {
	_, isOfService := errors.AsType[*client.Error](err)
	code, ok := errors.AsType[syscall.Errno](err)
	if isOfService || !ok {
		return false
	}
	if runtime.GOOS != "windows" {
		return code == syscall.EPIPE
	}
	const windowsBrokenPipe, windowsNoData = 109, 232
	return code == syscall.EPIPE || code == windowsBrokenPipe || code == windowsNoData
}

// PartialError is returned if a change of many objects failed for some.
type PartialError struct{ Message string }

func (e *PartialError) Error() string { return e.Message }

// UnconfirmedError is returned if a change was not confirmed.
type UnconfirmedError struct{ message string }

func (e *UnconfirmedError) Error() string { return e.message }

// ErrNoRows is the result of --exit-status if no row matches.
var ErrNoRows = errors.New("no rows")

// Interruption is returned if the user interrupts a command.
type Interruption struct {
	Rows int64 // number of received rows; negative if unknown
}

func (e Interruption) Error() string {
	if e.Rows <= 0 {
		return "interrupted"
	}
	return fmt.Sprintf("interrupted after %s", display.Count(e.Rows, "row", "rows"))
}

// Unwrap makes errors.Is find context.Canceled.
func (Interruption) Unwrap() error { return context.Canceled }

// Interrupted returns err, or an Interruption after rows if err comes from a cancelled request.
func Interrupted(err error, rows int64) error {
	if client.Is(err, client.Cancelled) {
		return Interruption{Rows: rows}
	}
	return err
}
