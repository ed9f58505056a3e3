// Package config reads the settings. One table (settings.go) defines them; the keys of
// the TOML file, environment variables, flags and documentation are derived from it.
package config

import (
	"cmp"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/erp"
	"github.com/bizhook/whd/daemon/kinds"
)

// Config contains the value of every setting. The settings table (settings.go)
// describes them.
type Config struct {
	File          string // the TOML file that was read, empty if none
	Listen        string
	Store         DSN
	DataDir       string
	Demo          bool
	AdminPassword Secret

	Server  ServerConfig
	TLS     TLSConfig
	Log     LogConfig
	Query   QueryConfig
	HTTP    HTTPConfig
	Auth    AuthConfig
	Metrics MetricsConfig
	Trace   TraceConfig
	Admin   AdminConfig

	Webhooks   WebhooksConfig
	RequestLog RequestLogConfig

	ERP ERPConfig

	Start   Start
	origins map[string]Origin
}

// Origin is the source of a setting's value, such as "file whd.toml:3", "variable
// WHD_LISTEN", "flag --listen", "compat" or "default".
type Origin string

const byDefault Origin = "default"

// Origin returns the source of the value of the setting with the given name.
func (c *Config) Origin(name string) Origin { return cmp.Or(c.origins[name], byDefault) }

// Start contains facts about one start that are not settings.
type Start struct {
	Version  string   // version of the program
	NewStore bool     // create a new store even if files of the previous one are missing
	Fresh    bool     // do not look for an earlier version's data in the ERP's database
	Service  bool     // a service manager started the program
	Warnings []string // about unknown WHD_ variables
	Former   []Former // former settings that had an effect

	CheapHashes bool // hashes of passwords cost next to nothing; for tests only

	LostLines func() int64 // number of log lines that were dropped; nil for none

	Manual Manual // that the service serves
}

// Manual has the pages of the manual; both are nil if the program has none.
type Manual struct {
	Service fs.FS // about whd
	Client  fs.FS // about whctl
}

// Former is a setting that another one replaces.
type Former struct{ Setting, Now, Advice string }

// replacements lists former settings and those that now have their effect. A former
// setting counts if the other is not set.
var replacements = []struct {
	former, now string
	assign      func(*Config)
	advice      string
}{
	{
		former: "store",
		now:    "erp",
		assign: func(c *Config) { c.ERP.DSN = c.Store },
		advice: "set erp to the connection string of the ERP's database;" +
			" store will only select the database of whd's own data",
	},
	{
		former: "store.read_dsn",
		now:    "erp.read_dsn",
		assign: func(c *Config) { c.ERP.ReadDSN = c.Server.ReadDSN },
		advice: "set erp.read_dsn in its place",
	},
	{
		former: "store.max_connections",
		now:    "erp.max_connections",
		assign: func(c *Config) { c.ERP.MaxConnections = c.Server.MaxConnections },
		advice: "set erp.max_connections in its place",
	},
	{
		former: "store.lock_timeout",
		now:    "erp.lock_timeout",
		assign: func(c *Config) { c.ERP.LockTimeout = c.Server.LockTimeout },
		advice: "set erp.lock_timeout too; store.lock_timeout will only apply to whd's own tables",
	},
}

// ServerConfig configures a store on SQL Server. The embedded store ignores it.
type ServerConfig struct {
	Schema      string // schema of the daemon's tables
	LockTimeout time.Duration
	Migrate     bool // migrate the daemon's tables at start

	ReadDSN        Secret // former setting, see replacements
	MaxConnections int    // former setting, see replacements
}

// LogConfig configures the daemon's log on standard error.
type LogConfig struct {
	Level    string // debug, info, warn, error
	Format   string // text, json
	Requests string // requestsAuto, ...
}

// Values of log.requests.
const (
	requestsAuto   = "auto"
	requestsAlways = "always"
	requestsNever  = "never"
)

// LogsRequests reports whether the log has a line for each request.
func (c *Config) LogsRequests() bool {
	if c.Log.Requests != requestsAuto {
		return c.Log.Requests == requestsAlways
	}
	return !c.RequestLog.Enabled || c.Log.SlogLevel() == slog.LevelDebug
}

// QueryConfig contains limits of queries and options of their results. Zero means no
// limit.
type QueryConfig struct {
	MaxTake      int
	Total        string // auto, always, asked
	TimeZone     *time.Location
	Timeout      time.Duration
	CountTimeout time.Duration
	TotalCache   time.Duration
	FormulaGuard bool // cells of CSV that begin like a formula get an apostrophe
	FeedPage     int  // number of rows of an OData page
}

