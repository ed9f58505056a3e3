package tuitest

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Files returns the paths of the files in a directory with names that match a pattern. The name of the
// directory is no pattern.
func Files(t testing.TB, dir, pattern string) (paths []string) {
	t.Helper()
	names, err := fs.Glob(os.DirFS(dir), pattern)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		paths = append(paths, filepath.Join(dir, name))
	}
	return paths
}
