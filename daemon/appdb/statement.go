package appdb

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/mssql"
)

// Step is a statement of a transaction. One that must hit a row ends the
// transaction where it hits none.
type Step struct {
	SQL  string
	Args []any
	Must bool
}

// Statement is a step that may hit no row.
func Statement(text string, args ...any) Step { return Step{SQL: text, Args: args} }

// MustHit is a step that must hit a row.
func MustHit(text string, args ...any) Step { return Step{SQL: text, Args: args, Must: true} }

// Run runs the steps in one transaction. It reports whether they hit what they
// must; if not, nothing has changed. The first statement of each transaction
// writes, since SQLite cannot wait for a lock once it has read.
func (o *DB) Run(ctx context.Context, steps ...Step) (hit bool, err error) {
	err = o.Transact(ctx, func(ctx context.Context, tx *sql.Tx) error {
		for _, s := range steps {
			n, err := Affected(tx.ExecContext(ctx, o.Text(s.SQL), s.Args...))
			if err != nil {
				return err
			}
			if s.Must && n == 0 {
				return errMissed
			}
		}
		return nil
	})
	if errors.Is(err, errMissed) {
		return false, nil
	}
	return err == nil, err
}

// errMissed ends a transaction that did not hit what it must.
var errMissed = errors.New("no row was hit")

// Transact does work in a transaction, again where the server ended it in favour
// of another one. The context that work gets ends with the statement limit.
func (o *DB) Transact(ctx context.Context, work func(context.Context, *sql.Tx) error) error {
	return executor.Retry(ctx, executor.IsDeadlock, func(ctx context.Context) error {
		leave, err := o.Lock(ctx)
		if err != nil {
			return err
		}
		defer leave()
		tx, err := o.Pool.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback() // does nothing after Commit
		if err := work(ctx, tx); err != nil {
			return err
		}
		if err := tx.Commit(); err != nil {
			return err
		}
		return o.files.lost()
	})
}

// Exec runs a statement by itself and counts the rows that it hit.
func (o *DB) Exec(ctx context.Context, statement string, args ...any) (int64, error) {
	return o.execText(ctx, o.Text(statement), args...)
}

func (o *DB) execText(ctx context.Context, text string, args ...any) (n int64, err error) {
	err = executor.Retry(ctx, executor.IsDeadlock, func(ctx context.Context) error {
		leave, err := o.Lock(ctx)
		if err != nil {
			return err
		}
		defer leave()
		if n, err = Affected(o.Pool.ExecContext(ctx, text, args...)); err != nil {
			return err
		}
		return o.files.lost()
	})
	return n, err
}