// The values of query.total.
const (
	totalAuto      = "auto"
	totalAlways    = "always"
	totalOnRequest = "asked"
)

// CountsPages reports whether the Total of a page is counted without a request, within
// PageCountSteps. On a server a count can be a second scan of a large table.
func (c Config) CountsPages() bool {
	if c.Query.Total == totalAuto {
		return !c.ERP.DSN.OnServer()
	}
	return c.Query.Total == totalAlways
}

// pageCountSteps is about as many of SQLite's instructions as it executes in 20 ms: those for
// counting the matches among 100,000 rows.
const pageCountSteps = 500_000

// PageCountSteps returns the maximum number of SQLite's instructions for counting the Total of a
// page that was not requested; 0 for no limit.
func (c Config) PageCountSteps() int {
	if c.Query.Total == totalAlways {
		return 0
	}
	return pageCountSteps
}

// DemoByDefault reports whether the ERP's records are demo records without a setting that
// selects them.
func (c *Config) DemoByDefault() bool {
	return !c.ERP.DSN.OnServer() && !c.Demo && c.Origin("erp") == byDefault
}

// Warnings returns messages about settings that are valid but probably mistaken. A demo
// serves this machine only, so its host_url may be a loopback address.
func (c *Config) Warnings() []string {
	if c.Demo || !c.Webhooks.Enabled || !IsLoopback(c.Webhooks.HostURL) {
		return nil
	}
	return []string{"webhooks.host_url is a loopback address;" +
		" set it to the URL that users of the service open"}
}

// Risks returns the risks of the defaults that the setting compat changed and that no
// other source overrides.
func (c *Config) Risks() (risks []Risk) {
	for _, r := range compatDefaults {
		if c.Origin(r.Setting) == byCompat {
			risks = append(risks, r)
		}
	}
	return risks
}

// HTTPConfig configures the HTTP edge: reverse proxy, browser access and limits.
type HTTPConfig struct {
	BasePath          string // "" or "/path" without a trailing slash
	PublicURL         string // base URL of the service from outside
	TrustedProxies    Networks
	ForwardedHost     bool // trusted proxies set X-Forwarded-Host
	CORSOrigins       WebOrigins
	Hosts             HostNames // in addition to the built-in ones
	Rate              Rate
	MaxRequests       int
	Debug             bool   // stack traces in error responses
	Compat            string // none, servicestack-5
	ReadHeaderTimeout time.Duration
	IdleTimeout       time.Duration
	WriteStall        time.Duration
	ShutdownGrace     time.Duration
	ShutdownDelay     time.Duration // before the grace period starts
	MaxBody           Size
	MaxHead           Size
	BodyMemory        Size // for all request bodies
	ReplyMemory       Size // for all responses that are held whole
	MCP               bool // tools for assistants
}

// AuthConfig configures anonymous access, API keys and session lifetimes.
type AuthConfig struct {
	Queries  string // required, anonymous
	KeyInURL bool   // accept API keys in URLs
	Session  time.Duration
	Remember time.Duration
}

// AnonymousQueries reports whether queries need no login.
func (a AuthConfig) AnonymousQueries() bool { return a.Queries == "anonymous" }

// MetricsConfig configures the address of /metrics.
type MetricsConfig struct {
	Listen string // empty: on the main listener
}

// TraceConfig configures the export of spans of requests and deliveries.
type TraceConfig struct {
	Endpoint string // base URL of an OTLP collector; empty: the standard OTEL_ variables apply
}

// AdminConfig configures the listener for profiles.
type AdminConfig struct {
	Listen string // a loopback address; empty: disabled
}

// ChangesConfig configures the capture of changes.
type ChangesConfig struct {
	Share   Share         // share of the time in which the ERP's tables may be read
	Sweep   time.Duration // minimum time from the end of a kind's sweep to the start of the next
	Overlap time.Duration // time by which polls by time go back

	// Keep is the retention of changes, and of the shadow of a kind after its changes were
	// last needed.
	Keep     time.Duration
	KeepSize Size // limit of the bodies of all changes
}

// RequestLogConfig configures content and retention of the request log.
type RequestLogConfig struct {
	Enabled bool
	Today   bool // queries without a date return today's requests
	Bodies  bool
	Days    int  // 0: no limit
	MaxSize Size // 0: no limit
}

// Retention returns how long requests are kept, 0 for no limit.
func (c RequestLogConfig) Retention() time.Duration { return time.Duration(c.Days) * 24 * time.Hour }

