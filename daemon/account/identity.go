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

var authMethodNames = [...]string{Cookie: "cookie", Header: "header", Basic: "basic", Bearer: "bearer"}

// String returns the method's name in the audit trail and the API.
func (m AuthMethod) String() string { return authMethodNames[m] }

// Ambient reports whether browsers send such credentials automatically, even with requests from
// other sites.
func (m AuthMethod) Ambient() bool { return m == Cookie || m == Basic }

// Identity is the authenticated user or API key of a request. The zero value is an
// anonymous request, without any role.
type Identity struct {
	Name        string // name of the user or the key
	DisplayName string
	Role        Role
	AuthMethod  AuthMethod
	UserID      string    // "" for a key
	KeyID       string    // "" for a user
	SessionHash string    // "" without a session
	Expires     time.Time // end of the session; zero without one
	Renew       bool      // the session's cookie should be set again with the later Expires
}

// Known reports whether the request was authenticated.
func (i Identity) Known() bool { return i.AuthMethod != NotAuthenticated }

// Owner returns the identity as subscriptions store it: "user:NAME" or "key:ID", empty for
// an anonymous request.
func (i Identity) Owner() string {
	if i.KeyID != "" {
		return ownerKey + i.KeyID
	}
	if i.Known() {
		return ownerUser + i.Name
	}
	return ""
}

// Credentials are the credentials in a request.
type Credentials struct {
	Bearer        string // token of an Authorization header
	HasBasic      bool   // there was an Authorization header with Basic
	BasicUser     string
	BasicPassword string
	SessionHeader string // X-ss-id
	SessionCookie string // ss-id
	Address       string // address of the client, for throttling; a port is ignored
}

// Empty reports whether the request has no credentials.
func (c Credentials) Empty() bool {
	return c.Bearer == "" && !c.HasBasic && c.SessionHeader == "" && c.SessionCookie == ""
}

func notAuthenticated() error { return fault.New(fault.Unauthorized, "Not Authenticated") }

func identityOf(u *User, method AuthMethod) Identity {
	return Identity{Name: u.Name, DisplayName: u.DisplayName, Role: u.Role, AuthMethod: method, UserID: u.ID}
}

// Actor returns the identity for an entry of the audit trail.
func (i Identity) Actor(address string) audit.Actor {
	return audit.Actor{Name: i.Name, Via: i.AuthMethod.String(), Address: address}
}
