package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"
	"github.com/zalando/go-keyring"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
)

func (p *program) doctorCommands() []*cli.Command {
	return []*cli.Command{{
		Name: "doctor", Usage: "find out what is wrong between here and the service, and how to mend it", Action: p.doctor,
		Flags: append(append(outputFlags(),
			&cli.BoolFlag{Name: "fix", Usage: "delete what whctl listen --direct has left behind"},
			&cli.StringFlag{Name: "bundle", Usage: "write all that was found out to `FILE`, a zip without secrets, to send to somebody who helps"},
		), changeFlags()...),
		Description: `whctl doctor
whctl doctor --bundle whctl.zip`,
	}}
}

// The results of a check.
const (
	fine  = "ok"
	odd   = "warn"
	wrong = "fail"
)

// finding is what a check found.
type finding struct{ Check, Result, Detail, Fix string }

var findingColumns = []column{{"Check", record.Text}, {"Result", record.Text}, {"Detail", record.Text}, {"Fix", record.Text}}

// patient is what the checks are of.
type patient struct {
	*program
	c        *cli.Context
	settings *settings
	service  *client.Client // nil where it could not even be made
	info     *wire.Info     // nil where the service does not answer
	admin    bool
	found    []finding
}

// checks are made in this order. Those behind one that failed may have nothing
// to go by, and then say nothing.
var checks = []struct {
	name string
	run  func(*patient) finding
}{
	{"configuration", (*patient).configuration},
	{"address", (*patient).address},
	{"certificate", (*patient).certificate},
	{"service", (*patient).answers},
	{"clock", (*patient).offset},
	{"sign-in", (*patient).signedIn},
	{"stream", (*patient).streams},
	{"left behind", (*patient).leftBehind},
	{"keyring", (*patient).keyringWorks},
	{"terminal", (*patient).terminalFits},
}

// doctor is whctl doctor.
func (p *program) doctor(c *cli.Context) error {
	d := &patient{program: p, c: c}
	for _, check := range checks {
		found := check.run(d)
		if c.Context.Err() != nil {
			return interruption{}
		}
		if found.Check = check.name; found.Result != "" {
			d.found = append(d.found, found)
		}
	}
	if d.service != nil {
		defer d.service.Close()
	}
	if path := c.String("bundle"); path != "" {
		if err := d.bundle(path); err != nil {
			return err
		}
		p.notice(c, "written to %s", path)
	}
	if err := d.tell(); err != nil {
		return err
	}
	failed := 0
	for _, f := range d.found {
		if f.Result == wrong {
			failed++
		}
	}
	if failed > 0 {
		return &partialError{fmt.Sprintf("%d of %s failed", failed, countOf(int64(len(d.found)), "check", "checks"))}
	}
	return nil
}

// tell prints what was found. For people each finding is a line, of which
// nothing is cut.
func (d *patient) tell() error {
	f, err := d.format(d.c)
	if err != nil {
		return err
	}
	var lines [][]any
	for _, f := range d.found {
		lines = append(lines, []any{f.Check, f.Result, f.Detail, nilIfEmpty(f.Fix)})
	}
	if f.name != "table" {
		_, err = d.show(d.c, findingColumns, lines)
		return err
	}
	out, err := d.create(d.c.String("output"))
	if err != nil {
		return err
	}
	for _, f := range d.found {
		line := fmt.Sprintf("%-4s  %-13s  %s", f.Result, f.Check, inertText(f.Detail))
		if f.Fix != "" {
			line += "  (" + inertText(f.Fix) + ")"
		}
		fmt.Fprintln(out, line)
	}
	return out.finish(nil)
}

// configuration also makes the client that the others ask.
func (d *patient) configuration() finding {
	s, err := d.program.settings(d.c)
	if err != nil {
		return finding{Result: wrong, Detail: err.Error(), Fix: "whctl config edit"}
	}
	d.settings = s
	if d.service, err = d.connect(d.c); err != nil {
		return finding{Result: wrong, Detail: err.Error(), Fix: "whctl config show --origin"}
	}
	detail := "no profile"
	if s.profile != "" {
		detail = "profile " + s.profile
	}
	detail += fmt.Sprintf(", %s (%s)", s.text("url"), s.values["url"].origin)
	info, err := os.Stat(d.configPath())
	if err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0 {
		return finding{Result: odd, Detail: detail + "; others may write to " + d.configPath(), Fix: "chmod 600 " + d.configPath()}
	}
	return finding{Result: fine, Detail: detail}
}

const doctorPatience = 5 * time.Second // with each thing that has to be waited for

