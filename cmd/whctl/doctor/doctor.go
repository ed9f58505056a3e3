// Package doctor diagnoses the connection between this machine and the service.
package doctor

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/check"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/output"
	"github.com/bizhook/whd/cmd/whctl/profile"
)

// Diagnosis holds the results of the checks and the state that they share.
type Diagnosis struct {
	Results []check.Result

	c         *cli.Context
	connector *profile.Connector
	now       func() time.Time
	settings  *profile.Settings
	service   *client.Client // nil if it cannot be created
	info      *wire.Info     // nil if the service does not respond
	admin     bool
}

// checks run in this order. A check that depends on a failed one returns no status
// and is left out.
var checks = []struct {
	name string
	run  func(*Diagnosis) check.Result
}{
	{"configuration", (*Diagnosis).configuration},
	{"address", (*Diagnosis).address},
	{"certificate", (*Diagnosis).certificate},
	{"service", (*Diagnosis).responds},
	{"clock", (*Diagnosis).offset},
	{"sign-in", (*Diagnosis).signedIn},
	{"stream", (*Diagnosis).streams},
	{"deliveries", (*Diagnosis).deliveries},
	{"host url", (*Diagnosis).hostURL},
	{"keyring", (*Diagnosis).keyringWorks},
}

// Examine runs the checks until the command is interrupted.
func Examine(c *cli.Context, connector *profile.Connector, now func() time.Time) *Diagnosis {
	d := &Diagnosis{c: c, connector: connector, now: now}
	for _, one := range checks {
		found := one.run(d)
		if c.Context.Err() != nil {
			break
		}
		if found.Name = one.name; found.Status != "" {
			d.Results = append(d.Results, found)
		}
	}
	return d
}

// Close ends the connection to the service.
func (d *Diagnosis) Close() {
	if d.service != nil {
		d.service.Close()
	}
}

// Failed returns the number of failed checks.
func (d *Diagnosis) Failed() (count int) {
	for _, r := range d.Results {
		if r.Status == check.Failed {
			count++
		}
	}
	return count
}

// finding is a result in machine-readable formats.
type finding struct{ Check, Result, Detail, Fix string }

func (d *Diagnosis) findings() (all []finding) {
	for _, r := range d.Results {
		all = append(all, finding{r.Name, r.Status.Short(), r.Detail, r.Fix})
	}
	return all
}

var columns = []output.Column{{Name: "Check", Type: record.Text}, {Name: "Result", Type: record.Text}, {Name: "Detail", Type: record.Text}, {Name: "Fix", Type: record.Text}}

// Print prints the results. In the format table each result is a line of text,
// which is not truncated.
func (d *Diagnosis) Print(printer *output.Printer) error {
	f, err := printer.Format()
	if err != nil {
		return err
	}
	if f.Name == "table" {
		out, err := printer.Create()
		if err != nil {
			return err
		}
		cmdline.PrintChecks(out, d.Results)
		return out.Finish(nil)
	}
	var lines [][]any
	for _, f := range d.findings() {
		fix := any(f.Fix)
		if f.Fix == "" {
			fix = nil
		}
		lines = append(lines, []any{f.Check, f.Result, f.Detail, fix})
	}
	_, err = printer.Lines(columns, lines)
	return err
}

// configuration checks the settings and creates the client for the other checks.
func (d *Diagnosis) configuration() check.Result {
	s, err := d.connector.Settings(d.c)
	if err != nil {
		return check.Result{Status: check.Failed, Detail: err.Error(), Fix: "whctl config edit"}
	}
	d.settings = s
	if d.service, err = d.connector.ReadClient(d.c); err != nil {
		return check.Result{Status: check.Failed, Detail: err.Error(), Fix: "whctl config show --origin"}
	}
	detail := "no profile"
	if s.Profile != "" {
		detail = "profile " + s.Profile
	}
	detail += fmt.Sprintf(", %s (%s)", s.Text("url"), s.Values["url"].Origin)
	info, err := os.Stat(profile.Path(d.connector.Env))
	if err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0 {
		return check.Result{Status: check.Warning, Detail: detail + "; other users can write to " + profile.Path(d.connector.Env), Fix: "chmod 600 " + profile.Path(d.connector.Env)}
	}
	return check.Result{Status: check.OK, Detail: detail}
}

const timeout = 5 * time.Second // of each network operation

