package backup_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/backup"
	"github.com/bizhook/whd/daemon/daemontest"
)

// TestKilledProcesses kills whd backup and whd restore at many times: no incomplete
// file has a final name, and the next run succeeds in spite of leftover files.
func TestKilledProcesses(t *testing.T) {
	s := source(t)
	file := filepath.Join(t.TempDir(), "store.backup")
	finished := rounds(t, func() bool {
		_, err := os.Stat(file)
		if errors.Is(err, fs.ErrNotExist) {
			return false
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := backup.Verify(t.Context(), file); err != nil {
			t.Fatalf("an incomplete backup has the final name: %v", err)
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		return true
	}, "backup", "--data-dir", s.Dir, file)
	t.Logf("backup: %d of %d runs finished", finished, kills)
	if _, err := backup.Write(t.Context(), s, file); err != nil {
		t.Fatal(err)
	}
	if got := names(t, filepath.Dir(file)); len(got) != 1 {
		t.Errorf("the directory of the backup has %q, want only the backup", got)
	}

	to := backup.Target{Dir: filepath.Join(t.TempDir(), "place"), Files: s.Files, Force: true}
	finished = rounds(t, func() bool {
		defer os.RemoveAll(to.Dir)
		if _, err := os.Stat(filepath.Join(to.Dir, "restore-unfinished")); err == nil {
			return false // daemons cannot open the store
		}
		_, recordsErr := os.Stat(filepath.Join(to.Dir, "records.db"))
		_, serviceErr := os.Stat(filepath.Join(to.Dir, "whd.db"))
		if (recordsErr == nil) != (serviceErr == nil) {
			t.Fatalf("an incomplete store is in place: records.db (%v), whd.db (%v)", recordsErr, serviceErr)
		}
		return serviceErr == nil
	}, "restore", "--data-dir", to.Dir, file)
	t.Logf("restore: %d of %d runs finished", finished, kills)
	if _, err := backup.Restore(t.Context(), to, file); err != nil {
		t.Fatal(err)
	}
	opens(t, to.Dir)
}

// kills is the number of times that each command is killed.
const kills = 4

// rounds runs a command and kills it, each time a little later, and counts how
// often done reports that it had finished.
func rounds(t *testing.T, done func() bool, args ...string) (finished int) {
	t.Helper()
	began := time.Now()
	output, err := must(daemontest.Command(args...))(t).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	took := time.Since(began)
	if !done() {
		t.Fatalf("%q never finished: %s", args, output)
	}
	for n := range kills {
		cmd := must(daemontest.Command(args...))(t)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		kill := time.AfterFunc(took*time.Duration(n+1)/kills, func() { cmd.Process.Kill() })
		_ = cmd.Wait()
		kill.Stop()
		if done() {
			finished++
		}
	}
	return finished
}
