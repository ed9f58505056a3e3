package config

import (
	"path/filepath"
	"testing"

	"github.com/bizhook/whd/daemon/appdb"
)

// TestSaveStoredInDataDirectory checks that SaveStored writes to the data directory without a
// settings file, or with one in a directory that is not writable.
func TestSaveStoredInDataDirectory(t *testing.T) {
	stored := []appdb.StoredSetting{{Name: "debug", Value: "true"}}
	for _, file := range []string{"", filepath.Join(t.TempDir(), "missing", "whd.toml")} {
		c := Config{File: file, DataDir: t.TempDir()}
		want := filepath.Join(c.DataDir, fragmentName)
		for range 2 { // the second call finds the same text and creates no file
			if got, err := c.SaveStored(stored); err != nil || got != want {
				t.Errorf("with the settings file %q: saved to %s (%v), want %s", file, got, err, want)
			}
		}
	}
	missing := Config{DataDir: filepath.Join(t.TempDir(), "missing")}
	if path, err := missing.SaveStored(nil); err == nil {
		t.Errorf("written to %s, want an error", path)
	}
}
