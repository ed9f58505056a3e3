package store

import (
	"context"
	"errors"
	"time"

	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/sqlite"
)

// retrySoon is what clients are told to wait for when the store cannot work.
const retrySoon = 2 * time.Second

// classify turns a driver's error into a failure of the kind that it means.
// What the driver says is for the log: it may quote SQL and paths.
func classify(err error) error {
	var known *fault.Error
	var e *sqlite.Error
	switch {
	case err == nil, errors.As(err, &known), errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, context.DeadlineExceeded):
		return fault.Because(err, fault.Timeout, "the store took longer than the time limit")
	case errors.Is(err, sqlite.ErrPoolClosed):
		return unavailable(err, "the service is stopping")
	case !errors.As(err, &e):
		return err
	case e.NoTable(), e.NoColumn():
		return unavailable(err, "the store has no fitting table for this record kind; whd check tells more")
	case e.Busy():
		return unavailable(err, "the store is busy")
	case e.Full(), e.ReadOnly(), e.Unreadable():
		return unavailable(err, "the store cannot be used at the moment")
	}
	return err
}

func unavailable(err error, message string) error {
	return &fault.Error{Kind: fault.Unavailable, Message: message, RetryAfter: retrySoon, Err: err}
}
