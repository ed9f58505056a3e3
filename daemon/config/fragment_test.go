package config

import (
	"path/filepath"
	"testing"

	"github.com/bizhook/whd/daemon/appdb"
)

// TestStoredSettingsWithoutAFile go to the data directory; so do those of a settings
// file whose directory cannot be written to.
func TestStoredSettingsWithoutAFile(t *testing.T) {
	for _, path := range []string{"", filepath.Join(t.TempDir(), "missing", "whd.toml")} {
		c := Config{File: path, DataDir: t.TempDir()}
		for range 2 { // the same text is written once
			if path, err := c.SaveStored([]appdb.StoredSetting{{Name: "debug", Value: "true"}}); err != nil || path != filepath.Join(c.DataDir, fragmentName) {
				t.Errorf("%s (%v)", path, err)
			}
		}
	}
	lost := Config{DataDir: filepath.Join(t.TempDir(), "missing")}
	if path, err := lost.SaveStored(nil); err == nil {
		t.Errorf("written to %s", path)
	}
}
