package executor

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/sqlite"
)

// retrySoon is what clients are told to wait for when the store cannot work.
const retrySoon = 2 * time.Second

// Classify turns a driver's error into a failure of the kind that it means.
// What the driver says is for the log: it may quote SQL and paths.
func Classify(err error) error {
	var known *fault.Error
	var e *sqlite.Error
	var served *mssql.Error
	switch {
	case err == nil, errors.As(err, &known), errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, context.DeadlineExceeded):
		return fault.Wrap(err, fault.Timeout, "the store took longer than the time limit")
	case errors.Is(err, sqlite.ErrPoolClosed):
		return Unavailable(err, "the service is stopping")
	case errors.Is(err, mssql.ErrLost):
		return Unavailable(err, "the database server cannot be reached at the moment")
	case errors.As(err, &served):
		return classifyServer(served, err)
	case !errors.As(err, &e):
		return err
	case e.NoTable(), e.NoColumn():
		return Unavailable(err, "the store has no fitting table for this record kind; whd check tells more")
	case e.Busy():
		return Unavailable(err, "the store is busy")
	case sqlite.Reason(err) != "":
		return Unavailable(err, "the store cannot be used at the moment")
	}
	return err
}

// classifyServer does the same for what a server reports.
func classifyServer(e *mssql.Error, err error) error {
	switch {
	case e.LoginFailed():
		return Unavailable(err, "the database server does not let the service in")
	case e.Away():
		return Unavailable(err, "the database cannot be used at the moment")
	case e.Busy():
		return Unavailable(err, "the database is busy")
	case e.Overflow():
		return fault.Wrap(err, fault.Invalid, "a value that this query computes or compares with is larger than the database can work with")
	case e.Conversion():
		return fault.Wrap(err, fault.Invalid, "a value of this query cannot be compared with its field, whose type in the database is another one; whd check tells more")
	case e.Incomparable():
		return fault.Wrap(err, fault.Invalid, "the database can neither compare nor order by a field of this query, for the type of its column; whd check tells more")
	case e.TooComplex():
		return fault.Wrap(err, fault.Invalid, "this query has more parts than the database can work with")
	}
	return err
}

// Unavailable makes a failure that passes.
func Unavailable(err error, message string) error {
	return &fault.Error{Kind: fault.Unavailable, Message: message, RetryAfter: retrySoon, Err: err}
}

// NotReady is why a database cannot be used, in the words of a query that fails
// for the same reason.
func NotReady(err error) error {
	if err == nil {
		return nil
	}
	text := "the store cannot be used at the moment"
	switch f := fault.From(Classify(err)); f.Kind {
	case fault.Unavailable:
		text = f.Message
	case fault.Timeout:
		text = "the store does not answer in time"
	}
	if reason := sqlite.Reason(err); reason != "" {
		text += ": " + reason
	}
	return Unavailable(err, text)
}

const (
	// StatementLimit is the time that a statement on our own tables may take:
	// those who wait for it have not even been let in.
	StatementLimit = 15 * time.Second
	// MaxAttempts is how often a statement is tried.
	MaxAttempts = 5
	pause       = 20 * time.Millisecond // times the number of attempts, at most
)

// Retry does the work until it succeeds or fails in another way than one that
// is worth another attempt.
func Retry(ctx context.Context, worth func(error) bool, work func(context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, StatementLimit)
	defer cancel()
	for attempt := 1; ; attempt++ {
		err := work(limited)
		if err == nil || attempt == MaxAttempts || !worth(err) {
			return err
		}
		if ended := Sleep(limited, rand.N(time.Duration(attempt)*pause)); ended != nil {
			return errors.Join(err, ended)
		}
	}
}

// Sleep waits for a while, or for the end of ctx.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// IsDeadlock reports whether the server ended the statement or its transaction,
// whole, in favour of another one.
func IsDeadlock(err error) bool {
	e, is := errors.AsType[*mssql.Error](err)
	return is && e.Deadlock()
}

// MayReadAgain reports whether what only reads may be tried again. Connections
// that the server has closed meanwhile are found out by using them.
func MayReadAgain(err error) bool { return IsDeadlock(err) || errors.Is(err, mssql.ErrLost) }

// IsDuplicate reports whether a unique index refused a row.
func IsDuplicate(err error) bool {
	e, is := errors.AsType[*mssql.Error](err)
	return is && e.Duplicate() || sqlite.IsDuplicate(err)
}

// Unreachable makes the failure of what could not be opened.
func Unreachable(err error) error {
	return fault.Wrap(err, fault.Unavailable, "the store cannot be opened")
}
