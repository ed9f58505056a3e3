package arch

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/goldentest"
)

// library is a third-party module, the reason for it, and the packages that may import it.
// The list of dependencies in CONTRIBUTING.md is generated from these.
type library struct {
	module string
	users  []string // and their tests; empty: tests of any package
	only   []string // packages of the module with only one user: "path=user"
	why    string
}

var libraries = []library{
	{module: "github.com/charmbracelet/bubbles", users: []string{"tui/ui"}, why: "text input on the screens"},
	{
		module: "github.com/charmbracelet/bubbletea",
		users: []string{
			"tui", "tui/browse", "tui/screens/home", "tui/screens/messages",
			"tui/screens/records", "tui/screens/webhooks", "tui/session",
			"tui/shell", "tui/tuitest", "tui/ui",
		},
		why: "event loop of the terminal interface: keys, resizing, incremental drawing",
	},
	{
		module: "github.com/charmbracelet/lipgloss",
		users:  []string{"tui/theme"},
		why:    "styles of all output; prevents bubbletea from querying the terminal at the start",
	},
	{
		module: "github.com/charmbracelet/x/ansi",
		users: []string{
			"cmd/whctl/output", "tui", "tui/grid", "tui/screens/messages",
			"tui/shell", "tui/theme", "tui/tuitest", "tui/ui",
		},
		why: "widths of characters, computed as bubbletea does",
	},
	{module: "github.com/creack/pty", why: "tests on a pseudo-terminal"},
	{
		module: "github.com/go-resty/resty/v2",
		users:  []string{"client"},
		why:    "HTTP requests of the Go client",
	},
	{module: "github.com/itchyny/gojq", users: []string{"cmd/whctl/output"}, why: "--jq of whctl"},
	{
		module: "github.com/kardianos/service",
		users:  []string{"daemon/service"},
		why:    "installing and controlling services of Windows and systemd",
	},
	{
		module: "github.com/klauspost/compress",
		users:  []string{"client/xlsx", "daemon/backup", "daemon/query", "daemon/rest", "daemon/rest/edge"},
		why:    "fast zstd, gzip and deflate for responses, workbooks and cursors; zstd for backups",
	},
	{
		module: "github.com/microsoft/go-mssqldb",
		users:  []string{"daemon/mssql"},
		why:    "the driver for SQL Server, with logins by Microsoft Entra and, also from Linux, by Kerberos",
	},
	{
		module: "github.com/modelcontextprotocol/go-sdk",
		users:  []string{"client/assistant"},
		why:    "the protocol by which assistants call tools, over HTTP and standard input",
	},
	{
		module: "github.com/muesli/cancelreader",
		users:  []string{"tui"},
		why:    "cancelling the query of the terminal's background colour; bubbletea requires it anyway",
	},
	{
		module: "github.com/muesli/termenv",
		users:  []string{"tui/theme"},
		why:    "setting the 16 colours of lipgloss without querying the terminal; lipgloss requires it anyway",
	},
	{module: "github.com/pb33f/libopenapi", why: "tests of the references in the OpenAPI document"},
	{module: "github.com/pb33f/libopenapi-validator", why: "keywords of OpenAPI in tests with its schemas"},
	{
		module: "github.com/pelletier/go-toml/v2",
		users:  []string{"cmd/whctl/profile", "daemon", "daemon/config", "daemon/kinds"},
		why:    "the settings file and files of record kinds, with line numbers of their keys; tests of examples in the manual",
	},
	{
		module: "github.com/pressly/goose/v3",
		users:  []string{"daemon/appdb"},
		why:    "versioned migrations of whd's tables on both databases",
	},
	{
		module: "github.com/prometheus/client_golang",
		users:  []string{"daemon/metrics", "daemon/rest"},
		why:    "/metrics",
	},
	{module: "github.com/rogpeppe/go-internal", why: "script tests of whctl"},
	{
		module: "github.com/santhosh-tekuri/jsonschema/v6",
		why:    "tests of the OpenAPI document, and of requests and responses against it",
	},
	{
		module: "github.com/urfave/cli/v2",
		users: []string{
			"cmd/daemon/whd", "cmd/internal/cli", "cmd/whctl", "cmd/whctl/changes",
			"cmd/whctl/command", "cmd/whctl/complete", "cmd/whctl/doctor",
			"cmd/whctl/output", "cmd/whctl/profile", "cmd/whctl/records",
			"cmd/whctl/webhooks",
		},
		why: "commands and flags",
	},
	{
		module: "github.com/yuin/goldmark",
		users:  []string{"daemon/manual"},
		why:    "the manual at /docs: Markdown as web pages",
	},
	{
		module: "github.com/zalando/go-keyring",
		users:  []string{"cmd/whctl", "cmd/whctl/profile"},
		why:    "secrets of whctl in the system's keyring",
	},
	{
		module: "go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp",
		users:  []string{"daemon/trace"},
		why:    "spans of requests, as children of the client's spans",
	},
	{
		module: "go.opentelemetry.io/otel",
		users:  []string{"daemon/trace"},
		why:    "standard attributes of spans",
	},
	{
		module: "go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp",
		users:  []string{"daemon/trace"},
		why:    "export of spans to a collector, configured by the standard variables",
	},
	{
		module: "go.opentelemetry.io/otel/metric",
		users:  []string{"daemon/trace"},
		why:    "disabling the metrics of otelhttp",
	},
	{
		module: "go.opentelemetry.io/otel/sdk",
		users:  []string{"daemon/trace"},
		why:    "sampling and batching of spans",
	},
	{module: "go.opentelemetry.io/otel/trace", users: []string{"daemon/trace"}, why: "spans of deliveries"},
	{module: "go.opentelemetry.io/proto/otlp", why: "tests that decode exported spans"},
	{module: "go.uber.org/goleak", why: "tests for leaked goroutines"},
	{module: "golang.org/x/crypto", users: []string{"daemon/account"}, why: "argon2id for passwords"},
	{
		module: "golang.org/x/net",
		users:  []string{"daemon/webhook/hostiletest", "daemon/webhook/sender"},
		why:    "SOCKS5 of webhooks.proxy; frames of HTTP/2 for receivers that misbehave, in tests",
	},
	{
		module: "golang.org/x/sync",
		users:  []string{"daemon/account"},
		why:    "sharing one password check between concurrent requests",
	},
	{
		module: "golang.org/x/sys",
		users:  []string{"cmd/whctl/command", "daemon/access", "daemon/datadir", "daemon/service", "daemon/spill", "tui"},
		why:    "the protocol of Windows services, the monotonic clock for systemd, locks, free space, permissions and temporary files on Windows, the session of a terminal, and whether a pipe has data",
	},
	{
		module: "golang.org/x/term",
		users: []string{
			"cmd/daemon/whd", "cmd/internal/cli", "cmd/whctl", "cmd/whctl/output",
			"daemon", "tui",
		},
		why: "password prompts without echo; the width of a terminal",
	},
	{module: "golang.org/x/time", users: []string{"daemon/rest/edge"}, why: "token buckets of `http.rate`"},
	{module: "google.golang.org/protobuf", why: "tests that decode exported spans"},
	{module: "modernc.org/libc", users: []string{"daemon/sqlite"}, why: "memory of the SQLite engine"},
	{
		module: "modernc.org/sqlite",
		users:  []string{"daemon/sqlite"},
		only:   []string{"modernc.org/sqlite/lib=daemon/sqlite"},
		why:    "the embedded store: SQLite without cgo",
	},
	{module: "pgregory.net/rapid", why: "property-based tests"},
	{
		module: "software.sslmate.com/src/go-pkcs12",
		users:  []string{"daemon/config", "daemon/daemontest"},
		why:    "certificates in PFX files, in both encryptions that Windows writes",
	},
}

