package store

import (
	"database/sql"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func openedOwn(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := openOwn(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// migrated is our own database, empty and of the latest version.
func migrated(t *testing.T, path string) *sql.DB {
	t.Helper()
	db := openedOwn(t, path)
	if err := migrateUp(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	return db
}

// tables lists what the database holds, as the statements that make it.
func tables(t *testing.T, db *sql.DB) string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), `SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY name`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var all strings.Builder
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		all.WriteString(text + "\n")
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all.String()
}

func TestMigrate(t *testing.T) {
	db := openedOwn(t, filepath.Join(t.TempDir(), ownFile))
	s := &Store{own: db}
	files, err := fs.Glob(schema, ownSchema+"/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatalf("no migrations (%v)", err)
	}
	expect := func(want int64) {
		t.Helper()
		current, latest, err := s.SchemaVersion(t.Context())
		if err != nil || current != want || latest != int64(len(files)) {
			t.Errorf("version %d of %d (%v), want %d of %d", current, latest, err, want, len(files))
		}
	}
	expect(0)
	for range 2 { // the second finds nothing to do
		if err := migrateUp(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		expect(int64(len(files)))
	}
	for _, table := range []string{"WH_User", "WH_ApiKey", "WH_Session"} {
		var n int
		if err := db.QueryRowContext(t.Context(), `SELECT COUNT(*) FROM `+table).Scan(&n); err != nil || n != 0 {
			t.Errorf("%s has %d rows (%v)", table, n, err)
		}
	}
}

// Every migration can be undone, and done again with the same result.
func TestMigrateDown(t *testing.T) {
	db := migrated(t, filepath.Join(t.TempDir(), ownFile))
	up := tables(t, db)
	provider, err := migrations(db)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := provider.DownTo(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if left := tables(t, db); strings.Contains(left, "WH_User") {
		t.Errorf("left behind:\n%s", left)
	}
	if err := migrateUp(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	if again := tables(t, db); again != up {
		t.Errorf("got\n%s\nwant\n%s", again, up)
	}
}

// Daemons that start at the same moment over one file must all come up.
func TestMigrateAtOnce(t *testing.T) {
	for round := range 2 {
		path := filepath.Join(t.TempDir(), fmt.Sprint(round, ownFile))
		var all sync.WaitGroup
		for range 4 {
			db := openedOwn(t, path)
			all.Go(func() {
				if err := migrateUp(t.Context(), db); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		s := &Store{own: openedOwn(t, path)}
		if current, latest, err := s.SchemaVersion(t.Context()); err != nil || current != latest {
			t.Errorf("version %d of %d (%v)", current, latest, err)
		}
	}
}

// A migration that fails leaves an error, and no endless loop.
func TestMigrateFails(t *testing.T) {
	db := openedOwn(t, filepath.Join(t.TempDir(), ownFile))
	if _, err := db.ExecContext(t.Context(), `CREATE TABLE WH_User (Other TEXT)`); err != nil {
		t.Fatal(err)
	}
	if err := migrateUp(t.Context(), db); err == nil {
		t.Error("a table in the way is no error")
	}
	if left := tables(t, db); strings.Contains(left, "WH_Session") {
		t.Errorf("half a migration is left:\n%s", left)
	}
}
