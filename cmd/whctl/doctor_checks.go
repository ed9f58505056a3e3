package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/cmd/whctl/profile"
)

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
	if s.Profile != "" {
		detail = "profile " + s.Profile
	}
	detail += fmt.Sprintf(", %s (%s)", s.Text("url"), s.Values["url"].Origin)
	info, err := os.Stat(profile.Path(d.env))
	if err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0 {
		return finding{Result: odd, Detail: detail + "; others may write to " + profile.Path(d.env), Fix: "chmod 600 " + profile.Path(d.env)}
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
	link, err := (&net.Dialer{}).DialContext(ctx, "tcp", hostPort(u))
	if err != nil {
		return finding{Result: wrong, Detail: err.Error(), Fix: "is the service running, and does a firewall let it be reached? Behind a proxy, HTTPS_PROXY names it"}
	}
	defer link.Close()
	return finding{Result: fine, Detail: fmt.Sprintf("%s is %s, and takes connections", u.Hostname(), strings.Join(addresses, ", "))}
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
	case d.settings.Yes("insecure_tls"):
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
	switch {
	case errors.Is(err, client.ErrNotSent):
		return finding{}
	case err != nil:
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
		switch e := e.(type) {
		case client.Connected:
			connected = true
		case client.HeartbeatEvent:
			return finding{Result: fine, Detail: fmt.Sprintf("first heartbeat after %s", time.Since(start).Round(time.Millisecond))}
		case client.Disconnected:
			return finding{Result: wrong, Detail: e.Err.Error(), Fix: "what runs between here and the service must let streams through"}
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

// hostURL looks at what the service says is its own address, by which the others
// in the company should reach it, and tries it.
func (d *patient) hostURL() finding {
	if d.info == nil || !slices.Contains(d.info.Features, "webhooks") {
		return finding{}
	}
	address := d.info.WebhooksHostURL
	u, err := url.Parse(address)
	switch {
	case address == "":
		return finding{Result: fine, Detail: "the service names no address of its own (webhooks.host_url)"}
	case err != nil:
		return finding{Result: wrong, Detail: "webhooks.host_url is no address", Fix: hostURLFix}
	case isLoopback(u.Hostname()):
		return finding{Result: odd, Detail: address + " leads every other computer to itself", Fix: hostURLFix}
	}
	if err := d.try(address); err != nil {
		return finding{Result: odd, Detail: err.Error(), Fix: "does a firewall let it be reached from here? " + hostURLFix}
	}
	return finding{Result: fine, Detail: address + " answers"}
}

const hostURLFix = "webhooks.host_url of the service must be the address by which users in the company reach it"

// try asks at another address of the service, without telling who asks.
func (d *patient) try(address string) error {
	o, err := d.options(d.c, d.settings)
	if err != nil {
		return err
	}
	o.URL, o.Timeout, o.DryRun = address, doctorPatience, nil
	there, err := client.New(o)
	if err != nil {
		return err
	}
	defer there.Close()
	ctx, cancel := context.WithTimeout(d.c.Context, doctorPatience)
	defer cancel()
	_, err = there.Info(ctx)
	return err
}

// isLoopback reports whether a host is the computer that asks.
func isLoopback(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if at, err := netip.ParseAddr(host); err == nil {
		return at.Unmap().IsLoopback() || at.IsUnspecified()
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// keyringWorks asks for something that is not there.
func (d *patient) keyringWorks() finding {
	err := d.vault.TryKeyring(d.c.Context)
	if err != nil {
		return finding{Result: odd, Detail: err.Error(), Fix: "whctl login --insecure-storage keeps logins in a file; " + profile.EnvToken + " and " + profile.EnvPassword + " need neither"}
	}
	return finding{Result: fine, Detail: "works"}
}
