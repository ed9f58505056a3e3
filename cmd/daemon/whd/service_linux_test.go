package whd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/daemontest/roottest"
)

// TestSettingsOfOthers checks that root does not upgrade a service by settings of another user, and
// that the other commands warn.
func TestSettingsOfOthers(t *testing.T) {
	roottest.Need(t)
	t.Setenv("TMPDIR", roottest.Dir(t))
	d := newDataDir(t)
	d.run(0, "", "migrate")
	file := filepath.Join(t.TempDir(), "whd.toml")
	if err := os.WriteFile(file, []byte("demo = true\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	upgrade := "service upgrade --config " + quoted(file)
	d.run(0, "", upgrade)
	if err := os.Chown(file, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	const want = "not to an administrator; root runs whd with it"
	if got := d.run(1, "", upgrade); !strings.Contains(got.stderr, want) {
		t.Errorf("an upgrade printed %q, want %q", got.stderr, want)
	}
	checked := d.run(0, "", "check --config "+quoted(file))
	if !strings.Contains(checked.stdout, "permissions") || !strings.Contains(checked.stdout, want) {
		t.Errorf("whd check printed %q, want permissions and %q", checked.stdout, want)
	}
}
