package backup_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/backup"
	"github.com/bizhook/whd/daemon/datadir"
	"github.com/bizhook/whd/daemon/storage"
)

func TestBackupAndRestore(t *testing.T) {
	s := source(t)
	file := filepath.Join(t.TempDir(), "it's [one]*.backup")
	for range 2 { // the second backup replaces the first
		m, err := backup.Write(t.Context(), s, file)
		if err != nil {
			t.Fatal(err)
		}
		if want := "whd test"; m.Program != want {
			t.Errorf("the backup is made by %q, want %q", m.Program, want)
		}
		if want := "records.db, whd.db (version "; !strings.HasPrefix(m.Names(), want) || len(m.Members) != 2 {
			t.Errorf("the backup has the files %s, want %s...)", m.Names(), want)
		}
	}
	if got := names(t, filepath.Dir(file)); len(got) != 1 {
		t.Errorf("the directory of the backup has %q, want only the backup", got)
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode() != 0o600 {
		t.Errorf("the backup has the mode %v, want 0600", info.Mode())
	}

	to := backup.Target{Dir: filepath.Join(t.TempDir(), "new", "place"), Files: s.Files}
	r, err := backup.Restore(t.Context(), to, file)
	if err != nil || r.ReplacedDir != "" {
		t.Fatalf("restoring into a new directory: got replaced files in %q (%v), want none",
			r.ReplacedDir, err)
	}
	wantNames(t, to.Dir, "records.db", "whd.db", "whd.lock")
	opens(t, to.Dir)
}

// wantNames expects exactly the given names of files in a directory.
func wantNames(t *testing.T, dir string, want ...string) {
	t.Helper()
	if got := names(t, dir); !slices.Equal(got, want) {
		t.Errorf("the directory %s has %q, want %q", dir, got, want)
	}
}

// opens checks that a store can be used and has records.
func opens(t *testing.T, dir string) {
	t.Helper()
	config := storage.Config{Dir: dir, Registry: record.Builtin(), Connections: 1}
	store, err := storage.Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	if isEmpty, err := store.Empty(t.Context()); isEmpty || err != nil {
		t.Errorf("the store in %s: got empty %v (%v), want records", dir, isEmpty, err)
	}
	if err := errors.Join(store.Ready(t.Context()), store.Close()); err != nil {
		t.Errorf("the store in %s: %v", dir, err)
	}
}

// TestRestoreOverStore checks that an existing store is replaced only with Force,
// and never while it is in use.
func TestRestoreOverStore(t *testing.T) {
	s := source(t)
	file := saved(t, s)
	to := backup.Target{Dir: t.TempDir(), Files: s.Files, OtherFiles: []string{"demo-key"}}
	if err := os.WriteFile(filepath.Join(to.Dir, "demo-key"), []byte("earlier"), 0o600); err != nil {
		t.Fatal(err)
	}
	refused(t, to, file, "already contains a store: demo-key; --force")
	fill(t, to.Dir)
	refused(t, to, file, "already contains a store: records.db, whd.db, demo-key; --force")

	to.Force = true
	working, err := datadir.LockShared(to.Dir)
	if err != nil {
		t.Fatal(err)
	}
	refused(t, to, file, "stop it first")
	if err := working.Release(); err != nil {
		t.Fatal(err)
	}

	r, err := backup.Restore(t.Context(), to, file)
	if err != nil {
		t.Fatal(err)
	}
	wantNames(t, r.ReplacedDir, "demo-key", "records.db", "whd.db")
	wantNames(t, to.Dir, "records.db", filepath.Base(r.ReplacedDir), "whd.db", "whd.lock")
	opens(t, to.Dir)
}

// TestInterruptedRestore checks that the store stays marked as incomplete if a
// second restore after an interrupted one fails and is undone.
func TestInterruptedRestore(t *testing.T) {
	s := source(t)
	file := saved(t, s)
	to := backup.Target{
		Dir:        t.TempDir(),
		Files:      s.Files,
		OtherFiles: []string{"below/file"}, // cannot be moved
		Force:      true,
	}
	must(0, os.Mkdir(filepath.Join(to.Dir, "below"), 0o700))(t)
	must(0, os.WriteFile(filepath.Join(to.Dir, "below", "file"), nil, 0o600))(t)
	must(0, os.WriteFile(filepath.Join(to.Dir, "records.db"), nil, 0o600))(t)
	refused(t, to, file, "below/file")
	shared := must(datadir.LockShared(to.Dir))(t) // the store is not marked
	must(0, shared.Release())(t)

	exclusive := must(datadir.LockExclusive(to.Dir))(t)
	must(exclusive.MarkUnfinished())(t)
	must(0, exclusive.Release())(t)
	refused(t, to, file, "below/file")
	if _, err := datadir.LockShared(to.Dir); err == nil || !strings.Contains(err.Error(), "was cut short") {
		t.Errorf("the marker file is gone (%v)", err)
	}
	to.OtherFiles = nil
	must(backup.Restore(t.Context(), to, file))(t)
	opens(t, to.Dir)
}

// refused checks that a restore fails with an error and changes nothing.
func refused(t *testing.T, to backup.Target, file, want string) {
	t.Helper()
	isLock := func(name string) bool { return name == "whd.lock" }
	before := slices.DeleteFunc(names(t, to.Dir), isLock)
	_, err := backup.Restore(t.Context(), to, file)
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("restoring: got error %v, want one with %q", err, want)
	}
	after := slices.DeleteFunc(names(t, to.Dir), isLock)
	if !slices.Equal(after, before) {
		t.Errorf("after a refused restore: the directory has %q, want %q as before", after, before)
	}
}

