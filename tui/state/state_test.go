package state

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// The file is readable by its owner only, and concurrent sessions do not overwrite each
// other's changes.
func TestConcurrentSessionsShareStateFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	first, second := openStore(t, dir), openStore(t, dir)
	first.SetGrid("SO_Totals", Arrangement{Fields: []string{"InvoiceID"}})
	second.SetGrid("DB_Class", Arrangement{OrderBy: "-Class"})
	second.SetView(View{Name: "all", Record: "DB_Class"})
	for _, store := range []*Store{first, second, first} {
		if err := store.Write(); err != nil {
			t.Fatal(err)
		}
	}
	last := openStore(t, dir)
	if len(last.Grids) != 2 || last.Grids["SO_Totals"].Fields[0] != "InvoiceID" || len(last.Views) != 1 {
		t.Errorf("the file has %+v, want the grids and the view of both sessions", last.State)
	}
	if files, err := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("there are the files %v, want only the state: %v", files, err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	for path, want := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, "prod.json"): 0o600} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has the mode %v, want %v", path, info.Mode(), want)
		}
	}
}

// openStore opens the state of a profile.
func openStore(t *testing.T, dir string) *Store {
	t.Helper()
	store, err := Open(dir, "prod")
	if err != nil {
		t.Fatal(err)
	}
	return store
}
