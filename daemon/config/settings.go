package config

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/erp"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/spill"
	"github.com/bizhook/whd/daemon/webhook"
)

// Setting is one row of the settings table. The TOML key, the environment variable,
// the flag, `whd config`, the sample file and the table in the manual are derived
// from it.
type Setting struct {
	Name    string            // group.name, the TOML key
	key     string            // alternative TOML key, if the name is also the name of a TOML table
	into    func(*Config) any // pointer to the setting's field; its Go type selects the parser
	Default string            // the default, as text
	Help    string            // one line, without a period

	argument string // placeholder of the value in help; empty: that of its kind

	choices       []string           // allowed values; empty: any
	min           int64              // smallest number, size in bytes, or duration in nanoseconds
	max           int64              // largest one; 0: no maximum
	zeroUnlimited bool               // 0 means no limit and is allowed although it is below min
	check         func(string) error // additional rule; not applied to an empty default

	state     bool // the default is the platform's state directory
	notInFile bool // not allowed in the file: it names the file
	Live      bool // takes effect at a reload, without a restart
}

// maxDays is about a century, which fits into a time.Duration.
const maxDays = 36500

// Settings returns the table, the most commonly used settings first.
func Settings() []Setting { return slices.Clone(table) }

var table = []Setting{
	{
		Name:      "config",
		argument:  "FILE",
		into:      func(c *Config) any { return &c.File },
		notInFile: true,
		Help:      "settings file in TOML; default: /etc/whd/whd.toml or %ProgramData%\\whd\\whd.toml, if it exists",
	},
	{
		Name:     "listen",
		argument: "ADDRESS",
		into:     func(c *Config) any { return &c.Listen },
		Default:  "127.0.0.1:5050",
		check:    checkAddress,
		Help:     "address and port to serve on; port 0 picks a free one",
	},
	{
		Name:     "data_dir",
		argument: "DIR",
		into:     func(c *Config) any { return &c.DataDir },
		state:    true,
		Help:     "directory for whd's files; default: the platform's state directory",
	},
	{
		Name:    "demo",
		into:    func(c *Config) any { return &c.Demo },
		Default: "false",
		Help:    "load demo records into an empty file of records; requires erp to be demo",
	},
	{
		Name:    "demo_activity",
		into:    func(c *Config) any { return &c.ERP.DemoActivity },
		Default: "false",
		Help:    "change a few demo records a minute, so that record kinds with capture publish events; requires demo",
	},
	{
		Name:    "compat",
		into:    func(c *Config) any { return &c.HTTP.Compat },
		Default: "none",
		choices: []string{"none", compatServiceStack},
		Live:    true,
		Help:    "adapt defaults to the clients of another service: servicestack-5 changes the defaults of requestlog.today, auth.key_in_url and webhooks.publish; none changes nothing",
	},
	{
		Name:    "debug",
		into:    func(c *Config) any { return &c.HTTP.Debug },
		Default: "false",
		Live:    true,
		Help:    "include stack traces in error responses; do not enable it on public networks",
	},
	{
		Name: "admin_password",
		into: func(c *Config) any { return &c.AdminPassword },
		Help: "password of the first user, admin; empty: generate one",
	},
	{
		Name:    "migrate",
		into:    func(c *Config) any { return &c.Server.Migrate },
		Default: "false",
		Help:    "at startup, migrate whd's tables on SQL Server; tables of the embedded store are always migrated",
	},
	{
		Name:     "erp",
		key:      "erp.dsn",
		argument: "demo|sqlserver://...",
		into:     func(c *Config) any { return &c.ERP.DSN },
		Default:  string(Demo),
		check:    checkERP,
		Help:     "database of the ERP's records: demo for a file of demo records in data_dir, or sqlserver://user:password@host?database=name",
	},
	{
		Name:  "erp.read_dsn",
		into:  func(c *Config) any { return &c.ERP.ReadDSN },
		check: mssql.CheckDSN,
		Help:  "connection string of the SQL Server for queries, such as a readable replica; empty: the same as erp",
	},
	{
		Name:    "erp.max_connections",
		into:    func(c *Config) any { return &c.ERP.MaxConnections },
		Default: "32",
		min:     1,
		Help:    "maximum number of SQL Server connections for queries; further queries are queued",
	},
	{
		Name:    "erp.lock_timeout",
		into:    func(c *Config) any { return &c.ERP.LockTimeout },
		Default: "10s",
		Help:    "maximum time that a statement on the ERP's SQL Server waits for a lock; 0: no limit",
	},
	{
		Name:     "erp.schema",
		argument: "NAME",
		into:     func(c *Config) any { return &c.ERP.Schema },
		Default:  erp.DefaultSchema,
		check:    checkSchema,
		Help:     "schema of the record kinds' tables and views on SQL Server",
	},
	{
		Name: "erp.sources",
		into: func(c *Config) any { return &c.ERP.Sources },
		Help: "tables or views with other names than the record kind or bill table, such as BM_Stages=dbo.Stages",
	},
	{
		Name:     "erp.builtin",
		argument: "present|all|none|NAMES",
		into:     func(c *Config) any { return &c.ERP.Builtin },
		Default:  builtinPresent,
		check:    checkBuiltin,
		Live:     true,
		Help:     "built-in record kinds to serve: those with a table or view that is seen in the ERP's database (present), all, none, or a list of names",
	},
	{
		Name: "erp.kinds",
		into: func(c *Config) any { return &c.ERP.Files },
		Live: true,
		Help: "files of additional record kinds, and directories of such files; a relative path in the settings file is relative to it; empty: the directory kinds next to the settings file, if it exists",
	},
	{
		Name:     "erp.version_source",
		argument: "TABLE.COLUMN",
		into:     func(c *Config) any { return &c.ERP.Version },
		check:    erp.CheckVersionSource,
		Help:     "table and column with the version of the ERP, for whd check",
	},
	{
		Name:     "erp.outbox",
		argument: "TABLE",
		into:     func(c *Config) any { return &c.ERP.Outbox },
		check:    erp.CheckOutbox,
		Help:     "table in the ERP's database into which T-SQL code inserts events, such as whd.WH_Outbox; empty: WH_Outbox among whd's own tables, if they are on SQL Server",
	},
	{
		Name:    "erp.spill",
		into:    func(c *Config) any { return &c.ERP.Spill },
		Default: "4GiB",
		min:     spill.MinLimit,
		Help:    "maximum disk space for responses from SQL Server that clients read slowly, so that they do not hold locks there; one response takes at most a quarter, and 2 GiB of the volume stay free",
	},
	{
		Name:     "store",
		key:      "store.dsn",
		argument: "sqlite|sqlserver://...",
		into:     func(c *Config) any { return &c.Store },
		Default:  string(Embedded),
		check:    checkStore,
		Help:     "database of whd's own data: sqlite for files in data_dir, or, for several daemons, sqlserver://user:password@host?database=name",
	},
	{
		Name:     "store.schema",
		argument: "NAME",
		into:     func(c *Config) any { return &c.Server.Schema },
		Default:  appdb.DefaultSchema,
		check:    checkSchema,
		Help:     "schema of whd's tables on SQL Server",
	},
	{
		Name:    "store.lock_timeout",
		into:    func(c *Config) any { return &c.Server.LockTimeout },
		Default: "10s",
		Help:    "maximum time that a statement on whd's tables on SQL Server waits for a lock; 0: no limit",
	},
	{
		Name:  "store.read_dsn",
		into:  func(c *Config) any { return &c.Server.ReadDSN },
		check: mssql.CheckDSN,
		Help:  "former name of erp.read_dsn; it will be removed",
	},
	{
		Name:    "store.max_connections",
		into:    func(c *Config) any { return &c.Server.MaxConnections },
		Default: "32",
		min:     1,
		Help:    "former name of erp.max_connections; it will be removed",
	},
	{
		Name:     "tls.cert",
		argument: "FILE",
		into:     func(c *Config) any { return &c.TLS.Cert },
		Help:     "file with the certificate, which enables HTTPS: PEM with the chain, together with tls.key, or PFX (.pfx, .p12)",
	},
	{
		Name:     "tls.key",
		argument: "FILE",
		into:     func(c *Config) any { return &c.TLS.Key },
		Help:     "PEM file with the certificate's private key; PFX files contain it",
	},
	{
		Name: "tls.password",
		into: func(c *Config) any { return &c.TLS.Password },
		Help: "password of the PFX file",
	},
	{
		Name:    "log.level",
		into:    func(c *Config) any { return &c.Log.Level },
		Default: "info",
		Live:    true,
		choices: []string{"debug", "info", "warn", "error"},
		Help:    "minimum level of log lines",
	},
	{
		Name:    "log.format",
		into:    func(c *Config) any { return &c.Log.Format },
		Default: "text",
		choices: []string{"text", "json"},
		Help:    "format of the log on standard error",
	},
	{
		Name:    "log.requests",
		into:    func(c *Config) any { return &c.Log.Requests },
		Default: requestsAuto,
		choices: []string{requestsAuto, requestsAlways, requestsNever},
		Live:    true,
		Help:    "whether the log on standard error has a line for each request; auto: only without the request log, and at log.level debug",
	},
	{
		Name:    "query.max_take",
		into:    func(c *Config) any { return &c.Query.MaxTake },
		Default: "0",
		Live:    true,
		Help:    "maximum page size; a larger Take is reduced to it; 0: no limit",
	},
	{
		Name:    "query.total",
		into:    func(c *Config) any { return &c.Query.Total },
		Default: totalAuto,
		choices: []string{totalAuto, totalAlways, totalOnRequest},
		Live:    true,
		Help:    "when to count the Total of a page; always: for each page; asked: only with Include=Total; auto: with Include=Total, and on the embedded store even without it if counting takes at most about 20 ms",
	},
	{
		Name:    "query.time_zone",
		into:    func(c *Config) any { return &c.Query.TimeZone },
		Default: "Local",
		Help:    "time zone of times in records, which are stored without a zone; Local: the host's",
	},
	{
		Name:          "query.timeout",
		into:          func(c *Config) any { return &c.Query.Timeout },
		Default:       "30s",
		min:           int64(10 * time.Millisecond),
		zeroUnlimited: true,
		Live:          true,
		Help:          "time limit for a query's SQL statement until its first row, and from one row to the next; 0: no limit",
	},
	{
		Name:          "query.count_timeout",
		into:          func(c *Config) any { return &c.Query.CountTimeout },
		Default:       "10s",
		min:           int64(10 * time.Millisecond),
		zeroUnlimited: true,
		Live:          true,
		Help:          "time limit for counting a Total, and for computing functions in Include; 0: no limit",
	},
	{
		Name:    "query.total_cache",
		into:    func(c *Config) any { return &c.Query.TotalCache },
		Default: "0s",
		Live:    true,
		Help:    "how long a Total that SQL Server has counted may be returned again, with its age in seconds as TotalAge in Meta; 0: count each time",
	},
	{
		Name:    "odata.max_page",
		into:    func(c *Config) any { return &c.Query.FeedPage },
		Default: "10000",
		min:     1,
		max:     1_000_000,
		Live:    true,
		Help:    "maximum number of rows on a page of OData, which Excel and Power BI read one after the other",
	},
	{
		Name:    "csv.formula_guard",
		into:    func(c *Config) any { return &c.Query.FormulaGuard },
		Default: "false",
		Live:    true,
		Help:    "put an apostrophe before texts in CSV that begin like a formula, with one of =+-@ (also full-width), tab or a line break",
	},
	{
		Name:     "http.base_path",
		argument: "PATH",
		into:     func(c *Config) any { return &c.HTTP.BasePath },
		check:    checkBasePath,
		Help:     "path prefix of the service behind a reverse proxy, such as /erp",
	},
	{
		Name:     "http.public_url",
		argument: "URL",
		into:     func(c *Config) any { return &c.HTTP.PublicURL },
		check:    checkHostURL,
		Live:     true,
		Help:     "base URL of the service from outside, such as https://erp.example/erp, for the links to the pages of subscribers; empty: the URL of the request that shows the link",
	},
	{
		Name: "http.trusted_proxies",
		into: func(c *Config) any { return &c.HTTP.TrustedProxies },
		Help: "networks of proxies with trusted X-Forwarded headers",
	},
	{
		Name:    "http.forwarded_host",
		into:    func(c *Config) any { return &c.HTTP.ForwardedHost },
		Default: "true",
		Help:    "use X-Forwarded-Host from trusted proxies; set this to false if a proxy does not set the header itself, but forwards the value that its client sent",
	},
	{
		Name:     "http.cors_origins",
		argument: "ORIGIN,...",
		into:     func(c *Config) any { return &c.HTTP.CORSOrigins },
		Help:     "web origins, such as https://shop.example, that may access the service from a browser; empty: none",
	},
	{
		Name:     "http.hosts",
		argument: "NAME,...",
		into:     func(c *Config) any { return &c.HTTP.Hosts },
		Help:     "additional names accepted in the Host header of requests without a login; localhost, IP addresses, this host's names and the host of webhooks.host_url are always accepted",
	},
	{
		Name:     "http.rate",
		argument: "RATE",
		into:     func(c *Config) any { return &c.HTTP.Rate },
		Default:  "0",
		Live:     true,
		Help:     "rate limit for each address and for each user or key, such as 100/s, 600/m, or 20/s+100 for a burst of 100; 0: no limit",
	},
	{
		Name:    "http.max_requests",
		into:    func(c *Config) any { return &c.HTTP.MaxRequests },
		Default: "256",
		min:     1,
		Help:    "maximum number of concurrent requests, at most half of which may be without a login, and three quarters for many rows; further requests get status 503",
	},
	{
		Name:    "http.read_header_timeout",
		into:    func(c *Config) any { return &c.HTTP.ReadHeaderTimeout },
		Default: "10s",
		min:     1,
		Help:    "time limit for a client to send the request headers",
	},
	{
		Name:    "http.idle_timeout",
		into:    func(c *Config) any { return &c.HTTP.IdleTimeout },
		Default: "2m",
		min:     1,
		Help:    "time after which an idle connection is closed",
	},
	{
		Name:    "http.write_stall",
		into:    func(c *Config) any { return &c.HTTP.WriteStall },
		Default: "30s",
		min:     1,
		Help:    "time after which a client that reads nothing is disconnected",
	},
	{
		Name:    "http.shutdown_grace",
		into:    func(c *Config) any { return &c.HTTP.ShutdownGrace },
		Default: "10s",
		Help:    "time for requests in flight to finish when whd stops",
	},
	{
		Name:    "http.shutdown_delay",
		into:    func(c *Config) any { return &c.HTTP.ShutdownDelay },
		Default: "0s",
		Help:    "time to keep serving after a stop request while /readyz returns 503, so that load balancers send requests elsewhere",
	},
	{
		Name:    "http.max_body",
		into:    func(c *Config) any { return &c.HTTP.MaxBody },
		Default: "1MiB",
		min:     1,
		Help:    "maximum size of a request body",
	},
	{
		Name:    "http.body_memory",
		into:    func(c *Config) any { return &c.HTTP.BodyMemory },
		Default: "64MiB",
		min:     1 << 20,
		Help:    "maximum memory for all request bodies; requests without a login can use a quarter of it; at least 16 times http.max_body",
	},
	{
		Name:    "http.reply_memory",
		into:    func(c *Config) any { return &c.HTTP.ReplyMemory },
		Default: "64MiB",
		min:     16 << 20,
		Help:    "maximum memory for all responses that are complete before they are sent; requests without a login can use a quarter of it",
	},
	{
		Name:    "http.max_head",
		into:    func(c *Config) any { return &c.HTTP.MaxHead },
		Default: "64KiB",
		min:     1024,
		Help:    "maximum size of the request line and headers",
	},
	{
		Name:    "auth.queries",
		into:    func(c *Config) any { return &c.Auth.Queries },
		Default: "required",
		choices: []string{"required", "anonymous"},
		Live:    true,
		Help:    "login for queries: required, or anonymous for closed networks",
	},
	{
		Name:    "auth.key_in_url",
		into:    func(c *Config) any { return &c.Auth.KeyInURL },
		Default: "false",
		Live:    true,
		Help:    "accept API keys in URLs, as ?apikey=KEY, for programs that cannot send headers; proxies may log them",
	},
	{
		Name:    "auth.session",
		into:    func(c *Config) any { return &c.Auth.Session },
		Default: "8h",
		min:     int64(time.Minute),
		Live:    true,
		Help:    "idle timeout of a session",
	},
	{
		Name:    "auth.remember",
		into:    func(c *Config) any { return &c.Auth.Remember },
		Default: "336h",
		min:     int64(time.Second),
		Live:    true,
		Help:    "idle timeout of a session created with RememberMe",
	},
	{
		Name:    "mcp.enabled",
		into:    func(c *Config) any { return &c.HTTP.MCP },
		Default: "false",
		Live:    true,
		Help:    "serve tools with which assistants read records, as /mcp (Model Context Protocol)",
	},
	{
		Name:     "metrics.listen",
		argument: "ADDRESS",
		into:     func(c *Config) any { return &c.Metrics.Listen },
		check:    checkAddress,
		Help:     "separate address and port for /metrics; empty: serve it at the address of the service",
	},
	{
		Name:     "trace.endpoint",
		argument: "URL",
		into:     func(c *Config) any { return &c.Trace.Endpoint },
		check:    checkHostURL,
		Help:     "OpenTelemetry collector for traces (OTLP over HTTP), such as http://127.0.0.1:4318; empty: OTEL_EXPORTER_OTLP_ENDPOINT if set, else no traces",
	},
	{
		Name:     "admin.listen",
		argument: "ADDRESS",
		into:     func(c *Config) any { return &c.Admin.Listen },
		check:    checkLoopback,
		Help:     "loopback address and port for the profiles of /debug/pprof; empty: disabled",
	},
	{
		Name:    "webhooks.enabled",
		into:    func(c *Config) any { return &c.Webhooks.Enabled },
		Default: "true",
		Help:    "accept events and deliver them to subscribers",
	},
	{
		Name:     "webhooks.host_url",
		argument: "URL",
		into:     func(c *Config) any { return &c.Webhooks.HostURL },
		check:    checkHostURL,
		Help:     "base URL of the service for its users, such as http://erp.example:5050",
	},
	{
		Name:    "webhooks.portal",
		into:    func(c *Config) any { return &c.Webhooks.Portal },
		Default: "false",
		Live:    true,
		Help:    "serve pages, as /Webhooks/Portal, on which a subscriber manages its subscriptions with its SubscriberID and without a login",
	},
	{
		Name:    "webhooks.publish",
		into:    func(c *Config) any { return &c.Webhooks.Publish },
		Default: "required",
		choices: []string{"required", "anonymous"},
		Live:    true,
		Help:    "login for publishing events: required, or anonymous from the networks in webhooks.publish_from",
	},
	{
		Name: "webhooks.publish_from",
		into: func(c *Config) any { return &c.Webhooks.PublishFrom },
		Live: true,
		Help: "networks that may publish events without a login",
	},
	{
		Name:     "webhooks.events",
		argument: "NAMES",
		into:     func(c *Config) any { return &c.Webhooks.Events },
		Live:     true,
		Help:     "additional event names, such as job.created; the ERP's events are built in",
	},
	{
		Name:    "webhooks.dates",
		into:    func(c *Config) any { return &c.Webhooks.Dates },
		Default: "legacy",
		choices: []string{"legacy", ISODates},
		Live:    true,
		Help:    "dates of webhooks in JSON: legacy for /Date(1530664812000+0000)/, or iso for 2018-07-04T00:40:12.0000000Z; ?jsconfig=dh:iso8601 requests iso",
	},
	{
		Name: "webhooks.allow_targets",
		into: func(c *Config) any { return &c.Webhooks.AllowTargets },
		Help: "private or local networks that messages may be sent to",
	},
	{
		Name:     "webhooks.retry_schedule",
		argument: "DURATIONS",
		into:     func(c *Config) any { return &c.Webhooks.RetrySchedule },
		Default:  "5s,30s,2m,10m,30m,1h,3h,6h,12h",
		Live:     true,
		Help:     "delays between the attempts to deliver a message",
	},
	{
		Name:    "webhooks.retry_after_max",
		into:    func(c *Config) any { return &c.Webhooks.RetryAfterMax },
		Default: "24h",
		min:     1,
		Live:    true,
		Help:    "maximum delay that a receiver may request with Retry-After",
	},
	{
		Name:    "webhooks.disable_after",
		into:    func(c *Config) any { return &c.Webhooks.DisableAfter },
		Default: "5d",
		Live:    true,
		Help:    "disable a subscription after this time without a successful attempt, if more attempts failed than the retry schedule has delays; 0: never",
	},
	{
		Name:    "webhooks.outbox_poll",
		into:    func(c *Config) any { return &c.Webhooks.OutboxPoll },
		Default: "1s",
		min:     10_000_000,
		Help:    "polling interval of the table erp.outbox, through which T-SQL code publishes events",
	},
	{
		Name:          "webhooks.keep_successful",
		into:          func(c *Config) any { return &c.Webhooks.KeepSuccessful },
		Default:       "30d",
		min:           int64(time.Hour),
		zeroUnlimited: true,
		Live:          true,
		Help:          "retention of delivered messages; 0: no limit",
	},
	{
		Name:          "webhooks.keep_failed",
		into:          func(c *Config) any { return &c.Webhooks.KeepFailed },
		Default:       "90d",
		min:           int64(time.Hour),
		zeroUnlimited: true,
		Live:          true,
		Help:          "retention of failed messages; 0: no limit",
	},
	{
		Name:    "webhooks.responses_size",
		into:    func(c *Config) any { return &c.Webhooks.ResponsesSize },
		Default: "1GiB",
		Live:    true,
		Help:    "maximum total size of stored response bodies; the oldest are removed first, but their attempts are kept; 0: no limit",
	},
	{
		Name:     "webhooks.proxy",
		argument: "URL",
		into:     func(c *Config) any { return &c.Webhooks.Way.Proxy },
		check:    checkProxy,
		Help:     "proxy to receivers, such as http://user:password@proxy.example:3128; https:// and socks5:// are also possible; it must allow CONNECT to the ports of receivers",
	},
	{
		Name:    "webhooks.proxy_resolves",
		into:    func(c *Config) any { return &c.Webhooks.Way.ProxyResolves },
		Default: "false",
		Help:    "let the proxy resolve the host names in subscriptions that admins made; whd does not check the addresses of these names",
	},
	{
		Name:    "webhooks.no_proxy",
		into:    func(c *Config) any { return &c.Webhooks.Way.NoProxy },
		Default: "10.0.0.0/8,100.64.0.0/10,127.0.0.0/8,169.254.0.0/16,172.16.0.0/12,192.168.0.0/16,::1/128,fc00::/7,fe80::/10",
		Help:    "networks, and host names with their subdomains, that are reached without the proxy",
	},
	{
		Name:     "webhooks.ca_file",
		argument: "FILE",
		into:     func(c *Config) any { return &c.Webhooks.Way.CAFile },
		Help:     "PEM file of certificate authorities to trust for receivers, in addition to the system's",
	},
	{
		Name:     "webhooks.client_cert",
		argument: "FILE",
		into:     func(c *Config) any { return &c.Webhooks.Way.Client.Cert },
		Help:     "PEM file of the client certificate for the receivers in webhooks.client_cert_hosts; if the file changes, it is loaded without a restart",
	},
	{
		Name:     "webhooks.client_key",
		argument: "FILE",
		into:     func(c *Config) any { return &c.Webhooks.Way.Client.Key },
		Help:     "PEM file of the private key for webhooks.client_cert",
	},
	{
		Name:     "webhooks.client_cert_hosts",
		argument: "NAME,...",
		into:     func(c *Config) any { return &c.Webhooks.Way.ClientCertHosts },
		Help:     "host names of the only receivers that get the client certificate",
	},
	{
		Name:    "webhooks.connect_timeout",
		into:    func(c *Config) any { return &c.Webhooks.ConnectTimeout },
		Default: "5s",
		min:     int64(time.Second),
		Help:    "time limit for connecting to a receiver",
	},
	{
		Name:    "webhooks.attempt_timeout",
		into:    func(c *Config) any { return &c.Webhooks.AttemptTimeout },
		Default: "15s",
		min:     int64(time.Second),
		Live:    true,
		Help:    "time limit for one delivery attempt",
	},
	{
		Name:    "webhooks.max_attempts",
		into:    func(c *Config) any { return &c.Webhooks.MaxAttempts },
		Default: "1000",
		min:     4,
		Help:    "maximum number of concurrent delivery attempts",
	},
	{
		Name:    "webhooks.max_per_minute",
		into:    func(c *Config) any { return &c.Webhooks.MaxPerMinute },
		Default: "0",
		max:     webhook.MaxRate,
		Live:    true,
		Help:    "maximum number of attempts per minute for each subscription without its own MaxPerMinute, including retries, probes and tests; several daemons divide it; 0: no limit",
	},
	{
		Name:    "webhooks.max_subscriptions",
		into:    func(c *Config) any { return &c.Webhooks.MaxSubscriptions },
		Default: "250",
		min:     1,
		Live:    true,
		Help:    "maximum number of subscriptions of a subscriber that can be added with the SubscriberID alone; admins can add further ones, and existing ones are kept",
	},
	{
		Name:    "webhooks.memory",
		into:    func(c *Config) any { return &c.Webhooks.Memory },
		Default: "64MiB",
		min:     1024,
		Help:    "memory for all messages that are queued or in flight; further messages stay in the store",
	},
	{
		Name:    "webhooks.lease",
		into:    func(c *Config) any { return &c.Webhooks.Lease },
		Default: "60s",
		min:     1,
		Help:    "time after which another daemon on the same SQL Server takes over the messages of a daemon that died; at least three times webhooks.attempt_timeout",
	},
	{
		Name:    "changes.share",
		into:    func(c *Config) any { return &c.ERP.Changes.Share },
		Default: "0.1",
		Help:    "share of the time during which capture may read the ERP's tables, for all record kinds together",
	},
	{
		Name:    "changes.sweep",
		into:    func(c *Config) any { return &c.ERP.Changes.Sweep },
		Default: "1m",
		min:     int64(time.Second),
		Help:    "minimum time between two complete reads of a record kind for its changes",
	},
	{
		Name:    "changes.overlap",
		into:    func(c *Config) any { return &c.ERP.Changes.Overlap },
		Default: "10s",
		Help:    "how far polls by the time of the last change go back, to find the rows of transactions that committed late",
	},
	{
		Name:    "changes.keep",
		into:    func(c *Config) any { return &c.ERP.Changes.Keep },
		Default: "168h",
		min:     int64(time.Hour),
		Help:    "retention of changes, and how long capture remembers the rows of a record kind after its changes were last needed",
	},
	{
		Name:    "changes.keep_size",
		into:    func(c *Config) any { return &c.ERP.Changes.KeepSize },
		Default: "1GiB",
		min:     1 << 20,
		Help:    "maximum total size of stored changes; the oldest are removed first",
	},
	{
		Name:    "requestlog.enabled",
		into:    func(c *Config) any { return &c.RequestLog.Enabled },
		Default: "true",
		Help:    "log requests, for /Logs",
	},
	{
		Name:    "requestlog.today",
		into:    func(c *Config) any { return &c.RequestLog.Today },
		Default: "false",
		Live:    true,
		Help:    "limit queries of the request log to today (UTC) if they have neither Date nor a filter of DateTime",
	},
	{
		Name:    "requestlog.bodies",
		into:    func(c *Config) any { return &c.RequestLog.Bodies },
		Default: "false",
		Live:    true,
		Help:    "include request and response bodies in the request log, except bodies that may contain secrets",
	},
	{
		Name:    "requestlog.days",
		into:    func(c *Config) any { return &c.RequestLog.Days },
		Default: "14",
		max:     maxDays,
		Live:    true,
		Help:    "retention of the request log in days; 0: no limit",
	},
	{
		Name:    "requestlog.max_size",
		into:    func(c *Config) any { return &c.RequestLog.MaxSize },
		Default: "1GiB",
		Live:    true,
		Help:    "maximum size of the request log; the oldest requests are removed first; 0: no limit",
	},
}

