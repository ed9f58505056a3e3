package rest

import (
	"net/http"
	"strings"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/query"
)

// credentials are what the request brought along to prove who asks.
func credentials(x *exchange) account.Credentials {
	c := account.Credentials{Address: x.address, SessionHeader: x.r.Header.Get(wire.HeaderSessionID)}
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
	open := s.AnonymousQueries && need == account.Reader
	if open && given.Empty() {
		return nil
	}
	err := s.identify(x, given)
	if open && fault.Is(err, fault.Unauthorized) && onlyCookie(given) {
		return nil // browsers go on sending the cookie of a session that has ended
	}
	if err == nil && !x.who.Role.Includes(need) {
		return fault.New(fault.Forbidden, "this takes the role %s; %s has the role %s", need, x.who.Name, x.who.Role)
	}
	return err
}

func onlyCookie(c account.Credentials) bool {
	return c == account.Credentials{Address: c.Address, SessionCookie: c.SessionCookie}
}

// identify finds out who asks. Where a browser may have added the proof by
// itself, a script of a foreign page must not read the answer through a
// callback.
func (s *Server) identify(x *exchange, given account.Credentials) error {
	who, err := s.Accounts.Authenticate(x.r.Context(), given)
	if err != nil {
		return err
	}
	if x.reply.callback != "" && who.Via.Ambient() && !x.sameOrigin() {
		return fault.New(fault.Forbidden, "a callback with a cookie or Basic must come from a page of this service")
	}
	x.who = who
	return nil
}

// The members of a login.
const (
	memberUser     = "UserName"
	memberPassword = "Password"
	memberRemember = "RememberMe"
)

// authenticate logs in, or tells whose session it is when nothing is given.
func (s *Server) authenticate(x *exchange) error {
	members, err := s.members(x)
	if err != nil {
		return err
	}
	if x.r.Method == http.MethodHead || !given(members, memberUser) && !given(members, memberPassword) {
		return s.whoAmI(x)
	}
	if err := single(members, memberUser, memberPassword); err != nil {
		return err
	}
	remember, err := rememberMe(members)
	if err != nil {
		return err
	}
	ticket, err := s.Accounts.Login(x.r.Context(), account.Login{
		UserName: members.Text(memberUser), Password: members.Text(memberPassword), Remember: remember, Address: x.address,
	})
	if err != nil {
		return err
	}
	x.who = ticket.Identity
	http.SetCookie(x.w, sessionCookie(x, ticket))
	return x.document(http.StatusOK, "AuthenticateResponse", wire.AuthenticateResponse{
		SessionID: ticket.SessionID, UserName: ticket.Identity.Name, DisplayName: ticket.Identity.DisplayName,
	})
}

func given(members query.Members, name string) bool {
	m, ok := members.Get(name)
	return ok && !m.Empty
}

// single refuses members that are more than one text.
func single(members query.Members, names ...string) error {
	for _, name := range names {
		if m, ok := members.Get(name); ok && !m.Empty && (m.List || m.Other || len(m.Texts) != 1) {
			return &fault.Error{Kind: fault.Invalid, Message: name + " takes one text",
				Fields: []fault.Field{{Name: name, Message: "takes one text"}}}
		}
	}
	return nil
}

func rememberMe(members query.Members) (bool, error) {
	text := members.Text(memberRemember)
	if text == "" {
		return false, nil
	}
	v, err := wire.ParseValue(record.Bool, text, time.UTC)
	if err != nil {
		return false, &fault.Error{Kind: fault.Invalid, Message: memberRemember + " " + err.Error(),
			Fields: []fault.Field{{Name: memberRemember, Message: err.Error()}}}
	}
	return v.Int == 1, nil
}

// sessionCookie carries a session. Without RememberMe it ends with the browser.
func sessionCookie(x *exchange, t account.Ticket) *http.Cookie {
	c := &http.Cookie{Name: wire.SessionCookie, Value: t.SessionID, Path: "/", HttpOnly: true, Secure: x.secure, SameSite: http.SameSiteLaxMode}
	if t.Remember {
		c.Expires = t.Identity.Expires
	}
	return c
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

// logout ends the session that the request carries. It is a change of state,
// so a foreign page must not be able to ask for it.
func (s *Server) logout(x *exchange) error {
	given := credentials(x)
	if (given.SessionCookie != "" || given.HasBasic) && !x.sameOrigin() {
		return fault.New(fault.Forbidden, "a logout must come from a page of this service")
	}
	for _, id := range []string{given.SessionHeader, given.SessionCookie} {
		if err := s.Accounts.Logout(x.r.Context(), id); err != nil {
			return err
		}
	}
	http.SetCookie(x.w, &http.Cookie{Name: wire.SessionCookie, Path: "/", MaxAge: -1, HttpOnly: true, Secure: x.secure, SameSite: http.SameSiteLaxMode})
	return x.document(http.StatusOK, "AuthenticateResponse", wire.Failure{})
}
