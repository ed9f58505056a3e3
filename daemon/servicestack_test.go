package daemon_test

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/demo"
)

// serviceStackClient is the client that programs written for the existing
// service use, in the version that the test was written for.
const serviceStackClient = "@servicestack/client@2.1.13"

// TestTheClientOfServiceStack drives a running service with that client.
func TestTheClientOfServiceStack(t *testing.T) {
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(tool + " is not installed: the client of ServiceStack runs on Node.js")
		}
	}
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "npm", "install", "--prefix", dir, "--no-audit", "--no-fund", "--loglevel=error", serviceStackClient).CombinedOutput(); err != nil {
		t.Skipf("npm cannot install %s: %v\n%s", serviceStackClient, err, out)
	}
	i := daemontest.Start(t, "--demo")
	bill, stage, setting := demo.BillExample()
	place, err := json.Marshal(map[string]string{"BillID": bill, "StageID": stage, "SettingID": setting})
	if err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs(filepath.Join("testdata", "servicestack", "client.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", script, i.URL, daemontest.AdminPassword, string(place))
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
}
