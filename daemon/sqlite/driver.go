package sqlite

import (
	"cmp"
	"database/sql/driver"
	"errors"
	"fmt"
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

// RegisterDriver makes the collations and functions known to the database/sql
// driver "sqlite", for every connection that it opens from then on. Migrations
// and backups need them: a statement that touches a column of an unknown
// collation fails. Calling it again changes nothing.
func RegisterDriver() error { return registered() }

// registered runs once, since the driver's own registry is of the process and
// refuses a second entry.
var registered = sync.OnceValue(func() error {
	return errors.Join(
		sqlite.RegisterCollationUtf8(collateText, tsql.CompareStrings),
		sqlite.RegisterCollationUtf8(collateDecimal, tsql.CompareDecimalStrings),
		registerMatch(functionLike, func(pattern, text []byte) bool {
			return tsql.CompileLike(string(pattern)).Match(text)
		}),
		registerMatch(functionStarts, tsql.HasPrefix),
		registerMatch(functionEnds, tsql.HasSuffix),
		registerMatch(functionContains, tsql.Contains),
		registerAggregate(functionSum, func(s *tsql.Sum) ([]byte, error) { return s.AppendSum(nil), nil }),
		registerAggregate(functionAvg, func(s *tsql.Sum) ([]byte, error) { return s.AppendAvg(nil) }),
	)
})

func registerMatch(name string, match func(a, b []byte) bool) error {
	return sqlite.RegisterFunction(name, &sqlite.FunctionImpl{
		NArgs:         2,
		Deterministic: true,
		VolatileArgs:  true, // no copies, and text keeps its zero bytes
		Scalar: func(_ *sqlite.FunctionContext, arguments []driver.Value) (driver.Value, error) {
			a, b := driverText(arguments[0]), driverText(arguments[1])
			if a == nil || b == nil {
				return nil, nil
			}
			return match(a, b), nil
		},
	})
}

func registerAggregate(name string, final func(*tsql.Sum) ([]byte, error)) error {
	return sqlite.RegisterFunction(name, &sqlite.FunctionImpl{
		NArgs:         1,
		Deterministic: true,
		VolatileArgs:  true, // no copies, and text keeps its zero bytes
		MakeAggregate: func(sqlite.FunctionContext) (sqlite.AggregateFunction, error) {
			return &driverSum{final: final}, nil
		},
	})
}

// driverSum is the aggregate in the driver's terms.
type driverSum struct {
	sum   tsql.Sum
	final func(*tsql.Sum) ([]byte, error)
}

// Step adds one row's value.
func (d *driverSum) Step(_ *sqlite.FunctionContext, arguments []driver.Value) error {
	text := driverText(arguments[0])
	if text == nil {
		return nil
	}
	return d.sum.Add(text)
}

// WindowInverse fails: the aggregates are for whole groups.
func (d *driverSum) WindowInverse(*sqlite.FunctionContext, []driver.Value) error {
	return errors.New("not a window function")
}

// WindowValue is the result.
func (d *driverSum) WindowValue(*sqlite.FunctionContext) (driver.Value, error) {
	if d.sum.Count() == 0 {
		return nil, nil
	}
	text, err := d.final(&d.sum)
	return string(text), err
}

// Final has nothing to give back.
func (d *driverSum) Final(*sqlite.FunctionContext) {}

// driverText is a value as text, nil for NULL only.
func driverText(v driver.Value) []byte {
	switch v := v.(type) {
	case nil:
		return nil
	case string:
		return []byte(v)
	case []byte:
		return v
	}
	return fmt.Append(nil, v)
}