func Affected(result sql.Result, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// Row is the row that rows stand at.
type Row interface{ Scan(into ...any) error }

// QueryAll reads the rows of a statement.
func QueryAll[T any](ctx context.Context, o *DB, scan func(Row) (T, error), statement string, args ...any) (all []T, err error) {
	err = o.Query(ctx, func(rows *sql.Rows) error {
		for all = nil; rows.Next(); {
			row, err := scan(rows)
			if err != nil {
				return err
			}
			all = append(all, row)
		}
		return nil
	}, statement, args...)
	return all, err
}

// Query has work read the rows of a statement, again where the first time failed.
func (o *DB) Query(ctx context.Context, work func(*sql.Rows) error, statement string, args ...any) error {
	return executor.Retry(ctx, executor.MayReadAgain, func(ctx context.Context) error {
		rows, err := o.Pool.QueryContext(ctx, o.Text(statement), args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		if err := work(rows); err != nil {
			return err
		}
		return rows.Err()
	})
}

// QueryOne is the row of a statement that finds one at most, or nil.
func QueryOne[T any](ctx context.Context, o *DB, scan func(Row) (T, error), statement string, args ...any) (*T, error) {
	all, err := QueryAll(ctx, o, scan, statement, args...)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return &all[0], nil
}

// Clock is the expression for the store's time: a server's own, so that all
// daemons have the same, or the host's.
func (o *DB) Clock() string {
	if o.Schema != "" {
		return `SYSUTCDATETIME()`
	}
	return `strftime('%Y-%m-%dT%H:%M:%f0000', 'now')`
}

// ClockAfter is the expression for the time after @Term, in milliseconds.
func (o *DB) ClockAfter() string {
	if o.Schema != "" {
		return `DATEADD(millisecond, @Term, SYSUTCDATETIME())`
	}
	return `strftime('%Y-%m-%dT%H:%M:%f0000', 'now', (@Term / 1000.0) || ' seconds')`
}

// Limit ends a statement with ORDER BY, of whose rows it gives @Limit.
func (o *DB) Limit() string {
	if o.Schema != "" {
		return ` OFFSET 0 ROWS FETCH NEXT @Limit ROWS ONLY`
	}
	return ` LIMIT @Limit`
}

// QueryInt runs a statement that changes something and gives one number. It reads
// to the end: that is where a transaction is committed.
func (o *DB) QueryInt(ctx context.Context, statement string, args ...any) (n int64, err error) {
	rows, err := o.Pool.QueryContext(ctx, o.Text(statement), args...)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(&n); err != nil {
			return 0, err
		}
	}
	return n, rows.Err()
}

// InList is the expression for the numbers of the parameter @List.
func (o *DB) InList() string {
	if o.Schema != "" {
		return `(SELECT j.ID FROM OPENJSON(@List) WITH (ID bigint '$') j)`
	}
	return `(SELECT j.value FROM json_each(@List) j)`
}

// ListArg is the parameter @List.
func (o *DB) ListArg(values any) sql.NamedArg {
	text, err := json.Marshal(values)
	if err != nil {
		panic("store: " + err.Error()) // numbers and texts can always be written
	}
	if o.Schema != "" {
		return sql.Named("List", mssql.Document(text))
	}
	return sql.Named("List", string(text))
}

func ScanInt(row Row) (n int64, err error) {
	err = row.Scan(&n)
	return n, err
}

func ScanTime(row Row) (t time.Time, err error) {
	err = row.Scan((*Time)(&t))
	return t, err
}

// Stamp is a time as it is bound. SQLite keeps the text, SQL Server reads it as
// the datetime2 of the column that it meets; a time.Time would reach it with a
// zone.
func Stamp(t time.Time) string { return t.UTC().Format(wire.DateLayout) }

// Time reads a stored time; null is the zero time.
type Time time.Time

// Scan implements sql.Scanner.
func (m *Time) Scan(value any) (err error) {
	var t time.Time
	switch v := value.(type) {
	case nil:
	case time.Time:
		t = v.UTC()
	case string:
		t, err = time.Parse(wire.DateLayout, v)
	default:
		err = fmt.Errorf("a time is stored as %T", value)
	}
	*m = Time(t)
	return err
}

// nullableText is a text whose absence keeps its type: SQL Server's parameters have
// one.
func nullableText(text *string) sql.NullString {
	if text == nil {
		return sql.NullString{}
	}
	return sql.NullString{String: *text, Valid: true}
}

// NullableStamp is a time that may be absent.
func NullableStamp(t time.Time) sql.NullString {
	if t.IsZero() {
		return sql.NullString{}
	}
	return sql.NullString{String: t.UTC().Format(wire.DateLayout), Valid: true}
}

// NullIfEmpty is a text, or null for an empty one.
func NullIfEmpty(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// HolderArg is the parameter @Holder.
func (o *DB) HolderArg() sql.NamedArg { return sql.Named("Holder", o.Holder) }

// Bit is a bool as both databases take it.
func Bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// AuditStep is the step of a transaction that writes down what its other steps
// have changed.
func AuditStep(e audit.Entry) Step {
	return MustHit(`INSERT INTO whd.WH_Audit (AddedDateTime, UserName, Via, Address, Action, Subject, Detail)
VALUES (@Added, @UserName, @Via, @Address, @Action, @Subject, @Detail)`,
		sql.Named("Added", Stamp(e.At)), sql.Named("UserName", Truncate(e.Who, 256)), sql.Named("Via", Truncate(e.Via, 16)),
		sql.Named("Address", Truncate(e.Address, 64)), sql.Named("Action", Truncate(string(e.Action), 64)),
		sql.Named("Subject", Truncate(e.Subject, 256)), sql.Named("Detail", Truncate(e.Detail, 2000)),
	)
}

// Truncate cuts a text to what its column holds, counted in bytes, of which no
// text has fewer than the characters that the server counts.
func Truncate(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}
