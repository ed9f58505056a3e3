package sqlite

import (
	"cmp"
	"errors"
	"sync"

	"github.com/bizhook/whd/daemon/tsql"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// DriverName is that of the database/sql driver, which comes with this package.
const DriverName = "sqlite"

// IsDuplicate reports whether an error of the database/sql driver means that a
// row has a key that another one has already.
func IsDuplicate(err error) bool { return known(err).Duplicate() }

// IsDamaged reports whether an error, also of the database/sql driver, means
// that the file does not hold what it should. Trying again does not help.
func IsDamaged(err error) bool { return Reason(err) == reasons[sqlite3.SQLITE_CORRUPT] }

// reasons are why a file cannot be used.
var reasons = map[int]string{
	sqlite3.SQLITE_CORRUPT:  "the file is damaged",
	sqlite3.SQLITE_NOTADB:   "the file is damaged",
	sqlite3.SQLITE_FULL:     "the disk is full",
	sqlite3.SQLITE_READONLY: "the file is read-only",
	sqlite3.SQLITE_BUSY:     "another process has locked the file",
	sqlite3.SQLITE_IOERR:    "the file cannot be read or written",
	sqlite3.SQLITE_CANTOPEN: "the file cannot be opened",
}

// Reason says in a few words why an error, also of the database/sql driver, kept
// a file from being used; nothing of other errors.
func Reason(err error) string { return reasons[known(err).primary()] }

// known is SQLite's error inside err, without its message; zero if there is none.
func known(err error) *Error {
	if e, is := errors.AsType[*sqlite.Error](err); is {
		return &Error{Code: e.Code()}
	}
	e, _ := errors.AsType[*Error](err)
	return cmp.Or(e, &Error{})
}

// RegisterDriver makes the collations known to the database/sql driver "sqlite",
// for every connection that it opens from then on: a statement that touches a
// column of an unknown collation fails. The functions are for the plans of package
// query, which Conn runs. Calling it again changes nothing.
func RegisterDriver() error { return registered() }

// registered runs once, since the driver's own registry is of the process and
// refuses a second entry.
var registered = sync.OnceValue(func() error {
	return errors.Join(
		sqlite.RegisterCollationUtf8(collateText, tsql.CompareStrings),
		sqlite.RegisterCollationUtf8(collateDecimal, tsql.CompareDecimalStrings),
	)
})
