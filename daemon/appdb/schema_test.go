package appdb

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/goldentest"
)

// The list of tables is for the permission check.
func TestTablesAfterMigrations(t *testing.T) {
	names, err := tablesAfter(serverMigrations)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(names, "WH_User") {
		t.Errorf("the tables are %q, want WH_User among them", names)
	}
	if slices.Contains(names, settingsTable) {
		t.Errorf("the tables are %q, want them without the dropped %s", names, settingsTable)
	}
	slices.Sort(names)
	if unique := slices.Compact(slices.Clone(names)); len(unique) != len(names) {
		t.Errorf("the tables are %q, want each once", names)
	}
}

// serverOnly lists the migrations that a file does not need: it has one writer at a time
// and no outbox, and the request log is a separate file.
var serverOnly = []string{"00003_lock.sql", "00004_requestlog.sql", "00010_outboxlocks.sql"}

// fileOnly lists the migrations that a server does not need: those of lists and counts that only a
// file has.
var fileOnly = []string{"00021_eventblocks.sql", "00026_smallerblocks.sql"}

// The other migrations of both databases must have the same versions and names.
func TestMigrationsOfBothDatabasesCorrespond(t *testing.T) {
	isServerOnly := func(name string) bool { return slices.Contains(serverOnly, name) }
	want := slices.DeleteFunc(migrationNames(t, serverMigrations), isServerOnly)
	isFileOnly := func(name string) bool { return slices.Contains(fileOnly, name) }
	got := slices.DeleteFunc(migrationNames(t, FileMigrations), isFileOnly)
	if !slices.Equal(got, want) {
		t.Errorf("the migrations of the file are %s, want those of the server: %s", got, want)
	}
}

// migrationNames returns the names of the files in a folder of migrations.
func migrationNames(t *testing.T, folder string) []string {
	t.Helper()
	files, err := fs.Glob(schema, folder+"/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range files {
		names = append(names, path.Base(file))
	}
	return names
}

// Released migrations must not change: a change requires a new migration. Before a
// release, make guards records the change.
func TestMigrationsAreUnchanged(t *testing.T) {
	var got strings.Builder
	err := fs.WalkDir(schema, "schema", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := schema.ReadFile(name)
		fmt.Fprintf(&got, "%x  %s\n", sha256.Sum256(text), strings.TrimPrefix(name, "schema/"))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}

	goldentest.CompareGuard(t, "testdata/migrations.sha256", got.String(),
		"released migrations must not change: add a migration, or, before the release, run make guards")
}