// TestDamagedBackups checks that damage of any kind is detected before anything is
// replaced.
func TestDamagedBackups(t *testing.T) {
	s := source(t)
	whole, err := os.ReadFile(saved(t, s))
	if err != nil {
		t.Fatal(err)
	}
	n := len(whole)
	file := filepath.Join(t.TempDir(), "damaged")
	cases := map[string][]byte{
		"empty":              nil,
		"a text":             []byte("no backup"),
		"a database":         must(os.ReadFile(filepath.Join(s.Dir, "whd.db")))(t),
		"half":               whole[:n/2],
		"without its end":    whole[:n-1],
		"without its sum":    whole[:n-4],
		"a few bytes":        whole[:20],
		"another byte":       altered(whole, n/2),
		"another byte early": altered(whole, n/10),
		"another last byte":  altered(whole, n-1),
		"something behind":   append(bytes.Clone(whole), "more"...),
	}
	for tenth := 1; tenth < 10; tenth++ {
		name := fmt.Sprintf("another byte, place %c", 'A'+tenth)
		cases[name] = altered(whole, n*tenth/10)
	}
	for name, content := range cases {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(file, content, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := backup.Verify(t.Context(), file); err == nil {
				t.Error("Verify accepted it")
			}
			refused(t, backup.Target{Dir: t.TempDir(), Files: s.Files}, file, "")
		})
	}
}

// altered changes one byte at a position, or the next byte if the archive still
// decompresses to the same content: within a run of zeros, another match offset does.
func altered(whole []byte, position int) []byte {
	plain, err := zstd.NewReader(nil)
	if err != nil {
		panic(err)
	}
	defer plain.Close()
	want, err := plain.DecodeAll(whole, nil)
	if err != nil {
		panic(err)
	}
	for {
		changed := bytes.Clone(whole)
		changed[position] ^= 0x10
		got, err := plain.DecodeAll(changed, nil)
		if err != nil || !bytes.Equal(got, want) {
			return changed
		}
		position++
	}
}

