package profile

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
)

// Retries is how often the request of --all is sent again where the service, or
// something on the way to it, cannot answer for a moment.
const Retries = 3

// DryRunFlag shows requests instead of sending them, except in commands that have
// a flag of that name: there the service does the dry run.
const DryRunFlag = "dry-run"

// Connector makes clients by the settings in force and by who signs in, which it
// finds out once.
type Connector struct {
	Env     func(string) string
	Stdin   io.Reader // for --password-stdin
	Stderr  io.Writer
	Vault   Vault
	Version string               // of whctl
	DryRun  func(client.Request) // gets the requests of --dry-run

	settings *Settings
	identity *Identity
}

// Settings finds out what is in force: flags win over variables, these over the
// profile, and that over what is initially so.
func (k *Connector) Settings(c *cli.Context) (*Settings, error) { return k.resolve(c, false) }

// SettingsToMake are the settings where the profile in force need not exist yet.
func (k *Connector) SettingsToMake(c *cli.Context) (*Settings, error) { return k.resolve(c, true) }

func (k *Connector) resolve(c *cli.Context, mayMake bool) (_ *Settings, err error) {
	if k.settings == nil {
		k.settings, err = resolve(c, k.Env, mayMake)
	}
	return k.settings, err
}

// Zone is the time zone of the settings, once they were found out.
func (k *Connector) Zone() *time.Location {
	if k.settings == nil {
		return time.Local
	}
	return k.settings.Zone()
}

// To is a connector to another profile: by its settings in the file, and by what
// whctl login has stored for it. Flags and variables are those of this one, and
// a key must not go to another service. The other one writes to no terminal.
func (k *Connector) To(c *cli.Context, settings *Settings) (*Connector, error) {
	other := *k
	other.Stderr, other.settings = io.Discard, settings
	who, err := other.storedIdentity(c)
	other.identity = &who
	return &other, err
}

// Reader makes a client for a command that reads. Where the profile is read-only or
// protected, it refuses to send changes.
func (k *Connector) Reader(c *cli.Context) (*client.Client, error) {
	s, err := k.Settings(c)
	if err != nil {
		return nil, err
	}
	return k.Client(c, s.Yes("read_only") || s.Yes("protected"))
}

// Client makes a client. One that is read-only refuses to send changes.
func (k *Connector) Client(c *cli.Context, readOnly bool) (*client.Client, error) {
	if _, err := k.Settings(c); err != nil {
		return nil, err
	}
	who, err := k.Identity(c)
	if err != nil {
		return nil, err
	}
	o, err := k.Options(c)
	if err != nil {
		return nil, err
	}
	o.Token, o.User, o.Password, o.Session = who.token, who.user, who.password, who.session
	o.ReadOnly = readOnly
	o.Renewed = func(session string) { k.keepSession(c, who, session) }
	return client.New(o)
}

// Options are a client's but for who asks.
func (k *Connector) Options(c *cli.Context) (client.Options, error) {
	s, err := k.Settings(c)
	if err != nil {
		return client.Options{}, err
	}
	trust, err := k.trust(c, s)
	o := client.Options{
		URL:       s.Text("url"),
		Timeout:   s.Span("timeout"),
		UserAgent: "whctl/" + k.Version,
		TLS:       trust,
	}
	stderr := &display.Writer{To: k.Stderr}
	if c.Bool("verbose") {
		o.Log = slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: withoutTime}))
	}
	if c.Bool("debug") {
		o.Wire = stderr
	}
	if c.Bool("all") {
		o.Retries, o.Retrying = Retries, func(err error, pause time.Duration) {
			k.Notice(c, "%s; trying again in %s", err, pause.Round(time.Millisecond))
		}
	}
	if c.Bool(DryRunFlag) && !(cmdline.FlagTable{}).Add(c.Command.Flags).Has(DryRunFlag) {
		o.DryRun = k.DryRun
	}
	return o, err
}

// withoutTime leaves out of a line of the log what says nothing here.
func withoutTime(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey || a.Key == slog.LevelKey {
		return slog.Attr{}
	}
	return a
}

// trust is which certificates are believed; nil for those of the system.
func (k *Connector) trust(c *cli.Context, s *Settings) (*tls.Config, error) {
	if s.Yes("insecure_tls") {
		k.Notice(c, "TLS! every certificate is trusted (insecure_tls, %s)", s.Values["insecure_tls"].Origin)
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
		return nil, cmdline.Usagef("ca_file (%s): %s holds no PEM certificate", file.Origin, file.Text)
	}
	return &tls.Config{RootCAs: pool}, nil
}

// Notice writes a line to standard error, beside the data, unless --quiet.
func (k *Connector) Notice(c *cli.Context, format string, args ...any) {
	if !c.Bool("quiet") {
		fmt.Fprintln(k.Stderr, display.Sanitize(fmt.Sprintf(format, args...)))
	}
}

// Name is how questions call what is in force: by its profile, else its address.
func (s *Settings) Name() string { return cmp.Or(s.Profile, s.Text("url")) }
