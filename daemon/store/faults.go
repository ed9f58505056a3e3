package store

import (
	"context"
	"errors"
	"time"

	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/sqlite"
)

// retrySoon is what clients are told to wait for when the store cannot work.
const retrySoon = 2 * time.Second

// classify turns a driver's error into a failure of the kind that it means.
// What the driver says is for the log: it may quote SQL and paths.
func classify(err error) error {
	var known *fault.Error
	var e *sqlite.Error
	var served *mssql.Error
	switch {
	case err == nil, errors.As(err, &known), errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, context.DeadlineExceeded):
		return fault.Because(err, fault.Timeout, "the store took longer than the time limit")
	case errors.Is(err, sqlite.ErrPoolClosed):
		return unavailable(err, "the service is stopping")
	case errors.Is(err, mssql.ErrLost):
		return unavailable(err, "the database server cannot be reached at the moment")
	case errors.As(err, &served):
		return classifyServer(served, err)
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

// classifyServer does the same for what a server reports.
func classifyServer(e *mssql.Error, err error) error {
	switch {
	case e.LoginFailed():
		return unavailable(err, "the database server does not let the service in")
	case e.Away():
		return unavailable(err, "the database cannot be used at the moment")
	case e.Busy():
		return unavailable(err, "the database is busy")
	case e.Overflow():
		return fault.Because(err, fault.Invalid, "a value that this query computes or compares with is larger than the database can work with")
	case e.Conversion():
		return fault.Because(err, fault.Invalid, "a value of this query cannot be compared with its field, whose type in the database is another one; whd check tells more")
	case e.Incomparable():
		return fault.Because(err, fault.Invalid, "the database can neither compare nor order by a field of this query, for the type of its column; whd check tells more")
	case e.TooComplex():
		return fault.Because(err, fault.Invalid, "this query has more parts than the database can work with")
	}
	return err
}

func unavailable(err error, message string) error {
	return &fault.Error{Kind: fault.Unavailable, Message: message, RetryAfter: retrySoon, Err: err}
}