// must returns a function that ends the test if there is an error, else returns the value.
func must[T any](value T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// TestBackupOfNewerSchema checks that a backup of a newer program is refused.
func TestBackupOfNewerSchema(t *testing.T) {
	s := source(t)
	file := saved(t, s)
	older := slices.Clone(s.Files)
	for i := range older {
		older[i].MaxSchema = min(older[i].MaxSchema, 1)
	}
	refused(t, backup.Target{Dir: t.TempDir(), Files: older}, file,
		"supports only up to version 1; restore with whd test or later")
	refused(t, backup.Target{Dir: t.TempDir(), Files: older[:1]}, file, `unexpected file "whd.db"`)
}

// TestStoreWithoutRecords backs up and restores a store with its records on a server, and
// restores the backup over one with demo records.
func TestStoreWithoutRecords(t *testing.T) {
	s := source(t)
	if err := os.Remove(filepath.Join(s.Dir, "records.db")); err != nil {
		t.Fatal(err)
	}
	to := backup.Target{Dir: t.TempDir(), Files: s.Files, Force: true}
	fill(t, to.Dir)
	if _, err := backup.Restore(t.Context(), to, saved(t, s)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(to.Dir, "records.db")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file of demo records is left (%v)", err)
	}
}

// TestIncompleteFile checks that a file with a write-ahead log is refused: SQLite leaves the log
// if the disk is full when the last connection is closed.
func TestIncompleteFile(t *testing.T) {
	to := backup.Target{Dir: t.TempDir(), Files: source(t).Files}
	_, err := to.Replace("copy", func(dir string) error {
		return errors.Join(
			os.WriteFile(filepath.Join(dir, "whd.db"), nil, 0o600),
			os.WriteFile(filepath.Join(dir, "whd.db-wal"), nil, 0o600))
	})
	const want = "whd.db could not be completed; the disk may be full"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("replacing the store: got error %v, want one with %q", err, want)
	}
	wantNames(t, to.Dir, "whd.lock")
}

func TestInvalidBackupTargets(t *testing.T) {
	s := source(t)
	for name, path := range map[string]string{
		"no such directory": filepath.Join(t.TempDir(), "missing", "file"),
		"a directory":       t.TempDir(),
		"another file":      filepath.Join(s.Dir, "whd.db"),
	} {
		if _, err := backup.Write(t.Context(), s, path); err == nil {
			t.Errorf("a backup to %s: got no error, want one", name)
		}
	}
	opens(t, s.Dir)
}

// TestBackupOfEmptyDirectory checks that a directory without a store is not backed up.
func TestBackupOfEmptyDirectory(t *testing.T) {
	s := backup.Source{Dir: t.TempDir(), Files: files(t)}
	file := filepath.Join(t.TempDir(), "file")
	_, err := backup.Write(t.Context(), s, file)
	if err == nil || !strings.Contains(err.Error(), "whd.db is missing") {
		t.Errorf("a backup of an empty directory: got error %v, want whd.db is missing", err)
	}
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an incomplete file is left (%v)", err)
	}
}

// TestBackupOfDamagedStore checks that a damaged database is not backed up.
func TestBackupOfDamagedStore(t *testing.T) {
	s := source(t)
	path := filepath.Join(s.Dir, "records.db")
	content := must(os.ReadFile(path))(t)
	const page = 4096
	for start := 3 * page; start < len(content); start += page {
		copy(content[start:], bytes.Repeat([]byte{0xEE}, 200))
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "file")
	_, err := backup.Write(t.Context(), s, file)
	if err == nil || !strings.Contains(err.Error(), "records.db") {
		t.Errorf("a backup of a damaged store: got error %v, want one with records.db", err)
	}
	wantNames(t, filepath.Dir(file))
}

// TestBackupWithDamagedRequestLog checks that the error names the damaged request
// log, and that the rest can be backed up without it.
func TestBackupWithDamagedRequestLog(t *testing.T) {
	s := source(t)
	log := filepath.Join(s.Dir, "requestlog.db")
	must(0, os.WriteFile(log, []byte("no database"), 0o600))(t)
	file := filepath.Join(t.TempDir(), "file")
	_, err := backup.Write(t.Context(), s, file)
	if err == nil {
		t.Fatal("a backup with a damaged request log: got no error, want one")
	}
	for _, part := range []string{log, "works without requestlog.db"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("a backup with a damaged request log: got error %v, want %q in it", err, part)
		}
	}

	must(0, os.Rename(log, log+".damaged"))(t)
	must(backup.Write(t.Context(), s, file))(t)
}

func TestCancelledRunsLeaveNoFiles(t *testing.T) {
	s := source(t)
	file := saved(t, s)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	other := filepath.Join(t.TempDir(), "other")
	if _, err := backup.Write(ended, s, other); err == nil {
		t.Error("a cancelled backup: got no error, want one")
	}
	wantNames(t, filepath.Dir(other))

	to := backup.Target{Dir: t.TempDir(), Files: s.Files}
	if _, err := backup.Restore(ended, to, file); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled restore: got error %v, want %v", err, context.Canceled)
	}
	wantNames(t, to.Dir, "whd.lock")
}
