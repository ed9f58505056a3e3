package mssql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"slices"
	"strings"

	mssql "github.com/microsoft/go-mssqldb"
)

// ErrLost is wrapped by errors of connections that cannot be opened or that broke.
var ErrLost = errors.New("mssql: no connection to the server")

// ErrUnreadable is wrapped by errors of replies on which the driver fails in its own code.
var ErrUnreadable = errors.New("mssql: the driver cannot read the response of the server")

// Error is an error reported by the server. The message may contain SQL and values and
// is only for the log.
type Error struct {
	Number  int
	Message string

	connecting bool // reported while connecting
}

// Error returns the message and the number.
func (e *Error) Error() string { return fmt.Sprintf("mssql: %s (%d)", e.Message, e.Number) }

// babelfishUnmapped is the number of all errors that Babelfish does not map to an error of SQL
// Server; they are distinguished by their messages.
const babelfishUnmapped = 33557097

// hasText reports whether Babelfish reported an error with one of the words.
func (e *Error) hasText(words ...string) bool {
	return e.Number == babelfishUnmapped && slices.ContainsFunc(words, func(w string) bool {
		return strings.Contains(e.Message, w)
	})
}

func (e *Error) hasNumber(numbers ...int) bool { return slices.Contains(numbers, e.Number) }

// NoTable reports whether a table or view does not exist or is not visible.
func (e *Error) NoTable() bool {
	return e.hasNumber(208, 7202) || e.doesNotExist("relation ")
}

// doesNotExist reports whether Babelfish found no object of a kind.
func (e *Error) doesNotExist(kind string) bool {
	return e.hasText(kind) && strings.HasSuffix(e.Message, "does not exist")
}

// NoColumn reports whether a column does not exist.
func (e *Error) NoColumn() bool {
	return e.hasNumber(207) || e.doesNotExist("column ")
}

// Forbidden reports whether the login lacks a permission.
func (e *Error) Forbidden() bool {
	return e.hasNumber(229, 230, 262, 300, 916) || e.hasText("permission denied")
}

// LoginFailed reports whether the login was rejected.
func (e *Error) LoginFailed() bool {
	return e.hasNumber(18452, 18456, 18470, 18486, 18487, 18488, 40615) ||
		e.hasText("authentication failed", "not permitted to log in")
}

// Unavailable reports whether the server or database is temporarily unavailable: starting,
// stopping, recovering, being restored, a secondary replica, or overloaded. Any other
// error while connecting counts as well.
func (e *Error) Unavailable() bool {
	if e.connecting && !e.LoginFailed() {
		return true
	}
	hasNumber := func(r [2]int) bool { return e.Number >= r[0] && e.Number <= r[1] }
	if slices.ContainsFunc(unavailableRanges, hasNumber) {
		return true
	}
	return e.hasNumber(233, 596, 701, 802, 911, 942, 945, 4060, 6005, 6006, 8645, 8651, 9002, 10928,
		10929, 17142, 18401, 40197, 40501, 40613) ||
		e.hasText("starting up", "shutting down", "recovery mode", "not yet accepting",
			"too many clients", "terminating connection", "out of memory")
}

// unavailableRanges are the first and last numbers of ranges of errors for which Unavailable is
// true.
var unavailableRanges = [][2]int{{921, 927}, {976, 983}, {40549, 40553}, {49918, 49920}}

// Deadlock reports whether the transaction was rolled back to resolve a deadlock. It may be
// retried.
func (e *Error) Deadlock() bool { return e.hasNumber(1205) || e.hasText("deadlock") }

// LockTimeout reports whether a lock was not released in time.
func (e *Error) LockTimeout() bool { return e.hasNumber(1222) || e.hasText("lock timeout") }

// Busy reports whether concurrent transactions made the statement fail, so that a retry
// may succeed.
func (e *Error) Busy() bool { return e.Deadlock() || e.LockTimeout() || e.hasNumber(1204, 3960, 8628) }

// Overflow reports whether a value is out of the range of its type.
func (e *Error) Overflow() bool {
	return e.hasNumber(220, 232, 244, 248, 8115) || e.hasText("overflow", "out of range")
}

