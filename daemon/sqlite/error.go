package sqlite

import (
	"fmt"
	"strings"

	"github.com/bizhook/whd/daemon/tsql"
	sqlite3 "modernc.org/sqlite/lib"
)

// Error is an error reported by SQLite. The message may contain SQL and values and is only
// for the log.
type Error struct {
	Code    int // extended result code
	Message string
}

// Error returns the message and the code.
func (e *Error) Error() string { return fmt.Sprintf("sqlite: %s (%d)", e.Message, e.Code) }

// primary returns the primary result code, that of a full disk if the -shm file cannot grow.
func (e *Error) primary() int {
	if e.Code == sqlite3.SQLITE_IOERR_SHMSIZE {
		return sqlite3.SQLITE_FULL
	}
	return e.Code & 0xff
}

// Busy reports whether another connection held a lock for too long. The statement may be
// retried.
func (e *Error) Busy() bool {
	return e.primary() == sqlite3.SQLITE_BUSY || e.primary() == sqlite3.SQLITE_LOCKED
}

// Unsynced reports whether the operating system could not write changes to the disk. It
// reports such a failure only once, and may drop the changes.
func (e *Error) Unsynced() bool { return e.Code == sqlite3.SQLITE_IOERR_FSYNC }

// Interrupted reports whether Interrupt ended the statement.
func (e *Error) Interrupted() bool { return e.primary() == sqlite3.SQLITE_INTERRUPT }

// Constraint reports whether a row violates a constraint of its table.
func (e *Error) Constraint() bool { return e.primary() == sqlite3.SQLITE_CONSTRAINT }

// Duplicate reports whether a row violates a unique key.
func (e *Error) Duplicate() bool {
	return e.Code == sqlite3.SQLITE_CONSTRAINT_UNIQUE || e.Code == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY ||
		e.Code == sqlite3.SQLITE_CONSTRAINT_ROWID
}

// InvalidStatement reports whether the statement is wrong for this file, for example because a table
// or function of it does not exist.
func (e *Error) InvalidStatement() bool { return e.primary() == sqlite3.SQLITE_ERROR }

// NoTable reports whether a table does not exist. SQLite has no code for this error, only
// a message.
func (e *Error) NoTable() bool {
	return e.primary() == sqlite3.SQLITE_ERROR && strings.HasPrefix(e.Message, "no such table")
}

// NoColumn reports whether a column does not exist.
func (e *Error) NoColumn() bool {
	return e.primary() == sqlite3.SQLITE_ERROR &&
		(strings.HasPrefix(e.Message, "no such column") || strings.Contains(e.Message, "has no column named"))
}

// Overflow reports whether a sum of decimals is too large.
func (e *Error) Overflow() bool { return e.function(tsql.ErrOverflow) }

// Conversion reports whether a sum has a value that is not a decimal.
func (e *Error) Conversion() bool { return e.function(tsql.ErrNotDecimal) }

// function reports whether a function of this package failed with err.
func (e *Error) function(err error) bool {
	return e.primary() == sqlite3.SQLITE_ERROR && e.Message == err.Error()
}

// misuse returns the error for an invalid call that is not passed on to SQLite.
func misuse(message string) *Error {
	return &Error{Code: sqlite3.SQLITE_MISUSE, Message: message}
}
