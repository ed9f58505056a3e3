package rest

import (
	"net/http"
	"strings"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/prometheus/client_golang/prometheus"
)

// access finds out who asks, and whether this is to be served.
type access struct {
	accounts    *account.Service
	hosts       *edge.HostCheck
	limiter     *edge.Limiter
	misdirected prometheus.Counter
}

// credentials are what the request brought along to prove who asks.
func credentials(x *edge.Context) account.Credentials {
	c := account.Credentials{Address: x.Origin.Address, SessionHeader: x.Request.Header.Get(wire.HeaderSessionID)}
	scheme, token, _ := strings.Cut(x.Request.Header.Get("Authorization"), " ")
	if strings.EqualFold(scheme, "Bearer") {
		c.Bearer = strings.TrimSpace(token)
	}
	c.BasicUser, c.BasicPassword, c.HasBasic = x.Request.BasicAuth()
	if cookie, err := x.Request.Cookie(wire.SessionCookie); err == nil {
		c.SessionCookie = cookie.Value
	}
	return c
}

// authorise finds out who asks and whether they may use the route.
func (h *access) authorise(x *edge.Context) error {
	need := x.Route.Role
	if need == account.NoRole {
		return nil
	}
	given := credentials(x)
	open := x.Options.AnonymousQueries && need == account.Reader && !x.Route.SignedIn || h.mayPublish(x)
	if open && given.Empty() {
		return h.checkHost(x)
	}
	err := h.demand(x, need)
	if open && fault.Is(err, fault.Unauthorized) && onlyCookie(given) {
		return h.checkHost(x) // browsers go on sending the cookie of a session that has ended
	}
	return err
}

// demand finds out who asks, and refuses those who have not the role that it
// takes.
func (h *access) demand(x *edge.Context, need account.Role) error {
	if err := h.identify(x, credentials(x)); err != nil {
		return err
	}
	if !x.Identity.Role.Includes(need) {
		return fault.New(fault.Forbidden, "this takes the role %s; %s has the role %s", need, x.Identity.Name, x.Identity.Role)
	}
	return nil
}

func onlyCookie(c account.Credentials) bool {
	return c == account.Credentials{Address: c.Address, SessionCookie: c.SessionCookie}
}

// identify finds out who asks.
func (h *access) identify(x *edge.Context, given account.Credentials) (err error) {
	if x.Identity, err = h.accounts.Authenticate(x.Request.Context(), given); err == nil {
		renewCookie(x, given)
	}
	return err
}

// The members of a login.
const (
	memberProvider = "provider"
	memberUser     = "UserName"
	memberPassword = "Password"
	memberRemember = "RememberMe"
)

// loginIgnored are members that clients of the existing service send along. Of
// the ways to log in that they belong to there is none here.
var loginIgnored = []string{
	"State", "oauth_token", "oauth_verifier", "Continue", "nonce", "uri", "response", "qop", "nc", "cnonce",
	"UseTokenCookie", "AccessToken", "AccessTokenSecret",
}

// authenticate logs in or out, or tells whose session it is where nothing is
// given.
func (h *sessions) authenticate(x *edge.Context) error {
	f, err := readForm(x)
	if err != nil {
		return err
	}
	f.knows(loginIgnored...)
	switch provider, _ := f.given(memberProvider); {
	case strings.EqualFold(provider, "logout"):
		return h.logout(x)
	case provider != "" && !strings.EqualFold(provider, "credentials"):
		return fault.New(fault.NotFound, "there is no provider %s; logins take the provider credentials", edge.Clean(provider))
	case x.Request.Method == http.MethodHead || !given(f.members, memberUser) && !given(f.members, memberPassword):
		f.knows(memberUser, memberPassword, memberRemember, memberRedirect)
		if err := f.done(x); err != nil {
			return err
		}
		return h.whoAmI(x)
	}
	return h.login(x, f)
}

func (h *sessions) login(x *edge.Context, f *form) error {
	name, _ := f.given(memberUser)
	password, _ := f.given(memberPassword)
	remember := rememberOf(f)
	back, _ := f.given(memberRedirect)
	if err := f.done(x); err != nil {
		return err
	}
	ticket, err := h.accounts.Login(x.Request.Context(), account.Login{UserName: name, Password: password, Remember: remember, Address: x.Origin.Address})
	if err != nil {
		return err
	}
	x.Identity = ticket.Identity
	http.SetCookie(x.Response, sessionCookie(x, ticket.SessionID, ticket.Remember, x.Identity.Expires))
	doc := wire.AuthenticateResponse{SessionID: ticket.SessionID, UserName: x.Identity.Name, DisplayName: x.Identity.DisplayName}
	if back != "" {
		return welcome(x, f.members, doc)
	}
	return x.Document(http.StatusOK, "AuthenticateResponse", doc)
}

func given(members query.Members, name string) bool {
	m, ok := members.Get(name)
	return ok && !m.Empty
}

// rememberOf reads RememberMe. Pages send on for a box that is ticked.
func rememberOf(f *form) bool {
	text, _ := f.given(memberRemember)
	if text == "" || strings.EqualFold(text, "on") {
		return text != ""
	}
	on, err := wire.ParseBool(text)
	if err != nil {
		f.refuse(memberRemember, err.Error())
	}
	return on == 1
}

func (h *sessions) whoAmI(x *edge.Context) error {
	given := credentials(x)
	if err := h.access.identify(x, given); err != nil {
		return err
	}
	doc := wire.AuthenticateResponse{UserName: x.Identity.Name, DisplayName: x.Identity.DisplayName}
	switch x.Identity.Via {
	case account.Header:
		doc.SessionID = given.SessionHeader
	case account.Cookie:
		doc.SessionID = given.SessionCookie
	}
	return x.Document(http.StatusOK, "AuthenticateResponse", doc)
}

// logout ends the session that the request carries.
func (h *sessions) logout(x *edge.Context) error {
	if err := h.endSessions(x); err != nil {
		return err
	}
	return farewell(x)
}

// limitAddress counts a request before anything is done for it.
func (h *access) limitAddress(x *edge.Context) error {
	if x.Options.Rate.PerSecond == 0 {
		return nil
	}
	h.limiter.SetRate(x.Options.Rate)
	return h.limiter.Take("address "+account.Network(x.Origin.Address), x.Timing.Start)
}

// limitIdentity counts a request of somebody who is known, wherever they are.
func (h *access) limitIdentity(x *edge.Context) error {
	if x.Options.Rate.PerSecond == 0 || !x.Identity.Known() {
		return nil
	}
	return h.limiter.Take("account "+x.Identity.UserID+x.Identity.KeyID, x.Timing.Start)
}

// checkHost refuses a request that is let in without a login where its Host is
// not a name of the service.
func (h *access) checkHost(x *edge.Context) error {
	err := h.hosts.Check(x)
	if err != nil {
		h.misdirected.Inc()
	}
	return err
}
