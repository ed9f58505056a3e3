// Package doctor checks the way between this machine and the service.
package doctor

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
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
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/output"
	"github.com/bizhook/whd/cmd/whctl/profile"
)

// Diagnosis is what the checks have found, and what they have found it from.
type Diagnosis struct {
	Results []check.Result

	c         *cli.Context
	connector *profile.Connector
	now       func() time.Time
	settings  *profile.Settings
	service   *client.Client // nil where it could not even be made
	info      *wire.Info     // nil where the service does not answer
	admin     bool
}

// checks are made in this order. Those behind one that failed may have nothing
// to go by, and then have no status.
var checks = []struct {
	name string
	run  func(*Diagnosis) check.Result
}{
	{"configuration", (*Diagnosis).configuration},
	{"address", (*Diagnosis).address},
	{"certificate", (*Diagnosis).certificate},
	{"service", (*Diagnosis).answers},
	{"clock", (*Diagnosis).offset},
	{"sign-in", (*Diagnosis).signedIn},
	{"stream", (*Diagnosis).streams},
	{"host url", (*Diagnosis).hostURL},
	{"keyring", (*Diagnosis).keyringWorks},
}

// Examine makes the checks, until the command is interrupted.
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

// Failed counts what does not work.
func (d *Diagnosis) Failed() (count int) {
	for _, r := range d.Results {
		if r.Status == check.Failed {
			count++
		}
	}
	return count
}

// finding is a result as programs get it.
type finding struct{ Check, Result, Detail, Fix string }

func (d *Diagnosis) findings() (all []finding) {
	for _, r := range d.Results {
		all = append(all, finding{r.Name, r.Status.Short(), r.Detail, r.Fix})
	}
	return all
}

var columns = []output.Column{{Name: "Check", Type: record.Text}, {Name: "Result", Type: record.Text}, {Name: "Detail", Type: record.Text}, {Name: "Fix", Type: record.Text}}

// Print prints what was found. For people each result is a line, of which nothing
// is cut.
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

// configuration also makes the client that the others ask.
func (d *Diagnosis) configuration() check.Result {
	s, err := d.connector.Settings(d.c)
	if err != nil {
		return check.Result{Status: check.Failed, Detail: err.Error(), Fix: "whctl config edit"}
	}
	d.settings = s
	if d.service, err = d.connector.Reader(d.c); err != nil {
		return check.Result{Status: check.Failed, Detail: err.Error(), Fix: "whctl config show --origin"}
	}
	detail := "no profile"
	if s.Profile != "" {
		detail = "profile " + s.Profile
	}
	detail += fmt.Sprintf(", %s (%s)", s.Text("url"), s.Values["url"].Origin)
	info, err := os.Stat(profile.Path(d.connector.Env))
	if err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0 {
		return check.Result{Status: check.Warning, Detail: detail + "; others may write to " + profile.Path(d.connector.Env), Fix: "chmod 600 " + profile.Path(d.connector.Env)}
	}
	return check.Result{Status: check.OK, Detail: detail}
}

const timeout = 5 * time.Second // with each thing that has to be waited for

// address finds out whether the service's name and port lead somewhere.
func (d *Diagnosis) address() check.Result {
	u := d.url()
	if u == nil {
		return check.Result{}
	}
	ctx, cancel := context.WithTimeout(d.c.Context, timeout)
	defer cancel()
	addresses, err := net.DefaultResolver.LookupHost(ctx, u.Hostname())
	if err != nil {
		return check.Result{Status: check.Failed, Detail: err.Error(), Fix: "is " + u.Hostname() + " the right name? whctl config update url URL changes it"}
	}
	link, err := (&net.Dialer{}).DialContext(ctx, "tcp", hostPort(u))
	if err != nil {
		return check.Result{Status: check.Failed, Detail: err.Error(), Fix: "is the service running, and does a firewall let it be reached? Behind a proxy, HTTPS_PROXY names it"}
	}
	defer link.Close()
	return check.Result{Status: check.OK, Detail: fmt.Sprintf("%s is %s, and takes connections", u.Hostname(), strings.Join(addresses, ", "))}
}

// url is the service's address, nil where there is none.
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
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// renewal is how long before its end a certificate is worth a word.
const renewal = 21 * 24 * time.Hour

func (d *Diagnosis) certificate() check.Result {
	u := d.url()
	switch {
	case u == nil || u.Scheme != "https":
		return check.Result{}
	case d.settings.Yes("insecure_tls"):
		return check.Result{Status: check.Warning, Detail: "every certificate is trusted", Fix: "whctl config update insecure_tls false, and ca_file for a certificate of your own"}
	}
	o, err := d.connector.Options(d.c)
	if err != nil {
		return check.Result{Status: check.Failed, Detail: err.Error()}
	}
	ctx, cancel := context.WithTimeout(d.c.Context, timeout)
	defer cancel()
	link, err := (&tls.Dialer{Config: o.TLS}).DialContext(ctx, "tcp", hostPort(u))
	if err != nil {
		return check.Result{Status: check.Failed, Detail: err.Error(), Fix: "whctl config update ca_file FILE, with the certificate of who signed it"}
	}
	defer link.Close()
	leaf := link.(*tls.Conn).ConnectionState().PeerCertificates[0]
	left := leaf.NotAfter.Sub(d.now())
	f := check.Result{Status: check.OK, Detail: fmt.Sprintf("of %s, valid until %s", leaf.Subject.CommonName, leaf.NotAfter.Format(time.DateOnly))}
	if left < renewal {
		f.Status, f.Fix = check.Warning, "renew it on the service"
	}
	return f
}

