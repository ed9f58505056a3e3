package arch

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// library is one module that is not ours: why it is here, and which of our
// packages may import it. The list of dependencies in CONTRIBUTING.md is made of these.
type library struct {
	module string
	users  []string // with their tests; none where only tests may
	only   []string // packages inside the module that are narrower than it: "path=user"
	why    string
}

var libraries = []library{
	{module: "github.com/charmbracelet/bubbles", users: []string{"tui/ui"}, why: "editing the lines that are typed on the screens"},
	{module: "github.com/charmbracelet/bubbletea", users: []string{"tui", "tui/browse", "tui/screens/home", "tui/screens/messages", "tui/screens/records", "tui/screens/webhooks", "tui/tuitest", "tui/ui"}, why: "the loop of the screens: keys, resizing, drawing what has changed"},
	{module: "github.com/charmbracelet/lipgloss", users: []string{"tui/theme"}, why: "the styles of everything that is drawn, and keeping bubbletea from asking the terminal anything at the start"},
	{module: "github.com/charmbracelet/x/ansi", users: []string{"cmd/whctl/output", "tui", "tui/grid", "tui/screens/messages", "tui/theme", "tui/tuitest", "tui/ui"}, why: "how wide characters are, in the words of what draws them"},
	{module: "github.com/creack/pty", why: "tests on a terminal"},
	{module: "github.com/go-resty/resty/v2", users: []string{"client"}, why: "the HTTP side of the Go client"},
	{module: "github.com/itchyny/gojq", users: []string{"cmd/whctl/output"}, why: "--jq of whctl"},
	{module: "github.com/kardianos/service", users: []string{"daemon/service"}, why: "installing and steering services of Windows and systemd"},
	{module: "github.com/klauspost/compress", users: []string{"daemon/backup", "daemon/rest", "daemon/rest/edge"}, why: "zstd and gzip that keep up with the encoders; zstd of backups"},
	{module: "github.com/microsoft/go-mssqldb", users: []string{"daemon/mssql"}, why: "the driver for SQL Server"},
	{module: "github.com/muesli/cancelreader", users: []string{"tui"}, why: "giving up on a terminal that does not tell its background; bubbletea has it anyway"},
	{module: "github.com/muesli/termenv", users: []string{"tui/theme"}, why: "giving lipgloss its 16 colours without a question to the terminal; lipgloss has it anyway"},
	{module: "github.com/pb33f/libopenapi", why: "tests that read our OpenAPI document"},
	{module: "github.com/pb33f/libopenapi-validator", why: "tests of our OpenAPI document, and of real requests and answers against it"},
	{module: "github.com/pelletier/go-toml/v2", users: []string{"cmd/whctl/profile", "daemon", "daemon/config"}, why: "the settings file, with the lines of its keys for messages; examples in the manual, in tests"},
	{module: "github.com/pressly/goose/v3", users: []string{"daemon/appdb"}, why: "versioned migrations of our own tables on every database"},
	{module: "github.com/prometheus/client_golang", users: []string{"daemon/metrics", "daemon/rest"}, why: "/metrics"},
	{module: "github.com/rogpeppe/go-internal", why: "tests of whctl as scripts"},
	{module: "github.com/urfave/cli/v2", users: []string{"cmd/daemon/whd", "cmd/internal/cli", "cmd/whctl", "cmd/whctl/complete", "cmd/whctl/doctor", "cmd/whctl/output", "cmd/whctl/profile"}, why: "commands and flags"},
	{module: "github.com/zalando/go-keyring", users: []string{"cmd/whctl", "cmd/whctl/profile"}, why: "secrets of whctl in the keyring of the system"},
	{module: "go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp", users: []string{"daemon/trace"}, why: "spans of requests, within those of who asks"},
	{module: "go.opentelemetry.io/otel", users: []string{"daemon/trace"}, why: "the words in which spans tell of requests and deliveries"},
	{module: "go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp", users: []string{"daemon/trace"}, why: "sending spans to a collector, with the standard variables"},
	{module: "go.opentelemetry.io/otel/metric", users: []string{"daemon/trace"}, why: "having otelhttp count nothing"},
	{module: "go.opentelemetry.io/otel/sdk", users: []string{"daemon/trace"}, why: "gathering spans, and which of them to keep"},
	{module: "go.opentelemetry.io/otel/trace", users: []string{"daemon/trace"}, why: "spans of deliveries"},
	{module: "go.opentelemetry.io/proto/otlp", why: "tests that read spans as a collector does"},
	{module: "go.uber.org/goleak", why: "tests that no goroutine is left behind"},
	{module: "golang.org/x/crypto", users: []string{"daemon/account"}, why: "argon2id for passwords"},
	{module: "golang.org/x/sync", users: []string{"daemon/account"}, why: "one check for callers that bring the same password at once"},
	{module: "golang.org/x/sys", users: []string{"daemon/datadir", "daemon/service"}, why: "what the service manager of Windows asks of a service, and the clock that systemd goes by; locks and free space on Windows"},
	{module: "golang.org/x/term", users: []string{"cmd/daemon/whd", "cmd/internal/cli", "cmd/whctl", "cmd/whctl/output", "daemon", "tui"}, why: "asking for a password without showing it; the width of a terminal"},
	{module: "golang.org/x/time", users: []string{"daemon/rest/edge"}, why: "token buckets for http.rate"},
	{module: "google.golang.org/protobuf", why: "the same"},
	{module: "modernc.org/libc", users: []string{"daemon/sqlite"}, why: "the memory that the SQLite engine shares with us"},
	{module: "modernc.org/sqlite", users: []string{"daemon/sqlite"}, only: []string{"modernc.org/sqlite/lib=daemon/sqlite"},
		why: "the embedded store: SQLite without cgo, so that one binary runs everywhere"},
	{module: "pgregory.net/rapid", why: "tests by properties"},
}

