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
		t.Errorf("part files %s and %s", first.Name(), second.Name())
	}
	if _, err := first.WriteString("one"); err != nil {
		t.Fatal(err)
	}
	if err := keepPart(first, path); err != nil {
		t.Fatal(err)
	}
	dropPart(second)
	wantFile(t, path, "one")
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

// ReplaceFile replaces the target of a symbolic link, not the link. A new file and its
// directory are private.
func TestReplaceFile(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "mine.toml"), filepath.Join(dir, "config.toml")
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
		t.Error("the link was replaced")
	}
	fresh := filepath.Join(dir, "whctl", "config.toml")
	if err := ReplaceFile(fresh, []byte("new"), PrivateFile); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		fresh:               "-rw-------",
		filepath.Dir(fresh): "drwx------",
	} {
		if info, err := os.Stat(path); err != nil || !strings.HasPrefix(info.Mode().String(), want) {
			t.Errorf("%s is %v, want %s", path, info.Mode(), want)
		}
	}
}
