package datadir_test

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/bizhook/whd/daemon/datadir"
)

func TestDisk(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "secret.new")
	final := filepath.Join(dir, "secret")
	if err := os.WriteFile(path, []byte("a longer text of another time"), 0o644); err != nil {
		t.Fatal(err)
	}
	var synced []string
	disk := datadir.Disk{Synced: func(path string) { synced = append(synced, path) }}
	if err := disk.Write(path, []byte("text")); err != nil {
		t.Fatal(err)
	}
	if err := disk.Rename(path, final); err != nil {
		t.Fatal(err)
	}
	if want := []string{path, dir, dir}; !slices.Equal(synced, want) {
		t.Errorf("synced %q, want %q", synced, want)
	}
	content, err := os.ReadFile(final)
	if err != nil || string(content) != "text" {
		t.Errorf("got the content %q (%v), want text", content, err)
	}
	info, err := os.Stat(final)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode() != 0o600 {
		t.Errorf("got the mode %v, want 0600", info.Mode())
	}
}
