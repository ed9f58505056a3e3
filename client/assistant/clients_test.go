package assistant_test

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
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
	programDir, err = os.MkdirTemp("", "whd-assistant-test")
	if err != nil {
		return "", err
	}
	return daemontest.BuildWhctl(programDir)
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

// transports returns the ways in which the library's client reaches the tools, by name.
func transports(t *testing.T, daemon *daemontest.Instance, program, key string) map[string]mcp.Transport {
	cmd := exec.Command(program, "mcp")
	cmd.Env = append(os.Environ(),
		"WHCTL_URL="+daemon.URL,
		"WHCTL_TOKEN="+key,
		"XDG_CONFIG_HOME="+t.TempDir(),
	)
	cmd.Stderr = os.Stderr
	return map[string]mcp.Transport{
		"HTTP": &mcp.StreamableClientTransport{
			Endpoint:   daemon.URL + "/mcp",
			HTTPClient: &http.Client{Transport: bearer(key)},
		},
		"stdio": &mcp.CommandTransport{Command: cmd},
	}
}

// connect returns a session of the library's client. It must end without an error: whctl
// when its input is closed.
func connect(t *testing.T, transport mcp.Transport) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(context.WithoutCancel(t.Context()), transport, nil) // until the cleanup
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Errorf("closing the session: %v", err)
		}
	})
	return session
}

// answer calls a tool by a line with its name and arguments, and returns its structured content as
// text, or its error after "error: ". The client does not keep the order of members: they are
// sorted.
func answer(t *testing.T, session *mcp.ClientSession, line string) string {
	t.Helper()
	tool, arguments, _ := strings.Cut(line, " ")
	params := &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)}
	r, err := session.CallTool(t.Context(), params)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	if r.IsError {
		return errorPrefix + r.Content[0].(*mcp.TextContent).Text
	}
	text, err := json.Marshal(r.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// errorPrefix starts the answers of calls that failed.
const errorPrefix = "error: "

// comparedCalls are calls that every transport answers alike. wantError is in the error of a call
// that must fail, and empty for a call that must not.
var comparedCalls = []struct{ line, wantError string }{
	{line: `find_kinds {"words":"invoice"}`},
	{line: `find_kinds {}`},
	{line: `find_kinds {"words":"zzz"}`},
	{line: `describe_kind {"kind":"BM_Inputs"}`},
	{line: `query {"kind":"SO_Totals","filter":{"InvoiceTotalGreaterThan":90000},` +
		`"fields":["InvoiceID"],"order":["-InvoiceTotal"],"limit":3}`},
	{line: `query {"kind":"INMGT020POQty","limit":200}`},
	{line: `query {"kind":"INMGT020POQty","limit":2,"skip":2}`},
	{line: `query {"kind":"SY_Filters","filter":{"ItemNoIn":[1,2]},"limit":200}`},
	{line: `totals {"kind":"SO_Totals","sum":["InvoiceTotal"],"avg":["InvoiceTotal"]}`},
	{line: `totals {"kind":"SO_Totals","filter":{"InvoiceID":"none"},"max":["InvoiceTotal"]}`},
	{line: `totals {"kind":"IN_KitStockTakeMain","by":["KitStockTakeDate:year"],` +
		`"max":["LastSavedDateTime"],"limit":3}`},
	{line: `query {"kind":"SO_Totals","fields":["Nope"]}`, wantError: "Nope"},
	{line: `query {"kind":"SO_Totals","cursor":"abc"}`, wantError: "cursor"},
	{line: `query {"kind":"WH_Audit"}`, wantError: "unknown record kind"},
	{line: `totals {"kind":"SO_Totals","by":["Nope"]}`, wantError: "Nope"},
}

// TestTransportsAgree calls the tools by the library's client, over HTTP and by whctl mcp: both
// have the same tools and results.
func TestTransportsAgree(t *testing.T) {
	daemon := startDemo(t)
	answers := make(map[string]map[string]string) // by transport and call
	for name, transport := range transports(t, daemon, buildProgram(t), daemon.Key(t, "reader")) {
		session := connect(t, transport)
		info := session.InitializeResult()
		if info.ServerInfo.Name != "whd" || info.Instructions == "" {
			t.Errorf("%s: the server is %q with the instructions %q, want whd with some",
				name, info.ServerInfo.Name, info.Instructions)
		}
		checkTools(t, name, session)
		if _, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "drop"}); err == nil {
			t.Errorf("%s: calling an unknown tool returned no error", name)
		}
		answers[name] = make(map[string]string)
		for _, c := range comparedCalls {
			got := answer(t, session, c.line)
			checkOutcome(t, name+": "+c.line, got, c.wantError)
			answers[name][c.line] = dropCursor(t, got)
		}
	}
	for _, c := range comparedCalls {
		if overHTTP, overPipe := answers["HTTP"][c.line], answers["stdio"][c.line]; overHTTP != overPipe {
			t.Errorf("%s: got over HTTP\n%s\nand over stdio\n%s\nwant the same", c.line, overHTTP, overPipe)
		}
	}
}