func (d *Diagnosis) answers() check.Result {
	if d.service == nil {
		return check.Result{}
	}
	info, err := d.service.Info(d.c.Context)
	switch {
	case errors.Is(err, client.ErrNotSent):
		return check.Result{}
	case err != nil:
		return check.Result{Status: check.Failed, Detail: err.Error(), Fix: "does " + d.service.URL() + " belong to the service? Another program, or a proxy, may answer there"}
	}
	d.info = info
	return check.Result{Status: check.OK, Detail: fmt.Sprintf("version %s; features: %s", info.Version, strings.Join(info.Features, " "))}
}

// maxOffset is how far clocks may be apart before signatures and filters by
// time go wrong.
const maxOffset = time.Minute

func (d *Diagnosis) offset() check.Result {
	if d.info == nil {
		return check.Result{}
	}
	apart := d.now().Sub(time.Time(d.info.ServerDateTime)).Round(10 * time.Millisecond)
	f := check.Result{Status: check.OK, Detail: fmt.Sprintf("%s ahead of the service", apart)}
	if apart.Abs() > maxOffset {
		f.Status, f.Fix = check.Warning, "set the clock of this machine, or that of the service"
	}
	return f
}

func (d *Diagnosis) signedIn() check.Result {
	if d.info == nil {
		return check.Result{}
	}
	who, err := d.connector.Identity(d.c)
	if err != nil {
		return check.Result{Status: check.Failed, Detail: err.Error(), Fix: d.connector.HowToSignIn()}
	}
	session, err := d.service.CurrentSession(d.c.Context)
	if err != nil {
		return check.Result{Status: check.Failed, Detail: err.Error(), Fix: d.connector.HowToSignIn()}
	}
	d.admin = session.Role == "admin"
	return check.Result{Status: check.OK, Detail: fmt.Sprintf("as %s (%s), by %s%s", session.UserName, session.Role, who.Source, profile.Until(session))}
}

// streams waits for the first heartbeat. A proxy that holds back what it gets
// keeps it to itself.
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
			return check.Result{Status: check.Failed, Detail: e.Err.Error(), Fix: "what runs between here and the service must let streams through"}
		}
		switch {
		case err != nil && connected:
			return check.Result{Status: check.Failed, Detail: fmt.Sprintf("connected, but no heartbeat within %s", timeout), Fix: "a proxy holds it back: turn its buffering off for /Webhooks/Stream"}
		case err != nil:
			return check.Result{Status: check.Failed, Detail: err.Error()}
		}
	}
	return check.Result{}
}

// hostURL looks at what the service says is its own address, by which the others
// in the company should reach it, and tries it.
func (d *Diagnosis) hostURL() check.Result {
	if d.info == nil || !slices.Contains(d.info.Features, "webhooks") {
		return check.Result{}
	}
	address := d.info.WebhooksHostURL
	u, err := url.Parse(address)
	switch {
	case address == "":
		return check.Result{Status: check.OK, Detail: "the service names no address of its own (webhooks.host_url)"}
	case err != nil:
		return check.Result{Status: check.Failed, Detail: "webhooks.host_url is no address", Fix: hostURLFix}
	case profile.IsLoopback(u.Hostname()):
		return check.Result{Status: check.Warning, Detail: address + " leads every other computer to itself", Fix: hostURLFix}
	}
	if err := d.try(address); err != nil {
		return check.Result{Status: check.Warning, Detail: err.Error(), Fix: "does a firewall let it be reached from here? " + hostURLFix}
	}
	return check.Result{Status: check.OK, Detail: address + " answers"}
}

const hostURLFix = "webhooks.host_url of the service must be the address by which users in the company reach it"

// try asks at another address of the service, without telling who asks.
func (d *Diagnosis) try(address string) error {
	o, err := d.connector.Options(d.c)
	if err != nil {
		return err
	}
	o.URL, o.Timeout, o.DryRun = address, timeout, nil
	there, err := client.New(o)
	if err != nil {
		return err
	}
	defer there.Close()
	ctx, cancel := context.WithTimeout(d.c.Context, timeout)
	defer cancel()
	_, err = there.Info(ctx)
	return err
}

// keyringWorks asks for something that is not there.
func (d *Diagnosis) keyringWorks() check.Result {
	err := d.connector.Vault.TryKeyring(d.c.Context)
	if err != nil {
		return check.Result{Status: check.Warning, Detail: err.Error(), Fix: "whctl login --insecure-storage keeps logins in a file; " + profile.EnvToken + " and " + profile.EnvPassword + " need neither"}
	}
	return check.Result{Status: check.OK, Detail: "works"}
}
