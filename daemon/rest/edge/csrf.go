package edge

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/query"
)

// CSRF rejects requests that pages of other origins make a browser send. Its tests are
// csrf_test.go of package rest, on all routes.
type CSRF struct {
	protection *http.CrossOriginProtection // the rules of net/http
	cors       CORS
}

// NewCSRF returns a CSRF that trusts the given origins.
func NewCSRF(origins CORS) *CSRF {
	p := http.NewCrossOriginProtection()
	for _, origin := range origins {
		if err := p.AddTrustedOrigin(origin); err != nil {
			panic("rest: " + err.Error()) // the settings were validated
		}
	}
	return &CSRF{p, origins}
}

// Check rejects cross-origin requests that change something, even those that need no
// credentials, such as a login as another user. It also rejects queries with a callback:
// the page could read the rows.
func (c *CSRF) Check(x *Context) error {
	isAmbient := x.Identity.AuthMethod.Ambient() || !x.Identity.Known()
	readable := x.Format.callback != "" && x.Route.Role != account.NoRole && isAmbient
	isProtected := x.Route.Changes || readable
	if !isProtected || hasExplicitProof(x.Request) {
		return nil
	}
	if c.sameOrigin(x) && !followsLink(x.Request, x.Route) {
		return nil
	}
	if !x.Route.Changes {
		return fault.New(fault.Forbidden,
			"callback is only allowed from pages of this service, or with an API key or X-ss-id")
	}
	if !hasOrigin(x.Request) {
		return errUnknownOrigin
	}
	return errOrigin
}

// CheckOrigin rejects a request from a page of another origin even if it has explicit
// credentials.
func (c *CSRF) CheckOrigin(x *Context) error {
	if origin := x.Request.Header.Get("Origin"); origin != "" && !c.trusted(x, origin) {
		return errOrigin
	}
	return nil
}

var errOrigin = fault.New(fault.Forbidden,
	"cross-origin request: the origin of the page is unknown or not listed in http.cors_origins")

// errUnknownOrigin is the error for a program that resembles a browser.
var errUnknownOrigin = fault.New(fault.Forbidden, "cross-origin request: this may be a link or a form on any page; "+
	"a program with a User-Agent like Mozilla/5.0 must use POST, without callback and without text/html in Accept, or send an API key as Bearer or a session as X-ss-id")

// hasExplicitProof reports whether a request has credentials that browsers never add
// on their own. A page of another origin can only send such headers after a
// preflight.
func hasExplicitProof(r *http.Request) bool {
	scheme, _, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.EqualFold(scheme, "Bearer") || r.Header.Get(wire.HeaderSessionID) != ""
}

// followsLink reports whether a browser may have followed a link in another program,
// such as an e-mail, to an operation that changes something and has no plain GET.
// Sec-Fetch-Site is none for such links too.
func followsLink(r *http.Request, route *CompiledRoute) bool {
	return route.NoHead && r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Site") == "none"
}

// sameOrigin reports whether the request comes from a page of the service, from a
// page of a listed origin, or not from a browser. It is stricter than net/http: it
// checks all methods, Referer and the scheme, and every header present must match.
// Browsers send no Sec-Fetch-Site over plain HTTP, and pages can suppress Referer: a
// request without any of these headers that may be a browser's is rejected.
func (c *CSRF) sameOrigin(x *Context) bool {
	probe := x.Request.WithContext(x.Request.Context())
	probe.Method = http.MethodPost // net/http does not check GET
	probe.Host = strings.ToLower(bareHost(x.Origin.Host, x.Origin.Secure))
	if c.protection.Check(probe) != nil {
		return false
	}
	for _, name := range []string{"Origin", "Referer"} {
		if text := x.Request.Header.Get(name); text != "" && !c.trusted(x, text) {
			return false
		}
	}
	if hasOrigin(x.Request) {
		return true
	}
	// A page cannot change the User-Agent in a request that needs no preflight.
	isBrowser := strings.HasPrefix(x.Request.UserAgent(), "Mozilla/")
	return !isBrowser || isFromProgram(x.Request, x.URLMembers)
}

// hasOrigin reports whether a request has a header that shows the origin of a page.
func hasOrigin(r *http.Request) bool {
	return r.Header.Get("Sec-Fetch-Site") != "" || r.Header.Get("Origin") != "" || r.Header.Get("Referer") != ""
}

// isFromProgram reports whether a request without an origin is from a program that only
// calls itself a browser, such as Windows PowerShell. Pages send such requests over plain
// HTTP with links, images and scripts, all by GET. Browsers send Origin with other methods;
// those that omit it from forms name text/html in Accept.
func isFromProgram(r *http.Request, url query.Members) bool {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return false
	}
	_, hasCallback := url.Get(query.Callback)
	return !hasCallback && !acceptsHTML(r)
}

// trusted reports whether a page's address has the origin of the service, or a
// listed one. The browser's own comparison of the schemes is preferred: TLS may end
// at a proxy that is not listed in http.trusted_proxies.
func (c *CSRF) trusted(x *Context, text string) bool {
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

// bareHost returns a host without the default port of its scheme, which proxies add
// and browsers omit.
func bareHost(host string, secure bool) string {
	if secure {
		return strings.TrimSuffix(host, ":443")
	}
	return strings.TrimSuffix(host, ":80")
}
