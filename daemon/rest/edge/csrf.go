package edge

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/fault"
)

// CSRF refuses requests that pages of others make a browser send.
type CSRF struct {
	protection *http.CrossOriginProtection // net/http's own rule
	cors       CORS
}

// NewCSRF makes a CSRF that trusts the pages of other origins.
func NewCSRF(origins CORS) *CSRF {
	p := http.NewCrossOriginProtection()
	for _, origin := range origins {
		if err := p.AddTrustedOrigin(origin); err != nil {
			panic("rest: " + err.Error()) // the settings have checked it
		}
	}
	return &CSRF{p, origins}
}

// Check turns away what a page of somebody else made a browser send: a change,
// also one that needs no proof, such as a login in another's name; and rows by
// a callback, which the page could read.
func (c *CSRF) Check(x *Context) error {
	readable := x.Format.callback != "" && x.Route.Role != account.NoRole && (x.Identity.AuthMethod.Ambient() || !x.Identity.Known())
	switch {
	case !x.Route.Changes && !readable, deliberate(x.Request), c.sameOrigin(x):
		return nil
	case x.Route.Changes:
		return fault.New(fault.Forbidden, "the page that asks for this change belongs to another origin, which http.cors_origins does not list, or does not say where it is from")
	}
	return fault.New(fault.Forbidden, "a callback must come from a page of this service, unless the request carries a key or X-ss-id")
}

// deliberate reports whether a request carries proof that browsers never add
// by themselves. A page of somebody else can only send such headers where it
// was allowed to by a preflight.
func deliberate(r *http.Request) bool {
	scheme, _, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.EqualFold(scheme, "Bearer") || r.Header.Get(wire.HeaderSessionID) != ""
}

// sameOrigin reports whether a page of ours, or one that is listed, or no browser
// sent the request. It is stricter than net/http: any method counts, Referer
// counts, the scheme counts, and a header that vouches for the page does not
// outweigh one that speaks against it. Over plain HTTP browsers send no
// Sec-Fetch-Site, and pages can leave Referer out: what says nothing of its page
// and comes from a browser is not ours.
func (c *CSRF) sameOrigin(x *Context) bool {
	asked := x.Request.WithContext(x.Request.Context())
	asked.Method, asked.Host = http.MethodPost, strings.ToLower(bareHost(x.Origin.Host, x.Origin.Secure))
	if c.protection.Check(asked) != nil {
		return false
	}
	for _, name := range []string{"Origin", "Referer"} {
		if text := x.Request.Header.Get(name); text != "" && !c.ours(x, text) {
			return false
		}
	}
	h := x.Request.Header
	vouched := h.Get("Sec-Fetch-Site") != "" || h.Get("Origin") != "" || h.Get("Referer") != "" // from which page it is, or that a person asked
	// A page cannot change what its browser calls itself in a request that needs no preflight.
	return vouched || !strings.HasPrefix(x.Request.UserAgent(), "Mozilla/")
}

// ours reports whether a page's address is of our origin, or a listed one. A
// browser that has compared the schemes knows better than we do: TLS may end at
// a proxy that http.trusted_proxies does not name.
func (c *CSRF) ours(x *Context, text string) bool {
	page, err := url.Parse(text)
	if err != nil || page.Host == "" {
		return false
	}
	if slices.Contains(c.cors, strings.ToLower(page.Scheme+"://"+page.Host)) {
		return true
	}
	secure := page.Scheme == "https"
	if secure != x.Origin.Secure && x.Request.Header.Get("Sec-Fetch-Site") != "same-origin" {
		return false
	}
	return strings.EqualFold(bareHost(page.Host, secure), bareHost(x.Origin.Host, secure))
}

// bareHost is a host without the port that its scheme has anyway, which proxies
// add and browsers leave out.
func bareHost(host string, secure bool) string {
	if secure {
		return strings.TrimSuffix(host, ":443")
	}
	return strings.TrimSuffix(host, ":80")
}
