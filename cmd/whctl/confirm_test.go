package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// writeConfig writes a configuration file and returns its directory.
func writeConfig(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "config.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Without a terminal, changes need the confirmation flags; without them no change is
// sent.
func TestChangesNeedConfirmation(t *testing.T) {
	const (
		plain     = "[profiles.prod]\n"
		readOnly  = "[profiles.prod]\nread_only = true\n"
		protected = "[profiles.prod]\nprotected = true\n"
		both      = "[profiles.prod]\nprotected = true\nread_only = true\n"
	)
	for _, c := range []struct {
		config, args string
		code         int
		stderr       string
	}{
		{plain, "poke", 0, ""},
		{plain, "poke --read-only", 9, "read-only: nothing was sent"},
		{plain, "poke --sweeping", 9, "refused to set a value without --yes"},
		{plain, "poke --sweeping --yes", 0, ""},
		{plain, "poke --sweeping -y --no-input", 0, ""},
		{readOnly, "poke", 9, "read-only: nothing was sent"},
		{readOnly, "poke --sweeping --yes --confirm prod", 9, "read-only: nothing was sent"},
		{readOnly, "poke --read-only=false", 0, ""},
		{readOnly, "query SO_Totals --csv", 0, ""},
		{protected, "poke", 9, "profile prod is protected: refused to set a value without --confirm prod"},
		{protected, "poke --yes", 9, "without --confirm prod"},
		{protected, "poke --confirm test", 9, `the profile is prod, not "test"`},
		{protected, "poke --confirm prod", 0, ""},
		{protected, "poke --confirm prod --sweeping", 9, "refused to set a value without --yes"},
		{protected, "poke --confirm prod --sweeping --yes", 0, ""},
		{protected, "query SO_Totals --csv", 0, ""},
		{protected, "careless", 9, "read-only: nothing was sent"},
		{both, "poke --confirm prod --yes", 9, "read-only: nothing was sent"},
	} {
		changes := 0
		got := invocation{config: writeConfig(t, c.config), handler: countChanges(&changes)}.run(t, append(strings.Fields(c.args), "--profile=prod")...)
		if got.code != c.code || !strings.Contains(got.stderr, c.stderr) || c.stderr == "" && got.stderr != "" {
			t.Errorf("%q %s: exit %d, %q; want %d, %q", c.config, c.args, got.code, got.stderr, c.code, c.stderr)
		}
		if refused := c.code != 0; refused == (changes > 0) && !strings.HasPrefix(c.args, "query") {
			t.Errorf("%q %s: %d changes sent", c.config, c.args, changes)
		}
	}
}
