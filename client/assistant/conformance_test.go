package assistant_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/daemontest/clientstest"
)

// TestProtocolConformance runs the protocol's own suite against whd.
func TestProtocolConformance(t *testing.T) {
	dir := clientstest.NodeModules(t, "mcp")
	cmd := exec.CommandContext(t.Context(), "node",
		"--import", absolute(t, "globsync.mjs"),
		"node_modules/@modelcontextprotocol/conformance/dist/index.js", "server",
		"--url", startDemo(t).URL+"/mcp",
		"--expected-failures", absolute(t, "conformance.yml"),
		"--output-dir", t.TempDir(),
	)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("running the suite: %v\n%s", err, out)
	}
	for _, scenario := range []string{
		"server-initialize",
		"ping",
		"tools-list",
		"dns-rebinding-protection",
		"resources-list",
		"prompts-list",
		"logging-set-level",
	} {
		if !strings.Contains(string(out), "✓ "+scenario+":") {
			t.Errorf("the scenario %s has not passed:\n%s", scenario, out)
		}
	}
}

// absolute returns the absolute path of a file in testdata.
func absolute(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestProtocolClients reads rows by the official client for JavaScript and by that of the AI
// SDK, which passes only the text of a result to a model.
func TestProtocolClients(t *testing.T) {
	dir := clientstest.NodeModules(t, "mcp")
	program, err := os.ReadFile(filepath.Join("testdata", "clients.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	err = os.WriteFile(filepath.Join(dir, "clients.mjs"), program, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", "clients.mjs", startDemo(t).URL)
	cmd.Dir = dir
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("node clients.mjs: %v", err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != 2 {
		t.Errorf("the program printed %d lines, want one for each of 2 clients: %s", len(lines), out)
	}

	wantTools := []string{"describe_kind", "find_kinds", "query", "totals", "why"}
	wantTexts := []string{`{"kind":"SO_Totals","rows":[{"InvoiceID":"00120"}]}`}
	for _, line := range lines {
		var got struct {
			Name         string
			Tools, Texts []string
		}
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Fatalf("the program printed %s: %v", line, err)
		}
		if !slices.Equal(got.Tools, wantTools) {
			t.Errorf("%s has the tools %q, want %q", got.Name, got.Tools, wantTools)
		}
		if !slices.Equal(got.Texts, wantTexts) {
			t.Errorf("%s has the texts %q, want %q", got.Name, got.Texts, wantTexts)
		}
	}
}
