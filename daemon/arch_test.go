package daemon

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/bizhook/whd"

// edges says which of our packages each of them may import, tests aside.
var edges = map[string][]string{
	"client/record":   nil,
	"client/wire":     {"client/record"},
	"client":          {"client/record", "client/wire"},
	"client/filter":   {"client", "client/record", "client/wire"},
	"client/workbook": {"client", "client/record", "client/wire", "client/xlsx"},
	"client/xlsx":     nil,

	"tui":         {"client", "client/record", "client/filter", "client/wire", "client/workbook", "tui/grid", "tui/nostall"},
	"tui/grid":    {"client/record"},
	"tui/nostall": nil,

	"daemon/fault":           nil,
	"daemon/row":             {"client/record", "client/wire"},
	"daemon/tsql":            nil,
	"daemon/dialect":         {"client/record"},
	"daemon/sqlite":          {"client/record", "daemon/row", "daemon/tsql"},
	"daemon/mssql":           {"client/record", "client/wire", "daemon/row"},
	"daemon/mssql/mssqltest": {"daemon/mssql"},
	"daemon/query":           {"client/record", "client/wire", "daemon/fault", "daemon/dialect"},
	"daemon/encode":          {"client/record", "client/wire", "daemon/row"},
	"daemon/audit":           nil,
	"daemon/datadir":         nil,
	"daemon/backup":          {"daemon/datadir", "daemon/sqlite"},
	"daemon/requestlog":      {"daemon/fault"},
	"daemon/webhook":         {"client/record", "client/wire", "daemon/audit", "daemon/fault"},
	"daemon/live":            {"client/wire", "daemon/webhook"},
	"daemon/account":         {"daemon/audit", "daemon/fault"},
	"daemon/bill":            {"client/record", "client/wire", "daemon/fault"},
	"daemon/metadata":        {"client/record", "client/wire", "daemon/encode", "daemon/query"},
	"daemon/demo":            {"client/record", "client/wire"},
	"daemon/store":           {"client/record", "client/wire", "daemon/account", "daemon/audit", "daemon/bill", "daemon/datadir", "daemon/dialect", "daemon/fault", "daemon/mssql", "daemon/query", "daemon/requestlog", "daemon/row", "daemon/sqlite", "daemon/tsql", "daemon/webhook"},
	"daemon/store/storetest": {"client/record", "client/wire", "daemon/account", "daemon/audit", "daemon/bill", "daemon/demo", "daemon/fault", "daemon/query", "daemon/requestlog", "daemon/row", "daemon/store", "daemon/tsql", "daemon/webhook"},
	"daemon/rest":            {"client/record", "client/wire", "daemon/account", "daemon/audit", "daemon/bill", "daemon/encode", "daemon/fault", "daemon/live", "daemon/metadata", "daemon/query", "daemon/requestlog", "daemon/row", "daemon/store", "daemon/webhook"},
	"daemon":                 {"client/record", "client/wire", "daemon/account", "daemon/audit", "daemon/backup", "daemon/bill", "daemon/datadir", "daemon/demo", "daemon/fault", "daemon/live", "daemon/query", "daemon/requestlog", "daemon/rest", "daemon/service", "daemon/sqlite", "daemon/store", "daemon/trace", "daemon/webhook"},
	"daemon/service":         nil,
	"daemon/trace":           nil,
	"daemon/daemontest":      {"daemon"},
	"daemon/bench/read":      nil, // benchmarks only
	"daemon/bench/delivery":  nil, // benchmarks only
	"daemon/crashtest":       nil, // tests only
	"daemon/readmetest":      nil, // tests only
	"cmd/daemon":             {"daemon"},
	"cmd/whctl":              {"client", "client/record", "client/filter", "client/wire", "client/workbook", "client/xlsx", "tui"},

	"daemon/daemontest/clientstest": nil,               // tests only
	"daemon/encode/encodetest":      {"client/record"}, // tests only
	"daemon/webhook/webhooktest":    {"daemon/fault", "daemon/webhook"},
}

// library is one module that is not ours: why it is here, and which of our
// packages may import it. The README's list of dependencies is made of these.
type library struct {
	module string
	users  []string // with their tests; none where only tests may
	only   []string // packages inside the module that are narrower than it: "path=user"
	why    string
}

