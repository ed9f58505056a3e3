package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/config"
	"github.com/bizhook/whd/daemon/datadir"
	"github.com/bizhook/whd/daemon/storage"
)

// started returns a daemon after New, not yet serving, or the error of New.
func started(t *testing.T, dir string) (*Daemon, error) {
	t.Helper()
	c, err := config.Read(nil, []string{"WHD_DATA_DIR=" + dir, "WHD_LISTEN=127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	d, err := New(t.Context(), c, io.Discard, slog.New(slog.DiscardHandler))
	if err == nil {
		t.Cleanup(func() {
			if err := d.Stop(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	return d, err
}

// passwordFiles returns the files that hold a password of the first user, temporary ones
// included.
func passwordFiles(t *testing.T, dir string) []string {
	t.Helper()
	names, err := fs.Glob(os.DirFS(dir), adminPasswordFile+"*")
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, name := range names {
		files = append(files, filepath.Join(dir, name))
	}
	return files
}

func expectAdmin(t *testing.T, d *Daemon, file string) {
	t.Helper()
	password, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	login := account.Login{UserName: account.FirstUser, Password: strings.TrimSpace(string(password))}
	if _, err := d.accounts.Login(t.Context(), login); err != nil {
		t.Errorf("the password in the file does not work: %v", err)
	}
}

func TestFirstPasswordIsWrittenToFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, adminPasswordFile)
	if err := os.WriteFile(file, []byte("of another time"), 0o644); err != nil {
		t.Fatal(err)
	}
	d, err := started(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	if files := passwordFiles(t, dir); len(files) != 1 || files[0] != file {
		t.Errorf("files are %q", files)
	}
	expectAdmin(t, d, file)
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode() != 0o600 {
		t.Errorf("mode is %v", info.Mode())
	}
}

// A second start generates no password and writes no file.
func TestFirstPasswordIsGeneratedOnce(t *testing.T) {
	dir := t.TempDir()
	d, err := started(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, adminPasswordFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := started(t, dir); err != nil {
		t.Fatal(err)
	}
	if files := passwordFiles(t, dir); len(files) != 0 {
		t.Errorf("files are %q", files)
	}
}

// The password is not lost if its file cannot be renamed.
func TestFirstPasswordSurvivesFailedRename(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, adminPasswordFile, "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := started(t, dir)
	isDirectory := func(path string) bool { return filepath.Base(path) == adminPasswordFile }
	files := slices.DeleteFunc(passwordFiles(t, dir), isDirectory)
	if err == nil || len(files) != 1 || !strings.Contains(err.Error(), files[0]) {
		t.Fatalf("files are %q, error %v", files, err)
	}
	d, err := started(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	expectAdmin(t, d, files[0])
}

// No user is created if the password cannot be written.
func TestFirstPasswordIsWrittenBeforeUserIsCreated(t *testing.T) {
	s, err := storage.Open(t.Context(), storage.Config{
		Dir:         t.TempDir(),
		Registry:    record.Builtin(),
		Connections: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	accounts, err := account.New(account.Config{Store: s.AppDB.Accounts()})
	if err != nil {
		t.Fatal(err)
	}
	first := firstStart{
		config:   config.Config{DataDir: filepath.Join(t.TempDir(), "gone")},
		accounts: accounts,
		out:      io.Discard,
		log:      slog.New(slog.DiscardHandler),
	}
	if _, err := first.ensureAdmin(t.Context()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if users, err := accounts.Users(t.Context()); err != nil || len(users) != 0 {
		t.Errorf("users are %+v (%v)", users, err)
	}
}

// watchedStore calls the functions before and after it adds the first user.
type watchedStore struct {
	account.Store
	before, after func()
}

func (s watchedStore) AddFirstUser(ctx context.Context, u account.User, e audit.Entry) (bool, error) {
	s.before()
	added, err := s.Store.AddFirstUser(ctx, u, e)
	s.after()
	return added, err
}

// firstUserSteps creates the first user in a directory, and calls step after each step that
// is on disk: the sync of a file or directory, and the commit of the user.
func firstUserSteps(t *testing.T, dir string, step func(name string)) {
	t.Helper()
	s, err := storage.Open(t.Context(), storage.Config{Dir: dir, Registry: record.Builtin(), Connections: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	store := watchedStore{
		Store:  s.AppDB.Accounts(),
		before: func() { step("before the user") },
		after:  func() { step("user") },
	}
	accounts, err := account.New(account.Config{Store: store, CheapHashes: true})
	if err != nil {
		t.Fatal(err)
	}
	disk := datadir.Disk{Synced: func(path string) { step(filepath.Base(path)) }}
	first := firstStart{
		config:   config.Config{DataDir: dir},
		accounts: accounts,
		disk:     disk,
		out:      io.Discard,
		log:      slog.New(slog.DiscardHandler),
	}
	if _, err := first.ensureAdmin(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// A power failure must not leave a user without password, so the password and its name are
// synced before the user is created.
func TestFirstPasswordIsSyncedBeforeUserIsCreated(t *testing.T) {
	dir := t.TempDir()
	var got []string
	firstUserSteps(t, dir, func(name string) { got = append(got, name) })
	want := []string{
		adminPasswordFile + newSuffix,
		filepath.Base(dir),
		"before the user",
		"user",
		filepath.Base(dir),
	}
	if !slices.Equal(got, want) {
		t.Errorf("the first user was created in the steps %q, want %q", got, want)
	}
}

// A start after a cut at any step ends with a password that works, in a file of its usual
// name.
func TestFirstPasswordAfterCut(t *testing.T) {
	parent, dir := t.TempDir(), t.TempDir()
	var cuts []string
	firstUserSteps(t, dir, func(name string) {
		cut := filepath.Join(parent, fmt.Sprint(len(cuts)+1, " ", name))
		if err := os.CopyFS(cut, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		cuts = append(cuts, cut)
	})
	for _, cut := range cuts {
		d, err := started(t, cut)
		if err != nil {
			t.Fatalf("after %s: %v", filepath.Base(cut), err)
		}
		file := filepath.Join(cut, adminPasswordFile)
		if files := passwordFiles(t, cut); !slices.Equal(files, []string{file}) {
			t.Errorf("after %s, the files are %q, want %q", filepath.Base(cut), files, file)
		}
		expectAdmin(t, d, file)
	}
}

// A file under the temporary name that does not have the user's password is removed.
func TestUnfinishedPasswordOfAnotherUser(t *testing.T) {
	for _, text := range []string{"", "of another daemon\n"} {
		dir := t.TempDir()
		d, err := started(t, dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, adminPasswordFile)
		if err := os.WriteFile(file+newSuffix, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if d, err = started(t, dir); err != nil {
			t.Fatalf("with %q in the temporary file: %v", text, err)
		}
		if files := passwordFiles(t, dir); !slices.Equal(files, []string{file}) {
			t.Errorf("with %q in the temporary file, the files are %q, want %q", text, files, file)
		}
		expectAdmin(t, d, file)
	}
}
