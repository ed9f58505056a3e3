package appdb

import (
	"testing"

	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
)

// TestSchemaText checks that CREATE SCHEMA is the first statement of its batch,
// although each statement gets a prefix.
func TestSchemaText(t *testing.T) {
	for schema, want := range map[string]string{
		"whd":   `EXEC(N'CREATE SCHEMA [whd]')`,
		"whd.x": `EXEC(N'CREATE SCHEMA [whd.x]')`,
		"a]b'c": `EXEC(N'CREATE SCHEMA [a]]b''c]')`,
	} {
		if got := schemaText(schema); got != want {
			t.Errorf("%s: %s, want %s", schema, got, want)
		}
	}
}

// TestSchemaNames creates the tables in schemas with special names.
func TestSchemaNames(t *testing.T) {
	dsn := mssqltest.Database(t)
	for _, name := range []string{"whd.x", "whd's tables", "a.b"} {
		db, err := OpenSchema(t.Context(), Config{DSN: dsn, Schema: name, LockTimeout: executor.StatementLimit})
		if err != nil {
			t.Fatal(err)
		}
		closed(t, db)
		if err := db.Migrate(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := db.Ready(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
