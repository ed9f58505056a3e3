package accounts

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/rest/edge"
)

// Access authenticates and authorizes requests.
type Access struct {
	accounts    *account.Service
	hosts       *edge.HostCheck
	limiter     *edge.Limiter
	csrf        *edge.CSRF
	misdirected Counter
}

// Counter counts requests.
type Counter interface{ Inc() }

// NewAccess returns an Access. misdirected counts anonymous requests to other hosts.
func NewAccess(accounts *account.Service, hosts *edge.HostCheck, csrf *edge.CSRF, misdirected Counter) *Access {
	return &Access{
		accounts:    accounts,
		hosts:       hosts,
		limiter:     edge.NewLimiter(edge.Rate{}), // Admit sets the rate
		csrf:        csrf,
		misdirected: misdirected,
	}
}

// Admit authenticates a request and rejects it if it may not be served. The rate limit of the
// address applies before any work is done, the limit of the account after authentication.
func (h *Access) Admit(x *edge.Context) error {
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

// Authorize authenticates a request that is part of an admitted one, and rejects it if its user may
// not use the route.
func (h *Access) Authorize(x *edge.Context) error { return h.authorize(x) }

// CheckOrigin rejects a request from a page of another origin even if it has explicit
// credentials.
func (h *Access) CheckOrigin(x *edge.Context) error { return h.csrf.CheckOrigin(x) }

// Credentials returns the credentials in the request.
func Credentials(x *edge.Context) account.Credentials {
	c := account.Credentials{Address: x.Origin.Address, SessionHeader: x.Request.Header.Get(wire.HeaderSessionID)}
	scheme, token, _ := strings.Cut(x.Request.Header.Get("Authorization"), " ")
	if strings.EqualFold(scheme, "Bearer") {
		c.Bearer = strings.TrimSpace(token)
	}
	c.BasicUser, c.BasicPassword, c.HasBasic = x.Request.BasicAuth()
	if c.Bearer == "" && !c.HasBasic {
		c.Bearer = x.Key
	}
	if cookie, err := x.Request.Cookie(wire.SessionCookie); err == nil {
		c.SessionCookie = cookie.Value
	}
	return c
}

// authorize authenticates the request and checks that the user may use the route.
func (h *Access) authorize(x *edge.Context) error {
	if x.Route.Role == account.NoRole {
		return nil
	}
	kindRole := account.RoleOf(x.Kind)
	isPlainQuery := x.Route.Role == account.Reader && kindRole.Allows(account.NoRole) && !x.Route.SignedIn
	mayQuery := isPlainQuery && x.Options.AnonymousQueries
	needsNoLogin := mayQuery || h.mayPublish(x)
	credentials := Credentials(x)
	if needsNoLogin && credentials.Empty() {
		return h.checkHost(x)
	}
	err := h.requireRole(x, credentials, x.Route.Role)
	if needsNoLogin && fault.Is(err, fault.Unauthorized) && onlyCookie(credentials) {
		return h.checkHost(x) // browsers continue to send the cookie of an ended session
	}
	if err == nil && !kindRole.Allows(x.Identity.Role) {
		return errRequiresRole(x, x.Kind.Role)
	}
	return err
}

// RequireRole authenticates the request and rejects users without the required role.
func (h *Access) RequireRole(x *edge.Context, need account.Role) error {
	return h.requireRole(x, Credentials(x), need)
}

func (h *Access) requireRole(x *edge.Context, credentials account.Credentials, need account.Role) error {
	if err := h.identify(x, credentials); err != nil {
		return err
	}
	if !x.Identity.Role.Includes(need) {
		return errRequiresRole(x, need.String())
	}
	return nil
}

// errRequiresRole returns the error for a user without the required role.
func errRequiresRole(x *edge.Context, role string) error {
	return fault.New(fault.Forbidden, "requires the role %s; %s has the role %s",
		role, x.Identity.Name, x.Identity.Role)
}

// onlyCookie reports whether a request has no credentials other than the cookie of a session.
func onlyCookie(c account.Credentials) bool {
	return c == account.Credentials{Address: c.Address, SessionCookie: c.SessionCookie}
}

// identify authenticates the request.
func (h *Access) identify(x *edge.Context, credentials account.Credentials) error {
	var err error
	x.Identity, err = h.accounts.Authenticate(x.Request.Context(), credentials)
	if err == nil {
		renewCookie(x, x.Identity, credentials)
	}
	return err
}

// checkHost rejects an anonymous request if its Host is not a name of the service.
func (h *Access) checkHost(x *edge.Context) error {
	err := h.hosts.Check(x)
	if err != nil {
		h.misdirected.Inc()
	}
	return err
}

// IdentifyFromSession sets the user of a public page from the session cookie, if there is
// one, and adds the frame of the page. Invalid sessions are ignored.
func (h *Access) IdentifyFromSession(x *edge.Context) {
	credentials := Credentials(x)
	if !x.Identity.Known() && credentials.SessionCookie != "" && onlyCookie(credentials) {
		identity, err := h.accounts.Authenticate(x.Request.Context(), credentials)
		if err == nil {
			x.Identity = identity
		}
	}
	if x.HTML() {
		edge.AddSite(x)
	}
}

// mayPublish reports whether the request's address may publish events without a
// login.
func (h *Access) mayPublish(x *edge.Context) bool {
	if !x.Options.AnonymousPublish || x.Route.Role != account.Publisher {
		return false
	}
	address, err := netip.ParseAddr(x.Origin.Address)
	if err != nil {
		return false
	}
	hasAddress := func(network netip.Prefix) bool { return network.Contains(address) }
	return slices.ContainsFunc(x.Options.PublishFrom, hasAddress)
}

// Identify sets the user of a request to a route without a login from its credentials. Invalid
// ones are ignored: the route is public.
func (h *Access) Identify(x *edge.Context) {
	if presented := Credentials(x); !presented.Empty() {
		_ = h.identify(x, presented)
	}
}

// Recognize reports whether a request has valid credentials. Passwords are not verified; see
// account.Service.Recognize.
func (h *Access) Recognize(x *edge.Context) bool {
	presented := Credentials(x)
	if presented.Empty() {
		return false
	}
	identity, err := h.accounts.Recognize(x.Request.Context(), presented)
	if err != nil {
		return false
	}
	renewCookie(x, identity, presented)
	return identity.Known()
}

// IsAdmin reports whether a request to a route without a login is from an admin.
// Invalid credentials are an error, so that a client does not mistake failed
// authentication for a rule about addresses.
func (h *Access) IsAdmin(x *edge.Context) (bool, error) {
	credentials := Credentials(x)
	if credentials.Empty() {
		return false, nil
	}
	err := h.identify(x, credentials)
	if fault.Is(err, fault.Unauthorized) && onlyCookie(credentials) {
		return false, nil
	}
	return x.Identity.Role.Includes(account.Admin), err
}

// sessionCookie returns the cookie of a session. Without remember it expires when
// the browser is closed.
func sessionCookie(x *edge.Context, id string, remember bool, expires time.Time) *http.Cookie {
	c := &http.Cookie{
		Name:     wire.SessionCookie,
		Value:    id,
		Path:     "/",
		HttpOnly: true,
		Secure:   x.Origin.Secure,
		SameSite: http.SameSiteLaxMode,
	}
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
func renewCookie(x *edge.Context, identity account.Identity, credentials account.Credentials) {
	if identity.AuthMethod == account.Cookie && identity.Renew {
		http.SetCookie(x.Response, sessionCookie(x, credentials.SessionCookie, true, identity.Expires))
	}
}

// Actor returns the user of the request for the audit trail.
func Actor(x *edge.Context) audit.Actor { return x.Identity.Actor(x.Origin.Address) }
