package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file that is too large is refused. Its beginning would be another condition or another body.
func TestLargeFileIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(path, bytes.Repeat([]byte("x"), 4<<20+1), 0o600); err != nil {
		t.Fatal(err)
	}
	for flag, args := range map[string][]string{
		"--where":    {"query", "DB_Class", "--where"},
		"--body":     {"events", "publish", "debtor.created", "--yes", "--body"},
		"--contents": {"bill", "update", "--bill=1", "--stage=1", "--field=1", "--yes", "--contents"},
	} {
		got := invocation{}.run(t, append(args, "@"+path)...)
		want := flag + " @" + path + " is larger than 4 MiB"
		stderr := strings.Replace(got.stderr, flag+": ", flag+" ", 1)
		if got.code != 2 || !strings.Contains(stderr, want) {
			t.Errorf("whctl with %s @FILE of more than 4 MiB: got exit code %d, stderr %q; want 2 and %q",
				flag, got.code, got.stderr, want)
		}
	}
}
