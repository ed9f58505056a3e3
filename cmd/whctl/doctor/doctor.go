// Package doctor diagnoses the connection between this machine and the service.
package doctor

import (
	"context"
	"errors"
	"fmt"
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

// Diagnosis holds the results of the checks and the state that they share.
type Diagnosis struct {
	Results []check.Result

	c         *cli.Context
	connector *profile.Connector
	now       func() time.Time

	// The checks set these, each for the checks after it.
	settings      *profile.Settings
	service       *client.Client // nil if it cannot be created
	isUnreachable bool           // connecting to the service or its proxy failed, or the TLS handshake
	info          *wire.Info     // nil if the service does not respond
	admin         bool           // the login is one of an admin
}

// checks run in this order. A check that depends on a failed one returns notApplicable.
var checks = []struct {
	name string
	run  func(*Diagnosis) check.Result
}{
	{name: "configuration", run: (*Diagnosis).checkConfiguration},
	{name: "address", run: (*Diagnosis).checkAddress},
	{name: "certificate", run: (*Diagnosis).checkCertificate},
	{name: "service", run: (*Diagnosis).requestInfo},
	{name: "clock", run: (*Diagnosis).checkClock},
	{name: "sign-in", run: (*Diagnosis).checkSignIn},
	{name: "stream", run: (*Diagnosis).checkStream},
	{name: "deliveries", run: (*Diagnosis).checkDeliveries},
	{name: "host url", run: (*Diagnosis).checkHostURL},
	{name: "keyring", run: (*Diagnosis).checkKeyring},
	{name: "logins", run: (*Diagnosis).checkLogins},
}

// notApplicable has no status; its check is left out.
var notApplicable check.Result

func passed(detail string) check.Result {
	return check.Result{Status: check.OK, Detail: detail}
}

func warning(detail, fix string) check.Result {
	return check.Result{Status: check.Warning, Detail: detail, Fix: fix}
}

func failed(detail, fix string) check.Result {
	return check.Result{Status: check.Failed, Detail: detail, Fix: fix}
}

// Examine runs the checks until the command is interrupted.
func Examine(c *cli.Context, connector *profile.Connector, now func() time.Time) *Diagnosis {
	d := &Diagnosis{c: c, connector: connector, now: now}
	for _, entry := range checks {
		result := entry.run(d)
		if c.Context.Err() != nil {
			break
		}
		if result.Status == "" {
			continue
		}
		result.Name = entry.name
		d.Results = append(d.Results, result)
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
func (d *Diagnosis) Failed() int {
	count := 0
	for _, r := range d.Results {
		if r.Status == check.Failed {
			count++
		}
	}
	return count
}

// finding is a result in machine-readable formats, where its fields have other names.
type finding struct {
	Check  string
	Result string
	Detail string
	Fix    string
}

func (d *Diagnosis) findings() []finding {
	var findings []finding
	for _, r := range d.Results {
		findings = append(findings, finding{
			Check:  r.Name,
			Result: r.Status.Short(),
			Detail: r.Detail,
			Fix:    r.Fix,
		})
	}
	return findings
}

var columns = []output.Column{
	{Name: "Check", Type: record.Text},
	{Name: "Result", Type: record.Text},
	{Name: "Detail", Type: record.Text},
	{Name: "Fix", Type: record.Text},
}

// Print prints the results. In the format table each result is a line of text,
// which is not truncated.
func (d *Diagnosis) Print(printer *output.Printer) error {
	format, err := printer.Format()
	if err != nil {
		return err
	}
	if format.Name == "table" {
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

// checkConfiguration checks the settings and creates the client for the other checks.
func (d *Diagnosis) checkConfiguration() check.Result {
	s, err := d.connector.Settings(d.c)
	if err != nil {
		return failed(err.Error(), "whctl config edit")
	}
	d.settings = s
	d.service, err = d.connector.ReadClient(d.c)
	if err != nil {
		return failed(err.Error(), "whctl config show --origin")
	}

	detail := "no profile"
	if s.Profile != "" {
		detail = "profile " + s.Profile
	}
	detail += fmt.Sprintf(", %s (%s)", s.Text("url"), s.Values["url"].Origin)
	path := profile.Path(d.connector.Env)
	if othersCanWrite(path) {
		return warning(detail+"; other users can write to "+path, "chmod 600 "+path)
	}
	return passed(detail)
}

// othersCanWrite reports whether a file has permissions for other users to write to it.
func othersCanWrite(path string) bool {
	info, err := os.Stat(path)
	return err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0
}

// requestInfo requests the information that the service has for everyone.
func (d *Diagnosis) requestInfo() check.Result {
	if d.service == nil || d.isUnreachable {
		return notApplicable
	}
	info, err := d.service.Info(d.c.Context)
	if errors.Is(err, client.ErrNotSent) {
		return notApplicable
	}
	if err != nil {
		fix := "check that " + d.service.URL() +
			" is the address of the service, not of another program or a proxy"
		return failed(err.Error(), fix)
	}
	d.info = info
	features := strings.Join(info.Features, " ")
	return passed(fmt.Sprintf("version %s; features: %s", info.Version, features))
}

// checkClock compares the clocks of this machine and of the service.
func (d *Diagnosis) checkClock() check.Result {
	if d.info == nil {
		return notApplicable
	}
	return clockResult(d.now().Sub(time.Time(d.info.ServerDateTime)))
}

// maxOffset is the difference between clocks above which signatures and filters by
// time can fail.
const maxOffset = time.Minute

// clockResult returns the result for a clock that is ahead of the service's; a negative offset
// means that it is behind.
func clockResult(offset time.Duration) check.Result {
	offset = offset.Round(10 * time.Millisecond)
	if offset == 0 {
		return passed("the same time as the service")
	}
	direction := "ahead of"
	if offset < 0 {
		direction = "behind"
	}
	detail := fmt.Sprintf("%s %s the service", offset.Abs(), direction)
	if offset.Abs() > maxOffset {
		return warning(detail, "correct the clock of this machine or of the service")
	}
	return passed(detail)
}

// checkSignIn checks that the service accepts the login, and whether it is one of an admin.
func (d *Diagnosis) checkSignIn() check.Result {
	if d.info == nil {
		return notApplicable
	}
	id, err := d.connector.Identity(d.c)
	if err != nil {
		return failed(err.Error(), d.connector.HowToSignIn())
	}
	session, err := d.service.CurrentSession(d.c.Context)
	if err != nil {
		return failed(err.Error(), d.connector.HowToSignIn())
	}
	d.admin = session.Role == "admin"
	return passed(fmt.Sprintf("as %s (%s), by %s%s",
		session.UserName, session.Role, id.Source, profile.Until(session)))
}

// checkStream waits for the first heartbeat of a stream, which a buffering proxy would
// hold back.
func (d *Diagnosis) checkStream() check.Result {
	if !d.admin || !d.hasFeature("stream") {
		return notApplicable
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
			delay := time.Since(start).Round(time.Millisecond)
			return passed(fmt.Sprintf("first heartbeat after %s", delay))
		case client.Disconnected:
			return failed(e.Err.Error(),
				"check that proxies between this machine and the service support streams")
		}
		if err != nil && connected {
			return failed(fmt.Sprintf("connected, but no heartbeat within %s", timeout),
				"turn off the buffering of the proxy for /Webhooks/Stream")
		}
		if err != nil {
			return failed(err.Error(), "")
		}
	}
	return notApplicable
}

// hasFeature reports whether the service responds and has a feature. Without it, requests to its
// routes fail, which is no problem of the service: its settings say so.
func (d *Diagnosis) hasFeature(name string) bool {
	return d.info != nil && slices.Contains(d.info.Features, name)
}

const hostURLFix = "set webhooks.host_url of the service to the address at which users in the " +
	"company reach it"

// checkHostURL checks webhooks.host_url, the address at which users in the company
// reach the service.
func (d *Diagnosis) checkHostURL() check.Result {
	if !d.hasFeature("webhooks") {
		return notApplicable
	}
	address := d.info.WebhooksHostURL
	if address == "" {
		return passed("webhooks.host_url is not set")
	}
	u, err := url.Parse(address)
	if err != nil {
		return failed("webhooks.host_url is not a valid address", hostURLFix)
	}
	if wire.IsLoopback(u.Hostname()) {
		return warning(address+" is only valid on the machine of the service", hostURLFix)
	}
	if err := d.requestFrom(address); err != nil {
		return warning(err.Error(), "check for a firewall; "+hostURLFix)
	}
	return passed(address + " responds")
}

// requestFrom sends a request to another address of the service, without credentials.
func (d *Diagnosis) requestFrom(address string) error {
	options, err := d.connector.Options(d.c)
	if err != nil {
		return err
	}
	options.URL = address
	options.Timeout = timeout
	options.DryRun = nil
	service, err := client.New(options)
	if err != nil {
		return err
	}
	defer service.Close()
	ctx, cancel := context.WithTimeout(d.c.Context, timeout)
	defer cancel()
	_, err = service.Info(ctx)
	return err
}

// checkKeyring checks that logins can be stored.
func (d *Diagnosis) checkKeyring() check.Result {
	if err := d.connector.Vault.TryKeyring(d.c.Context); err != nil {
		return warning(err.Error(),
			"store logins in a file with whctl login --insecure-storage, or set "+profile.EnvToken+
				" or "+profile.EnvPassword)
	}
	return passed("works")
}

// checkLogins checks that only this user can read the secrets of logins that are not in the
// keyring.
func (d *Diagnosis) checkLogins() check.Result {
	logins, err := d.connector.Vault.ReadLogins()
	if err != nil {
		return failed(err.Error(), "")
	}
	if !logins.HasSecrets() {
		return notApplicable
	}
	if logins.Exposed() {
		return warning("other users can read the secrets in "+logins.Path, "chmod 600 "+logins.Path)
	}
	return passed("only you can read the secrets in " + logins.Path)
}
