package assistant_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/sqlite"
)

// programDir is the directory of the program of buildProgram. TestMain removes it.
var programDir string

var built = sync.OnceValues(func() (path string, err error) {
	if programDir, err = os.MkdirTemp("", "whd-assistant-test"); err != nil {
		return "", err
	}
	path = filepath.Join(programDir, "whctl")
	if out, err := exec.Command("go", "build", "-o", path, "../../cmd/whctl").CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
})

// buildProgram builds whctl, once for all tests.
func buildProgram(t *testing.T) (path string) {
	t.Helper()
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// bearer adds an API key to requests.
type bearer string

func (key bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(key))
	return http.DefaultTransport.RoundTrip(r)
}

// transports are the ways in which the library's client reaches the tools.
func transports(t *testing.T, i *daemontest.Instance, program, key string) map[string]mcp.Transport {
	cmd := exec.Command(program, "mcp")
	cmd.Env = append(os.Environ(), "WHCTL_URL="+i.URL, "WHCTL_TOKEN="+key, "XDG_CONFIG_HOME="+t.TempDir())
	cmd.Stderr = os.Stderr
	return map[string]mcp.Transport{
		"HTTP":  &mcp.StreamableClientTransport{Endpoint: i.URL + "/mcp", HTTPClient: &http.Client{Transport: bearer(key)}},
		"stdio": &mcp.CommandTransport{Command: cmd},
	}
}

// connect returns a session of the library's client. It must end without an error: whctl
// when its input is closed.
func connect(t *testing.T, to mcp.Transport) *mcp.ClientSession {
	t.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(context.WithoutCancel(t.Context()), to, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	})
	return session
}

// answer returns a result as text: its structured content, or else its error.
func answer(t *testing.T, s *mcp.ClientSession, line string) string {
	t.Helper()
	tool, arguments, _ := strings.Cut(line, " ")
	r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)})
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	if r.IsError {
		return "error: " + r.Content[0].(*mcp.TextContent).Text
	}
	text, err := json.Marshal(r.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestClientOfTheLibrary calls the tools by the library's client, over HTTP and by
// whctl mcp: both have the same tools and results.
func TestClientOfTheLibrary(t *testing.T) {
	i := startDemo(t)
	lines := []string{
		`find_kinds {"words":"invoice"}`, `find_kinds {}`, `find_kinds {"words":"zzz"}`, `describe_kind {"kind":"BM_Inputs"}`,
		`query {"kind":"SO_Totals","filter":{"InvoiceTotalGreaterThan":90000},"fields":["InvoiceID"],"order":["-InvoiceTotal"],"limit":3}`,
		`query {"kind":"INMGT020POQty","limit":200}`, `query {"kind":"INMGT020POQty","limit":2,"skip":2}`, `query {"kind":"SY_Filters","filter":{"ItemNoIn":[1,2]},"limit":200}`,
		`totals {"kind":"SO_Totals","sum":["InvoiceTotal"],"avg":["InvoiceTotal"]}`, `totals {"kind":"SO_Totals","filter":{"InvoiceID":"none"},"max":["InvoiceTotal"]}`,
		`totals {"kind":"IN_KitStockTakeMain","by":["KitStockTakeDate:year"],"max":["LastSavedDateTime"],"limit":3}`,
		`query {"kind":"SO_Totals","fields":["Nope"]}`, `query {"kind":"SO_Totals","cursor":"abc"}`, `query {"kind":"WH_Audit"}`, `totals {"kind":"SO_Totals","by":["Nope"]}`,
	}
	answers := make(map[string][]string)
	for name, to := range transports(t, i, buildProgram(t), i.Key(t, "reader")) {
		s := connect(t, to)
		if info := s.InitializeResult(); info.ServerInfo.Name != "whd" || info.Instructions == "" {
			t.Errorf("%s: %+v", name, info)
		}
		list, err := s.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, tool := range list.Tools {
			names = append(names, tool.Name)
			if !tool.Annotations.ReadOnlyHint {
				t.Errorf("%s: %s is not declared read-only", name, tool.Name)
			}
		}
		if want := []string{"describe_kind", "find_kinds", "query", "totals", "why"}; !slices.Equal(names, want) {
			t.Errorf("%s: tools %q, want %q", name, names, want)
		}
		if _, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "drop"}); err == nil {
			t.Errorf("%s: an unknown tool has a result", name)
		}
		for _, line := range lines {
			text := answer(t, s, line)
			if next := strings.Index(text, `"next":"`); next >= 0 { // a cursor differs each time
				text = text[:next]
			}
			answers[line] = append(answers[line], text)
		}
	}
	for _, line := range lines {
		if a := answers[line]; len(a) != 2 || a[0] != a[1] {
			t.Errorf("%s:\n%s", line, strings.Join(a, "\n"))
		}
	}
}

// TestKindsOfRoles checks that a kind which requires the role writer is not served by either
// way in, even to a writer or an admin.
func TestKindsOfRoles(t *testing.T) {
	dir := t.TempDir()
	i := daemontest.StartIn(t, dir, "--mcp-enabled")
	conn, err := sqlite.Open(filepath.Join(dir, "records.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, statement := range []string{"CREATE TABLE Zebra (ID INTEGER PRIMARY KEY)", "INSERT INTO Zebra VALUES (1)", "CREATE TABLE Gnu (ID INTEGER PRIMARY KEY)", "INSERT INTO Gnu VALUES (1)"} {
		if err := conn.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(t.TempDir(), "kinds.toml")
	text := "[Zebra]\nrole = \"writer\"\nsummary = \"Stripes\"\n[Zebra.fields]\nID = \"int\"\n[Gnu]\nrole = \"reader\"\nsummary = \"Horns\"\n[Gnu.fields]\nID = \"int\"\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	i.Set(t, "erp.kinds", file)
	program := buildProgram(t)
	for _, role := range []string{"reader", "publisher", "writer", "admin"} {
		for name, to := range transports(t, i, program, i.Key(t, role)) {
			s := connect(t, to)
			for _, line := range []string{`find_kinds {}`, `find_kinds {"words":"zebra stripes"}`, `describe_kind {"kind":"Zebra"}`, `describe_kind {"kind":"ZebraQuery"}`, `query {"kind":"Zebra"}`, `totals {"kind":"Zebra"}`, `describe_kind {"kind":"Zebr"}`} {
				got := answer(t, s, line)
				if strings.Contains(strings.ReplaceAll(got, `"Zebr`, ""), "Zebra") || strings.Contains(got, "Stripes") || strings.Contains(line, `"kind"`) && !strings.HasPrefix(got, "error: kind: unknown record kind") {
					t.Errorf("%s as %s: %s: %s", name, role, line, got)
				}
			}
			if got := answer(t, s, `query {"kind":"Gnu"}`); !strings.Contains(got, `"rows":[{"ID":1}]`) {
				t.Errorf("%s as %s: %s", name, role, got)
			}
		}
	}
}
