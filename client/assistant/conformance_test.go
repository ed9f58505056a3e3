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

// TestProtocolClients reads rows by the official client for JavaScript and by that of the AI
// SDK, which passes only the text of a result to a model.
func TestProtocolClients(t *testing.T) {
	dir := clientstest.NodeModules(t, "mcp")
	program, err := os.ReadFile(filepath.Join("testdata", "clients.mjs"))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "clients.mjs"), program, 0o600)
	}
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
		t.Errorf("%d lines, want one for each client: %s", len(lines), out)
	}
	for _, line := range lines {
		var got struct {
			Name         string
			Tools, Texts []string
		}
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		tools, texts := []string{"describe_kind", "find_kinds", "query", "totals", "why"}, []string{`{"kind":"SO_Totals","rows":[{"InvoiceID":"00120"}]}`}
		if !slices.Equal(got.Tools, tools) || !slices.Equal(got.Texts, texts) {
			t.Errorf("%s: tools %q and texts %q, want %q and %q", got.Name, got.Tools, got.Texts, tools, texts)
		}
	}
}
