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

// Compacting a store of an earlier version with free pages makes it smaller, keeps its
// contents and enables auto_vacuum.
func TestCompactShrinksStore(t *testing.T) {
	d := newDataDir(t)
	path := filepath.Join(d.dir, "whd.db")
	former, err := sqlite.Open(path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := former.Exec(`CREATE TABLE Early (Text); INSERT INTO Early SELECT zeroblob(4000000); DELETE FROM Early`); err != nil {
		t.Fatal(err)
	}
	if err := former.Close(); err != nil {
		t.Fatal(err)
	}
	d.run(0, "a password of ann\n", "user create ann --role reader --password-stdin")
	lock, err := datadir.LockShared(d.dir)
	if err != nil {
		t.Fatal(err)
	}
	d.runSteps([]step{{"", "compact", 3, "the directory is in use"}})
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	marker := filepath.Join(d.dir, "restore-unfinished")
	if err := os.WriteFile(marker, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d.runSteps([]step{{"", "compact", 1, "was interrupted"}})
	if err := os.Remove(marker); err != nil {
		t.Fatal(err)
	}
	got := d.run(0, "", "compact").stdout
	if !regexp.MustCompile(`(?m)^records.db: 0\.\d MB -> 0\.\d MB\nwhd.db: [45]\.\d MB -> 0\.\d MB\n$`).MatchString(got) {
		t.Errorf("got %s", got)
	}
	if info, err := os.Stat(path); err != nil || info.Size() > 1_000_000 {
		t.Errorf("the file is %+v (%v), want at most 1 MB", info, err)
	}
	if got := d.run(0, "", "user list").stdout; !strings.Contains(got, "ann") {
		t.Errorf("users after compacting: %s", got)
	}
	after, err := sqlite.Open(path, sqlite.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer after.Close()
	mode, err := after.Prepare("PRAGMA auto_vacuum")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := mode.Step(); err != nil || mode.Int(0) != 2 {
		t.Errorf("auto_vacuum is %d (%v), want 2", mode.Int(0), err)
	}
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
	d.runSteps([]step{{"", "compact", 3, "schema version 9999, but this program only knows versions up to"}})
	after, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(after, before) {
		t.Errorf("whd.db has %d bytes (%v) that differ from the %d before", len(after), err, len(before))
	}
}
