package daemon

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/store"
)

// setting is one row of the settings table. From it come the TOML key, the
// environment variable, the flag, `whd config`, the sample file and the table
// in the README.
type setting struct {
	name    string            // group.name, the TOML key
	key     string            // TOML key beside the name, which cannot stand where its group has others
	into    func(*Config) any // pointer to its place, whose Go type decides how text is read
	initial string            // the default, as text
	help    string            // one line, without a period

	argument string // what help calls the value, where its kind does not say

	choices []string           // the only texts allowed, where not empty
	least   int64              // of a number, size (bytes) or duration (nanoseconds)
	most    int64              // the same, 0: no bound
	orNone  bool               // 0, which stands for no limit, is allowed below the least
	check   func(string) error // a rule of its own for a text

	state   bool // its default is the platform's state directory
	outside bool // it cannot stand in the file, since it names the file
	live    bool // asked for each time that it counts: it may change while the daemon runs
}

// mostDays is about a century, which a duration can still hold.
const mostDays = 36500

// settings is the table, in the order in which people meet the settings.
func settings() []setting {
	return []setting{
		{name: "config", argument: "FILE", into: func(c *Config) any { return &c.File }, outside: true,
			help: "TOML file of settings; default: /etc/whd/whd.toml or %ProgramData%\\whd\\whd.toml, where it exists"},
		{name: "listen", argument: "ADDRESS", into: func(c *Config) any { return &c.Listen }, initial: "127.0.0.1:5050", check: checkAddress,
			help: "address and port to serve on; port 0 picks a free one"},
		{name: "data_dir", argument: "DIR", into: func(c *Config) any { return &c.DataDir }, state: true,
			help: "directory of the daemon's files; default: the platform's state directory"},
		{name: "demo", into: func(c *Config) any { return &c.Demo }, initial: "false",
			help: "fill an empty store with the records of a demo business; for the embedded store"},
		{name: "debug", into: func(c *Config) any { return &c.Debug }, initial: "false", live: true,
			help: "put stack traces into error answers; never where strangers can ask"},
		{name: "admin_password", into: func(c *Config) any { return &c.AdminPassword },
			help: "password of the first user, admin; without it one is generated"},
		{name: "migrate", into: func(c *Config) any { return &c.Migrate }, initial: "false",
			help: "bring the daemon's own tables on a server up to date at start; those of the embedded store always are"},

		{name: "store", key: "store.dsn", argument: "sqlite|sqlserver://...", into: func(c *Config) any { return &c.Store }, initial: string(embedded), check: checkStore,
			help: "where the records are: sqlite, files in data_dir; or sqlserver://user:password@host?database=name"},
		{name: "store.read_dsn", into: func(c *Config) any { return &c.Server.ReadDSN }, check: checkDSNOrNone,
			help: "connection string for queries, such as that of a readable replica; empty: store's"},
		{name: "store.schema", argument: "NAME", into: func(c *Config) any { return &c.Server.Schema }, initial: appdb.DefaultSchema, check: checkSchema,
			help: "schema of the daemon's own tables on a server"},
		{name: "store.max_connections", into: func(c *Config) any { return &c.Server.MaxConnections }, initial: "32", least: 1,
			help: "connections to a server that read records at once; more queries wait"},
		{name: "store.lock_timeout", into: func(c *Config) any { return &c.Server.LockTimeout }, initial: "10s",
			help: "time that a statement on a server waits for somebody else's lock; 0: no limit"},

		{name: "tls.cert", argument: "FILE", into: func(c *Config) any { return &c.TLS.Cert },
			help: "PEM file of the certificate chain; with tls.key it turns HTTPS on"},
		{name: "tls.key", argument: "FILE", into: func(c *Config) any { return &c.TLS.Key },
			help: "PEM file of the certificate's private key"},

		{name: "log.level", into: func(c *Config) any { return &c.Log.Level }, initial: "info", live: true,
			choices: []string{"debug", "info", "warn", "error"},
			help:    "least important lines to log"},
		{name: "log.format", into: func(c *Config) any { return &c.Log.Format }, initial: "text", choices: []string{"text", "json"},
			help: "form of the log on standard error"},

		{name: "query.max_take", into: func(c *Config) any { return &c.Query.MaxTake }, initial: "0", live: true,
			help: "largest page; a larger Take is cut down to it; 0: no bound"},
		{name: "query.total", into: func(c *Config) any { return &c.Query.Total }, initial: totalAuto, choices: []string{totalAuto, totalAlways, totalAsked}, live: true,
			help: "when a page's Total is counted: always; asked, where Include=Total asks; auto: always on the embedded store, asked on a server"},
		{name: "query.time_zone", into: func(c *Config) any { return &c.Query.TimeZone }, initial: "Local",
			help: "zone of the records' zoneless times; Local: the host's"},
		{name: "query.timeout", into: func(c *Config) any { return &c.Query.Timeout }, initial: "30s", least: int64(10 * time.Millisecond), orNone: true, live: true,
			help: "time limit of a query's statement; 0: none"},
		{name: "query.count_timeout", into: func(c *Config) any { return &c.Query.CountTimeout }, initial: "10s", least: int64(10 * time.Millisecond), orNone: true, live: true,
			help: "time limit of counting a Total; 0: none"},

		{name: "http.base_path", argument: "PATH", into: func(c *Config) any { return &c.HTTP.BasePath }, check: checkBasePath,
			help: "path under which a reverse proxy shows the service, such as /erp"},
		{name: "http.trusted_proxies", into: func(c *Config) any { return &c.HTTP.TrustedProxies },
			help: "networks whose X-Forwarded headers are believed"},
		{name: "http.cors_origins", argument: "ORIGIN,...", into: func(c *Config) any { return &c.HTTP.CORSOrigins },
			help: "origins, such as https://shop.example, whose pages may use the service from a browser; empty: none"},
		{name: "http.hosts", argument: "NAME,...", into: func(c *Config) any { return &c.HTTP.Hosts },
			help: "names under which requests without a login are served, beside localhost, addresses, this host's names and that of webhooks.host_url"},
		{name: "http.rate", argument: "RATE", into: func(c *Config) any { return &c.HTTP.Rate }, initial: "0", live: true,
			help: "requests that one address, and one user or key, may send, such as 100/s, 600/m or 20/s+100, where 100 may come at once; 0: no limit"},
		{name: "http.max_requests", into: func(c *Config) any { return &c.HTTP.MaxRequests }, initial: "256", least: 1,
			help: "requests in work at once; more are answered 503"},
		{name: "http.read_header_timeout", into: func(c *Config) any { return &c.HTTP.ReadHeaderTimeout }, initial: "10s", least: 1,
			help: "time a client has to send a request's head"},
		{name: "http.idle_timeout", into: func(c *Config) any { return &c.HTTP.IdleTimeout }, initial: "2m", least: 1,
			help: "time a connection may stand unused"},
		{name: "http.write_stall", into: func(c *Config) any { return &c.HTTP.WriteStall }, initial: "30s", least: 1,
			help: "time after which a client that takes no byte is cut off"},
		{name: "http.shutdown_grace", into: func(c *Config) any { return &c.HTTP.ShutdownGrace }, initial: "10s",
			help: "time that requests in work get to finish when the daemon stops"},
		{name: "http.shutdown_delay", into: func(c *Config) any { return &c.HTTP.ShutdownDelay }, initial: "0s",
			help: "time for which a daemon that is to stop still serves while /readyz says 503, so that a load balancer sends no more requests"},
		{name: "http.max_body", into: func(c *Config) any { return &c.HTTP.MaxBody }, initial: "1MiB", least: 1,
			help: "largest request body"},
		{name: "http.body_memory", into: func(c *Config) any { return &c.HTTP.BodyMemory }, initial: "64MiB", least: 1 << 20,
			help: "memory for all request bodies together, a quarter of it for those without a login; at least 16 times http.max_body is used"},
		{name: "http.max_head", into: func(c *Config) any { return &c.HTTP.MaxHead }, initial: "64KiB", least: 1024,
			help: "largest request line and headers"},

		{name: "auth.queries", into: func(c *Config) any { return &c.Auth.Queries }, initial: "required", choices: []string{"required", "anonymous"}, live: true,
			help: "whether queries need a login: required, or anonymous, for closed networks"},
		{name: "auth.session", into: func(c *Config) any { return &c.Auth.Session }, initial: "8h", least: int64(time.Minute), live: true,
			help: "time after which an unused login ends"},
		{name: "auth.remember", into: func(c *Config) any { return &c.Auth.Remember }, initial: "336h", least: int64(time.Second), live: true,
			help: "the same for a login with RememberMe"},

		{name: "metrics.listen", argument: "ADDRESS", into: func(c *Config) any { return &c.Metrics.Listen }, check: checkAddressOrNone,
			help: "address and port of /metrics; empty: those of the service"},
		{name: "trace.endpoint", argument: "URL", into: func(c *Config) any { return &c.Trace.Endpoint }, check: checkCollector,
			help: "OpenTelemetry collector that traces go to by OTLP over HTTP, such as http://127.0.0.1:4318; empty: that of OTEL_EXPORTER_OTLP_ENDPOINT, or none"},
		{name: "admin.listen", argument: "ADDRESS", into: func(c *Config) any { return &c.Admin.Listen }, check: checkLoopback,
			help: "address of this host, and port, of /debug/pprof, which shows where time and memory go; empty: none"},

		{name: "webhooks.enabled", into: func(c *Config) any { return &c.Webhooks.Enabled }, initial: "true",
			help: "take events and deliver them to subscriptions"},
		{name: "webhooks.host_url", argument: "URL", into: func(c *Config) any { return &c.Webhooks.HostURL }, check: checkHostURL,
			help: "the service's own address as users in the company reach it, such as http://erp.example:5050"},
		{name: "webhooks.publish", into: func(c *Config) any { return &c.Webhooks.Publish }, initial: "required", choices: []string{"required", "anonymous"}, live: true,
			help: "whether raising an event needs a login: required, or anonymous, from the networks of webhooks.publish_from"},
		{name: "webhooks.publish_from", into: func(c *Config) any { return &c.Webhooks.PublishFrom }, live: true,
			help: "networks that may raise events without a login"},
		{name: "webhooks.events", argument: "NAMES", into: func(c *Config) any { return &c.Webhooks.Events }, live: true,
			help: "events that are published beside those of the ERP, such as job.created"},
		{name: "webhooks.allow_targets", into: func(c *Config) any { return &c.Webhooks.AllowTargets },
			help: "networks to which messages may go although they are private, or this host"},
		{name: "webhooks.retry_schedule", argument: "DURATIONS", into: func(c *Config) any { return &c.Webhooks.RetrySchedule }, initial: "5s,30s,2m,10m,30m,1h,3h,6h,12h", live: true,
			help: "waits between the attempts to deliver a message"},
		{name: "webhooks.retry_after_max", into: func(c *Config) any { return &c.Webhooks.RetryAfterMax }, initial: "24h", least: 1, live: true,
			help: "longest wait that a receiver may ask for by Retry-After"},
		{name: "webhooks.disable_after", into: func(c *Config) any { return &c.Webhooks.DisableAfter }, initial: "5d", live: true,
			help: "time of nothing but failures, over at least as many attempts as the schedule has, after which a subscription is disabled; 0: never"},
		{name: "webhooks.outbox_poll", into: func(c *Config) any { return &c.Webhooks.OutboxPoll }, initial: "1s", least: 10_000_000,
			help: "how often a server's table WH_Outbox is looked into, where T-SQL raises events"},
		{name: "webhooks.keep_successful", into: func(c *Config) any { return &c.Webhooks.KeepSuccessful }, initial: "30d", least: int64(time.Hour), orNone: true, live: true,
			help: "time for which messages are kept after they were delivered; 0: no limit"},
		{name: "webhooks.keep_failed", into: func(c *Config) any { return &c.Webhooks.KeepFailed }, initial: "90d", least: int64(time.Hour), orNone: true, live: true,
			help: "time for which messages are kept after they failed for good; 0: no limit"},
		{name: "webhooks.responses_size", into: func(c *Config) any { return &c.Webhooks.ResponsesSize }, initial: "1GiB", live: true,
			help: "room that the texts of receivers' answers may take, beyond which the oldest texts are removed and their attempts stay; 0: no limit"},
		{name: "webhooks.connect_timeout", into: func(c *Config) any { return &c.Webhooks.ConnectTimeout }, initial: "5s", least: int64(time.Second),
			help: "time to connect to a receiver"},
		{name: "webhooks.attempt_timeout", into: func(c *Config) any { return &c.Webhooks.AttemptTimeout }, initial: "15s", least: int64(time.Second), live: true,
			help: "time that an attempt as a whole may take"},
		{name: "webhooks.max_attempts", into: func(c *Config) any { return &c.Webhooks.MaxAttempts }, initial: "1000", least: 4,
			help: "attempts under way at once"},
		{name: "webhooks.memory", into: func(c *Config) any { return &c.Webhooks.Memory }, initial: "64MiB", least: 1024,
			help: "memory for messages that wait for an attempt or are under way, over all subscriptions; the others stay in the store"},
		{name: "webhooks.lease", into: func(c *Config) any { return &c.Webhooks.Lease }, initial: "60s", least: 1,
			help: "time after which another daemon on the same server takes over the messages of one that is gone; at least three times webhooks.attempt_timeout"},

		{name: "requestlog.enabled", into: func(c *Config) any { return &c.RequestLog.Enabled }, initial: "true",
			help: "remember requests, for /Logs"},
		{name: "requestlog.bodies", into: func(c *Config) any { return &c.RequestLog.Bodies }, initial: "false", live: true,
			help: "remember with them what they and their replies carry, secrets and logins left out"},
		{name: "requestlog.days", into: func(c *Config) any { return &c.RequestLog.Days }, initial: "14", most: mostDays, live: true,
			help: "days for which requests are remembered; 0: no limit"},
		{name: "requestlog.max_size", into: func(c *Config) any { return &c.RequestLog.MaxSize }, initial: "1GiB", live: true,
			help: "room that they may take, beyond which the oldest are forgotten; 0: no limit"},

		{name: "erp.schema", argument: "NAME", into: func(c *Config) any { return &c.ERP.Schema }, initial: store.DefaultERPSchema, check: checkSchema,
			help: "schema of the record kinds' tables and views on a server"},
		{name: "erp.sources", into: func(c *Config) any { return &c.ERP.Sources },
			help: "table or view of a record kind, or table of bills such as BM_Stages, where it has another name"},
		{name: "erp.version_source", argument: "TABLE.COLUMN", into: func(c *Config) any { return &c.ERP.Version }, check: checkVersionSource,
			help: "table and column that hold the version of the ERP, for whd check"},
	}
}

