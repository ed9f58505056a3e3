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
)

// Setting is one row of the settings table. From it come the TOML key, the
// environment variable, the flag, `whd config`, the sample file and the table
// in the README.
type Setting struct {
	Name    string            // group.name, the TOML key
	key     string            // TOML key beside the name, which cannot stand where its group has others
	into    func(*Config) any // pointer to its place, whose Go type decides how text is read
	Default string            // the default, as text
	Help    string            // one line, without a period

	argument string // what help calls the value, where its kind does not say

	choices []string           // the only texts allowed, where not empty
	least   int64              // of a number, size (bytes) or duration (nanoseconds)
	most    int64              // the same, 0: no bound
	orNone  bool               // 0, which stands for no limit, is allowed below the least
	check   func(string) error // a rule of its own for a text, which may be empty if that is the default

	state   bool // its default is the platform's state directory
	outside bool // it cannot stand in the file, since it names the file
	Live    bool // asked for each time that it counts: it may change while the daemon runs
}

// mostDays is about a century, which a duration can still hold.
const mostDays = 36500

// Settings is the table, in the order in which people meet the settings.
func Settings() []Setting { return slices.Clone(table) }

var table = []Setting{
	{Name: "config", argument: "FILE", into: func(c *Config) any { return &c.File }, outside: true,
		Help: "TOML file of settings; default: /etc/whd/whd.toml or %ProgramData%\\whd\\whd.toml, where it exists"},
	{Name: "listen", argument: "ADDRESS", into: func(c *Config) any { return &c.Listen }, Default: "127.0.0.1:5050", check: checkAddress,
		Help: "address and port to serve on; port 0 picks a free one"},
	{Name: "data_dir", argument: "DIR", into: func(c *Config) any { return &c.DataDir }, state: true,
		Help: "directory of the daemon's files; default: the platform's state directory"},
	{Name: "demo", into: func(c *Config) any { return &c.Demo }, Default: "false",
		Help: "fill an empty store with the records of a demo business; for the embedded store"},
	{Name: "debug", into: func(c *Config) any { return &c.HTTP.Debug }, Default: "false", Live: true,
		Help: "put stack traces into error answers; never where strangers can ask"},
	{Name: "admin_password", into: func(c *Config) any { return &c.AdminPassword },
		Help: "password of the first user, admin; without it one is generated"},
	{Name: "migrate", into: func(c *Config) any { return &c.Server.Migrate }, Default: "false",
		Help: "bring the daemon's own tables on a server up to date at start; those of the embedded store always are"},

	{Name: "store", key: "store.dsn", argument: "sqlite|sqlserver://...", into: func(c *Config) any { return &c.Store }, Default: string(Embedded), check: checkStore,
		Help: "where the records are: sqlite, files in data_dir; or sqlserver://user:password@host?database=name"},
	{Name: "store.read_dsn", into: func(c *Config) any { return &c.Server.ReadDSN }, check: mssql.CheckDSN,
		Help: "connection string for queries, such as that of a readable replica; empty: store's"},
	{Name: "store.schema", argument: "NAME", into: func(c *Config) any { return &c.Server.Schema }, Default: appdb.DefaultSchema, check: checkSchema,
		Help: "schema of the daemon's own tables on a server"},
	{Name: "store.max_connections", into: func(c *Config) any { return &c.Server.MaxConnections }, Default: "32", least: 1,
		Help: "connections to a server that read records at once; more queries wait"},
	{Name: "store.lock_timeout", into: func(c *Config) any { return &c.Server.LockTimeout }, Default: "10s",
		Help: "time that a statement on a server waits for somebody else's lock; 0: no limit"},

	{Name: "tls.cert", argument: "FILE", into: func(c *Config) any { return &c.TLS.Cert },
		Help: "PEM file of the certificate chain; with tls.key it turns HTTPS on"},
	{Name: "tls.key", argument: "FILE", into: func(c *Config) any { return &c.TLS.Key },
		Help: "PEM file of the certificate's private key"},

	{Name: "log.level", into: func(c *Config) any { return &c.Log.Level }, Default: "info", Live: true,
		choices: []string{"debug", "info", "warn", "error"},
		Help:    "least important lines to log"},
	{Name: "log.format", into: func(c *Config) any { return &c.Log.Format }, Default: "text", choices: []string{"text", "json"},
		Help: "form of the log on standard error"},

	{Name: "query.max_take", into: func(c *Config) any { return &c.Query.MaxTake }, Default: "0", Live: true,
		Help: "largest page; a larger Take is cut down to it; 0: no bound"},
	{Name: "query.total", into: func(c *Config) any { return &c.Query.Total }, Default: totalAuto, choices: []string{totalAuto, totalAlways, totalAsked}, Live: true,
		Help: "when a page's Total is counted: always; asked, where Include=Total asks; auto: always on the embedded store, asked on a server"},
	{Name: "query.time_zone", into: func(c *Config) any { return &c.Query.TimeZone }, Default: "Local",
		Help: "zone of the records' zoneless times; Local: the host's"},
	{Name: "query.timeout", into: func(c *Config) any { return &c.Query.Timeout }, Default: "30s", least: int64(10 * time.Millisecond), orNone: true, Live: true,
		Help: "time limit of a query's statement; 0: none"},
	{Name: "query.count_timeout", into: func(c *Config) any { return &c.Query.CountTimeout }, Default: "10s", least: int64(10 * time.Millisecond), orNone: true, Live: true,
		Help: "time limit of counting a Total; 0: none"},

	{Name: "http.base_path", argument: "PATH", into: func(c *Config) any { return &c.HTTP.BasePath }, check: checkBasePath,
		Help: "path under which a reverse proxy shows the service, such as /erp"},
	{Name: "http.trusted_proxies", into: func(c *Config) any { return &c.HTTP.TrustedProxies },
		Help: "networks whose X-Forwarded headers are believed"},
	{Name: "http.cors_origins", argument: "ORIGIN,...", into: func(c *Config) any { return &c.HTTP.CORSOrigins },
		Help: "origins, such as https://shop.example, whose pages may use the service from a browser; empty: none"},
	{Name: "http.hosts", argument: "NAME,...", into: func(c *Config) any { return &c.HTTP.Hosts },
		Help: "names under which requests without a login are served, beside localhost, addresses, this host's names and that of webhooks.host_url"},
	{Name: "http.rate", argument: "RATE", into: func(c *Config) any { return &c.HTTP.Rate }, Default: "0", Live: true,
		Help: "requests that one address, and one user or key, may send, such as 100/s, 600/m or 20/s+100, where 100 may come at once; 0: no limit"},
	{Name: "http.max_requests", into: func(c *Config) any { return &c.HTTP.MaxRequests }, Default: "256", least: 1,
		Help: "requests in work at once; more are answered 503"},
	{Name: "http.read_header_timeout", into: func(c *Config) any { return &c.HTTP.ReadHeaderTimeout }, Default: "10s", least: 1,
		Help: "time a client has to send a request's head"},
	{Name: "http.idle_timeout", into: func(c *Config) any { return &c.HTTP.IdleTimeout }, Default: "2m", least: 1,
		Help: "time a connection may stand unused"},
	{Name: "http.write_stall", into: func(c *Config) any { return &c.HTTP.WriteStall }, Default: "30s", least: 1,
		Help: "time after which a client that takes no byte is cut off"},
	{Name: "http.shutdown_grace", into: func(c *Config) any { return &c.HTTP.ShutdownGrace }, Default: "10s",
		Help: "time that requests in work get to finish when the daemon stops"},
	{Name: "http.shutdown_delay", into: func(c *Config) any { return &c.HTTP.ShutdownDelay }, Default: "0s",
		Help: "time for which a daemon that is to stop still serves while /readyz says 503, so that a load balancer sends no more requests"},
	{Name: "http.max_body", into: func(c *Config) any { return &c.HTTP.MaxBody }, Default: "1MiB", least: 1,
		Help: "largest request body"},
	{Name: "http.body_memory", into: func(c *Config) any { return &c.HTTP.BodyMemory }, Default: "64MiB", least: 1 << 20,
		Help: "memory for all request bodies together, a quarter of it for those without a login; at least 16 times http.max_body is used"},
	{Name: "http.max_head", into: func(c *Config) any { return &c.HTTP.MaxHead }, Default: "64KiB", least: 1024,
		Help: "largest request line and headers"},

	{Name: "auth.queries", into: func(c *Config) any { return &c.Auth.Queries }, Default: "required", choices: []string{"required", "anonymous"}, Live: true,
		Help: "whether queries need a login: required, or anonymous, for closed networks"},
	{Name: "auth.session", into: func(c *Config) any { return &c.Auth.Session }, Default: "8h", least: int64(time.Minute), Live: true,
		Help: "time after which an unused login ends"},
	{Name: "auth.remember", into: func(c *Config) any { return &c.Auth.Remember }, Default: "336h", least: int64(time.Second), Live: true,
		Help: "the same for a login with RememberMe"},

	{Name: "metrics.listen", argument: "ADDRESS", into: func(c *Config) any { return &c.Metrics.Listen }, check: checkAddress,
		Help: "address and port of /metrics; empty: those of the service"},
	{Name: "trace.endpoint", argument: "URL", into: func(c *Config) any { return &c.Trace.Endpoint }, check: checkHostURL,
		Help: "OpenTelemetry collector that traces go to by OTLP over HTTP, such as http://127.0.0.1:4318; empty: that of OTEL_EXPORTER_OTLP_ENDPOINT, or none"},
	{Name: "admin.listen", argument: "ADDRESS", into: func(c *Config) any { return &c.Admin.Listen }, check: checkLoopback,
		Help: "address of this host, and port, of /debug/pprof, which shows where time and memory go; empty: none"},

	{Name: "webhooks.enabled", into: func(c *Config) any { return &c.Webhooks.Enabled }, Default: "true",
		Help: "take events and deliver them to subscriptions"},
	{Name: "webhooks.host_url", argument: "URL", into: func(c *Config) any { return &c.Webhooks.HostURL }, check: checkHostURL,
		Help: "the service's own address as users in the company reach it, such as http://erp.example:5050"},
	{Name: "webhooks.publish", into: func(c *Config) any { return &c.Webhooks.Publish }, Default: "required", choices: []string{"required", "anonymous"}, Live: true,
		Help: "whether raising an event needs a login: required, or anonymous, from the networks of webhooks.publish_from"},
	{Name: "webhooks.publish_from", into: func(c *Config) any { return &c.Webhooks.PublishFrom }, Live: true,
		Help: "networks that may raise events without a login"},
	{Name: "webhooks.events", argument: "NAMES", into: func(c *Config) any { return &c.Webhooks.Events }, Live: true,
		Help: "events that are published beside those of the ERP, such as job.created"},
	{Name: "webhooks.allow_targets", into: func(c *Config) any { return &c.Webhooks.AllowTargets },
		Help: "networks to which messages may go although they are private, or this host"},
	{Name: "webhooks.retry_schedule", argument: "DURATIONS", into: func(c *Config) any { return &c.Webhooks.RetrySchedule }, Default: "5s,30s,2m,10m,30m,1h,3h,6h,12h", Live: true,
		Help: "waits between the attempts to deliver a message"},
	{Name: "webhooks.retry_after_max", into: func(c *Config) any { return &c.Webhooks.RetryAfterMax }, Default: "24h", least: 1, Live: true,
		Help: "longest wait that a receiver may ask for by Retry-After"},
	{Name: "webhooks.disable_after", into: func(c *Config) any { return &c.Webhooks.DisableAfter }, Default: "5d", Live: true,
		Help: "time of nothing but failures, over at least as many attempts as the schedule has, after which a subscription is disabled; 0: never"},
	{Name: "webhooks.outbox_poll", into: func(c *Config) any { return &c.Webhooks.OutboxPoll }, Default: "1s", least: 10_000_000,
		Help: "how often a server's table WH_Outbox is looked into, where T-SQL raises events"},
	{Name: "webhooks.keep_successful", into: func(c *Config) any { return &c.Webhooks.KeepSuccessful }, Default: "30d", least: int64(time.Hour), orNone: true, Live: true,
		Help: "time for which messages are kept after they were delivered; 0: no limit"},
	{Name: "webhooks.keep_failed", into: func(c *Config) any { return &c.Webhooks.KeepFailed }, Default: "90d", least: int64(time.Hour), orNone: true, Live: true,
		Help: "time for which messages are kept after they failed for good; 0: no limit"},
	{Name: "webhooks.responses_size", into: func(c *Config) any { return &c.Webhooks.ResponsesSize }, Default: "1GiB", Live: true,
		Help: "room that the texts of receivers' answers may take, beyond which the oldest texts are removed and their attempts stay; 0: no limit"},
	{Name: "webhooks.connect_timeout", into: func(c *Config) any { return &c.Webhooks.ConnectTimeout }, Default: "5s", least: int64(time.Second),
		Help: "time to connect to a receiver"},
	{Name: "webhooks.attempt_timeout", into: func(c *Config) any { return &c.Webhooks.AttemptTimeout }, Default: "15s", least: int64(time.Second), Live: true,
		Help: "time that an attempt as a whole may take"},
	{Name: "webhooks.max_attempts", into: func(c *Config) any { return &c.Webhooks.MaxAttempts }, Default: "1000", least: 4,
		Help: "attempts under way at once"},
	{Name: "webhooks.memory", into: func(c *Config) any { return &c.Webhooks.Memory }, Default: "64MiB", least: 1024,
		Help: "memory for messages that wait for an attempt or are under way, over all subscriptions; the others stay in the store"},
	{Name: "webhooks.lease", into: func(c *Config) any { return &c.Webhooks.Lease }, Default: "60s", least: 1,
		Help: "time after which another daemon on the same server takes over the messages of one that is gone; at least three times webhooks.attempt_timeout"},

	{Name: "requestlog.enabled", into: func(c *Config) any { return &c.RequestLog.Enabled }, Default: "true",
		Help: "remember requests, for /Logs"},
	{Name: "requestlog.bodies", into: func(c *Config) any { return &c.RequestLog.Bodies }, Default: "false", Live: true,
		Help: "remember with them what they and their replies carry, secrets and logins left out"},
	{Name: "requestlog.days", into: func(c *Config) any { return &c.RequestLog.Days }, Default: "14", most: mostDays, Live: true,
		Help: "days for which requests are remembered; 0: no limit"},
	{Name: "requestlog.max_size", into: func(c *Config) any { return &c.RequestLog.MaxSize }, Default: "1GiB", Live: true,
		Help: "room that they may take, beyond which the oldest are forgotten; 0: no limit"},

	{Name: "erp.schema", argument: "NAME", into: func(c *Config) any { return &c.ERP.Schema }, Default: erp.DefaultSchema, check: checkSchema,
		Help: "schema of the record kinds' tables and views on a server"},
	{Name: "erp.sources", into: func(c *Config) any { return &c.ERP.Sources },
		Help: "table or view of a record kind, or table of bills such as BM_Stages, where it has another name"},
	{Name: "erp.version_source", argument: "TABLE.COLUMN", into: func(c *Config) any { return &c.ERP.Version }, check: erp.CheckVersionSource,
		Help: "table and column that hold the version of the ERP, for whd check"},
}

