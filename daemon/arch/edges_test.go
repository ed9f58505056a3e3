package arch

import (
	"slices"
	"strings"
	"testing"
)

// Packages that most others import.
var (
	// shapes are the packages of the client that only have types.
	shapes = []string{"client/record", "client/wire"}

	// plain are the packages that most packages of the daemon import.
	plain = []string{"client/record", "client/wire", "daemon/fault", "daemon/row"}

	// engines are the packages that compile and run SQL.
	engines = []string{"daemon/dialect", "daemon/mssql", "daemon/query", "daemon/sqlite"}

	// ui are the packages of all screens, which also start exports and use the stored state.
	ui = []string{
		"client", "client/display", "client/record", "client/wire",
		"tui/export", "tui/keymap", "tui/state", "tui/theme",
	}
	browse  = slices.Concat(ui, []string{"client/filter", "tui/grid", "tui/ui"})
	screen  = slices.Concat(browse, []string{"tui/browse"})
	command = []string{
		"client", "client/backoff", "client/check", "client/display",
		"client/filter", "client/record", "client/wire", "cmd/internal/cli",
	}
)

// edges lists, for each package of this module, those that it may import outside of tests.
var edges = map[string][]string{
	"client/record":    nil,
	"client/wire":      {"client/record"},
	"client/backoff":   nil,
	"client/check":     nil,
	"client/display":   shapes,
	"client":           slices.Concat(shapes, []string{"client/backoff", "client/csv"}),
	"client/assistant": shapes,
	"client/filter":    {"client", "client/record", "client/wire"},
	"client/xlsx":      nil,
	"client/csv":       nil,
	"client/rowfile":   {"client", "client/csv", "client/record", "client/workbook"},
	"client/workbook":  {"client", "client/record", "client/wire", "client/xlsx"},

	"cmd/internal/cli": {"client/check", "client/display", "client/record"},
	"cmd/daemon":       {"cmd/daemon/whd"},
	"cmd/daemon/whd": {
		"client/check", "client/display", "client/record", "cmd/internal/cli",
		"daemon", "daemon/access", "daemon/account", "daemon/appdb", "daemon/audit",
		"daemon/backup", "daemon/compat", "daemon/config", "daemon/datadir", "daemon/demo",
		"daemon/erp", "daemon/fault", "daemon/importer", "daemon/kinds",
		"daemon/kinds/discover", "daemon/preflight", "daemon/prove",
		"daemon/rest", "daemon/service", "daemon/sqlite", "daemon/storage",
		"daemon/storecopy", "daemon/webhook", "cmd/daemon/docs", "cmd/whctl/docs",
	},
	"cmd/daemon/docs": nil,
	"cmd/whctl/docs":  nil,
	"cmd/whctl": slices.Concat(command, []string{
		"client/assistant", "cmd/whctl/changes", "cmd/whctl/command",
		"cmd/whctl/complete", "cmd/whctl/doctor", "cmd/whctl/listen",
		"cmd/whctl/output", "cmd/whctl/profile", "cmd/whctl/records",
		"cmd/whctl/webhooks", "tui", "tui/theme",
	}),
	"cmd/whctl/changes": slices.Concat(command, []string{
		"cmd/whctl/command", "cmd/whctl/output", "cmd/whctl/records",
		"daemon/sqlite", // for whctl mirror
	}),
	"cmd/whctl/command": slices.Concat(command, []string{
		"cmd/whctl/output", "cmd/whctl/profile", "tui/theme",
	}),
	"cmd/whctl/records": slices.Concat(command, []string{
		"cmd/whctl/command", "cmd/whctl/listen", "cmd/whctl/output",
		"cmd/whctl/profile",
	}),
	"cmd/whctl/webhooks": slices.Concat(command, []string{
		"cmd/whctl/command", "cmd/whctl/listen", "cmd/whctl/output",
		"cmd/whctl/profile", "cmd/whctl/records",
	}),
	"cmd/whctl/output": {
		"client", "client/display", "client/record", "client/rowfile",
		"client/wire", "client/workbook", "client/xlsx", "cmd/internal/cli",
		"tui/theme",
	},
	"cmd/whctl/profile": {
		"client", "client/display", "client/record", "client/wire",
		"cmd/internal/cli", "cmd/whctl/output", "tui/theme",
	},
	"cmd/whctl/complete": slices.Concat(command, []string{"cmd/whctl/output", "cmd/whctl/profile"}),
	"cmd/whctl/doctor":   slices.Concat(command, []string{"cmd/whctl/output", "cmd/whctl/profile"}),
	"cmd/whctl/listen":   slices.Concat(command, []string{"cmd/whctl/output", "cmd/whctl/profile"}),

	"tui/theme":  nil,
	"tui/keymap": nil,
	"tui/ui":     ui,
	"tui/grid":   {"client/display", "client/record", "tui/theme"},
	"tui/browse": browse,
	"tui/session": {
		"client", "client/display", "client/wire", "tui/export", "tui/keymap",
		"tui/ui", // not tui/theme: it draws nothing
	},
	"tui/shell": {
		"client", "client/display", "client/record", "client/wire",
		"tui/browse", "tui/export", "tui/keymap", "tui/session", "tui/theme",
		"tui/ui",
	},
	"tui/state": shapes,
	"tui/export": {
		"client", "client/display", "client/filter", "client/record",
		"client/rowfile", "client/wire",
	},
	"tui/screens/home":     screen,
	"tui/screens/messages": screen,
	"tui/screens/records":  screen,
	"tui/screens/requests": screen,
	"tui/screens/webhooks": screen,
	"tui": slices.Concat(screen, []string{
		"client/backoff", "client/workbook", "tui/screens/home",
		"tui/screens/messages", "tui/screens/records", "tui/screens/requests",
		"tui/screens/webhooks", "tui/session", "tui/shell",
	}),

	// Nouns and rules.
	"daemon/access":      nil,
	"daemon/fault":       nil,
	"daemon/naming":      nil,
	"daemon/audit":       nil,
	"daemon/bounded":     nil,
	"daemon/compat":      nil,
	"daemon/datadir":     {"daemon/access"},
	"daemon/descriptors": nil,
	"daemon/spill":       {"daemon/datadir", "daemon/wake"},
	"daemon/service":     {"daemon/access"},
	"daemon/trace":       nil,
	"daemon/tsql":        nil,
	"daemon/wake":        nil,
	"daemon/dialect":     shapes,
	"daemon/row":         shapes,
	"daemon/demo":        shapes,
	"daemon/query":       {"client/record", "client/wire", "daemon/dialect", "daemon/fault", "daemon/row"},
	"daemon/encode":      {"client/csv", "client/record", "client/wire", "client/xlsx", "daemon/row"},
	"daemon/metadata":    {"client/record", "client/wire", "daemon/encode", "daemon/query"},
	"daemon/manual":      {"daemon/encode"},
	"daemon/account":     {"client/record", "daemon/audit", "daemon/bounded", "daemon/fault", "daemon/naming"},
	"daemon/requestlog":  {"client/backoff", "daemon/fault", "daemon/wake"},

	// Databases: the engines, code for both, and stored data.
	"daemon/sqlite":   {"client/record", "client/wire", "daemon/row", "daemon/tsql"},
	"daemon/mssql":    {"client/record", "client/wire", "daemon/row"},
	"daemon/backup":   {"daemon/datadir", "daemon/sqlite"},
	"daemon/executor": slices.Concat(plain, engines, []string{"client/backoff", "daemon/bounded", "daemon/tsql"}),
	"daemon/erp":      slices.Concat(plain, engines, []string{"daemon/executor", "daemon/tsql"}),
	"daemon/erp/source": slices.Concat(plain, engines, []string{
		"daemon/changes", "daemon/erp", "daemon/executor",
	}),
	"daemon/appdb": slices.Concat(plain, engines, []string{
		"client/backoff", "daemon/account", "daemon/audit", "daemon/datadir", "daemon/executor",
	}),

	"daemon/requestlog/sqlstore": slices.Concat(plain, engines, []string{
		"daemon/appdb", "daemon/executor", "daemon/requestlog",
	}),

	// Webhooks.
	"daemon/webhook/condition": {
		"client/record", "client/wire", "daemon/dialect", "daemon/fault",
		"daemon/query", "daemon/tsql",
	},
	"daemon/webhook":        {"client/record", "client/wire", "daemon/fault", "daemon/webhook/condition"},
	"daemon/webhook/stats":  {"client/wire", "daemon/fault", "daemon/webhook"},
	"daemon/webhook/sender": {"client/record", "client/wire", "daemon/fault", "daemon/webhook"},
	"daemon/webhook/delivery": {
		"client/backoff",
		"client/record",
		"client/wire",
		"daemon/fault",
		"daemon/wake",
		"daemon/webhook",
		"daemon/webhook/condition",
		"daemon/webhook/stats",
	},
	"daemon/webhook/admin": {
		"client/backoff", "client/record", "client/wire", "daemon/audit",
		"daemon/fault", "daemon/naming", "daemon/webhook",
	},
	"daemon/webhook/sqlstore": slices.Concat(plain, engines, []string{
		"daemon/appdb",
		"daemon/audit",
		"daemon/executor",
		"daemon/webhook",
		"daemon/webhook/admin",
		"daemon/webhook/delivery",
		"daemon/webhook/stats",
	}),

	"daemon/changes/sqlstore": slices.Concat(plain, engines, []string{
		"daemon/appdb",
		"daemon/changes",
		"daemon/datadir",
		"daemon/executor",
		"daemon/webhook/delivery",
		"daemon/webhook/sqlstore",
	}),
	"daemon/changes": slices.Concat(plain, []string{
		"client/backoff",
		"daemon/encode",
		"daemon/wake",
		"daemon/webhook/condition",
		"daemon/webhook/delivery",
	}),

	"daemon/importer": {
		"client/wire",
		"daemon/audit",
		"daemon/executor",
		"daemon/fault",
		"daemon/mssql",
		"daemon/webhook",
		"daemon/webhook/admin",
		"daemon/webhook/delivery",
	},

	// HTTP.
	"daemon/live": {
		"client/wire",
		"daemon/wake",
		"daemon/webhook",
		"daemon/webhook/delivery",
		"daemon/webhook/stats",
	},
	"daemon/metrics": {
		"client/wire",
		"daemon/live",
		"daemon/requestlog",
		"daemon/spill",
		"daemon/webhook",
		"daemon/webhook/delivery",
		"daemon/webhook/stats",
	},
	"daemon/rest/edge": slices.Concat(plain, []string{
		"daemon/account", "daemon/bounded", "daemon/encode", "daemon/query",
		"daemon/requestlog",
	}),
	"daemon/rest/form": slices.Concat(plain, []string{
		"daemon/metadata", "daemon/query", "daemon/rest/edge",
	}),
	"daemon/rest/accounts": slices.Concat(plain, []string{
		"daemon/account", "daemon/audit", "daemon/encode", "daemon/query",
		"daemon/requestlog", "daemon/rest/edge", "daemon/rest/form",
	}),
	"daemon/rest/queries": slices.Concat(plain, []string{
		"daemon/account", "daemon/changes", "daemon/encode", "daemon/executor",
		"daemon/metadata", "daemon/query", "daemon/rest/edge",
		"daemon/rest/form", "daemon/spill",
	}),
	"daemon/odata": slices.Concat(plain, []string{"daemon/encode", "daemon/query"}),
	"daemon/rest/feeds": slices.Concat(plain, []string{
		"daemon/dialect", "daemon/encode", "daemon/odata", "daemon/query",
		"daemon/rest/edge", "daemon/rest/queries",
	}),
	"daemon/rest/webhooks": slices.Concat(plain, []string{
		"daemon/account",
		"daemon/audit",
		"daemon/live",
		"daemon/metadata",
		"daemon/query",
		"daemon/requestlog",
		"daemon/rest/accounts",
		"daemon/rest/edge",
		"daemon/rest/form",
		"daemon/rest/queries",
		"daemon/webhook",
		"daemon/webhook/admin",
		"daemon/webhook/delivery",
		"daemon/webhook/stats",
	}),
	"daemon/rest/pages": slices.Concat(plain, []string{
		"client/display", "daemon/account", "daemon/encode", "daemon/query",
		"daemon/rest/edge", "daemon/rest/queries", "daemon/webhook",
	}),
	"daemon/rest": slices.Concat(plain, []string{
		"client/assistant",
		"daemon/account",
		"daemon/audit",
		"daemon/encode",
		"daemon/erp",
		"daemon/executor",
		"daemon/live",
		"daemon/manual",
		"daemon/metadata",
		"daemon/metrics",
		"daemon/query",
		"daemon/requestlog",
		"daemon/rest/accounts",
		"daemon/rest/edge",
		"daemon/rest/feeds",
		"daemon/rest/form",
		"daemon/rest/pages",
		"daemon/rest/queries",
		"daemon/rest/webhooks",
		"daemon/spill",
		"daemon/webhook",
		"daemon/webhook/admin",
		"daemon/webhook/delivery",
	}),

	"daemon/kinds/discover": {
		"client/record", "daemon/erp", "daemon/executor", "daemon/kinds",
		"daemon/mssql", "daemon/sqlite",
	},

	// Composition.
	"daemon/storage": slices.Concat(plain, engines, []string{
		"daemon/appdb",
		"daemon/backup",
		"daemon/changes/sqlstore",
		"daemon/datadir",
		"daemon/erp",
		"daemon/executor",
		"daemon/requestlog",
		"daemon/requestlog/sqlstore",
		"daemon/webhook/sqlstore",
	}),
	"daemon/storecopy": {
		"daemon/appdb", "daemon/backup", "daemon/datadir", "daemon/fault",
		"daemon/mssql", "daemon/sqlite",
	},
	"daemon/kinds": {"client/record", "daemon/account", "daemon/mssql"},
	"daemon/config": {
		"client/display", "client/record", "client/wire", "daemon/appdb",
		"daemon/datadir", "daemon/erp", "daemon/kinds", "daemon/mssql",
		"daemon/spill", "daemon/webhook",
	},
	"daemon/preflight": slices.Concat(plain, engines, []string{
		"client/check", "client/display", "daemon/account", "daemon/appdb", "daemon/backup",
		"daemon/changes", "daemon/config", "daemon/datadir",
		"daemon/descriptors", "daemon/erp", "daemon/erp/source",
		"daemon/storage", "daemon/webhook", "daemon/webhook/sender",
	}),
	"daemon/prove": slices.Concat(plain, engines, []string{
		"client/backoff",
		"client/check",
		"daemon/appdb",
		"daemon/audit",
		"daemon/erp",
		"daemon/executor",
		"daemon/tsql",
		"daemon/webhook",
		"daemon/webhook/admin",
		"daemon/webhook/delivery",
		"daemon/webhook/sqlstore",
	}),
	"daemon": slices.Concat(plain, engines, []string{
		"daemon/account",
		"daemon/appdb",
		"daemon/audit",
		"daemon/backup",
		"daemon/changes",
		"daemon/config",
		"daemon/datadir",
		"daemon/demo",
		"daemon/descriptors",
		"daemon/erp",
		"daemon/erp/source",
		"daemon/executor",
		"daemon/kinds",
		"daemon/live",
		"daemon/metrics",
		"daemon/requestlog",
		"daemon/requestlog/sqlstore",
		"daemon/manual",
		"daemon/rest",
		"daemon/rest/edge",
		"daemon/rest/queries",
		"daemon/service",
		"daemon/spill",
		"daemon/storage",
		"daemon/storecopy",
		"daemon/trace",
		"daemon/webhook",
		"daemon/webhook/admin",
		"daemon/webhook/delivery",
		"daemon/webhook/sender",
		"daemon/webhook/sqlstore",
		"daemon/webhook/stats",
	}),

	// Tests and their support: see testOnly.
	"daemon/daemontest": {
		"cmd/daemon/docs", "cmd/daemon/whd", "cmd/whctl/docs", "daemon", "daemon/config",
	},
}

