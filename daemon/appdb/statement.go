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

// Step is a statement of a transaction. One that must hit a row ends the
// transaction where it hits none.
type Step struct {
	SQL        string
	Args       []any
	MustAffect bool
}

// Statement is a step that may hit no row.
func Statement(text string, args ...any) Step { return Step{SQL: text, Args: args} }

// MustHit is a step that must hit a row.
func MustAffect(text string, args ...any) Step { return Step{SQL: text, Args: args, MustAffect: true} }

func Affected(result sql.Result, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// Row is the current one of some rows.
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

// QueryOne is the row of a statement that finds one at most, or nil.
func QueryOne[T any](ctx context.Context, o *DB, scan func(Row) (T, error), statement string, args ...any) (*T, error) {
	all, err := QueryAll(ctx, o, scan, statement, args...)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return &all[0], nil
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
func Timestamp(t time.Time) string { return t.UTC().Format(wire.DateLayout) }

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
func NullableTimestamp(t time.Time) sql.NullString {
	if t.IsZero() {
		return sql.NullString{}
	}
	return sql.NullString{String: Timestamp(t), Valid: true}
}

// NullIfEmpty is a text, or null for an empty one.
func NullIfEmpty(text string) any {
	if text == "" {
		return nil
	}
	return text
}

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
	return MustAffect(`INSERT INTO whd.WH_Audit (AddedDateTime, UserName, Via, Address, Action, Subject, Detail)
VALUES (@Added, @UserName, @Via, @Address, @Action, @Subject, @Detail)`,
		sql.Named("Added", Timestamp(e.At)), sql.Named("UserName", Truncate(e.Name, 256)), sql.Named("Via", Truncate(e.Via, 16)),
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
