package service

import (
	"strings"
	"testing"

	"github.com/bizhook/whd/client/goldentest"
)

// shipped is the unit in the packages.
const shipped = "../../cmd/daemon/deploy/whd.service"

// TestShippedUnitIsCurrent checks that the unit in the packages is the one that Unit returns.
func TestShippedUnitIsCurrent(t *testing.T) {
	want := Unit("/usr/bin/whd", "/etc/whd/whd.toml")
	goldentest.Compare(t, shipped, want)
}

// TestQuotedPaths has the quotes that systemd removes. It replaces $name in arguments, but
// not in the path of the program.
func TestQuotedPaths(t *testing.T) {
	for _, c := range []struct{ path, program, argument string }{
		{"/usr/bin/whd", "/usr/bin/whd", "/usr/bin/whd"},
		{"/opt/a b/whd", `"/opt/a b/whd"`, `"/opt/a b/whd"`},
		{"/opt/100%/whd", "/opt/100%%/whd", "/opt/100%%/whd"},
		{`/opt/"$x\y"/whd`, `"/opt/\"$x\\y\"/whd"`, `"/opt/\"$$x\\y\"/whd"`},
	} {
		want := "ExecStart=" + c.program + " serve --config " + c.argument + "\n"
		if got := Unit(c.path, c.path); !strings.Contains(got, want) {
			t.Errorf("the unit for %s has no line %q:\n%s", c.path, want, got)
		}
	}
}

// TestIdentity computes an identifier that exists on every Windows system.
func TestIdentity(t *testing.T) {
	const want = "S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464"
	if got := identity("TrustedInstaller"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
