package mssql_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
)

func open(t *testing.T, dsn string) *mssql.Conn {
	t.Helper()
	s, err := mssql.Open(mssql.Config{DSN: dsn, Connections: 2})
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(c.Close(), s.Close()); err != nil {
			t.Error(err)
		}
	})
	return c
}

func TestCatalogue(t *testing.T) {
	dsn := mssqltest.Database(t)
	mssqltest.Exec(t, dsn,
		`CREATE SCHEMA [e r p]`,
		`CREATE TABLE [e r p].[T.1] (
			a varchar(30) NOT NULL, b nvarchar(max) NULL, c char(5), d decimal(19,4),
			e datetime, f datetime2(7), g uniqueidentifier, h bit,
			i tinyint, j smallint, k int, l bigint,
			m varbinary(max), n money, o nvarchar(255), p float)`,
		`CREATE VIEW dbo.v AS SELECT a, k FROM [e r p].[T.1]`)
	c := open(t, dsn)
	want := "a varchar(30) false, b nvarchar(max) true, c char(5) true, d decimal(19,4) true, " +
		"e datetime true, f datetime2 true, g uniqueidentifier true, h bit true, " +
		"i tinyint true, j smallint true, k int true, l bigint true, " +
		"m varbinary(max) true, n money true, o nvarchar(255) true, p float true, "
	expectColumns(t, c, "[e r p].[T.1]", want)
	expectColumns(t, c, "v", "a varchar(30) true, k int true, ")
	expectColumns(t, c, "missing", "")
	expectColumns(t, c, "master.dbo.missing", "")
	columns, err := c.Catalogue(t.Context(), table(t, "[e r p].[T.1]"))
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{0, 2} {
		c := columns[i]
		if c.CodePage == 0 || c.Collation == "" || !c.Holds("abc") {
			t.Errorf("the column %s is %+v, want a code page and a collation for abc", c.Name, c)
		}
	}
}

func table(t *testing.T, name string) mssql.Table {
	t.Helper()
	parsed, ok := mssql.ParseTable(name, "dbo")
	if !ok {
		t.Fatalf("%q is not the name of a table", name)
	}
	return parsed
}

func expectColumns(t *testing.T, c *mssql.Conn, name, want string) {
	t.Helper()
	columns, err := c.Catalogue(t.Context(), table(t, name))
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, column := range columns {
		got += fmt.Sprintf("%s %s %v, ", column.Name, column.Declared(), column.Nullable)
	}
	if got != want {
		t.Errorf("the columns of %s: got %s\nwant %s", name, got, want)
	}
}

// TestErrors causes errors on a server and checks their classification.
func TestErrors(t *testing.T) {
	dsn := mssqltest.Database(t)
	const largest = "99999999999999999999999999999999999999"
	mssqltest.Exec(t, dsn,
		`CREATE TABLE t (a int NOT NULL PRIMARY KEY, b decimal(38,0))`,
		`INSERT INTO t VALUES (1, `+largest+`), (2, `+largest+`)`)
	c := open(t, dsn)
	text := []mssql.Param{mssql.Text(mssql.Column{}, "x")}
	for _, statement := range []struct {
		sql     string
		params  []mssql.Param
		isClass func(*mssql.Error) bool
	}{
		{"SELECT a FROM missing", nil, (*mssql.Error).NoTable},
		{"SELECT a FROM nowhere.missing", nil, (*mssql.Error).NoTable},
		{"SELECT missing FROM t", nil, (*mssql.Error).NoColumn},
		{"SELECT SUM(b) FROM t", nil, (*mssql.Error).Overflow},
		{"SELECT CAST('x' AS int)", nil, (*mssql.Error).Conversion},
		{"SELECT a FROM t WHERE a = @p1", text, (*mssql.Error).Conversion},
	} {
		err := run(c, mssql.Query{
			SQL:    statement.sql,
			Params: statement.params,
			Types:  []record.Type{record.Decimal},
		})
		e, ok := errors.AsType[*mssql.Error](err)
		if !ok || !statement.isClass(e) {
			t.Errorf("%s: got error %v, want one of another class", statement.sql, err)
		}
	}
	err := insertTwice(t, dsn)
	if _, ok := errors.AsType[*mssql.Error](err); !ok {
		t.Errorf("inserting a key twice: got error %v, want one of the server", err)
	}
}

func run(c *mssql.Conn, q mssql.Query) error {
	rows, err := c.Query(context.Background(), q)
	if err != nil {
		return err
	}
	defer rows.Close()
	for {
		if cells, err := rows.Next(); err != nil || cells == nil {
			return err
		}
	}
}

// insertTwice inserts an existing key and returns the error, which must not be nil.
func insertTwice(t *testing.T, dsn string) error {
	s, err := mssql.Open(mssql.Config{DSN: dsn})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	_, err = s.DB().ExecContext(t.Context(), "INSERT INTO t VALUES (1, 1)")
	var e *mssql.Error
	if errors.As(err, &e) && !e.Duplicate() {
		t.Errorf("duplicate key: %v", err)
	}
	return err
}
