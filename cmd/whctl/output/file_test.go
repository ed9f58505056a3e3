package output

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Two writers of the same file use different part files with unpredictable names.
func TestPartFilesAreUnique(t *testing.T) {
	path := filepath.Join(t.TempDir(), "totals.csv")
	first, err := createPart(path, PrivateFile)
	if err != nil {
		t.Fatal(err)
	}
	second, err := createPart(path, PrivateFile)
	if err != nil {
		t.Fatal(err)
	}
	if first.Name() == second.Name() || filepath.Dir(first.Name()) != filepath.Dir(path) {
		t.Errorf("got the part files %s and %s, want different ones in the directory of %s",
			first.Name(), second.Name(), path)
	}
	if _, err := first.WriteString("one"); err != nil {
		t.Fatal(err)
	}
	if err := keepPart(first, path); err != nil {
		t.Fatal(err)
	}
	dropPart(second)
	wantFile(t, path, "one")
	if files, _ := os.ReadDir(filepath.Dir(path)); len(files) != 1 {
		t.Errorf("got the files %v, want only %s", files, path)
	}
}

// ReplaceFile replaces the target of a symbolic link, not the link. A new file and its
// directory are private.
func TestReplaceFile(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "mine.toml")
	link := filepath.Join(dir, "config.toml")
	if err := os.WriteFile(target, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Skip("symbolic links are not supported: " + err.Error())
	}
	if err := ReplaceFile(link, []byte("new"), PrivateFile); err != nil {
		t.Fatal(err)
	}
	wantFile(t, target, "new")
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is now %v, %v; want a link", info, err)
	}
	fresh := filepath.Join(dir, "whctl", "config.toml")
	if err := ReplaceFile(fresh, []byte("new"), PrivateFile); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		fresh:               "-rw-------",
		filepath.Dir(fresh): "drwx------",
	} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if mode := info.Mode().String(); !strings.HasPrefix(mode, want) {
			t.Errorf("%s has the mode %s, want %s", path, mode, want)
		}
	}
}
