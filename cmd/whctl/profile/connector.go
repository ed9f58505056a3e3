package profile

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
)

// Retries is the maximum number of retries of each request of a query with --all, after
// transient errors.
const Retries = 3

// DryRunFlag is the name of the global flag that prints requests instead of sending them.
const DryRunFlag = "dry-run"

// Connector creates clients with the effective settings and credentials, which it
// determines once.
type Connector struct {
	Env     func(string) string
	Stdin   io.Reader // for --password-stdin
	Stderr  io.Writer
	Vault   Vault
	Version string                          // version of whctl
	Program string                          // in User-Agent; empty for whctl
	DryRun  func(io.Writer, client.Request) // prints a request of --dry-run
	OnRetry func(error)                     // called before each retry; nil for nothing

	DryRunTo    io.Writer // receives the requests
	DryRunReads bool      // with --dry-run, send requests that change nothing
	DryRuns     int       // requests that were not sent

	settings *Settings
	identity *Identity

	passwordSource string // source of the password given with this command; empty if there is none
}

// Settings returns the effective settings. Flags override environment variables,
// which override the profile, which overrides the defaults.
func (k *Connector) Settings(c *cli.Context) (*Settings, error) { return k.Resolve(c, MustExist) }

// Resolve returns the effective settings with a profile that need not exist.
func (k *Connector) Resolve(c *cli.Context, profile Existence) (*Settings, error) {
	if k.settings != nil {
		return k.settings, nil
	}
	settings, err := resolve(c, k.Env, profile)
	if err != nil {
		return nil, err
	}
	k.settings = settings
	return settings, nil
}

// Zone returns the time zone of the settings, or Local before Settings was called.
func (k *Connector) Zone() *time.Location {
	if k.settings == nil {
		return time.Local
	}
	return k.settings.Zone()
}

// ForProfile returns a connector for another profile with the given settings and the
// stored login of that profile. It ignores credentials from flags and the environment,
// because a key must not be sent to another service. It prints no notices.
func (k *Connector) ForProfile(c *cli.Context, settings *Settings) (*Connector, error) {
	connector := *k
	connector.Stderr = io.Discard
	connector.settings = settings
	stored, err := connector.storedIdentity(c)
	connector.identity = &stored
	return &connector, err
}

// ReadClient returns a client for a command that only reads. It refuses to send changes
// if the profile is read-only or protected.
func (k *Connector) ReadClient(c *cli.Context) (*client.Client, error) {
	s, err := k.Settings(c)
	if err != nil {
		return nil, err
	}
	return k.Client(c, s.Bool("read_only") || s.Bool("protected"))
}

// Client returns a client with the effective settings and credentials, which the caller
// must close. With readOnly, it returns an error for a change instead of sending it.
func (k *Connector) Client(c *cli.Context, readOnly bool) (*client.Client, error) {
	if _, err := k.Settings(c); err != nil {
		return nil, err
	}
	id, err := k.Identity(c)
	if err != nil {
		return nil, err
	}
	o, err := k.Options(c)
	if err != nil {
		return nil, err
	}
	o.Token = id.token
	o.User = id.user
	o.Password = id.password
	o.Session = id.session
	o.ReadOnly = readOnly
	o.Renewed = func(session string) { k.storeSession(c, id, session) }
	return client.New(o)
}

// Options returns the options of a client, without credentials.
func (k *Connector) Options(c *cli.Context) (client.Options, error) {
	s, err := k.Settings(c)
	if err != nil {
		return client.Options{}, err
	}
	trust, err := k.tlsConfig(c, s)
	if err != nil {
		return client.Options{}, err
	}
	o := client.Options{
		URL:       s.Text("url"),
		Timeout:   s.Duration("timeout"),
		UserAgent: cmp.Or(k.Program, "whctl") + "/" + k.Version,
		TLS:       trust,
		Retrying:  k.retryNotice(c),
	}
	o.Ignored = func(names string) {
		k.Notice(c, "warning: the service ignored %s", display.Sanitize(names))
	}
	if c.Bool("all") {
		o.Retries = Retries
	}
	stderr := &display.Writer{To: k.Stderr}
	if c.Bool("verbose") {
		o.Log = slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{
			Level:       slog.LevelDebug,
			ReplaceAttr: withoutTimeAndLevel,
		}))
	}
	if c.Bool("debug") {
		o.Wire = stderr
	}
	if c.Bool(DryRunFlag) {
		o.DryRunReads = k.DryRunReads
		o.DryRun = func(r client.Request) {
			k.DryRuns++
			k.DryRun(k.DryRunTo, r)
		}
	}
	return o, nil
}

// retryNotice returns a function that prints a notice before a retry. A command that waits for the
// service may retry for hours: it prints an error once, until there is another one. Queries with
// --all have few retries and print each.
func (k *Connector) retryNotice(c *cli.Context) func(err error, pause time.Duration) {
	var lastText atomic.Pointer[string]
	return func(err error, pause time.Duration) {
		if k.OnRetry != nil {
			k.OnRetry(err)
		}
		text := err.Error()
		before := lastText.Swap(&text)
		isRepeated := before != nil && *before == text
		if !isRepeated || c.Bool("all") {
			k.Notice(c, "%s; retrying in %s", text, pause.Round(time.Millisecond))
		}
	}
}

// withoutTimeAndLevel removes the time and the level from a log line.
func withoutTimeAndLevel(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey || a.Key == slog.LevelKey {
		return slog.Attr{}
	}
	return a
}

// tlsConfig returns the configuration for ca_file or insecure_tls; nil to trust the
// certificates of the system.
func (k *Connector) tlsConfig(c *cli.Context, s *Settings) (*tls.Config, error) {
	if s.Bool("insecure_tls") {
		k.Notice(c, "warning: TLS certificates are not verified (insecure_tls, %s)",
			s.Values["insecure_tls"].Origin)
		return &tls.Config{InsecureSkipVerify: true}, nil
	}
	file := s.Values["ca_file"]
	if file.Text == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file.Text)
	if err != nil {
		return nil, cmdline.Usagef("ca_file (%s): %s", file.Origin, err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(text) {
		return nil, cmdline.Usagef("ca_file (%s): %s has no PEM certificate", file.Origin, file.Text)
	}
	return &tls.Config{RootCAs: pool}, nil
}

// Kinds returns the record kinds of the service: those that a command stored in the last
// minutes, unless refresh is set, or else as KindStore.Refresh does. A dry run sends no
// request.
func (k *Connector) Kinds(c *cli.Context, refresh bool) (*record.Registry, error) {
	s, err := k.Settings(c)
	if err != nil {
		return nil, err
	}
	store := s.Kinds()
	stored := store.read()
	age := time.Since(stored.At)
	isCurrent := !refresh && age >= 0 && age < kindsAge
	if c.Bool(DryRunFlag) || isCurrent {
		return stored.registry(), nil
	}
	service, err := k.ReadClient(c)
	if err != nil {
		return stored.registry(), err
	}
	defer service.Close()
	return store.Refresh(c.Context, service)
}

// Notice writes a line to standard error, unless --quiet is set.
func (k *Connector) Notice(c *cli.Context, format string, args ...any) {
	if !c.Bool("quiet") {
		fmt.Fprintln(k.Stderr, display.Sanitize(fmt.Sprintf(format, args...)))
	}
}

// Name returns the current profile, or the address if there is none, for prompts.
func (s *Settings) Name() string { return cmp.Or(s.Profile, s.Text("url")) }
