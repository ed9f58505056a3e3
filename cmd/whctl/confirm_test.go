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

// TestChangesNeedConfirmation checks that without a terminal, changes need the flags that confirm
// them; without these no change is sent.
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
		{config: plain, args: "poke", code: 0},
		{config: plain, args: "poke --read-only", code: 9, stderr: "read-only: nothing was sent"},
		{config: plain, args: "poke --sweeping", code: 9, stderr: "refused to set a value without --yes"},
		{config: plain, args: "poke --sweeping --yes", code: 0},
		{config: plain, args: "poke --sweeping -y --no-input", code: 0},
		{config: readOnly, args: "poke", code: 9, stderr: "read-only: nothing was sent"},
		{
			config: readOnly,
			args:   "poke --sweeping --yes --confirm prod",
			code:   9,
			stderr: "read-only: nothing was sent",
		},
		{config: readOnly, args: "poke --read-only=false", code: 0},
		{config: readOnly, args: "query SO_Totals --csv", code: 0},
		{
			config: protected,
			args:   "poke",
			code:   9,
			stderr: "profile prod is protected: refused to set a value without --confirm prod",
		},
		{config: protected, args: "poke --yes", code: 9, stderr: "without --confirm prod"},
		{config: protected, args: "poke --confirm test", code: 9, stderr: `the profile is prod, not "test"`},
		{config: protected, args: "poke --confirm prod", code: 0},
		{
			config: protected,
			args:   "poke --confirm prod --sweeping",
			code:   9,
			stderr: "refused to set a value without --yes",
		},
		{config: protected, args: "poke --confirm prod --sweeping --yes", code: 0},
		{config: protected, args: "query SO_Totals --csv", code: 0},
		{config: protected, args: "careless", code: 9, stderr: "read-only: nothing was sent"},
		{config: both, args: "poke --confirm prod --yes", code: 9, stderr: "read-only: nothing was sent"},
	} {
		changes := 0
		inv := invocation{config: writeConfig(t, c.config), handler: countChanges(&changes)}
		got := inv.run(t, strings.Fields(c.args+" --profile=prod")...)
		if got.code != c.code || !strings.Contains(got.stderr, c.stderr) {
			t.Errorf("whctl %s with %q: got %v; want exit code %d, stderr with %q",
				c.args, c.config, got, c.code, c.stderr)
		}
		if c.stderr == "" && got.stderr != "" {
			t.Errorf("whctl %s with %q: got stderr %q, want none", c.args, c.config, got.stderr)
		}
		want := 0
		if isChange := !strings.HasPrefix(c.args, "query"); isChange && c.code == 0 {
			want = 1
		}
		if changes != want {
			t.Errorf("whctl %s with %q: sent %d changes, want %d", c.args, c.config, changes, want)
		}
	}
}