// address finds out whether the service's name and port lead somewhere.
func (d *patient) address() finding {
	u := d.url()
	if u == nil {
		return finding{}
	}
	ctx, cancel := context.WithTimeout(d.c.Context, doctorPatience)
	defer cancel()
	addresses, err := net.DefaultResolver.LookupHost(ctx, u.Hostname())
	if err != nil {
		return finding{Result: wrong, Detail: err.Error(), Fix: "is " + u.Hostname() + " the right name? whctl config set url URL changes it"}
	}
	start := time.Now()
	link, err := (&net.Dialer{}).DialContext(ctx, "tcp", hostPort(u))
	if err != nil {
		return finding{Result: wrong, Detail: err.Error(), Fix: "is the service running, and does a firewall let it be reached? Behind a proxy, HTTPS_PROXY names it"}
	}
	defer link.Close()
	return finding{Result: fine, Detail: fmt.Sprintf("%s is %s; connected in %s", u.Hostname(), strings.Join(addresses, ", "), time.Since(start).Round(time.Millisecond))}
}

// url is the service's address, nil where there is none.
func (d *patient) url() *url.URL {
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

// soonOver is how long before its end a certificate is worth a word.
const soonOver = 21 * 24 * time.Hour

func (d *patient) certificate() finding {
	u := d.url()
	switch {
	case u == nil || u.Scheme != "https":
		return finding{}
	case d.settings.yes("insecure_tls"):
		return finding{Result: odd, Detail: "every certificate is trusted", Fix: "whctl config set insecure_tls false, and ca_file for a certificate of your own"}
	}
	trust, err := d.trust(d.c, d.settings)
	if err != nil {
		return finding{Result: wrong, Detail: err.Error()}
	}
	ctx, cancel := context.WithTimeout(d.c.Context, doctorPatience)
	defer cancel()
	link, err := (&tls.Dialer{Config: trust}).DialContext(ctx, "tcp", hostPort(u))
	if err != nil {
		return finding{Result: wrong, Detail: err.Error(), Fix: "whctl config set ca_file FILE, with the certificate of who signed it"}
	}
	defer link.Close()
	leaf := link.(*tls.Conn).ConnectionState().PeerCertificates[0]
	left := leaf.NotAfter.Sub(d.now())
	f := finding{Result: fine, Detail: fmt.Sprintf("of %s, valid until %s", leaf.Subject.CommonName, leaf.NotAfter.Format(time.DateOnly))}
	if left < soonOver {
		f.Result, f.Fix = odd, "renew it on the service"
	}
	return f
}

func (d *patient) answers() finding {
	if d.service == nil {
		return finding{}
	}
	info, err := d.service.Info(d.c.Context)
	if err != nil {
		return finding{Result: wrong, Detail: err.Error(), Fix: "does " + d.service.URL() + " belong to the service? Another program, or a proxy, may answer there"}
	}
	d.info = info
	return finding{Result: fine, Detail: fmt.Sprintf("version %s; features: %s", info.Version, strings.Join(info.Features, " "))}
}

// mostOffset is how far clocks may be apart before signatures and filters by
// time go wrong.
const mostOffset = time.Minute

func (d *patient) offset() finding {
	if d.info == nil {
		return finding{}
	}
	apart := d.now().Sub(time.Time(d.info.ServerDateTime)).Round(10 * time.Millisecond)
	f := finding{Result: fine, Detail: fmt.Sprintf("%s ahead of the service", apart)}
	if apart.Abs() > mostOffset {
		f.Result, f.Fix = odd, "set the clock of this machine, or that of the service"
	}
	return f
}

func (d *patient) signedIn() finding {
	if d.info == nil {
		return finding{}
	}
	who, err := d.identity(d.c, d.settings)
	if err != nil {
		return finding{Result: wrong, Detail: err.Error(), Fix: d.howToSignIn()}
	}
	session, err := d.service.CurrentSession(d.c.Context)
	if err != nil {
		return finding{Result: wrong, Detail: err.Error(), Fix: d.howToSignIn()}
	}
	d.admin = session.Role == "admin"
	return finding{Result: fine, Detail: fmt.Sprintf("as %s (%s), by %s%s", session.UserName, session.Role, who.source, until(session))}
}

// streams waits for the first heartbeat. A proxy that holds back what it gets
// keeps it to itself.
func (d *patient) streams() finding {
	if !d.admin {
		return finding{}
	}
	ctx, cancel := context.WithTimeout(d.c.Context, doctorPatience)
	defer cancel()
	start := time.Now()
	connected := false
	for e, err := range d.service.Stream(ctx, client.StreamOptions{}) {
		switch e.(type) {
		case client.Connected:
			connected = true
		case client.HeartbeatEvent:
			return finding{Result: fine, Detail: fmt.Sprintf("first heartbeat after %s", time.Since(start).Round(time.Millisecond))}
		case client.Disconnected:
			return finding{Result: wrong, Detail: e.(client.Disconnected).Err.Error(), Fix: "what runs between here and the service must let streams through"}
		}
		switch {
		case err != nil && connected:
			return finding{Result: wrong, Detail: fmt.Sprintf("connected, but no heartbeat within %s", doctorPatience), Fix: "a proxy holds it back: turn its buffering off for /Webhooks/Stream"}
		case err != nil:
			return finding{Result: wrong, Detail: err.Error()}
		}
	}
	return finding{}
}

// leftBehind looks for what whctl listen --direct made on this machine and did
// not delete, its process having ended without a chance to.
func (d *patient) leftBehind() finding {
	if !d.admin {
		return finding{}
	}
	where := []client.Filter{{Field: "Name", Operator: record.StartsWith, Values: []string{directName}}}
	page, err := d.service.Page(d.c.Context, client.Query{Kind: systemKind("Subscriber"), Where: where, Strict: true})
	if err != nil {
		return finding{Result: wrong, Detail: err.Error()}
	}
	var orphans, elsewhere []string
	for _, row := range page.Rows {
		here, alive := directProcess(row.Text("Name"))
		switch {
		case !here:
			elsewhere = append(elsewhere, row.Text("Name"))
		case !alive:
			orphans = append(orphans, row.Text("RecID"))
		}
	}
	switch {
	case len(orphans) > 0 && d.c.Bool("fix"):
		return d.removeOrphans(orphans)
	case len(orphans) > 0:
		return finding{Result: odd, Detail: countOf(int64(len(orphans)), "subscriber", "subscribers") + " of whctl listen --direct", Fix: "whctl doctor --fix"}
	case len(elsewhere) > 0:
		return finding{Result: odd, Detail: "from other machines: " + strings.Join(elsewhere, ", "), Fix: "whctl doctor --fix there, or whctl subscribers delete NAME where they are over"}
	}
	return finding{Result: fine, Detail: "nothing"}
}

func (d *patient) removeOrphans(ids []string) finding {
	service, err := d.connectToChange(d.c, change{what: "delete " + countOf(int64(len(ids)), "subscriber", "subscribers") + " of whctl listen --direct"})
	if err != nil {
		return finding{Result: wrong, Detail: err.Error()}
	}
	defer service.Close()
	for _, id := range ids {
		err = errors.Join(err, service.RemoveSubscriber(d.c.Context, id))
	}
	if err != nil {
		return finding{Result: wrong, Detail: err.Error()}
	}
	return finding{Result: fine, Detail: countOf(int64(len(ids)), "subscriber", "subscribers") + " of whctl listen --direct deleted"}
}

// directProcess reads the name of a subscriber that whctl listen --direct made:
// whether that was on this machine, and whether it still runs.
func directProcess(name string) (here, alive bool) {
	who, number, _ := strings.Cut(strings.TrimPrefix(name, directName), " ")
	pid, err := strconv.Atoi(number)
	if err != nil || !strings.HasSuffix(who, "@"+hostName()) {
		return false, false
	}
	return true, processRuns(pid)
}

// keyringWorks asks for something that is not there.
func (d *patient) keyringWorks() finding {
	_, err := d.askKeyring(d.c.Context, func() (string, error) {
		text, err := keyring.Get(keyringService, "doctor")
		if errors.Is(err, keyring.ErrNotFound) {
			err = nil
		}
		return text, err
	})
	if err != nil {
		return finding{Result: odd, Detail: err.Error(), Fix: "whctl login --insecure-storage keeps logins in a file; " + envToken + " and " + envPassword + " need neither"}
	}
	return finding{Result: fine, Detail: "works"}
}

// smallest is the terminal that whctl tui needs.
const smallest = 60

func (d *patient) terminalFits() finding {
	if !d.terminal.is {
		return finding{Result: fine, Detail: "standard output is none"}
	}
	f := finding{Result: fine, Detail: fmt.Sprintf("%d wide, TERM=%s, colours: %t", d.terminal.width, d.env("TERM"), d.inColour(d.c))}
	switch {
	case d.terminal.width < smallest:
		f.Result, f.Fix = odd, fmt.Sprintf("whctl tui needs a width of %d", smallest)
	case runtime.GOOS != "windows" && !strings.Contains(strings.ToLower(d.env("LC_ALL")+d.env("LC_CTYPE")+d.env("LANG")), "utf"):
		f.Result, f.Detail, f.Fix = odd, f.Detail+", not UTF-8", "LANG=C.UTF-8, or WHCTL_ASCII=1 for the screens"
	}
	return f
}
