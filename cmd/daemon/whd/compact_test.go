package whd

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/datadir"
	"github.com/bizhook/whd/daemon/sqlite"
)

// A store of an earlier version, from which most was removed, is smaller after it
// was compacted, holds what it held, and can shrink by itself.
func TestCompactCommand(t *testing.T) {
	o := newOffice(t)
	path := filepath.Join(o.dir, "whd.db")
	early, err := sqlite.Open(path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := early.Exec(`CREATE TABLE Early (Text); INSERT INTO Early SELECT zeroblob(4000000); DELETE FROM Early`); err != nil {
		t.Fatal(err)
	}
	if err := early.Close(); err != nil {
		t.Fatal(err)
	}
	o.do(0, "a password of ann\n", "user create ann --role reader --password-stdin")
	lock, err := datadir.LockShared(o.dir)
	if err != nil {
		t.Fatal(err)
	}
	o.play([]step{{"", "compact", 1, "the directory is in use"}})
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	mark := filepath.Join(o.dir, "restore-unfinished")
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	o.play([]step{{"", "compact", 1, "was interrupted"}})
	if err := os.Remove(mark); err != nil {
		t.Fatal(err)
	}
	got := o.do(0, "", "compact").stdout
	if !regexp.MustCompile(`(?m)^records.db: 0\.\d MB -> 0\.\d MB\nwhd.db: [45]\.\d MB -> 0\.\d MB\n$`).MatchString(got) {
		t.Errorf("got %s", got)
	}
	if info, err := os.Stat(path); err != nil || info.Size() > 1_000_000 {
		t.Errorf("%+v (%v)", info, err)
	}
	if got := o.do(0, "", "user list").stdout; !strings.Contains(got, "ann") {
		t.Errorf("after that the users are %s", got)
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
		t.Errorf("auto_vacuum is %d (%v)", mode.Int(0), err)
	}
}