// fields is a Config that is only used for the types of its fields. A new one for each question
// took megabytes at every start.
var fields Config

// Variable returns the setting's environment variable, such as WHD_HTTP_MAX_BODY.
func (s Setting) Variable() string {
	return "WHD_" + strings.ToUpper(strings.ReplaceAll(s.Name, ".", "_"))
}

// Flag returns the name of the setting's flag, such as http-max-body.
func (s Setting) Flag() string {
	name := s.Name
	if s.inFileOnly() {
		name += fileSuffix
	}
	return flagSeparators.Replace(name)
}

// flagSeparators turns the separators in the name of a setting into those of its flag.
var flagSeparators = strings.NewReplacer(".", "-", "_", "-")

// inFileOnly reports whether the setting has no flag for its value, only one for a file with it.
func (s Setting) inFileOnly() bool {
	_, ok := s.into(&fields).(*Secret)
	return ok
}

// tomlKey returns the setting's key in the file.
func (s Setting) tomlKey() string { return cmp.Or(s.key, s.Name) }

// group returns the TOML table that contains the setting, "" for the top level.
func (s Setting) group() string {
	key := s.tomlKey()
	return key[:max(strings.IndexByte(key, '.'), 0)]
}

// secret reports whether the setting's value must not be printed. Such a setting can
// also be set to the name of a file that contains the value.
func (s Setting) secret() bool {
	switch s.into(&fields).(type) {
	case *Secret, *DSN, *ProxyURL:
		return true
	}
	return false
}

