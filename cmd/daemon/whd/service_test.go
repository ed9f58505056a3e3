package whd

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestServiceUpgrade runs the commands of the installer for Windows: it backs up the store before a new
// version starts, and restores it if that version does not.
func TestServiceUpgrade(t *testing.T) {
	d := newDataDir(t)
	file := filepath.Join(d.dir, "before-upgrade.whd")
	wantFile := func(want bool) {
		t.Helper()
		_, err := os.Stat(file)
		if got := err == nil; got != want || err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s exists: %v (%v), want %v", file, got, err, want)
		}
	}
	// Programs that an installer runs may have no standard output.
	upgrade := func(args string) {
		t.Helper()
		if got := d.run(0, "", "service upgrade"+args); got.stdout != "" {
			t.Errorf("service upgrade%s printed %q, want nothing", args, got.stdout)
		}
	}
	upgrade("") // before the first start
	upgrade(" --undo")
	wantFile(false)

	d.run(0, "", "migrate")
	d.run(0, "a password of ann\n", "user create ann --role reader --password-stdin")
	upgrade("")
	wantFile(true)
	d.run(0, "", "user remove ann")
	upgrade(" --undo")
	if got := d.run(0, "", "user list").stdout; !strings.Contains(got, "ann") {
		t.Errorf("after the undo, user list printed %q, want ann", got)
	}
	d.run(0, "", "user remove ann")
	upgrade("") // replaces the backup of the earlier upgrade
	upgrade(" --undo")
	if got := d.run(0, "", "user list").stdout; strings.Contains(got, "ann") {
		t.Errorf("after another upgrade and its undo, user list printed %q, want no ann", got)
	}
}

// TestServiceUpgradeWithoutStore checks that the backup of an earlier upgrade is not restored after
// one without a store.
func TestServiceUpgradeWithoutStore(t *testing.T) {
	d := newDataDir(t)
	d.run(0, "", "migrate")
	d.run(0, "", "service upgrade")
	for _, name := range []string{"whd.db", "records.db"} {
		if err := os.Remove(filepath.Join(d.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	d.run(0, "", "service upgrade")
	d.run(0, "", "service upgrade --undo")
	if _, err := os.Stat(filepath.Join(d.dir, "whd.db")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the store of an earlier upgrade was restored (%v)", err)
	}
}

// TestServiceUpgradeOfStoreOnServer does nothing, since other daemons use that store.
func TestServiceUpgradeOfStoreOnServer(t *testing.T) {
	d := newDataDir(t)
	dsn := filepath.Join(t.TempDir(), "dsn")
	if err := os.WriteFile(dsn, []byte("sqlserver://sa:canary@127.0.0.1:1?database=erp"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{"", " --undo"} {
		d.run(0, "", "service upgrade"+args+" --store-file "+quoted(dsn))
	}
}
