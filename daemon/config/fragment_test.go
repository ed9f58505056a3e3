package config

import (
	"path/filepath"
	"testing"

	"github.com/bizhook/whd/daemon/appdb"
)

// Without a settings file, or with one in a directory that is not writable, SaveStored
// writes to the data directory.
func TestSaveStoredInDataDirectory(t *testing.T) {
	for _, path := range []string{"", filepath.Join(t.TempDir(), "missing", "whd.toml")} {
		c := Config{File: path, DataDir: t.TempDir()}
		for range 2 { // the second call finds the same text and creates no file
			if path, err := c.SaveStored([]appdb.StoredSetting{{Name: "debug", Value: "true"}}); err != nil || path != filepath.Join(c.DataDir, fragmentName) {
				t.Errorf("%s (%v)", path, err)
			}
		}
	}
	missing := Config{DataDir: filepath.Join(t.TempDir(), "missing")}
	if path, err := missing.SaveStored(nil); err == nil {
		t.Errorf("written to %s, want an error", path)
	}
}
