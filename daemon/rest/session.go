package rest

import (
	"net/http"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/rest/edge"
)

// sessionCookie carries a session. One that is not remembered ends with the
// browser.
func sessionCookie(x *edge.Context, id string, remember bool, expires time.Time) *http.Cookie {
	c := &http.Cookie{Name: wire.SessionCookie, Value: id, Path: "/", HttpOnly: true, Secure: x.Origin.Secure, SameSite: http.SameSiteLaxMode}
	if remember {
		c.Expires = expires
	}
	return c
}

// endedCookie takes the cookie back.
func endedCookie(x *edge.Context) *http.Cookie {
	c := sessionCookie(x, "", false, time.Time{})
	c.MaxAge = -1
	return c
}

// renewCookie lets the cookie of a remembered session follow the session.
func renewCookie(x *edge.Context, given account.Credentials) {
	if x.Identity.Via == account.Cookie && x.Identity.Renew {
		http.SetCookie(x.Response, sessionCookie(x, given.SessionCookie, true, x.Identity.Expires))
	}
}

// actor is who asks, as the audit trail names them.
func actor(x *edge.Context) audit.Actor { return x.Identity.Actor(x.Origin.Address) }

// keepAlive does nothing more than any request does: it lets a session go on.
func (h *sessions) keepAlive(x *edge.Context) error { return x.NoContent() }

// current tells who asks.
func (h *sessions) current(x *edge.Context) error {
	document := wire.CurrentSession{
		UserName: x.Identity.Name, DisplayName: x.Identity.DisplayName, Role: x.Identity.Role.String(), Via: x.Identity.Via.String(),
		KeyID: x.Identity.KeyID, ExpiryDateTime: dateText(x.Identity.Expires),
	}
	if x.Identity.SessionHash != "" {
		document.SessionID = x.Identity.SessionHash[:8]
	}
	return x.Document(http.StatusOK, "Session", document)
}

// endSession is logout for those who think in resources.
func (h *sessions) endSession(x *edge.Context) error {
	if err := h.endSessions(x); err != nil {
		return err
	}
	return x.NoContent()
}

// endSessions ends the sessions that a request carries.
func (h *sessions) endSessions(x *edge.Context) error {
	given := credentials(x)
	for _, id := range []string{given.SessionHeader, given.SessionCookie} {
		if err := h.accounts.Logout(x.Request.Context(), id); err != nil {
			return err
		}
	}
	http.SetCookie(x.Response, endedCookie(x))
	return nil
}
