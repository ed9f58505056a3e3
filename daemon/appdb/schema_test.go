package appdb

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Checks the list of tables for the permission check.
func TestServerTablesExcludesDroppedTables(t *testing.T) {
	names, err := tablesAfter(serverMigrations)
	if err != nil || !slices.Contains(names, "WH_User") || slices.Contains(names, settingsTable) {
		t.Errorf("got %q (%v)", names, err)
	}
	if slices.Sort(names); len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("%q contains a duplicate", names)
	}
}

// serverOnly lists the migrations that a file does not need: it has one writer at a time
// and no outbox, and the request log is a separate file.
var serverOnly = []string{"00003_lock.sql", "00004_requestlog.sql", "00010_outboxlocks.sql"}

// The other migrations of both databases must have the same versions and names.
func TestMigrationsOfBothDatabasesCorrespond(t *testing.T) {
	names := func(folder string) (names []string) {
		files, err := fs.Glob(schema, folder+"/*.sql")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			names = append(names, strings.TrimPrefix(file, folder+"/"))
		}
		return names
	}
	want := slices.DeleteFunc(names(serverMigrations), func(name string) bool { return slices.Contains(serverOnly, name) })
	if file := names(FileMigrations); !slices.Equal(file, want) {
		t.Errorf("the file has %s, the server %s", file, want)
	}
}

// Released migrations must not change: a change requires a new migration. Before a
// release, -update records the change.
func TestMigrationsAreUnchanged(t *testing.T) {
	var b strings.Builder
	err := fs.WalkDir(schema, "schema", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := schema.ReadFile(name)
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(text), strings.TrimPrefix(name, "schema/"))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("testdata", "migrations.sha256")
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || string(want) != b.String() {
		t.Errorf("migrations have changed (%v); their checksums are\n%s", err, &b)
	}
}
