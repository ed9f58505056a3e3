package output

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the expected outputs")

// golden compares text with a golden file; with -update it rewrites the file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	wantFile(t, path, got)
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
	return slices.DeleteFunc(FormatNames(), func(name string) bool { return name == "xlsx" || name == "raw" })
}
