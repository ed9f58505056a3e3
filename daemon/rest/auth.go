package rest

import (
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/rest/edge"
)

// accessControl authenticates and authorizes requests.
type accessControl struct {
	accounts    *account.Service
	hosts       *edge.HostCheck
	limiter     *edge.Limiter
	csrf        *edge.CSRF
	misdirected prometheus.Counter
}

// admit authenticates a request and rejects it if it may not be served. The rate
// limit of the address applies before any work is done, that of the account after
// authentication.
func (h *accessControl) admit(x *edge.Context) error {
	limited := x.Options.Rate.PerSecond != 0
	if limited {
		h.limiter.SetRate(x.Options.Rate)
		if err := h.limiter.Take("address "+account.Network(x.Origin.Address), x.Timing.Start); err != nil {
			return err
		}
	}
	if err := h.authorize(x); err != nil {
		return err
	}
	if limited && x.Identity.Known() {
		if err := h.limiter.Take("account "+x.Identity.UserID+x.Identity.KeyID, x.Timing.Start); err != nil {
			return err
		}
	}
	return h.csrf.Check(x)
}

// credentials returns the credentials in the request.
func credentials(x *edge.Context) account.Credentials {
	c := account.Credentials{Address: x.Origin.Address, SessionHeader: x.Request.Header.Get(wire.HeaderSessionID)}
	scheme, token, _ := strings.Cut(x.Request.Header.Get("Authorization"), " ")
	if strings.EqualFold(scheme, "Bearer") {
		c.Bearer = strings.TrimSpace(token)
	}
	c.BasicUser, c.BasicPassword, c.HasBasic = x.Request.BasicAuth()
	if c.Bearer == "" && !c.HasBasic {
		c.Bearer = x.Params.Get(edge.ParamKey)
	}
	if cookie, err := x.Request.Cookie(wire.SessionCookie); err == nil {
		c.SessionCookie = cookie.Value
	}
	return c
}

// withoutPairs returns a URL without some of the pairs of its query string.
func withoutPairs(u *url.URL, drop func(pair string) bool) url.URL {
	kept := *u
	kept.RawQuery = strings.Join(slices.DeleteFunc(strings.Split(u.RawQuery, "&"), drop), "&")
	return kept
}

// takeURLKey removes an API key from the URL, so that no link or redirect repeats it,
// even if the query string cannot be read: such pairs are removed too. If
// the settings allow it, the key authenticates the request; otherwise it is an unknown
// member.
func takeURLKey(x *edge.Context) {
	m, given := x.URLMembers.Get(edge.ParamKey)
	if !given && (x.URLMembers != nil || x.Request.URL.RawQuery == "") {
		return
	}
	loggedURL(x) // logs show that there was a key
	u := withoutPairs(x.Request.URL, func(pair string) bool {
		members, err := query.ReadForm(pair)
		_, is := members.Get(edge.ParamKey)
		return is || err != nil
	})
	x.Request = x.Request.WithContext(x.Request.Context())
	x.Request.URL = &u
	if given && x.Options.KeyInURL {
		x.Params = append(x.Params, edge.Param{Name: edge.ParamKey, Value: strings.Join(m.Texts, ",")})
		x.URLMembers = without(x.URLMembers, edge.ParamKey)
	}
}

// authorize authenticates the request and checks that the user may use the route.
func (h *accessControl) authorize(x *edge.Context) error {
	need := x.Route.Role
	if need == account.NoRole {
		return nil
	}
	given := credentials(x)
	open := x.Options.AnonymousQueries && need == account.Reader && !x.Route.SignedIn || h.mayPublish(x)
	if open && given.Empty() {
		return h.checkHost(x)
	}
	err := h.requireRole(x, need)
	if open && fault.Is(err, fault.Unauthorized) && onlyCookie(given) {
		return h.checkHost(x) // browsers continue to send the cookie of an ended session
	}
	return err
}

// requireRole authenticates the request and rejects users without the required role.
func (h *accessControl) requireRole(x *edge.Context, need account.Role) error {
	if err := h.identify(x, credentials(x)); err != nil {
		return err
	}
	if !x.Identity.Role.Includes(need) {
		return fault.New(fault.Forbidden, "requires the role %s; %s has the role %s", need, x.Identity.Name, x.Identity.Role)
	}
	return nil
}

func onlyCookie(c account.Credentials) bool {
	return c == account.Credentials{Address: c.Address, SessionCookie: c.SessionCookie}
}

// identify authenticates the request.
func (h *accessControl) identify(x *edge.Context, given account.Credentials) (err error) {
	if x.Identity, err = h.accounts.Authenticate(x.Request.Context(), given); err == nil {
		renewCookie(x, given)
	}
	return err
}

// checkHost rejects an anonymous request if its Host is not a name of the service.
func (h *accessControl) checkHost(x *edge.Context) error {
	err := h.hosts.Check(x)
	if err != nil {
		h.misdirected.Inc()
	}
	return err
}

// identifyFromSession sets the user of a public page from the session cookie, if there is
// one, and adds the frame of the page. Invalid sessions are ignored.
func (h *accessControl) identifyFromSession(x *edge.Context) {
	given := credentials(x)
	if !x.Identity.Known() && given.SessionCookie != "" && onlyCookie(given) {
		if identity, err := h.accounts.Authenticate(x.Request.Context(), given); err == nil {
			x.Identity = identity
		}
	}
	addSite(x)
}

// mayPublish reports whether the request's address may publish events without a
// login.
func (h *accessControl) mayPublish(x *edge.Context) bool {
	if !x.Options.AnonymousPublish || x.Route.Role != account.Publisher {
		return false
	}
	at, err := netip.ParseAddr(x.Origin.Address)
	for _, network := range x.Options.PublishFrom {
		if err == nil && network.Contains(at) {
			return true
		}
	}
	return false
}

// isAdmin reports whether a request to a route without a login is from an admin.
// Invalid credentials are an error, so that a client does not mistake failed
// authentication for a rule about addresses.
func (h *accessControl) isAdmin(x *edge.Context) (bool, error) {
	given := credentials(x)
	if given.Empty() {
		return false, nil
	}
	err := h.identify(x, given)
	if fault.Is(err, fault.Unauthorized) && onlyCookie(given) {
		return false, nil
	}
	return x.Identity.Role.Includes(account.Admin), err
}

// sessionCookie returns the cookie of a session. Without remember it expires when
// the browser is closed.
func sessionCookie(x *edge.Context, id string, remember bool, expires time.Time) *http.Cookie {
	c := &http.Cookie{Name: wire.SessionCookie, Value: id, Path: "/", HttpOnly: true, Secure: x.Origin.Secure, SameSite: http.SameSiteLaxMode}
	if remember {
		c.Expires = expires
	}
	return c
}

// expiredCookie returns a cookie that deletes the session cookie.
func expiredCookie(x *edge.Context) *http.Cookie {
	c := sessionCookie(x, "", false, time.Time{})
	c.MaxAge = -1
	return c
}

// renewCookie extends the cookie of a remembered session together with the session.
func renewCookie(x *edge.Context, given account.Credentials) {
	if x.Identity.AuthMethod == account.Cookie && x.Identity.Renew {
		http.SetCookie(x.Response, sessionCookie(x, given.SessionCookie, true, x.Identity.Expires))
	}
}

// actor returns the user of the request for the audit trail.
func actor(x *edge.Context) audit.Actor { return x.Identity.Actor(x.Origin.Address) }
