package mssql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"

	mssql "github.com/microsoft/go-mssqldb"
)

// ErrLost is what is wrapped where a connection cannot be made or broke.
var ErrLost = errors.New("mssql: no connection to the server")

// Error is a failure that the server reports. The message may quote SQL and
// values: it is for the log only.
type Error struct {
	Number  int
	Message string

	opening bool // it came in place of a connection
}

// Error is the message with the number.
func (e *Error) Error() string { return fmt.Sprintf("mssql: %s (%d)", e.Message, e.Number) }

// unmapped is the number that Babelfish gives to failures that it has no number
// of SQL Server's for; only their words tell them apart.
const unmapped = 33557097

func (e *Error) says(words ...string) bool {
	return e.Number == unmapped && slices.ContainsFunc(words, func(w string) bool { return strings.Contains(e.Message, w) })
}

func (e *Error) is(numbers ...int) bool { return slices.Contains(numbers, e.Number) }

// NoTable reports that a statement names a table or view that does not exist,
// or that may not be seen.
func (e *Error) NoTable() bool {
	return e.is(208, 7202) || e.says("relation ") && strings.HasSuffix(e.Message, "does not exist")
}

// NoColumn reports that a statement names a column that does not exist.
func (e *Error) NoColumn() bool {
	return e.is(207) || e.says("column ") && strings.HasSuffix(e.Message, "does not exist")
}

// Forbidden reports that the login may not do what the statement does.
func (e *Error) Forbidden() bool { return e.is(229, 230, 262, 300, 916) || e.says("permission denied") }

// LoginFailed reports that the server does not let us in.
func (e *Error) LoginFailed() bool {
	return e.is(18452, 18456, 18470, 18486, 18487, 18488, 40615) || e.says("authentication failed", "not permitted to log in")
}

// Away reports that the server or the database cannot be used at the moment: it
// starts, stops, recovers, is restored, is the wrong half of a pair, or has too
// much to do. Whatever else it reports in place of a connection counts as well.
func (e *Error) Away() bool {
	switch {
	case e.opening && !e.LoginFailed():
		return true
	case e.Number >= 921 && e.Number <= 927, e.Number >= 976 && e.Number <= 983, e.Number >= 40549 && e.Number <= 40553, e.Number >= 49918 && e.Number <= 49920:
		return true
	}
	return e.is(233, 596, 701, 802, 911, 942, 945, 4060, 6005, 6006, 8645, 8651, 9002, 10928, 10929, 17142, 18401, 40197, 40501, 40613) ||
		e.says("starting up", "shutting down", "recovery mode", "not yet accepting", "too many clients", "terminating connection", "out of memory")
}

// Deadlock reports that the server chose this statement to end a deadlock: it
// may be tried again.
func (e *Error) Deadlock() bool { return e.is(1205) || e.says("deadlock") }

// LockTimeout reports that another one held a lock for too long.
func (e *Error) LockTimeout() bool { return e.is(1222) || e.says("lock timeout") }

// Busy reports that others stood in the way of the statement, which may well
// succeed when it is tried again.
func (e *Error) Busy() bool { return e.Deadlock() || e.LockTimeout() || e.is(1204, 3960, 8628) }

// Overflow reports a computed value that its type does not hold.
func (e *Error) Overflow() bool {
	return e.is(220, 232, 244, 248, 8115) || e.says("overflow", "out of range")
}

// Conversion reports a value that could not be made one of another type, or
// text with a character that the database does not know.
func (e *Error) Conversion() bool {
	return e.is(235, 241, 242, 245, 293, 295, 8114, 8169) || e.says("code point 0", "invalid input syntax", "invalid character value", "invalid value for")
}

// Incomparable reports a column whose type or collation has no part in what the
// statement does with it, whatever its values are.
func (e *Error) Incomparable() bool {
	return e.is(206, 257, 305, 306, 402, 403, 421, 468, 529, 8116, 8117) ||
		e.says("operator does not exist", "could not identify an ordering operator", "could not identify an equality operator", "could not determine which collation")
}

// TooComplex reports a statement with more parts than the server can plan.
func (e *Error) TooComplex() bool { return e.is(191, 8623, 8631, 8632) }

// Broken reports a view that cannot be read any more as it was made.
func (e *Error) Broken() bool { return e.is(4121, 4413, 4502) }

// Failing reports a computation that has no result for some value. Statements
// of ours have none, so that it is one of a view.
func (e *Error) Failing() bool {
	return e.is(512, 536, 537, 3623, 8134) || e.says("division by zero", "more than one row returned", "negative substring", "logarithm", "square root")
}

// Remote reports that a linked server, which the statement reads from, cannot
// be used.
func (e *Error) Remote() bool { return e.is(7303, 7314, 7330, 7391, 7399) }

// Unknown reports that the server does not know a word of the statement, or
// cannot make sense of its place.
func (e *Error) Unknown() bool { return e.NoTable() || e.is(102, 156, 195, 319) }

// Duplicate reports that a row has a key that another one has already.
func (e *Error) Duplicate() bool { return e.is(2601, 2627) }

// wrap makes the driver's errors ours.
func wrap(err error) error {
	var known *Error
	var reported mssql.Error
	var network net.Error
	var stream mssql.StreamError
	switch {
	case err == nil, errors.As(err, &known), errors.Is(err, ErrLost),
		errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, sql.ErrConnDone):
		return err
	case errors.As(err, &reported):
		return asReported(reported)
	case errors.As(err, &network), errors.As(err, &stream),
		errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed), errors.Is(err, driver.ErrBadConn):
		return fmt.Errorf("%w: %w", ErrLost, err)
	}
	return err
}

// unreachable makes ours of an error before the connection could be used. The
// driver has no type for most of them.
func unreachable(err error) error {
	var reported mssql.Error
	switch {
	case errors.As(err, &reported):
		e := asReported(reported)
		e.opening = true
		return e
	case errors.Is(err, context.Canceled):
		return err
	}
	return fmt.Errorf("%w: %w", ErrLost, err)
}

func asReported(e mssql.Error) *Error { return &Error{Number: int(e.Number), Message: e.Message} }
