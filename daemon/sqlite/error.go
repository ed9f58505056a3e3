package sqlite

import (
	"fmt"
	"strings"

	sqlite3 "modernc.org/sqlite/lib"
)

// Error is a failure that SQLite reports. The message may quote SQL and values:
// it is for the log only.
type Error struct {
	Code    int // the extended result code
	Message string
}

// Error is the message with the code.
func (e *Error) Error() string { return fmt.Sprintf("sqlite: %s (%d)", e.Message, e.Code) }

// primary is the code without the extension that details it.
func (e *Error) primary() int { return e.Code & 0xff }

// Busy reports that another connection held a lock for too long: the statement
// may be tried again.
func (e *Error) Busy() bool {
	return e.primary() == sqlite3.SQLITE_BUSY || e.primary() == sqlite3.SQLITE_LOCKED
}

// Interrupted reports that Interrupt ended the statement.
func (e *Error) Interrupted() bool { return e.primary() == sqlite3.SQLITE_INTERRUPT }

// Constraint reports that a row broke a constraint of its table.
func (e *Error) Constraint() bool { return e.primary() == sqlite3.SQLITE_CONSTRAINT }

// Duplicate reports that a row has a key that another one has already.
func (e *Error) Duplicate() bool {
	return e.Code == sqlite3.SQLITE_CONSTRAINT_UNIQUE || e.Code == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY ||
		e.Code == sqlite3.SQLITE_CONSTRAINT_ROWID
}

// NoTable reports that a statement names a table that does not exist. SQLite
// has no code for it, only these words.
func (e *Error) NoTable() bool {
	return e.primary() == sqlite3.SQLITE_ERROR && strings.HasPrefix(e.Message, "no such table")
}

// NoColumn reports that a statement names a column that does not exist.
func (e *Error) NoColumn() bool {
	return e.primary() == sqlite3.SQLITE_ERROR &&
		(strings.HasPrefix(e.Message, "no such column") || strings.Contains(e.Message, "has no column named"))
}

// misuse is a mistake of the program that SQLite is not asked about.
func misuse(message string) *Error {
	return &Error{Code: sqlite3.SQLITE_MISUSE, Message: message}
}
