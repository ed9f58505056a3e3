package daemon_test

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/daemontest/clientstest"
	"github.com/bizhook/whd/daemon/demo"
)

// TestServiceStackClient drives a running daemon with ServiceStack's client, which
// programs written for the existing service use.
func TestServiceStackClient(t *testing.T) {
	dir := clientstest.NodeModules(t, ".")
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