// tools are modules that only `go tool` runs.
var tools = []library{
	{module: "honnef.co/go/tools", why: "staticcheck, in one version for everyone"},
}

func TestLibrariesHaveTheirPlace(t *testing.T) {
	thirdParty := make(map[string]bool) // import paths
	for _, p := range goList(t, "-deps", "-test", "./...") {
		if !p.Standard && p.Module != nil && p.Module.Path != module {
			thirdParty[p.ImportPath] = true
		}
	}
	for _, p := range goList(t, "./...") {
		for _, path := range p.Imports {
			if thirdParty[path] && !mayImport(p.short(), path, testOnly(p.short())) {
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

// TestLibrariesAreTheRequirements compares the table with go.mod, so that no
// dependency is without a reason and no reason without its dependency.
func TestLibrariesAreTheRequirements(t *testing.T) {
	cmd := exec.Command("go", "mod", "edit", "-json")
	cmd.Dir = root
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

// dependenciesTable lists the modules with their licences.
func dependenciesTable(t *testing.T) string {
	of := make(map[string]string)
	for _, p := range goList(t, "-deps", "-test", "./...", "honnef.co/go/tools/cmd/staticcheck") {
		if p.Module != nil && of[p.Module.Path] == "" {
			of[p.Module.Path] = licenceOf(p.Module.Dir)
		}
	}
	var b strings.Builder
	b.WriteString("| Module | Licence | Used by | For |\n|---|---|---|---|\n")
	for _, l := range libraries {
		users := "tests"
		if l.users != nil {
			users = "`" + strings.Join(l.users, "`, `") + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", l.module, of[l.module], users, l.why)
	}
	for _, l := range tools {
		fmt.Fprintf(&b, "| `%s` | %s | `make check` | %s |\n", l.module, of[l.module], l.why)
	}
	return b.String() + "\n" + licencesText(t)
}

// contributing is the page that has the table of dependencies.
const contributing = root + "/.github/CONTRIBUTING.md"

var update = flag.Bool("update", false, "write the table and the list instead of comparing with them")

// TestDependencies compares the table of dependencies in CONTRIBUTING.md with
// the table of libraries; -update writes it.
func TestDependencies(t *testing.T) {
	text, err := os.ReadFile(contributing)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, found := strings.Cut(string(text), "<!-- dependencies -->\n")
	_, tail, closed := strings.Cut(rest, "<!-- end of dependencies -->\n")
	if !found || !closed {
		t.Fatal("CONTRIBUTING.md has no place for the dependencies")
	}
	want := head + "<!-- dependencies -->\n\n" + dependenciesTable(t) + "\n<!-- end of dependencies -->\n" + tail
	if want == string(text) {
		return
	}
	if !*update {
		t.Fatal("the dependencies in CONTRIBUTING.md are stale: run make golden")
	}
	if err := os.WriteFile(contributing, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}
