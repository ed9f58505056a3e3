package store

import (
	"database/sql"
	"fmt"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
)

func scanUser(row scanner) (account.User, error) { return scanUserAfter(row) }

// scanUserAfter reads the user columns that stand behind others.
func scanUserAfter(row scanner, before ...any) (account.User, error) {
	var u account.User
	err := row.Scan(append(before, &u.ID, &u.Name, &u.DisplayName, (*roleText)(&u.Role), &u.PasswordHash,
		(*moment)(&u.Added), (*moment)(&u.Saved))...)
	return u, err
}

func scanSession(row scanner) (s account.Session, err error) {
	s.User, err = scanUserAfter(row, &s.Hash, &s.Remember, (*moment)(&s.Added), (*moment)(&s.Expires))
	return s, err
}

func scanKey(row scanner) (account.Key, error) {
	var k account.Key
	err := row.Scan(&k.ID, &k.Name, &k.Hash, (*roleText)(&k.Role), (*moment)(&k.Added), (*moment)(&k.Expires), (*moment)(&k.LastUsed))
	return k, err
}

// stamp is a time as it is bound. SQLite keeps the text, SQL Server reads it as
// the datetime2 of the column that it meets; a time.Time would reach it with a
// zone.
func stamp(t time.Time) string { return t.UTC().Format(wire.DateLayout) }

// moment reads a stored time; null is the zero time.
type moment time.Time

// Scan implements sql.Scanner.
func (m *moment) Scan(value any) (err error) {
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
	*m = moment(t)
	return err
}

// roleText reads a stored role.
type roleText account.Role

// Scan implements sql.Scanner.
func (r *roleText) Scan(value any) error {
	text, _ := value.(string)
	return (*account.Role)(r).UnmarshalText([]byte(text))
}

// nullable is a text whose absence keeps its type: SQL Server's parameters have
// one.
func nullable(text *string) sql.NullString {
	if text == nil {
		return sql.NullString{}
	}
	return sql.NullString{String: *text, Valid: true}
}
