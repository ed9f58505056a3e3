package output

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bizhook/whd/client/goldentest"
)

// golden compares text with a golden file; with -update it rewrites the file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	goldentest.Compare(t, filepath.Join("testdata", name+".golden"), got)
}

func wantFile(t *testing.T, path, want string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil || string(text) != want {
		t.Errorf("%s holds %q, %v; want %q", path, text, err, want)
	}
}

// streaming returns the formats that need no file and are written row by row.
func streaming() []string {
	return slices.DeleteFunc(FormatNames(), func(name string) bool {
		return name == "xlsx" || name == "raw"
	})
}
