package whd

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/datadir"
	"github.com/bizhook/whd/daemon/sqlite"
)

// newSparseStore returns the data directory of a store with the user ann. whd.db was made without
// auto_vacuum, as by an earlier version, and has free pages of about 4 MB.
func newSparseStore(t *testing.T) dataDir {
	t.Helper()
	d := newDataDir(t)
	conn, err := sqlite.Open(filepath.Join(d.dir, "whd.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = conn.Exec(`CREATE TABLE Early (Text);
		INSERT INTO Early SELECT zeroblob(4000000);
		DELETE FROM Early`)
	if err := errors.Join(err, conn.Close()); err != nil {
		t.Fatal(err)
	}
	d.run(0, "a password of ann\n", "user create ann --role reader --password-stdin")
	return d
}

// Compacting a store of an earlier version with free pages makes it smaller, keeps its
// contents and enables auto_vacuum.
func TestCompactShrinksStore(t *testing.T) {
	d := newSparseStore(t)
	got := d.run(0, "", "compact").stdout
	want := regexp.MustCompile(`(?m)^records.db: [\d.]+ KiB -> [\d.]+ KiB\nwhd.db: [3-5]\.\d MiB -> [\d.]+ KiB\n$`)
	if !want.MatchString(got) {
		t.Errorf("compact printed\n%s\nwant\n%s", got, want)
	}
	path := filepath.Join(d.dir, "whd.db")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	const maxSize = 1_000_000
	if info.Size() > maxSize {
		t.Errorf("whd.db has %d bytes after compacting, want at most %d", info.Size(), maxSize)
	}
	if got := d.run(0, "", "user list").stdout; !strings.Contains(got, "ann") {
		t.Errorf("user list printed\n%s\nafter compacting, want ann", got)
	}

	conn, err := sqlite.Open(path, sqlite.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	mode, err := conn.Prepare("PRAGMA auto_vacuum")
	if err != nil {
		t.Fatal(err)
	}
	const incremental = 2
	if _, err := mode.Step(); err != nil || mode.Int(0) != incremental {
		t.Errorf("auto_vacuum is %d (%v), want %d", mode.Int(0), err, incremental)
	}
}

// A store that is in use, or with files that a restore or copy has replaced only in part, is not
// compacted.
func TestCompactNeedsIdleStore(t *testing.T) {
	d := newSparseStore(t)
	lock, err := datadir.LockShared(d.dir)
	if err != nil {
		t.Fatal(err)
	}
	d.runSteps([]step{{args: "compact", status: 3, stderr: "the directory is in use"}})
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}

	marker := filepath.Join(d.dir, "restore-unfinished")
	if err := os.WriteFile(marker, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d.runSteps([]step{{
		args:   "compact",
		status: 1,
		stderr: "run whd restore --force or whd store copy again",
	}})
}

// TestCompactNeedsAStore checks that compacting a directory without a store, which is probably not
// the intended one, is an error. A file without content is not a store either.
func TestCompactNeedsAStore(t *testing.T) {
	d := newDataDir(t)
	want := []step{{args: "compact", status: 1, stderr: d.dir + " contains no store"}}
	d.runSteps(want)
	if err := os.WriteFile(filepath.Join(d.dir, "whd.db"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d.runSteps(want)
}

// TestCompactRefusesANewerStore checks that a store that a newer program has changed stays as it
// is.
func TestCompactRefusesANewerStore(t *testing.T) {
	d := newDataDir(t)
	d.run(0, "a password of ann\n", "user create ann --role reader --password-stdin")
	path := filepath.Join(d.dir, "whd.db")
	conn, err := sqlite.Open(path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(conn.Exec("INSERT INTO WH_Migration (version_id, is_applied) VALUES (9999, 1)"), conn.Close())
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d.runSteps([]step{{
		args:   "compact",
		status: 3,
		stderr: "schema version 9999, but this program only knows versions up to",
	}})
	after, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(after, before) {
		t.Errorf("whd.db has %d bytes (%v) that differ from the %d before", len(after), err, len(before))
	}
}