// Conversion reports whether a value cannot be converted to another type, or a text
// has a character that the database does not support.
func (e *Error) Conversion() bool {
	return e.hasNumber(235, 241, 242, 245, 293, 295, 8114, 8169) ||
		e.hasText("code point 0", "invalid input syntax",
			"invalid character value", "invalid value for")
}

// Incomparable reports whether an operation does not support the type or collation of a
// column, independent of its values.
func (e *Error) Incomparable() bool {
	return e.hasNumber(206, 257, 305, 306, 402, 403, 421, 468, 529, 8116, 8117) ||
		e.hasText("operator does not exist",
			"could not identify an ordering operator",
			"could not identify an equality operator", "could not determine which collation")
}

// TooComplex reports whether a statement exceeds the limits of the query optimizer.
func (e *Error) TooComplex() bool { return e.hasNumber(191, 8623, 8631, 8632) }

// InvalidView reports whether a view is invalid because its tables have changed.
func (e *Error) InvalidView() bool { return e.hasNumber(4121, 4413, 4502) }

// DataError reports whether a computation failed for a value, such as a division by zero.
// Only views can cause it, since our statements do not compute.
func (e *Error) DataError() bool {
	return e.hasNumber(512, 536, 537, 3623, 8134) ||
		e.hasText("division by zero", "more than one row returned",
			"negative substring", "logarithm", "square root")
}

// LinkedServer reports whether a linked server that the statement reads from is unavailable.
func (e *Error) LinkedServer() bool { return e.hasNumber(7303, 7314, 7330, 7391, 7399) }

// UnknownSyntax reports whether the server does not know a name in the statement or rejects
// its syntax.
func (e *Error) UnknownSyntax() bool { return e.NoTable() || e.hasNumber(102, 156, 195, 319) }

// Duplicate reports whether a row violates a unique key.
func (e *Error) Duplicate() bool { return e.hasNumber(2601, 2627) }

// wrap converts errors of the driver to errors of this package.
func wrap(err error) error {
	var reported mssql.Error
	var fault runtime.Error // which the driver has recovered
	switch {
	case err == nil, isWrapped(err):
		return err
	case errors.As(err, &reported):
		return newError(reported)
	case isLost(err):
		return fmt.Errorf("%w: %w", ErrLost, err)
	case errors.As(err, &fault):
		return fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	return err
}

// isWrapped reports whether an error is one of this package, or one of the caller's context or
// pool, which stay as they are.
func isWrapped(err error) bool {
	var known *Error
	if errors.As(err, &known) {
		return true
	}
	return slices.ContainsFunc([]error{
		ErrLost, ErrUnreadable, context.Canceled, context.DeadlineExceeded, sql.ErrConnDone,
	}, func(target error) bool { return errors.Is(err, target) })
}

// isLost reports whether the driver returns an error for a connection that broke.
func isLost(err error) bool {
	var network net.Error
	var stream mssql.StreamError
	if errors.As(err, &network) || errors.As(err, &stream) {
		return true
	}
	return slices.ContainsFunc([]error{
		io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, driver.ErrBadConn,
	}, func(target error) bool { return errors.Is(err, target) })
}

// recoverDriver turns a panic of the driver into an error. A defect of the driver concerns the
// reply that it reads, not the request in which the reply is read.
func recoverDriver(err *error) {
	if cause := recover(); cause != nil {
		*err = fmt.Errorf("%w: %v", ErrUnreadable, cause)
	}
}

// wrapConnect converts an error while connecting. The driver does not define types for
// most of them.
func wrapConnect(err error) error {
	var reported mssql.Error
	if errors.As(err, &reported) {
		e := newError(reported)
		e.connecting = true
		return e
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	for _, text := range []string{
		"failed to verify certificate", "server certificate doesn't match",
	} {
		if strings.Contains(err.Error(), text) {
			return fmt.Errorf("%w: %w; %s", ErrLost, err, certificateAdvice)
		}
	}
	return fmt.Errorf("%w: %w", ErrLost, err)
}

// certificateAdvice is added to errors about the server's certificate. By default SQL
// Server signs its certificate itself.
const certificateAdvice = "export the server's certificate and add serverCertificate=FILE.pem" +
	" to the connection string, which then accepts only that one," +
	" or install the certificate of its CA;" +
	" trustServerCertificate=true accepts every certificate, including one of an attacker in between"

func newError(e mssql.Error) *Error { return &Error{Number: int(e.Number), Message: e.Message} }
