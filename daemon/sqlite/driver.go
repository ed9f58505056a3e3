package sqlite

import (
	"cmp"
	"errors"
	"sync"

	"github.com/bizhook/whd/daemon/tsql"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// DriverName is the name of the database/sql driver that this package imports.
const DriverName = "sqlite"

// IsDuplicate reports whether an error of the database/sql driver is a violation of a
// unique key.
func IsDuplicate(err error) bool { return sqliteError(err).Duplicate() }

// IsDamaged reports whether an error of this package or of the database/sql driver means
// that the file is corrupt. A retry does not help.
func IsDamaged(err error) bool { return Reason(err) == reasons[sqlite3.SQLITE_CORRUPT] }

// reasons describes why a file cannot be used.
var reasons = map[int]string{
	sqlite3.SQLITE_CORRUPT:  "the file is damaged",
	sqlite3.SQLITE_NOTADB:   "the file is damaged",
	sqlite3.SQLITE_FULL:     "the disk is full",
	sqlite3.SQLITE_READONLY: "the file is read-only",
	sqlite3.SQLITE_BUSY:     "another process has locked the file",
	sqlite3.SQLITE_IOERR:    "the file cannot be read or written",
	sqlite3.SQLITE_CANTOPEN: "the file cannot be opened",
}

// Reason describes in a few words why a file cannot be used, for an error of this package
// or of the database/sql driver. It is empty for other errors.
func Reason(err error) string { return reasons[sqliteError(err).primary()] }

// Remedy returns how to make a file usable, for the errors of Reason. It returns an
// empty text if there is no general remedy.
func Remedy(err error) string {
	switch sqliteError(err).primary() {
	case sqlite3.SQLITE_FULL:
		return "free space on the disk of the data directory"
	case sqlite3.SQLITE_READONLY:
		return "allow the service's user to write to all files in the data directory, including whd.db-wal and whd.db-shm"
	}
	return ""
}

// sqliteError returns the code of the SQLite error wrapped by err; zero if there is none.
func sqliteError(err error) *Error {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return &Error{Code: e.Code()}
	}
	e, _ := errors.AsType[*Error](err)
	return cmp.Or(e, &Error{})
}

// RegisterDriver registers the collations with the database/sql driver "sqlite", for all
// connections opened afterwards: statements on columns with unknown collations fail. The
// functions are not registered, since only Conn executes the plans of package query. It
// may be called several times.
func RegisterDriver() error { return registerOnce() }

// registerOnce runs once, since the driver's registry is global and rejects a second
// registration.
var registerOnce = sync.OnceValue(func() error {
	return errors.Join(
		sqlite.RegisterCollationUtf8(collateText, tsql.CompareStrings),
		sqlite.RegisterCollationUtf8(collateDecimal, tsql.CompareDecimalStrings),
	)
})