// variable is the setting's environment variable, such as WHD_HTTP_MAX_BODY.
func (s setting) variable() string {
	return "WHD_" + strings.ToUpper(strings.ReplaceAll(s.name, ".", "_"))
}

// flag is the setting's flag of `whd serve`, such as http-max-body.
func (s setting) flag() string {
	name := s.name
	if _, is := s.into(new(Config)).(*Secret); is {
		name += fileSuffix
	}
	return strings.NewReplacer(".", "-", "_", "-").Replace(name)
}

// group is the TOML table that the setting stands in, "" for the top level.
func (s setting) group() string {
	group, _, nested := strings.Cut(cmp.Or(s.key, s.name), ".")
	if !nested {
		return ""
	}
	return group
}

// secret reports whether the setting's value must not be shown. Such a setting
// may also be given as the name of a file that holds it.
func (s setting) secret() bool {
	switch s.into(new(Config)).(type) {
	case *Secret, *DSN:
		return true
	}
	return false
}

// value is the setting's place in c with the reading that its type has.
func (s setting) value(c *Config) value { return valueOf(s.into(c)) }

// settingNamed finds a setting by its name or key.
func settingNamed(table []setting, name string) (setting, bool) {
	i := slices.IndexFunc(table, func(s setting) bool { return s.name == name || s.key == name })
	if i < 0 {
		return setting{}, false
	}
	return table[i], true
}
