package kindstest

import (
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/sqlite"
)

// LoadServer creates the objects in an empty database.
func LoadServer(tb testing.TB, dsn string, objects []Object) {
	tb.Helper()
	server, err := mssql.Open(mssql.Config{DSN: dsn, Connections: 1})
	if err != nil {
		tb.Fatal(err)
	}
	defer server.Close()
	exec := func(statement string) {
		_, err := server.DB().ExecContext(tb.Context(), statement)
		if err != nil && strings.Contains(statement, " rowversion") { // Babelfish has it on request
			const allow = "EXEC sp_babelfish_configure 'babelfishpg_tsql.escape_hatch_rowversion', 'ignore'; "
			text := strings.ReplaceAll(statement, "'", "''")
			_, err = server.DB().ExecContext(tb.Context(), allow+"EXEC('"+text+"')")
		}
		if err != nil {
			tb.Fatalf("%.300s: %v", statement, err)
		}
	}
	for _, schema := range Schemas[1:] {
		exec("CREATE SCHEMA " + bracket(schema))
	}
	for _, o := range objects {
		for _, statement := range o.Statements() {
			exec(statement)
		}
	}
}

// LoadFile creates the objects in a file. Those of other schemas than the first have the
// schema in their names. Computed columns are left out.
func LoadFile(tb testing.TB, path string, objects []Object) {
	tb.Helper()
	conn, err := sqlite.Open(path, sqlite.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	defer conn.Close()
	statements := []string{"BEGIN"}
	for _, o := range objects {
		statements = append(statements, o.fileStatements()...)
	}
	for _, statement := range append(statements, "COMMIT") {
		if err := conn.Exec(statement); err != nil {
			tb.Fatalf("%.300s: %v", statement, err)
		}
	}
}

// FileName returns the name of an object in a file. Tables of built-in kinds are the service's.
func (o Object) FileName() string {
	if _, builtin := record.Builtin().Lookup(o.Name); o.Schema == Schemas[0] && !builtin {
		return o.Name
	}
	return o.Schema + "_" + o.Name
}

func (o Object) fileStatements() []string {
	name := sqlite.Quote(o.FileName())
	if o.Of != "" {
		table := Object{Schema: o.Schema, Name: o.Of}
		return []string{"CREATE VIEW " + name + " AS SELECT * FROM " + sqlite.Quote(table.FileName())}
	}
	var kept []Column
	for _, c := range o.Columns {
		if !strings.HasPrefix(c.Type, "AS ") {
			kept = append(kept, c)
		}
	}
	o.Columns = kept
	statements := o.create(name, sqlite.Quote, func(c Column) string {
		switch c.Type {
		case "int IDENTITY":
			return "INTEGER"
		case "rowversion":
			return "BLOB DEFAULT (randomblob(8))"
		}
		return strings.TrimSuffix(c.Type, "(max)")
	})
	blobs := strings.NewReplacer(" 0x01", " x'01'", " 0x02", " x'02'", " 0x03", " x'03'")
	for i, statement := range statements {
		if strings.HasPrefix(statement, "INSERT") {
			statements[i] = blobs.Replace(statement)
		}
	}
	return statements
}
