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
	first, err := Open(dir, "prod")
	if err != nil {
		t.Fatal(err)
	}
	other, err := Open(dir, "prod")
	if err != nil {
		t.Fatal(err)
	}
	first.SetGrid("SO_Totals", Arrangement{Fields: []string{"InvoiceID"}})
	other.SetGrid("DB_Class", Arrangement{OrderBy: "-Class"})
	other.SetView(View{Name: "all", Record: "DB_Class"})
	for _, k := range []*Store{first, other, first} {
		if err := k.Write(); err != nil {
			t.Fatal(err)
		}
	}
	last, err := Open(dir, "prod")
	if err != nil || len(last.Grids) != 2 || last.Grids["SO_Totals"].Fields[0] != "InvoiceID" || len(last.Views) != 1 {
		t.Errorf("state is %+v, %v", last.State, err)
	}
	files, _ := os.ReadDir(dir)
	if len(files) != 1 {
		t.Errorf("unexpected files: %v", files)
	}
	for path, want := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, "prod.json"): 0o600} {
		if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}