var libraries = []library{
	{module: "github.com/charmbracelet/bubbles", users: []string{"tui"}, why: "editing the lines that are typed on the screens"},
	{module: "github.com/charmbracelet/bubbletea", users: []string{"tui"}, why: "the loop of the screens: keys, resizing, drawing what has changed"},
	{module: "github.com/charmbracelet/lipgloss", users: []string{"tui/nostall"}, why: "keeping bubbletea from asking the terminal anything at the start"},
	{module: "github.com/charmbracelet/x/ansi", users: []string{"tui", "tui/grid"}, why: "how wide characters are, in the words of what draws them"},
	{module: "github.com/creack/pty", why: "tests on a terminal"},
	{module: "github.com/go-resty/resty/v2", users: []string{"client"}, why: "the HTTP side of the Go client"},
	{module: "github.com/itchyny/gojq", users: []string{"cmd/whctl"}, why: "--jq of whctl"},
	{module: "github.com/kardianos/service", users: []string{"daemon/service"}, why: "installing and steering services of Windows and systemd"},
	{module: "github.com/klauspost/compress", users: []string{"daemon/backup", "daemon/rest"}, why: "zstd and gzip that keep up with the encoders; zstd of backups"},
	{module: "github.com/microsoft/go-mssqldb", users: []string{"daemon/mssql"}, why: "the driver for SQL Server"},
	{module: "github.com/muesli/cancelreader", users: []string{"tui"}, why: "giving up on a terminal that does not tell its background; bubbletea has it anyway"},
	{module: "github.com/pb33f/libopenapi", why: "tests that read our OpenAPI document"},
	{module: "github.com/pb33f/libopenapi-validator", why: "tests of our OpenAPI document, and of real requests and answers against it"},
	{module: "github.com/pelletier/go-toml/v2", users: []string{"cmd/whctl", "daemon"}, why: "the settings file, with the lines of its keys for messages"},
	{module: "github.com/pressly/goose/v3", users: []string{"daemon/store"}, why: "versioned migrations of our own tables on every database"},
	{module: "github.com/prometheus/client_golang", users: []string{"daemon/rest"}, why: "/metrics"},
	{module: "github.com/rogpeppe/go-internal", why: "tests of whctl as scripts"},
	{module: "github.com/urfave/cli/v2", users: []string{"cmd/whctl"}, why: "commands and flags of whctl"},
	{module: "github.com/zalando/go-keyring", users: []string{"cmd/whctl"}, why: "secrets of whctl in the keyring of the system"},
	{module: "go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp", users: []string{"daemon/trace"}, why: "spans of requests, within those of who asks"},
	{module: "go.opentelemetry.io/otel", users: []string{"daemon/trace"}, why: "the words in which spans tell of requests and deliveries"},
	{module: "go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp", users: []string{"daemon/trace"}, why: "sending spans to a collector, with the standard variables"},
	{module: "go.opentelemetry.io/otel/metric", users: []string{"daemon/trace"}, why: "having otelhttp count nothing"},
	{module: "go.opentelemetry.io/otel/sdk", users: []string{"daemon/trace"}, why: "gathering spans, and which of them to keep"},
	{module: "go.opentelemetry.io/otel/trace", users: []string{"daemon/trace"}, why: "spans of deliveries"},
	{module: "go.opentelemetry.io/proto/otlp", why: "tests that read spans as a collector does"},
	{module: "go.uber.org/goleak", why: "tests that no goroutine is left behind"},
	{module: "golang.org/x/crypto", users: []string{"daemon/account"}, why: "argon2id for passwords"},
	{module: "golang.org/x/sys", users: []string{"daemon/service"}, why: "what the service manager of Windows asks of a service, and the clock that systemd goes by"},
	{module: "golang.org/x/term", users: []string{"cmd/whctl", "daemon", "tui"}, why: "asking for a password without showing it; the width of a terminal"},
	{module: "golang.org/x/time", users: []string{"daemon/rest"}, why: "token buckets for http.rate"},
	{module: "google.golang.org/protobuf", why: "the same"},
	{module: "modernc.org/libc", users: []string{"daemon/sqlite"}, why: "the memory that the SQLite engine shares with us"},
	{module: "modernc.org/sqlite", users: []string{"daemon/sqlite", "daemon/store"}, only: []string{"modernc.org/sqlite/lib=daemon/sqlite"},
		why: "the embedded store: SQLite without cgo, so that one binary runs everywhere"},
	{module: "pgregory.net/rapid", why: "tests by properties"},
}

// tools are modules that only `go tool` runs.
var tools = []library{
	{module: "honnef.co/go/tools", why: "staticcheck, in one version for everyone"},
}

// unlinked says what may not be part of a binary, however indirectly.
var unlinked = map[string][]string{
	"cmd/daemon": {"github.com/charmbracelet", "github.com/go-resty", "github.com/urfave", "testing"},
	"cmd/whctl":  {"database/sql", "modernc.org", "github.com/microsoft/go-mssqldb", "testing"},
}

