package executor

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/bizhook/whd/client/backoff"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/sqlite"
)

// retryAfter is the Retry-After for clients while the store is unavailable.
const retryAfter = 2 * time.Second

// Classify converts a driver's error to a fault. The driver's message is only for the log,
// since it may contain SQL and paths.
func Classify(err error) error {
	if err == nil {
		return nil
	}
	var classified *fault.Error
	var fileError *sqlite.Error
	var serverError *mssql.Error
	switch {
	case errors.As(err, &classified), errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, context.DeadlineExceeded):
		return fault.Wrap(err, fault.Timeout, "the store took longer than the time limit")
	case errors.Is(err, sqlite.ErrPoolClosed):
		return Unavailable(err, "the service is stopping")
	case errors.Is(err, mssql.ErrLost):
		return Unavailable(err, "the database server cannot be reached at the moment")
	case errors.Is(err, mssql.ErrUnreadable):
		return Unavailable(err, "the driver cannot read the response of the database server")
	case errors.As(err, &serverError):
		return classifyServer(serverError, err)
	case !errors.As(err, &fileError):
		return err
	case fileError.NoTable(), fileError.NoColumn():
		return Unavailable(err, "the store has no matching table for this record kind; run whd check for details")
	case fileError.Overflow():
		return fault.Wrap(err, fault.Invalid, "%s", outOfRange)
	case fileError.Conversion():
		return fault.Wrap(err, fault.Invalid,
			"a field that this query sums has a value that is not a number; run whd check for details")
	case fileError.Busy():
		return Unavailable(err, "the store is busy")
	case sqlite.Reason(err) != "":
		return Unavailable(err, "the store cannot be used at the moment")
	}
	return err
}

const outOfRange = "a value that this query computes or compares with is out of range for the database"

// classifyServer converts an error of SQL Server.
func classifyServer(e *mssql.Error, err error) error {
	switch {
	case e.LoginFailed():
		return Unavailable(err, "database login failed")
	case e.Unavailable():
		return Unavailable(err, "the database cannot be used at the moment")
	case e.Busy():
		return Unavailable(err, "the database is busy")
	case e.Overflow():
		return fault.Wrap(err, fault.Invalid, "%s", outOfRange)
	case e.Conversion():
		return fault.Wrap(err, fault.Invalid,
			"a value of this query cannot be compared with its field, whose column has another type in the database; run whd check for details")
	case e.Incomparable():
		return fault.Wrap(err, fault.Invalid,
			"the database cannot compare or sort by a field of this query because of the type of its column; run whd check for details")
	case e.TooComplex():
		return fault.Wrap(err, fault.Invalid,
			"this query is too complex for the database; use fewer fields, conditions or list values")
	}
	return err
}

// Unavailable returns a temporary error with a Retry-After.
func Unavailable(err error, message string) error {
	return &fault.Error{Kind: fault.Unavailable, Message: message, RetryAfter: retryAfter, Err: err}
}

// ReadinessError returns the error of queries that fail with err, for checks of readiness.
// It is always temporary, and states the reason if it is safe to show.
func ReadinessError(err error) error {
	if err == nil {
		return nil
	}
	text := "the store cannot be used at the moment"
	switch f := fault.From(Classify(err)); f.Kind {
	case fault.Unavailable:
		text = f.Message
	case fault.Timeout:
		text = "the store did not respond in time"
	}
	if reason := sqlite.Reason(err); reason != "" {
		text += ": " + reason
	}
	return Unavailable(err, text)
}

const (
	// StatementLimit is the time limit of statements on the daemon's own tables, including
	// the wait for a connection.
	StatementLimit = 15 * time.Second
	// MaxAttempts is the maximum number of attempts for a statement.
	MaxAttempts = 5
	retryDelay  = 20 * time.Millisecond // upper bound of the random delay, times the attempt number
)

// Retry calls work until it succeeds, fails with an error that is not retryable, or has
// been called MaxAttempts times. StatementLimit applies to all attempts together.
func Retry(ctx context.Context, retryable func(error) bool, work func(context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, StatementLimit)
	defer cancel()
	for attempt := 1; ; attempt++ {
		err := work(limited)
		if err == nil || attempt == MaxAttempts || !retryable(err) {
			return err
		}
		if ended := Backoff(limited, attempt); ended != nil {
			return errors.Join(err, ended)
		}
	}
}

// Backoff waits for a random time, longer after more attempts, or until ctx is done; then
// it returns the error of ctx.
func Backoff(ctx context.Context, attempt int) error {
	return backoff.Sleep(ctx, rand.N(time.Duration(attempt)*retryDelay))
}

// IsDeadlock reports whether the server rolled back the transaction to resolve a
// deadlock.
func IsDeadlock(err error) bool {
	e, ok := errors.AsType[*mssql.Error](err)
	return ok && e.Deadlock()
}

// IsReadRetryable reports whether a read may be retried: after a deadlock, or on a
// connection that the server has closed, which is only detected by using it.
func IsReadRetryable(err error) bool { return IsDeadlock(err) || errors.Is(err, mssql.ErrLost) }

// IsDuplicate reports whether err is the violation of a unique index.
func IsDuplicate(err error) bool {
	if e, ok := errors.AsType[*mssql.Error](err); ok {
		return e.Duplicate()
	}
	return sqlite.IsDuplicate(err)
}

// OpenError returns the error for a store that cannot be opened, with the remedy if it is known.
func OpenError(err error) error {
	text := "the store cannot be opened"
	if remedy := sqlite.Remedy(err); remedy != "" {
		text += "; " + remedy
	}
	return fault.Wrap(err, fault.Unavailable, "%s", text)
}
