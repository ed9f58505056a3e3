package kinds

import (
	"os"
	"path/filepath"
	"testing"
)

// TestFileNamedTwice checks that a file that is named by itself and by its directory is read once.
func TestFileNamedTwice(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "mine.toml")
	text := "[Parcel]\nsource = \"Parcels\"\nfields = { ID = \"int\" }\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s := Load(dir, file)
	if len(s.Problems) > 0 || s.Served() != 1 {
		t.Errorf("%d kinds are served with the problems %v, want 1 without problems", s.Served(), s.Problems)
	}
}