// testOnly reports whether a package, by its name, exists for tests only. It may import
// the packages that it tests; packages that ship may not import it.
func testOnly(name string) bool {
	return strings.HasSuffix(name, "test") || name == "daemon/arch"
}

// unlinked lists the packages that a binary must not contain, directly or indirectly. whctl
// contains SQLite, with database/sql, for the files of whctl mirror: it makes the program a
// quarter larger, but not slower to start. Only cmd/whctl/changes may import it, see edges.
var unlinked = map[string][]string{
	"cmd/daemon": {"github.com/charmbracelet", "github.com/go-resty", "testing"},
	"cmd/whctl":  {"github.com/microsoft/go-mssqldb", "testing"},
}

// interfacesOfSQL is allowed everywhere: it contains only interfaces, and a library for
// colours implements some of them.
const interfacesOfSQL = "database/sql/driver"

func TestBinariesLinkNoForbiddenPackages(t *testing.T) {
	for _, p := range goList(t, "./cmd/...") {
		forbidden, known := unlinked[p.short()]
		if !known && p.Name == "main" {
			t.Errorf("%s is missing from the table unlinked", p.short())
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

// TestImports checks that each package imports only packages that the table of edges allows, and
// that the table lists exactly the existing packages.
func TestImports(t *testing.T) {
	exists := make(map[string]bool)
	for _, p := range goList(t, "./...") {
		name := p.short()
		exists[name] = true
		allowed, known := edges[name]
		isUnlisted := testOnly(name) && !known
		if !known && !isUnlisted {
			t.Errorf("package %s is missing from the table of edges", name)
		}
		for _, path := range p.Imports {
			imported, internal := strings.CutPrefix(path, module+"/")
			switch {
			case path == "testing" && !testOnly(name):
				t.Errorf("%s imports testing", name)
			case !internal || isUnlisted:
			case known && !slices.Contains(allowed, imported):
				t.Errorf("%s imports %s, which the table of edges does not allow", name, imported)
			case testOnly(imported):
				t.Errorf("%s imports %s, which is for tests", name, imported)
			}
		}
	}
	for name := range edges {
		if !exists[name] {
			t.Errorf("the table of edges contains %s, which does not exist", name)
		}
	}
}
