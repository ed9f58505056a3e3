package main

import (
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/profile"
)

// connect makes a client for a command that reads. Where the profile is
// read-only or protected, it refuses to send changes.
func (p *program) connect(c *cli.Context) (*client.Client, error) {
	s, err := p.settings(c)
	if err != nil {
		return nil, err
	}
	return p.clientFor(c, s, s.Yes("read_only") || s.Yes("protected"))
}

// connectToChange makes a client for a command that changes something, once
// those who must agree have agreed. The client of a read-only profile refuses
// even then.
func (p *program) connectToChange(c *cli.Context, what change) (*client.Client, error) {
	s, err := p.settings(c)
	if err != nil {
		return nil, err
	}
	if !s.Yes("read_only") && !c.Bool("dry-run") {
		if err := p.confirm(c, s, what); err != nil {
			return nil, err
		}
	}
	return p.clientFor(c, s, s.Yes("read_only"))
}

// clientFor makes a client by the settings.
func (p *program) clientFor(c *cli.Context, s *profile.Settings, readOnly bool) (*client.Client, error) {
	who, err := p.identity(c, s)
	if err != nil {
		return nil, err
	}
	o, err := p.options(c, s)
	if err != nil {
		return nil, err
	}
	o.Token, o.User, o.Password, o.Session = who.token, who.user, who.password, who.session
	o.ReadOnly = readOnly
	o.Renewed = func(session string) { p.keepSession(c, who, session) }
	return client.New(o)
}

// retries is how often the request of --all is sent again where the service, or
// something on the way to it, cannot answer for a moment.
const retries = 3

// options are a client's but for who asks.
func (p *program) options(c *cli.Context, s *profile.Settings) (client.Options, error) {
	trust, err := p.trust(c, s)
	o := client.Options{
		URL:       s.Text("url"),
		Timeout:   s.Span("timeout"),
		UserAgent: "whctl/" + versionText(),
		TLS:       trust,
	}
	if c.Bool("verbose") {
		o.Log = slog.New(slog.NewTextHandler(&display.Writer{To: p.stderr}, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: withoutTime}))
	}
	if c.Bool("debug") {
		o.Wire = &display.Writer{To: p.stderr}
	}
	if c.Bool("all") {
		o.Retries, o.Retrying = retries, func(err error, pause time.Duration) {
			p.notice(c, "%s; trying again in %s", err, pause.Round(time.Millisecond))
		}
	}
	if c.Bool("dry-run") && !(cmdline.FlagTable{}).Add(c.Command.Flags).Has(ownDryRun) {
		o.DryRun = p.showRequest
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
func (p *program) trust(c *cli.Context, s *profile.Settings) (*tls.Config, error) {
	if s.Yes("insecure_tls") {
		p.notice(c, "TLS! every certificate is trusted (insecure_tls, %s)", s.Values["insecure_tls"].Origin)
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

// settings finds out what is in force: flags win over variables, these over the
// profile, and that over what is initially so.
func (p *program) settings(c *cli.Context) (*profile.Settings, error) {
	if p.resolved == nil {
		s, err := profile.Resolve(c, p.env, false)
		if err != nil {
			return nil, err
		}
		p.resolved = s
	}
	return p.resolved, nil
}