// checkOutcome checks that a call failed with an error that has the text wantError, or that it
// succeeded if that is empty.
func checkOutcome(t *testing.T, call, got, wantError string) {
	t.Helper()
	message, isError := strings.CutPrefix(got, errorPrefix)
	if wantError == "" {
		if isError {
			t.Errorf("%s: got the error %s, want a result", call, message)
		}
		return
	}
	if !isError || !strings.Contains(message, wantError) {
		t.Errorf("%s: got %s, want an error with %q", call, got, wantError)
	}
}

// dropCursor returns an answer without its cursor, which differs each time. Errors have none.
func dropCursor(t *testing.T, answer string) string {
	t.Helper()
	if strings.HasPrefix(answer, errorPrefix) {
		return answer
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(answer), &members); err != nil {
		t.Fatalf("the result %s is not an object: %v", answer, err)
	}
	delete(members, "next")
	text, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// checkTools checks that the listed tools are all of them, and only read.
func checkTools(t *testing.T, transport string, session *mcp.ClientSession) {
	t.Helper()
	list, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
		if !tool.Annotations.ReadOnlyHint {
			t.Errorf("%s: the tool %s is not declared read-only", transport, tool.Name)
		}
	}
	want := []string{"describe_kind", "find_kinds", "query", "totals", "why"}
	if !slices.Equal(names, want) {
		t.Errorf("%s: the tools are %q, want %q", transport, names, want)
	}
}

// startZebra starts a daemon with the kind Zebra, which requires the role writer, and the kind Gnu
// for readers, each with one row.
func startZebra(t *testing.T) *daemontest.Instance {
	t.Helper()
	dir := t.TempDir()
	daemon := daemontest.StartIn(t, dir, "--mcp-enabled")
	execute(t, filepath.Join(dir, "records.db"),
		"CREATE TABLE Zebra (ID INTEGER PRIMARY KEY)",
		"INSERT INTO Zebra VALUES (1)",
		"CREATE TABLE Gnu (ID INTEGER PRIMARY KEY)",
		"INSERT INTO Gnu VALUES (1)",
	)
	const kinds = `[Zebra]
role = "writer"
summary = "Stripes"
[Zebra.fields]
ID = "int"
[Gnu]
role = "reader"
summary = "Horns"
[Gnu.fields]
ID = "int"
`
	file := filepath.Join(t.TempDir(), "kinds.toml")
	if err := os.WriteFile(file, []byte(kinds), 0o600); err != nil {
		t.Fatal(err)
	}
	daemon.Set(t, "erp.kinds", file)
	return daemon
}

// execute executes statements on a database file.
func execute(t *testing.T, path string, statements ...string) {
	t.Helper()
	conn, err := sqlite.Open(path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, statement := range statements {
		if err := conn.Exec(statement); err != nil {
			t.Fatalf("%.100s: %v", statement, err)
		}
	}
}

// TestKindsOfRoles checks that a kind which requires the role writer is not served over either
// transport, even to a writer or an admin.
func TestKindsOfRoles(t *testing.T) {
	daemon := startZebra(t)
	program := buildProgram(t)
	for _, role := range []string{"reader", "publisher", "writer", "admin"} {
		for name, transport := range transports(t, daemon, program, daemon.Key(t, role)) {
			t.Run(name+" as "+role, func(t *testing.T) {
				session := connect(t, transport)
				for _, line := range []string{`find_kinds {}`, `find_kinds {"words":"zebra stripes"}`} {
					checkHidesZebra(t, line, answer(t, session, line))
				}
				for _, line := range []string{
					`describe_kind {"kind":"Zebra"}`,
					`describe_kind {"kind":"ZebraQuery"}`,
					`describe_kind {"kind":"Zebr"}`,
					`query {"kind":"Zebra"}`,
					`totals {"kind":"Zebra"}`,
				} {
					got := answer(t, session, line)
					checkHidesZebra(t, line, got)
					if want := errorPrefix + "kind: unknown record kind"; !strings.HasPrefix(got, want) {
						t.Errorf("%s: got %s, want %s", line, got, want)
					}
				}

				const line = `query {"kind":"Gnu"}`
				got := answer(t, session, line)
				if want := `"rows":[{"ID":1}]`; !strings.Contains(got, want) {
					t.Errorf("%s: got %s, want %s", line, got, want)
				}
			})
		}
	}
}

// checkHidesZebra checks that the answer to a call does not show the kind Zebra. Only an error may
// have the name, where it quotes that of the call.
func checkHidesZebra(t *testing.T, line, got string) {
	t.Helper()
	shown := got
	if strings.HasPrefix(got, errorPrefix) {
		var arguments struct{ Kind string }
		_, text, _ := strings.Cut(line, " ")
		if err := json.Unmarshal([]byte(text), &arguments); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		shown = strings.ReplaceAll(got, strconv.Quote(arguments.Kind), "")
	}
	if strings.Contains(shown, "Zebr") || strings.Contains(shown, "Stripes") {
		t.Errorf("%s: got %s, want nothing about Zebra", line, got)
	}
}