// address checks that the host name resolves and the port accepts connections.
func (d *Diagnosis) address() check.Result {
	u := d.url()
	if u == nil {
		return check.Result{}
	}
	ctx, cancel := context.WithTimeout(d.c.Context, timeout)
	defer cancel()
	addresses, err := net.DefaultResolver.LookupHost(ctx, u.Hostname())
	if err != nil {
		return check.Result{Status: check.Failed, Detail: err.Error(), Fix: "check the host name " + u.Hostname() + "; change it with whctl config update url URL"}
	}
	link, err := (&net.Dialer{}).DialContext(ctx, "tcp", hostPort(u))
	if err != nil {
		return check.Result{Status: check.Failed, Detail: err.Error(), Fix: "check that the service is running and that no firewall blocks it; set HTTPS_PROXY to use a proxy"}
	}
	defer link.Close()
	return check.Result{Status: check.OK, Detail: fmt.Sprintf("%s is %s and accepts connections", u.Hostname(), strings.Join(addresses, ", "))}
}

// url returns the address of the service; nil if there is no client.
func (d *Diagnosis) url() *url.URL {
	if d.service == nil {
		return nil
	}
	u, err := url.Parse(d.service.URL())
	if err != nil {
		return nil
	}
	return u
}

func hostPort(u *url.URL) string {
	return net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme]))
}

// renewal is the remaining validity of a certificate below which a warning is
// printed.
const renewal = 21 * 24 * time.Hour

func (d *Diagnosis) certificate() check.Result {
	u := d.url()
	switch {
	case u == nil || u.Scheme != "https":
		return check.Result{}
	case d.settings.Bool("insecure_tls"):
		return check.Result{Status: check.Warning, Detail: "certificates are not verified", Fix: "whctl config update insecure_tls false; set ca_file to trust your own certificate"}
	}
	o, err := d.connector.Options(d.c)
	if err != nil {
		return check.Result{Status: check.Failed, Detail: err.Error()}
	}
	ctx, cancel := context.WithTimeout(d.c.Context, timeout)
	defer cancel()
	link, err := (&tls.Dialer{Config: o.TLS}).DialContext(ctx, "tcp", hostPort(u))
	if err != nil {
		return noCertificate(err)
	}
	defer link.Close()
	leaf := link.(*tls.Conn).ConnectionState().PeerCertificates[0]
	left := leaf.NotAfter.Sub(d.now())
	f := check.Result{Status: check.OK, Detail: fmt.Sprintf("%s, valid until %s", leaf.Subject.CommonName, leaf.NotAfter.Format(time.DateOnly))}
	if left < renewal {
		f.Status, f.Fix = check.Warning, "renew the certificate of the service"
	}
	return f
}

// noCertificate returns the result of a handshake that failed.
func noCertificate(err error) check.Result {
	if errors.Is(err, context.DeadlineExceeded) {
		return check.Result{Status: check.Failed, Detail: fmt.Sprintf("no TLS handshake within %s", timeout), Fix: "check that the service uses HTTPS at this address"}
	}
	return check.Result{Status: check.Failed, Detail: err.Error(), Fix: "whctl config update ca_file FILE, with the certificate of its issuer"}
}

func (d *Diagnosis) responds() check.Result {
	if d.service == nil {
		return check.Result{}
	}
	info, err := d.service.Info(d.c.Context)
	switch {
	case errors.Is(err, client.ErrNotSent):
		return check.Result{}
	case err != nil:
		return check.Result{Status: check.Failed, Detail: err.Error(), Fix: "check that " + d.service.URL() + " is the address of the service, not of another program or a proxy"}
	}
	d.info = info
	return check.Result{Status: check.OK, Detail: fmt.Sprintf("version %s; features: %s", info.Version, strings.Join(info.Features, " "))}
}

// maxOffset is the difference between clocks above which signatures and filters by
// time can fail.
const maxOffset = time.Minute

func (d *Diagnosis) offset() check.Result {
	if d.info == nil {
		return check.Result{}
	}
	offset := d.now().Sub(time.Time(d.info.ServerDateTime)).Round(10 * time.Millisecond)
	f := check.Result{Status: check.OK, Detail: fmt.Sprintf("%s ahead of the service", offset)}
	if offset.Abs() > maxOffset {
		f.Status, f.Fix = check.Warning, "correct the clock of this machine or of the service"
	}
	return f
}

func (d *Diagnosis) signedIn() check.Result {
	if d.info == nil {
		return check.Result{}
	}
	id, err := d.connector.Identity(d.c)
	if err != nil {
		return check.Result{Status: check.Failed, Detail: err.Error(), Fix: d.connector.HowToSignIn()}
	}
	session, err := d.service.CurrentSession(d.c.Context)
	if err != nil {
		return check.Result{Status: check.Failed, Detail: err.Error(), Fix: d.connector.HowToSignIn()}
	}
	d.admin = session.Role == "admin"
	return check.Result{Status: check.OK, Detail: fmt.Sprintf("as %s (%s), by %s%s", session.UserName, session.Role, id.Source, profile.Until(session))}
}

