// Package config reads the settings: one table, from which come the keys of the
// TOML file, environment variables, flags and documents.
package config

import (
	"cmp"
	"log/slog"
	"strings"
	"time"
)

// Config has the value of every setting, in the groups of the settings table
// (settings.go), which says what each does.
type Config struct {
	File          string // the TOML file that was read, if any
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
	Ignored []string // warnings of variables that no setting has
	origins map[string]Origin
}

// Origin says where a setting's value came from.
type Origin string

const byDefault Origin = "default"

// Origin is where the value of the setting with the given name came from.
func (c *Config) Origin(name string) Origin { return cmp.Or(c.origins[name], byDefault) }

// Start is what a start is given beside the settings.
type Start struct {
	Version  string // of the program
	NewStore bool   // make a store where the files of the one before are missing
}

// ServerConfig is how a store on a server is used. The embedded store takes
// nothing of it.
type ServerConfig struct {
	ReadDSN        Secret // empty: the store's
	Schema         string // of the daemon's own tables
	MaxConnections int    // that read records
	LockTimeout    time.Duration
	Migrate        bool // the daemon's own tables at start
}

// TLSConfig names the PEM files of the certificate. Both are empty for plain HTTP.
type TLSConfig struct {
	Cert string
	Key  string
}

// LogConfig is the daemon's own log, on standard error.
type LogConfig struct {
	Level  string // debug, info, warn, error
	Format string // text, json
}

// QueryConfig bounds what a query may ask for. A zero bound means none.
type QueryConfig struct {
	MaxTake      int
	Total        string // auto, always, asked
	TimeZone     *time.Location
	Timeout      time.Duration
	CountTimeout time.Duration
}

// The choices of query.total.
const (
	totalAuto   = "auto"
	totalAlways = "always"
	totalAsked  = "asked"
)

// CountAlways reports whether every page is counted, not only those that ask.
// On a server a count can be a second scan of a large table.
func (c Config) CountAlways() bool {
	return c.Query.Total == totalAlways || c.Query.Total == totalAuto && c.Store == Embedded
}

// Warnings are what is likely to be a mistake in the settings, though the service
// works with it.
func (c *Config) Warnings() []string {
	if !c.Webhooks.Enabled || !IsLoopback(c.Webhooks.HostURL) {
		return nil
	}
	return []string{"webhooks.host_url is an address of this host only; it must be the one by which users in the company reach the service"}
}

// HTTPConfig is the HTTP edge: its place behind a proxy and its bounds.
type HTTPConfig struct {
	BasePath          string // "" or "/path" without a trailing slash
	TrustedProxies    Networks
	CORSOrigins       WebOrigins
	Hosts             HostNames // of the service, beside those that it knows
	Rate              Rate
	MaxRequests       int
	Debug             bool // stack traces in error answers
	ReadHeaderTimeout time.Duration
	IdleTimeout       time.Duration
	WriteStall        time.Duration
	ShutdownGrace     time.Duration
	ShutdownDelay     time.Duration // before the grace begins
	MaxBody           Size
	MaxHead           Size
	BodyMemory        Size // of all request bodies together
}

// AuthConfig says who may ask and for how long a login lasts.
type AuthConfig struct {
	Queries  string // required, anonymous
	Session  time.Duration
	Remember time.Duration
}

// AnonymousQueries reports whether queries need no login.
func (a AuthConfig) AnonymousQueries() bool { return a.Queries == "anonymous" }

// MetricsConfig is where /metrics is served.
type MetricsConfig struct {
	Listen string // empty: on the main listener
}

// TraceConfig says where spans of requests and deliveries go.
type TraceConfig struct {
	Endpoint string // base URL of an OTLP collector; empty: what its standard variables say
}

// AdminConfig is where the process can be looked into.
type AdminConfig struct {
	Listen string // an address of this host only; empty: nowhere
}

// RequestLogConfig says what is remembered of requests, and for how long.
type RequestLogConfig struct {
	Enabled bool
	Bodies  bool
	Days    int  // 0: no limit
	MaxSize Size // 0: no limit
}

// Kept is how long requests are remembered.
func (c RequestLogConfig) Kept() time.Duration { return time.Duration(c.Days) * 24 * time.Hour }

// ERPConfig says where the records are.
type ERPConfig struct {
	Schema  string  // of the record kinds' tables on a server
	Sources Sources // record kind -> table or view, where not its name
	Version string  // table and column that hold its version; empty for none
}

// Secret is a text that must not be shown. Every common way of printing it
// gives stars; string(s) is the text itself.
type Secret string

const masked = "***"

// String is stars, or nothing where there is no secret.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return masked
}

// GoString is what String gives, for %#v.
func (s Secret) GoString() string { return s.String() }

// LogValue is what String gives, for slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText is what String gives, for encoding/json and its like.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Embedded is the store in the data directory.
const Embedded DSN = "sqlite"

// DSN says which store is used: Embedded, or a connection string, of which
// every common way of printing it gives the scheme only.
type DSN string

// String is the text where it is no connection string, else its scheme.
func (d DSN) String() string {
	scheme, _, is := strings.Cut(string(d), "://")
	switch {
	case d == Embedded || d == "":
		return string(d)
	case is:
		return scheme + "://" + masked
	}
	return masked
}

// GoString is what String gives, for %#v.
func (d DSN) GoString() string { return d.String() }

// LogValue is what String gives, for slog.
func (d DSN) LogValue() slog.Value { return slog.StringValue(d.String()) }

// MarshalText is what String gives, for encoding/json and its like.
func (d DSN) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// SlogLevel is the setting as slog has it. The settings table allows slog's names
// only.
func (c LogConfig) SlogLevel() (level slog.Level) {
	_ = level.UnmarshalText([]byte(c.Level))
	return level
}
