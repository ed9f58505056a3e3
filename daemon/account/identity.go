package account

import (
	"time"

	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/fault"
)

// AuthMethod is the method by which a request was authenticated.
type AuthMethod uint8

// The methods.
const (
	NotAuthenticated AuthMethod = iota
	Cookie                      // a session id in the cookie
	Header                      // a session id in X-ss-id
	Basic                       // HTTP Basic, with a password or a key
	Bearer                      // Authorization: Bearer with a key
)

// String names the way.
func (m AuthMethod) String() string { return [...]string{"", "cookie", "header", "basic", "bearer"}[m] }

// Ambient reports whether browsers send such proof on their own, so that a
// request from a foreign page would carry it.
func (m AuthMethod) Ambient() bool { return m == Cookie || m == Basic }

// Identity is who asks. The zero value is nobody, who may do nothing.
type Identity struct {
	Name        string // of the user or the key
	DisplayName string
	Role        Role
	AuthMethod  AuthMethod
	UserID      string    // "" for a key
	KeyID       string    // "" for a user
	SessionHash string    // "" without a session
	Expires     time.Time // of the session; zero without one
	Renew       bool      // the session's cookie should be set again, since Expires has moved
}

// Known reports whether someone has proved who they are.
func (i Identity) Known() bool { return i.AuthMethod != NotAuthenticated }

// Credentials are what a request brought along.
type Credentials struct {
	Bearer        string // token of an Authorization header
	HasBasic      bool   // there was an Authorization header with Basic
	BasicUser     string
	BasicPassword string
	SessionHeader string // X-ss-id
	SessionCookie string // ss-id
	Address       string // of the client, for throttling; a port does not count
}

// Empty reports whether the request brought nothing.
func (c Credentials) Empty() bool {
	return c.Bearer == "" && !c.HasBasic && c.SessionHeader == "" && c.SessionCookie == ""
}

func notAuthenticated() error { return fault.New(fault.Unauthorized, "Not Authenticated") }

func identityOf(u *User, method AuthMethod) Identity {
	return Identity{Name: u.Name, DisplayName: u.DisplayName, Role: u.Role, AuthMethod: method, UserID: u.ID}
}

// Actor is an identity as the audit trail names it.
func (i Identity) Actor(address string) audit.Actor {
	return audit.Actor{Name: i.Name, Via: i.AuthMethod.String(), Address: address}
}
