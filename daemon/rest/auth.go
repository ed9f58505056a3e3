package rest

import (
	"net/http"
	"strings"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/query"
)

// credentials are what the request brought along to prove who asks.
func credentials(x *exchange) account.Credentials {
	c := account.Credentials{Address: x.origin.address, SessionHeader: x.r.Header.Get(wire.HeaderSessionID)}
	scheme, token, _ := strings.Cut(x.r.Header.Get("Authorization"), " ")
	if strings.EqualFold(scheme, "Bearer") {
		c.Bearer = strings.TrimSpace(token)
	}
	c.BasicUser, c.BasicPassword, c.HasBasic = x.r.BasicAuth()
	if cookie, err := x.r.Cookie(wire.SessionCookie); err == nil {
		c.SessionCookie = cookie.Value
	}
	return c
}

// authorise finds out who asks and whether they may use the route.
func (s *Server) authorise(x *exchange) error {
	need := x.route.role
	if need == account.NoRole {
		return nil
	}
	given := credentials(x)
	open := x.options.AnonymousQueries && need == account.Reader && !x.route.signedIn || s.mayPublish(x)
	if open && given.Empty() {
		return s.checkHost(x)
	}
	err := s.demand(x, need)
	if open && fault.Is(err, fault.Unauthorized) && onlyCookie(given) {
		return s.checkHost(x) // browsers go on sending the cookie of a session that has ended
	}
	return err
}

// demand finds out who asks, and refuses those who have not the role that it
// takes.
func (s *Server) demand(x *exchange, need account.Role) error {
	if err := s.identify(x, credentials(x)); err != nil {
		return err
	}
	if !x.who.Role.Includes(need) {
		return fault.New(fault.Forbidden, "this takes the role %s; %s has the role %s", need, x.who.Name, x.who.Role)
	}
	return nil
}

func onlyCookie(c account.Credentials) bool {
	return c == account.Credentials{Address: c.Address, SessionCookie: c.SessionCookie}
}

// identify finds out who asks.
func (s *Server) identify(x *exchange, given account.Credentials) (err error) {
	if x.who, err = s.Accounts.Authenticate(x.r.Context(), given); err == nil {
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
func (s *Server) authenticate(x *exchange) error {
	f, err := readForm(x)
	if err != nil {
		return err
	}
	f.knows(loginIgnored...)
	switch provider, _ := f.given(memberProvider); {
	case strings.EqualFold(provider, "logout"):
		return s.logout(x)
	case provider != "" && !strings.EqualFold(provider, "credentials"):
		return fault.New(fault.NotFound, "there is no provider %s; logins take the provider credentials", clean(provider))
	case x.r.Method == http.MethodHead || !given(f.members, memberUser) && !given(f.members, memberPassword):
		f.knows(memberUser, memberPassword, memberRemember, memberRedirect)
		if err := f.done(x); err != nil {
			return err
		}
		return s.whoAmI(x)
	}
	return s.login(x, f)
}

func (s *Server) login(x *exchange, f *form) error {
	name, _ := f.given(memberUser)
	password, _ := f.given(memberPassword)
	remember := rememberOf(f)
	back, _ := f.given(memberRedirect)
	if err := f.done(x); err != nil {
		return err
	}
	ticket, err := s.Accounts.Login(x.r.Context(), account.Login{UserName: name, Password: password, Remember: remember, Address: x.origin.address})
	if err != nil {
		return err
	}
	x.who = ticket.Identity
	http.SetCookie(x.w, sessionCookie(x, ticket.SessionID, ticket.Remember, x.who.Expires))
	doc := wire.AuthenticateResponse{SessionID: ticket.SessionID, UserName: x.who.Name, DisplayName: x.who.DisplayName}
	if back != "" {
		return welcome(x, f.members, doc)
	}
	return x.document(http.StatusOK, "AuthenticateResponse", doc)
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

func (s *Server) whoAmI(x *exchange) error {
	given := credentials(x)
	if err := s.identify(x, given); err != nil {
		return err
	}
	doc := wire.AuthenticateResponse{UserName: x.who.Name, DisplayName: x.who.DisplayName}
	switch x.who.Via {
	case account.Header:
		doc.SessionID = given.SessionHeader
	case account.Cookie:
		doc.SessionID = given.SessionCookie
	}
	return x.document(http.StatusOK, "AuthenticateResponse", doc)
}

// logout ends the session that the request carries.
func (s *Server) logout(x *exchange) error {
	if err := s.endSessions(x); err != nil {
		return err
	}
	return farewell(x)
}

// limitAddress counts a request before anything is done for it.
func (s *Server) limitAddress(x *exchange) error {
	if x.options.Rate.PerSecond == 0 {
		return nil
	}
	s.limiter.follow(x.options.Rate)
	return s.limiter.take("address "+account.Network(x.origin.address), x.timing.start)
}

// limitIdentity counts a request of somebody who is known, wherever they are.
func (s *Server) limitIdentity(x *exchange) error {
	if x.options.Rate.PerSecond == 0 || !x.who.Known() {
		return nil
	}
	return s.limiter.take("account "+x.who.UserID+x.who.KeyID, x.timing.start)
}

// checkHost refuses a request that is let in without a login where its Host is
// not a name of the service.
func (s *Server) checkHost(x *exchange) error {
	err := s.hosts.check(x)
	if err != nil {
		s.metrics.misdirected.Inc()
	}
	return err
}