// tools lists modules that are only used by `go tool`.
var tools = []library{
	{module: "honnef.co/go/tools", why: "staticcheck in a fixed version"},
}

func TestLibrariesAreImportedOnlyByTheirUsers(t *testing.T) {
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

// mayImport reports whether the table allows an import of a library's package.
func mayImport(user, path string, inTest bool) bool {
	for _, l := range libraries {
		if !within(path, l.module) {
			continue
		}
		restricted := false
		for _, entry := range l.only {
			if inner, only, _ := strings.Cut(entry, "="); within(path, inner) {
				if user == only {
					return true
				}
				restricted = true
			}
		}
		return !restricted && (slices.Contains(l.users, user) || inTest && l.users == nil)
	}
	return false
}

func within(path, module string) bool { return path == module || strings.HasPrefix(path, module+"/") }

// The table must list exactly the direct dependencies in go.mod.
func TestLibrariesMatchGoMod(t *testing.T) {
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

	var listed []string
	for _, l := range libraries {
		listed = append(listed, l.module)
	}

	slices.Sort(direct)
	if !slices.Equal(direct, listed) {
		t.Errorf("go.mod requires\n%s\nthe table, which must be sorted, lists\n%s",
			strings.Join(direct, "\n"), strings.Join(listed, "\n"))
	}

	for _, tool := range file.Tool {
		if !slices.ContainsFunc(tools, func(l library) bool { return within(tool.Path, l.module) }) {
			t.Errorf("go.mod lists the tool %s, which is missing from the table", tool.Path)
		}
	}
}

// dependenciesTable returns a Markdown table of the modules with their licences.
func dependenciesTable(t *testing.T) string {
	licenceOfModule := make(map[string]string)
	for _, p := range goList(t, "-deps", "-test", "./...", "honnef.co/go/tools/cmd/staticcheck") {
		if p.Module != nil && licenceOfModule[p.Module.Path] == "" {
			licenceOfModule[p.Module.Path] = licenceOf(p.Module.Dir)
		}
	}
	var b strings.Builder
	b.WriteString("| Module | Licence | Used by | For |\n|---|---|---|---|\n")
	for _, l := range libraries {
		users := "tests"
		if l.users != nil {
			users = "`" + strings.Join(l.users, "`, `") + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", l.module, licenceOfModule[l.module], users, l.why)
	}
	for _, l := range tools {
		fmt.Fprintf(&b, "| `%s` | %s | `make check` | %s |\n", l.module, licenceOfModule[l.module], l.why)
	}
	return b.String() + "\n" + licencesText(t)
}

// contributing is the page with the table of dependencies.
const contributing = root + "/.github/CONTRIBUTING.md"

// Compares the table of dependencies in CONTRIBUTING.md with the table of libraries;
// -update writes it.
func TestContributingListsDependencies(t *testing.T) {
	text, err := os.ReadFile(contributing)
	if err != nil {
		t.Fatal(err)
	}
	head, after, found := strings.Cut(string(text), "<!-- dependencies -->\n")
	_, tail, closed := strings.Cut(after, "<!-- end of dependencies -->\n")
	if !found || !closed {
		t.Fatal("CONTRIBUTING.md lacks the markers of the dependencies")
	}
	want := head + "<!-- dependencies -->\n\n" + dependenciesTable(t) + "\n<!-- end of dependencies -->\n" + tail
	if want == string(text) {
		return
	}
	if !goldentest.Updating() {
		t.Fatal("the dependencies in CONTRIBUTING.md are stale: run make golden")
	}
	if err := os.WriteFile(contributing, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}