// Variable is the setting's environment variable, such as WHD_HTTP_MAX_BODY.
func (s Setting) Variable() string {
	return "WHD_" + strings.ToUpper(strings.ReplaceAll(s.Name, ".", "_"))
}

// Flag is the setting's flag of `whd serve`, such as http-max-body.
func (s Setting) Flag() string {
	name := s.Name
	if _, is := s.into(new(Config)).(*Secret); is {
		name += fileSuffix
	}
	return strings.NewReplacer(".", "-", "_", "-").Replace(name)
}

// tomlKey is the setting's key in the file.
func (s Setting) tomlKey() string { return cmp.Or(s.key, s.Name) }

// group is the TOML table that the setting stands in, "" for the top level.
func (s Setting) group() string {
	key := s.tomlKey()
	return key[:max(strings.IndexByte(key, '.'), 0)]
}

// secret reports whether the setting's value must not be shown. Such a setting
// may also be given as the name of a file that holds it.
func (s Setting) secret() bool {
	switch s.into(new(Config)).(type) {
	case *Secret, *DSN:
		return true
	}
	return false
}

// place is where the setting's value is in c.
func (s Setting) place(c *Config) reflect.Value { return reflect.ValueOf(s.into(c)).Elem() }

// text is the setting's value in c as put reads it. Secrets are stars.
func (s Setting) text(c *Config) string { return textOf(s.place(c).Interface()) }