// field returns the setting's field in c.
func (s Setting) field(c *Config) reflect.Value { return reflect.ValueOf(s.into(c)).Elem() }

// text returns the setting's value in c in the form that assign parses. Secrets are
// masked.
func (s Setting) text(c *Config) string { return textOf(s.field(c).Interface()) }

func (s Setting) kind() kind { return settingKinds[s.field(&fields).Type()] }

// settingNamed finds a setting by its name or key.
func settingNamed(name string) (Setting, bool) {
	i := slices.IndexFunc(table, func(s Setting) bool { return s.Name == name || s.key == name })
	if i < 0 {
		return Setting{}, false
	}
	return table[i], true
}

// assign parses and validates the text, and sets the field in c.
func (s Setting) assign(c *Config, text string) error {
	if len(s.choices) > 0 && !slices.Contains(s.choices, text) {
		return fmt.Errorf("%q is not one of: %s", text, strings.Join(s.choices, ", "))
	}
	if s.check != nil && (text != "" || s.Default != "") {
		if err := s.check(text); err != nil {
			return err
		}
	}
	if err := setValue(s.into(c), text); err != nil {
		return err
	}
	if v := s.field(c); v.CanInt() {
		return s.bound(text, v.Int())
	}
	return nil
}

// bound checks a number against the row's minimum and maximum.
func (s Setting) bound(text string, n int64) error {
	switch {
	case n == 0 && s.zeroUnlimited:
		return nil
	case n < s.min && s.zeroUnlimited:
		return fmt.Errorf("%s is below the minimum of %s; 0 means no limit", text, s.boundText(s.min))
	case n < s.min:
		return fmt.Errorf("%s is below the minimum of %s", text, s.boundText(s.min))
	case s.max != 0 && n > s.max:
		return fmt.Errorf("%s is above the maximum of %s", text, s.boundText(s.max))
	}
	return nil
}

// boundText formats a minimum or maximum as a value of the setting.
func (s Setting) boundText(n int64) string {
	var c Config
	s.field(&c).SetInt(n)
	return s.text(&c)
}
