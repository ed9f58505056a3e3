package appdb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/goldentest"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/mssql"
)

// TestFaultOfOutdatedTables checks that the remedy for missing tables and columns is named,
// and only for these.
func TestFaultOfOutdatedTables(t *testing.T) {
	const remedy = "whd migrate"
	db := &DB{}
	for _, c := range []struct {
		err       error
		hasRemedy bool
	}{
		{&mssql.Error{Number: 208}, true},
		{&mssql.Error{Number: 207}, true},
		{mssql.ErrLost, false},
	} {
		err := db.Fault(c.err, "x")
		if !fault.Is(err, fault.Unavailable) {
			t.Errorf("the fault of %v: got %v, want unavailable", c.err, err)
		}
		if got := strings.Contains(fault.From(err).Message, remedy); got != c.hasRemedy {
			t.Errorf("the fault of %v: got %v, want %q in it: %v", c.err, err, remedy, c.hasRemedy)
		}
	}
}

// statementLog is a database that records statements. Each affects one row and
// returns no rows.
type statementLog struct{ statements strings.Builder }

func (l *statementLog) Connect(context.Context) (driver.Conn, error) { return l, nil }
func (l *statementLog) Driver() driver.Driver                        { return nil }
func (l *statementLog) Close() error                                 { return nil }
func (l *statementLog) Begin() (driver.Tx, error)                    { return l, l.record("BEGIN", nil) }
func (l *statementLog) Commit() error                                { return l.record("COMMIT", nil) }
func (l *statementLog) Rollback() error                              { return l.record("ROLLBACK", nil) }
func (l *statementLog) Prepare(string) (driver.Stmt, error)          { return nil, errors.ErrUnsupported }

func (l *statementLog) ExecContext(_ context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	return driver.RowsAffected(1), l.record(text, args)
}

func (l *statementLog) QueryContext(_ context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	return noRows{}, l.record(text, args)
}

func (l *statementLog) record(text string, args []driver.NamedValue) error {
	fmt.Fprintln(&l.statements, text)
	for _, a := range args {
		fmt.Fprintf(&l.statements, "  @%s = %#v\n", a.Name, a.Value)
	}
	return nil
}

// noRows is a result without rows.
type noRows struct{}

func (noRows) Columns() []string         { return nil }
func (noRows) Close() error              { return nil }
func (noRows) Next([]driver.Value) error { return io.EOF }

// TestStatementsMatchGolden compares the statements on the service's tables, for both
// databases, with the golden file.
func TestStatementsMatchGolden(t *testing.T) {
	databases := []*DB{
		{name: "SQLite"},
		{name: "SQL Server", Schema: "whd", prefix: "SET LOCK_TIMEOUT 10000; "},
	}
	var got strings.Builder
	for _, db := range databases {
		log := &statementLog{}
		db.Pool = sql.OpenDB(log)
		if err := everyStatement(t.Context(), &Accounts{db}); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&got, "== %s\n\n%s\n", db.name, &log.statements)
	}
	goldentest.Compare(t, "testdata/own.sql", got.String())
}

// everyStatement calls the methods of a that run statements.
func everyStatement(ctx context.Context, a *Accounts) error {
	at := time.Date(2030, 1, 2, 12, 0, 0, 123_456_700, time.UTC)
	name := "Ann Other"
	hash := "hash"
	role := account.Reader
	u := account.User{
		ID:           "id",
		Name:         "Ann",
		DisplayName:  name,
		Role:         account.Admin,
		PasswordHash: hash,
		Added:        at,
		Saved:        at,
	}
	e := audit.Entry{
		Actor:   audit.Actor{Name: "ann", Via: "cookie", Address: "10.0.0.9"},
		At:      at,
		Action:  audit.AddUser,
		Subject: "Ann",
		Detail:  "Role=admin",
	}
	var errs []error
	try := func(err error) { errs = append(errs, err) }
	_, err := a.User(ctx, "ann")
	try(err)
	_, err = a.Users(ctx)
	try(err)
	try(a.AddUser(ctx, u, e))
	_, err = a.AddFirstUser(ctx, u, e)
	try(err)
	_, err = a.ChangeUser(ctx, "ann", account.Change{DisplayName: &name}, e)
	try(err)
	_, err = a.ChangeUser(ctx, "ann", account.Change{Role: &role, PasswordHash: &hash}, e)
	try(err)
	_, err = a.RemoveUser(ctx, "ann", e)
	try(err)
	try(a.Rehash(ctx, "ann", "hash", "another hash"))
	_, err = a.Session(ctx, "s")
	try(err)
	_, err = a.AddSession(ctx, account.Session{
		Hash:     "s",
		User:     u,
		Remember: true,
		Added:    at,
		Expires:  at,
	})
	try(err)
	try(a.RemoveSession(ctx, "s"))
	_, err = a.RemoveExpired(ctx, at)
	try(err)
	_, err = a.Key(ctx, "k")
	try(err)
	_, err = a.Keys(ctx)
	try(err)
	key := account.Key{ID: "id", Name: "Till", Hash: "k", Role: account.Writer, Added: at}
	try(a.AddKey(ctx, key, e))
	_, err = a.RemoveKey(ctx, "id", e)
	try(err)
	try(a.Write(ctx, account.Uses{
		Sessions: map[string]time.Time{"b": at, "a": at},
		Keys:     map[string]time.Time{"id": at},
	}))
	return errors.Join(errs...)
}

// TestTransactionHasStatementTimeout checks that statements of a transaction have the
// statement timeout.
func TestTransactionHasStatementTimeout(t *testing.T) {
	db := openedOwn(t, filepath.Join(t.TempDir(), FileName))
	limited := false
	err := db.Transact(context.WithoutCancel(t.Context()), func(ctx context.Context, _ *sql.Tx) error {
		_, limited = ctx.Deadline()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if !limited {
		t.Error("the context of a transaction has no deadline, want one")
	}
}

// TestTruncate checks that no character is split, and that text that is not UTF-8 is not lost.
func TestTruncate(t *testing.T) {
	garbage := strings.Repeat("\x80", 300)
	for _, c := range []struct {
		text     string
		maxBytes int
		want     string
	}{
		{"abc", 3, "abc"},
		{"abc", 2, "ab"},
		{"é", 1, ""},
		{"aé", 2, "a"},
		{"a😀", 4, "a"},
		{"a😀", 5, "a😀"},
		{"a", 0, ""},
		{garbage, 256, garbage[:256]},
	} {
		if got := Truncate(c.text, c.maxBytes); got != c.want {
			t.Errorf("%q of at most %d bytes: got %q, want %q", c.text, c.maxBytes, got, c.want)
		}
	}
}