func (s Setting) kind() kind { return kinds[s.place(new(Config)).Type()] }

// settingNamed finds a setting by its name or key.
func settingNamed(name string) (Setting, bool) {
	i := slices.IndexFunc(table, func(s Setting) bool { return s.Name == name || s.key == name })
	if i < 0 {
		return Setting{}, false
	}
	return table[i], true
}

// put checks the text by all rules of the setting's row and sets the value.
func (s Setting) put(c *Config, text string) error {
	if len(s.choices) > 0 && !slices.Contains(s.choices, text) {
		return fmt.Errorf("%q is none of: %s", text, strings.Join(s.choices, ", "))
	}
	if s.check != nil && (text != "" || s.Default != "") {
		if err := s.check(text); err != nil {
			return err
		}
	}
	if err := set(s.into(c), text); err != nil {
		return err
	}
	if v := s.place(c); v.CanInt() {
		return s.bound(text, v.Int())
	}
	return nil
}

// bound holds a number against the row's bounds.
func (s Setting) bound(text string, n int64) error {
	switch {
	case n == 0 && s.orNone:
		return nil
	case n < s.least && s.orNone:
		return fmt.Errorf("%s is below the least that works, %s; 0 is no limit", text, s.boundText(s.least))
	case n < s.least:
		return fmt.Errorf("%s is below the least that works, %s", text, s.boundText(s.least))
	case s.most != 0 && n > s.most:
		return fmt.Errorf("%s is above the most that works, %s", text, s.boundText(s.most))
	}
	return nil
}

// boundText prints a bound as a value of the setting.
func (s Setting) boundText(n int64) string {
	var c Config
	s.place(&c).SetInt(n)
	return s.text(&c)
}
