package appdb

import (
	"context"
	"database/sql"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/audit"
)

// Step is one statement of a transaction.
type Step struct {
	SQL        string
	Args       []any
	MustAffect bool // roll the transaction back if no row is affected
}

// Statement returns a step that may affect no row.
func Statement(text string, args ...any) Step { return Step{SQL: text, Args: args} }

// MustAffect returns a step that must affect a row.
func MustAffect(text string, args ...any) Step { return Step{SQL: text, Args: args, MustAffect: true} }

// Affected returns the number of rows that a statement affected, or its error.
func Affected(result sql.Result, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// Row is the current row of a result.
type Row interface{ Scan(into ...any) error }

// QueryAll returns the rows of a statement.
func QueryAll[T any](
	ctx context.Context, o *DB, scan func(Row) (T, error), statement string, args ...any,
) ([]T, error) {
	var items []T
	read := func(rows *sql.Rows) error {
		items = nil // an earlier attempt may have failed after some rows
		for rows.Next() {
			item, err := scan(rows)
			if err != nil {
				return err
			}
			items = append(items, item)
		}
		return nil
	}
	err := o.Query(ctx, read, statement, args...)
	return items, err
}

// QueryOne returns the first row of a statement, or nil if it has no rows.
func QueryOne[T any](
	ctx context.Context, o *DB, scan func(Row) (T, error), statement string, args ...any,
) (*T, error) {
	items, err := QueryAll(ctx, o, scan, statement, args...)
	if err != nil || len(items) == 0 {
		return nil, err
	}
	return &items[0], nil
}

// ScanInt scans a row of one integer.
func ScanInt(row Row) (n int64, err error) {
	err = row.Scan(&n)
	return n, err
}

// ScanTime scans a row of one time.
func ScanTime(row Row) (t time.Time, err error) {
	err = row.Scan((*Time)(&t))
	return t, err
}

// Timestamp formats a time as a parameter, in UTC. SQLite stores the text; SQL
// Server converts it to the datetime2 of the column. A time.Time would be sent with
// a time zone.
func Timestamp(t time.Time) string { return t.UTC().Format(wire.DateLayout) }

// Time scans a stored time; NULL is the zero time.
type Time time.Time

func (t *Time) Scan(value any) error {
	switch v := value.(type) {
	case nil:
		*t = Time{}
	case time.Time:
		*t = Time(v.UTC())
	case string:
		parsed, err := time.Parse(wire.DateLayout, v)
		if err != nil {
			return fmt.Errorf("a stored time is %q: %w", v, err)
		}
		*t = Time(parsed)
	default:
		return fmt.Errorf("a time is stored as %T", value)
	}
	return nil
}

// nullableText returns a typed NULL for a nil text: parameters of SQL Server have a
// type.
func nullableText(text *string) sql.NullString {
	if text == nil {
		return sql.NullString{}
	}
	return sql.NullString{String: *text, Valid: true}
}

// NullableTimestamp is Timestamp, or NULL for the zero time.
func NullableTimestamp(t time.Time) sql.NullString {
	if t.IsZero() {
		return sql.NullString{}
	}
	return sql.NullString{String: Timestamp(t), Valid: true}
}

// NullIfEmpty returns NULL for an empty text, as a value in a JSON batch: these have no types, unlike
// parameters.
func NullIfEmpty(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// Bit returns a bool as a value that both databases accept.
func Bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// AuditStep returns the step that adds an entry to the audit trail, in the
// transaction of the change.
func AuditStep(e audit.Entry) Step {
	return MustAffect(`INSERT INTO whd.WH_Audit (AddedDateTime, UserName, Via, Address, Action, Subject, Detail)
VALUES (@Added, @UserName, @Via, @Address, @Action, @Subject, @Detail)`,
		sql.Named("Added", Timestamp(e.At)),
		sql.Named("UserName", Truncate(e.Name, 256)),
		sql.Named("Via", Truncate(e.Via, 16)),
		sql.Named("Address", Truncate(e.Address, 64)),
		sql.Named("Action", Truncate(string(e.Action), 64)),
		sql.Named("Subject", Truncate(e.Subject, 256)),
		sql.Named("Detail", Truncate(e.Detail, 2000)),
	)
}

// Truncate shortens a text to maxBytes without splitting a UTF-8 character. The columns of SQL
// Server count UTF-16 units; a text never has more of them than bytes.
func Truncate(text string, maxBytes int) string {
	if len(text) <= maxBytes {
		return text
	}
	for end := maxBytes; end >= 0 && end > maxBytes-utf8.UTFMax; end-- {
		if utf8.RuneStart(text[end]) {
			return text[:end]
		}
	}
	return text[:maxBytes] // not UTF-8, where no character is split
}