// listed is what `go list` says about a package.
type listed struct {
	ImportPath   string
	Module       *struct{ Path, Dir string }
	Standard     bool
	Imports      []string
	TestImports  []string
	XTestImports []string
	Deps         []string
}

func (p listed) short() string { return strings.TrimPrefix(p.ImportPath, module+"/") }

// goList lists packages as they are built without cgo, which is how they are shipped.
func goList(t *testing.T, args ...string) []listed {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Module,Standard,Imports,TestImports,XTestImports,Deps"}, args...)...)
	cmd.Dir = ".."
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, &stderr)
	}
	var packages []listed
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}

func TestImportsFollowThePolicy(t *testing.T) {
	found := make(map[string]bool)
	for _, p := range goList(t, "./...") {
		found[p.short()] = true
		allowed, known := edges[p.short()]
		if !known {
			t.Errorf("%s is not in the table of edges", p.short())
		}
		for _, path := range p.Imports {
			other, ours := strings.CutPrefix(path, module+"/")
			if ours && !slices.Contains(allowed, other) {
				t.Errorf("%s may not import %s", p.short(), other)
			}
			if path == "testing" && !testSupport(p.short()) {
				t.Errorf("%s imports testing outside of tests", p.short())
			}
		}
	}
	for name := range edges {
		if !found[name] {
			t.Errorf("the table of edges knows %s, which does not exist", name)
		}
	}
}

// testSupport reports whether a package exists for tests, as its name says.
func testSupport(name string) bool { return strings.HasSuffix(name, "test") }

func TestLibrariesHaveTheirPlace(t *testing.T) {
	thirdParty := make(map[string]bool) // import paths
	for _, p := range goList(t, "-deps", "-test", "./...") {
		if !p.Standard && p.Module != nil && p.Module.Path != module {
			thirdParty[p.ImportPath] = true
		}
	}
	for _, p := range goList(t, "./...") {
		for _, path := range p.Imports {
			if thirdParty[path] && !mayImport(p.short(), path, testSupport(p.short())) {
				t.Errorf("%s may not import %s", p.short(), path)
			}
		}
		for _, path := range append(p.TestImports, p.XTestImports...) {
			if thirdParty[path] && !mayImport(p.short(), path, true) {
				t.Errorf("the tests of %s may not import %s", p.short(), path)
			}
		}
	}
}

// mayImport looks a library's package up in the table.
func mayImport(user, path string, inTest bool) bool {
	for _, l := range libraries {
		if !within(path, l.module) {
			continue
		}
		for _, narrow := range l.only {
			inner, only, _ := strings.Cut(narrow, "=")
			if within(path, inner) {
				return user == only
			}
		}
		return slices.Contains(l.users, user) || inTest && l.users == nil
	}
	return false
}

func within(path, module string) bool { return path == module || strings.HasPrefix(path, module+"/") }

// interfacesOfSQL has no database behind it. A library for colours implements
// some of them.
const interfacesOfSQL = "database/sql/driver"

func TestBinariesLinkOnlyTheirOwn(t *testing.T) {
	for _, p := range goList(t, "./cmd/...") {
		forbidden, known := unlinked[p.short()]
		if !known {
			t.Errorf("the table says nothing about %s", p.short())
		}
		for _, path := range p.Deps {
			for _, f := range forbidden {
				if within(path, f) && path != interfacesOfSQL {
					t.Errorf("%s links %s", p.short(), path)
				}
			}
		}
	}
}

// TestLibrariesAreTheRequirements compares the table with go.mod, so that no
// dependency is without a reason and no reason without its dependency.
func TestLibrariesAreTheRequirements(t *testing.T) {
	cmd := exec.Command("go", "mod", "edit", "-json")
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Require []struct {
			Path     string
			Indirect bool
		}
		Tool []struct{ Path string }
	}
	if err := json.Unmarshal(out, &file); err != nil {
		t.Fatal(err)
	}
	var direct []string
	for _, r := range file.Require {
		isTool := slices.ContainsFunc(tools, func(l library) bool { return l.module == r.Path })
		if !r.Indirect && !isTool {
			direct = append(direct, r.Path)
		}
	}
	var reasoned []string
	for _, l := range libraries {
		reasoned = append(reasoned, l.module)
	}
	slices.Sort(direct)
	if !slices.Equal(direct, reasoned) {
		t.Errorf("go.mod requires\n%s\nthe table, sorted, gives reasons for\n%s", strings.Join(direct, "\n"), strings.Join(reasoned, "\n"))
	}
	for _, tool := range file.Tool {
		if !slices.ContainsFunc(tools, func(l library) bool { return within(tool.Path, l.module) }) {
			t.Errorf("go.mod names the tool %s, which has no reason in the table", tool.Path)
		}
	}
}
