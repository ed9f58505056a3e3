package assistant_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/daemontest/clientstest"
)

// TestProtocolConformance runs the protocol's own suite against whd.
func TestProtocolConformance(t *testing.T) {
	dir := clientstest.NodeModules(t, "mcp")
	var files []string
	for _, name := range []string{"globsync.mjs", "conformance.yml"} {
		file, err := filepath.Abs(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	cmd := exec.CommandContext(t.Context(), "node", "--import", files[0], "node_modules/@modelcontextprotocol/conformance/dist/index.js", "server",
		"--url", startDemo(t).URL+"/mcp", "--expected-failures", files[1], "--output-dir", t.TempDir())
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, scenario := range []string{"server-initialize", "ping", "tools-list", "dns-rebinding-protection", "resources-list", "prompts-list", "logging-set-level"} {
		if !strings.Contains(string(out), "✓ "+scenario+":") {
			t.Errorf("%s has not passed:\n%s", scenario, out)
		}
	}
}
