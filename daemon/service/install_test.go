package service

import (
	"os"
	"path/filepath"
	"testing"
)

// TestRemoveNewSettings checks that only a settings file with the initial content is removed.
func TestRemoveNewSettings(t *testing.T) {
	path := filepath.Join(t.TempDir(), "whd.toml")
	i := Installation{Config: path, Settings: []byte("listen = ':1'\n")}
	if err := i.removeNewSettings(); err != nil {
		t.Errorf("without a file: %v", err)
	}
	for content, isKept := range map[string]bool{
		"listen = ':1'\n": false,
		"listen = ':2'\n": true,
		"":                true,
	} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := i.removeNewSettings(); err != nil {
			t.Errorf("with %q: %v", content, err)
		}
		if _, err := os.Stat(path); (err == nil) != isKept {
			t.Errorf("with %q: the file is kept: %t, want %t", content, err == nil, isKept)
		}
	}
}