// ERPConfig configures the location of the ERP's records and the reading of them.
type ERPConfig struct {
	DSN            DSN    // Demo, or of a server
	ReadDSN        Secret // for queries; empty: the same as DSN
	MaxConnections int    // for queries, on a server
	LockTimeout    time.Duration

	Schema  string     // schema of the record kinds' tables on a server
	Kinds   *kinds.Set // nil for the built-in ones
	Builtin string     // served built-in kinds: builtinPresent, builtinAll, builtinNone or names
	Files   Paths      // files of additional record kinds, and directories of such files
	Sources Sources    // record kind -> table or view, if the names differ
	Version string     // table and column with the ERP's version; empty if unknown
	Outbox  string     // table of events on a server; empty for none, or for the table in the store
	Spill   Size       // limit of all responses that clients have not read yet

	Changes      ChangesConfig
	DemoActivity bool // change demo records all the time
}

// Values of ERPConfig.Builtin, besides a list of names.
const (
	builtinPresent = "present"
	builtinAll     = "all"
	builtinNone    = "none"
)

// Tracked returns the tables on the ERP's server that are missed if they vanish: the tables of the
// record kinds and of bills, except tables that erp.builtin requires. Files have all tables.
func (c ERPConfig) Tracked() (tracked []erp.Tracked) {
	if !c.DSN.OnServer() {
		return nil
	}
	for _, kind := range c.Kinds.Registry().Kinds() {
		_, isBuiltin := record.Builtin().Lookup(kind.Name)
		if !isBuiltin || c.Builtin == builtinPresent {
			isOptional := isBuiltin && !c.Kinds.Declares(kind.Name)
			tracked = append(tracked, erp.Tracked{Kind: kind, Optional: isOptional})
		}
	}
	if c.Builtin == builtinAll {
		return tracked
	}
	for _, table := range erp.BillTables().Kinds() {
		tracked = append(tracked, erp.Tracked{Kind: table, Optional: true})
	}
	return tracked
}

// leavesOut reports whether the setting erp.builtin leaves out a kind. A kind that a file
// declares is served.
func (c ERPConfig) leavesOut(kind *record.Kind) bool {
	if c.Builtin == builtinPresent || c.Builtin == builtinAll || c.Kinds.Declares(kind.Name) {
		return false
	}
	if _, builtin := record.Builtin().Lookup(kind.Name); !builtin {
		return false
	}
	for name := range strings.SplitSeq(c.Builtin, ",") {
		if strings.EqualFold(strings.TrimSpace(name), kind.Name) {
			return false
		}
	}
	return true
}

// checkBuiltin checks the value of erp.builtin.
func checkBuiltin(text string) error {
	if text == builtinPresent || text == builtinAll || text == builtinNone {
		return nil
	}
	for name := range strings.SplitSeq(text, ",") {
		name = strings.TrimSpace(name)
		if _, ok := record.Builtin().Lookup(name); !ok {
			return fmt.Errorf("%q is not present, all, none or a list of built-in record kinds%s",
				name, record.DidYouMean(record.Builtin().Suggest(name)))
		}
	}
	return nil
}

// Secret is a text that must not be printed. All common ways of printing it yield
// a mask; string(s) is the text.
type Secret string

const masked = "***"

// String returns a mask, or "" if the secret is empty.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return masked
}

// GoString returns String, for %#v.
func (s Secret) GoString() string { return s.String() }

// LogValue returns String, for slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText returns String, for encoding/json and other encoders.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Values of store and erp that are not connection strings: files in the data directory.
const (
	Embedded DSN = "sqlite" // the store of whd's own data
	Demo     DSN = "demo"   // the ERP's records
)

// DSN selects a database: Embedded, Demo, or a connection string. All common ways of
// printing it show only the scheme of a connection string.
type DSN string

// OnServer reports whether the database is on a server.
func (d DSN) OnServer() bool { return d != Embedded && d != Demo }

// String returns Embedded and Demo as they are, and a connection string masked except for
// its scheme.
func (d DSN) String() string {
	scheme, _, hasScheme := strings.Cut(string(d), "://")
	if d == Embedded || d == Demo || d == "" {
		return string(d)
	}
	if hasScheme {
		return scheme + "://" + masked
	}
	return masked
}

// GoString returns String, for %#v.
func (d DSN) GoString() string { return d.String() }

// LogValue returns String, for slog.
func (d DSN) LogValue() slog.Value { return slog.StringValue(d.String()) }

// MarshalText returns String, for encoding/json and other encoders.
func (d DSN) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// SlogLevel returns the level as slog.Level. The settings table allows only slog's
// names.
func (c LogConfig) SlogLevel() (level slog.Level) {
	_ = level.UnmarshalText([]byte(c.Level))
	return level
}
