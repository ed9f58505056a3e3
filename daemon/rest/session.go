package rest

import (
	"net/http"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/audit"
)

// sessionCookie carries a session. One that is not remembered ends with the
// browser.
func sessionCookie(x *exchange, id string, remember bool, expires time.Time) *http.Cookie {
	c := &http.Cookie{Name: wire.SessionCookie, Value: id, Path: "/", HttpOnly: true, Secure: x.origin.secure, SameSite: http.SameSiteLaxMode}
	if remember {
		c.Expires = expires
	}
	return c
}

// endedCookie takes the cookie back.
func endedCookie(x *exchange) *http.Cookie {
	c := sessionCookie(x, "", false, time.Time{})
	c.MaxAge = -1
	return c
}

// renewCookie lets the cookie of a remembered session follow the session.
func renewCookie(x *exchange, given account.Credentials) {
	if x.who.Via == account.Cookie && x.who.Renew {
		http.SetCookie(x.w, sessionCookie(x, given.SessionCookie, true, x.who.Expires))
	}
}

// actor is who asks, as the audit trail names them.
func actor(x *exchange) audit.Actor { return x.who.Actor(x.origin.address) }

// keepAlive does nothing more than any request does: it lets a session go on.
func (s *Server) keepAlive(x *exchange) error { return x.nothing() }

// currentSession tells who asks.
func (s *Server) currentSession(x *exchange) error {
	document := wire.CurrentSession{
		UserName: x.who.Name, DisplayName: x.who.DisplayName, Role: x.who.Role.String(), Via: x.who.Via.String(),
		KeyID: x.who.KeyID, ExpiryDateTime: dateText(x.who.Expires),
	}
	if x.who.SessionHash != "" {
		document.SessionID = x.who.SessionHash[:8]
	}
	return x.document(http.StatusOK, "Session", document)
}

// endSession is logout for those who think in resources.
func (s *Server) endSession(x *exchange) error {
	if err := s.endSessions(x); err != nil {
		return err
	}
	return x.nothing()
}

// endSessions ends the sessions that a request carries.
func (s *Server) endSessions(x *exchange) error {
	given := credentials(x)
	for _, id := range []string{given.SessionHeader, given.SessionCookie} {
		if err := s.Accounts.Logout(x.r.Context(), id); err != nil {
			return err
		}
	}
	http.SetCookie(x.w, endedCookie(x))
	return nil
}