// streams waits for the first heartbeat of a stream, which a buffering proxy would
// hold back.
func (d *Diagnosis) streams() check.Result {
	if !d.admin {
		return check.Result{}
	}
	ctx, cancel := context.WithTimeout(d.c.Context, timeout)
	defer cancel()
	start := time.Now()
	connected := false
	for e, err := range d.service.Stream(ctx, client.StreamOptions{}) {
		switch e := e.(type) {
		case client.Connected:
			connected = true
		case client.HeartbeatEvent:
			return check.Result{Status: check.OK, Detail: fmt.Sprintf("first heartbeat after %s", time.Since(start).Round(time.Millisecond))}
		case client.Disconnected:
			return check.Result{Status: check.Failed, Detail: e.Err.Error(), Fix: "check that proxies between this machine and the service support streams"}
		}
		switch {
		case err != nil && connected:
			return check.Result{Status: check.Failed, Detail: fmt.Sprintf("connected, but no heartbeat within %s", timeout), Fix: "turn off the buffering of the proxy for /Webhooks/Stream"}
		case err != nil:
			return check.Result{Status: check.Failed, Detail: err.Error()}
		}
	}
	return check.Result{}
}

// deliveries reports problems of the service's machine that hold up deliveries.
func (d *Diagnosis) deliveries() check.Result {
	if !d.admin || d.info == nil || !slices.Contains(d.info.Features, "webhooks") {
		return check.Result{}
	}
	ctx, cancel := context.WithTimeout(d.c.Context, timeout)
	defer cancel()
	stats, err := d.service.Stats(ctx, 0) // of the default period
	if err != nil {
		return check.Result{Status: check.Failed, Detail: err.Error(), Fix: "look at the log of the service"}
	}
	inHand := stats.InHand
	if inHand.Paused != "" {
		return check.Result{Status: check.Failed, Detail: display.Sanitize(inHand.Paused), Fix: "free the resource on the machine of the service; for file descriptors raise its limit (LimitNOFILE of systemd, ulimit -n)"}
	}
	if inHand.Overdue > 0 {
		detail := display.Count(inHand.Overdue, "request is", "requests are") + " still open after webhooks.attempt_timeout; the messages are not affected"
		return check.Result{Status: check.Warning, Detail: detail, Fix: "restart the service to close the connections, and report this"}
	}
	if len(inHand.Uncharged) > 0 {
		var counts []string
		for _, cause := range slices.Sorted(maps.Keys(inHand.Uncharged)) {
			counts = append(counts, fmt.Sprintf("%s %d", display.Sanitize(cause), inHand.Uncharged[cause]))
		}
		return check.Result{Status: check.OK, Detail: "attempts not charged to their endpoints since the start, by cause: " + strings.Join(counts, ", ")}
	}
	return check.Result{Status: check.OK, Detail: display.Count(inHand.InFlight, "attempt", "attempts") + " in flight"}
}

// hostURL checks webhooks.host_url, the address at which users in the company
// reach the service.
func (d *Diagnosis) hostURL() check.Result {
	if d.info == nil || !slices.Contains(d.info.Features, "webhooks") {
		return check.Result{}
	}
	address := d.info.WebhooksHostURL
	u, err := url.Parse(address)
	switch {
	case address == "":
		return check.Result{Status: check.OK, Detail: "webhooks.host_url is not set"}
	case err != nil:
		return check.Result{Status: check.Failed, Detail: "webhooks.host_url is not a valid address", Fix: hostURLFix}
	case wire.IsLoopback(u.Hostname()):
		return check.Result{Status: check.Warning, Detail: address + " is only valid on the machine of the service", Fix: hostURLFix}
	}
	if err := d.try(address); err != nil {
		return check.Result{Status: check.Warning, Detail: err.Error(), Fix: "check for a firewall; " + hostURLFix}
	}
	return check.Result{Status: check.OK, Detail: address + " responds"}
}

const hostURLFix = "set webhooks.host_url of the service to the address at which users in the company reach it"

// try sends a request to another address of the service, without credentials.
func (d *Diagnosis) try(address string) error {
	o, err := d.connector.Options(d.c)
	if err != nil {
		return err
	}
	o.URL, o.Timeout, o.DryRun = address, timeout, nil
	other, err := client.New(o)
	if err != nil {
		return err
	}
	defer other.Close()
	ctx, cancel := context.WithTimeout(d.c.Context, timeout)
	defer cancel()
	_, err = other.Info(ctx)
	return err
}

// keyringWorks checks the keyring.
func (d *Diagnosis) keyringWorks() check.Result {
	if err := d.connector.Vault.TryKeyring(d.c.Context); err != nil {
		return check.Result{Status: check.Warning, Detail: err.Error(), Fix: "store logins in a file with whctl login --insecure-storage, or set " + profile.EnvToken + " or " + profile.EnvPassword}
	}
	return check.Result{Status: check.OK, Detail: "works"}
}
