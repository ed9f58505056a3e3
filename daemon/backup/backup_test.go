package backup_test

import (
	"bytes"
	"context"
	"errors"
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
		if m.Program != "whd test" || len(m.Members) != 2 || !strings.Contains(m.Names(), "records.db, whd.db (version ") {
			t.Errorf("got %+v", m)
		}
	}
	if got := names(t, filepath.Dir(file)); len(got) != 1 {
		t.Errorf("the directory has %q", got)
	}
	if info, err := os.Stat(file); err != nil || runtime.GOOS != "windows" && info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	to := backup.Target{Dir: filepath.Join(t.TempDir(), "new", "place"), Files: s.Files}
	r, err := backup.Restore(t.Context(), to, file)
	if err != nil || r.ReplacedDir != "" {
		t.Fatalf("%+v, %v", r, err)
	}
	if got := names(t, to.Dir); !slices.Equal(got, []string{"records.db", "whd.db", "whd.lock"}) {
		t.Errorf("got %q", got)
	}
	opens(t, to.Dir)
}

// opens checks that a store can be used and has records.
func opens(t *testing.T, dir string) {
	t.Helper()
	st, err := storage.Open(t.Context(), storage.Config{Dir: dir, Registry: record.Builtin(), Connections: 1})
	if err != nil {
		t.Fatal(err)
	}
	if empty, err := st.Empty(t.Context()); empty || err != nil {
		t.Errorf("empty %v, %v", empty, err)
	}
	if err := errors.Join(st.Ready(t.Context()), st.Close()); err != nil {
		t.Error(err)
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
	if got := names(t, r.ReplacedDir); !slices.Equal(got, []string{"demo-key", "records.db", "whd.db"}) {
		t.Errorf("moved to the subdirectory: %q", got)
	}
	if got := names(t, to.Dir); !slices.Equal(got, []string{"records.db", filepath.Base(r.ReplacedDir), "whd.db", "whd.lock"}) {
		t.Errorf("the directory has %q", got)
	}
	opens(t, to.Dir)
}

// TestInterruptedRestore checks that the store stays marked as incomplete if a
// second restore after an interrupted one fails and is undone.
func TestInterruptedRestore(t *testing.T) {
	s := source(t)
	file := saved(t, s)
	to := backup.Target{Dir: t.TempDir(), Files: s.Files, OtherFiles: []string{"below/file"}, Force: true} // cannot be moved
	must(0, os.Mkdir(filepath.Join(to.Dir, "below"), 0o700))(t)
	must(0, os.WriteFile(filepath.Join(to.Dir, "below", "file"), nil, 0o600))(t)
	must(0, os.WriteFile(filepath.Join(to.Dir, "records.db"), nil, 0o600))(t)
	refused(t, to, file, "below/file")
	whole := must(datadir.LockShared(to.Dir))(t)
	must(0, whole.Release())(t)

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
func refused(t *testing.T, to backup.Target, file, why string) {
	t.Helper()
	before := names(t, to.Dir)
	_, err := backup.Restore(t.Context(), to, file)
	if err == nil || !strings.Contains(err.Error(), why) {
		t.Errorf("got %v, want %q", err, why)
	}
	after := slices.DeleteFunc(names(t, to.Dir), func(name string) bool { return name == "whd.lock" })
	if !slices.Equal(after, slices.DeleteFunc(before, func(name string) bool { return name == "whd.lock" })) {
		t.Errorf("%q became %q", before, after)
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
	for at := 1; at < 10; at++ {
		cases["another byte, place "+string(rune('A'+at))] = altered(whole, n*at/10)
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
func altered(whole []byte, at int) []byte {
	plain, err := zstd.NewReader(nil)
	if err != nil {
		panic(err)
	}
	defer plain.Close()
	want, err := plain.DecodeAll(whole, nil)
	if err != nil {
		panic(err)
	}
	for ; ; at++ {
		other := bytes.Clone(whole)
		other[at] ^= 0x10
		if got, err := plain.DecodeAll(other, nil); err != nil || !bytes.Equal(got, want) {
			return other
		}
	}
}

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
	refused(t, backup.Target{Dir: t.TempDir(), Files: older}, file, "supports only up to version 1; restore with whd test or later")
	refused(t, backup.Target{Dir: t.TempDir(), Files: older[:1]}, file, `unexpected file "whd.db"`)
}

// TestStoreWithoutRecords backs up and restores a store whose records are on a server, and
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

// TestIncompleteFile: SQLite leaves a write-ahead log if the disk is full when the last
// connection is closed. The file is incomplete without it.
func TestIncompleteFile(t *testing.T) {
	to := backup.Target{Dir: t.TempDir(), Files: source(t).Files}
	_, err := to.Replace("copy", func(dir string) error {
		return errors.Join(os.WriteFile(filepath.Join(dir, "whd.db"), nil, 0o600), os.WriteFile(filepath.Join(dir, "whd.db-wal"), nil, 0o600))
	})
	if err == nil || !strings.Contains(err.Error(), "whd.db could not be completed; the disk may be full") {
		t.Errorf("got %v", err)
	}
	if left := names(t, to.Dir); !slices.Equal(left, []string{"whd.lock"}) {
		t.Errorf("left %q", left)
	}
}

func TestInvalidBackupTargets(t *testing.T) {
	s := source(t)
	for name, at := range map[string]string{
		"no such directory": filepath.Join(t.TempDir(), "missing", "file"),
		"a directory":       t.TempDir(),
		"another file":      filepath.Join(s.Dir, "whd.db"),
	} {
		if _, err := backup.Write(t.Context(), s, at); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	opens(t, s.Dir)
	s.Dir = t.TempDir()
	file := filepath.Join(t.TempDir(), "file")
	if _, err := backup.Write(t.Context(), s, file); err == nil || !strings.Contains(err.Error(), "whd.db is missing") {
		t.Errorf("empty directory: %v", err)
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
	for at := 3 * 4096; at < len(content); at += 4096 {
		copy(content[at:], bytes.Repeat([]byte{0xEE}, 200))
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if _, err := backup.Write(t.Context(), s, file); err == nil || !strings.Contains(err.Error(), "records.db") {
		t.Errorf("got %v", err)
	}
	if left := names(t, filepath.Dir(file)); left != nil {
		t.Errorf("files are left: %q", left)
	}
}

// TestBackupWithDamagedRequestLog checks that the error names the damaged request
// log, and that the rest can be backed up without it.
func TestBackupWithDamagedRequestLog(t *testing.T) {
	s := source(t)
	log := filepath.Join(s.Dir, "requestlog.db")
	must(0, os.WriteFile(log, []byte("no database"), 0o600))(t)
	file := filepath.Join(t.TempDir(), "file")
	if _, err := backup.Write(t.Context(), s, file); err == nil || !strings.Contains(err.Error(), log) || !strings.Contains(err.Error(), "works without requestlog.db") {
		t.Errorf("got %v", err)
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
		t.Error("the cancelled backup succeeded")
	}
	to := backup.Target{Dir: t.TempDir(), Files: s.Files}
	if _, err := backup.Restore(ended, to, file); !errors.Is(err, context.Canceled) {
		t.Errorf("the cancelled restore returned %v", err)
	}
	if left := append(names(t, filepath.Dir(other)), names(t, to.Dir)...); !slices.Equal(left, []string{"whd.lock"}) {
		t.Errorf("left: %q", left)
	}
}
