package account

import (
	"context"
	"time"

	"github.com/bizhook/whd/daemon/fault"
)

// Via is the way in which someone proved who they are.
type Via uint8

// The ways.
const (
	Nothing Via = iota
	Cookie      // a session id in the cookie
	Header      // a session id in X-ss-id
	Basic       // HTTP Basic, with a password or a key
	Bearer      // Authorization: Bearer with a key
)

// String names the way.
func (v Via) String() string { return [...]string{"", "cookie", "header", "basic", "bearer"}[v] }

// Ambient reports whether browsers send such proof on their own, so that a
// request from a foreign page would carry it.
func (v Via) Ambient() bool { return v == Cookie || v == Basic }

// Identity is who asks. The zero value is nobody, who may do nothing.
type Identity struct {
	Name        string // of the user or the key
	DisplayName string
	Role        Role
	Via         Via
	UserID      string    // "" for a key
	KeyID       string    // "" for a user
	SessionHash string    // "" without a session
	Expires     time.Time // of the session; zero without one
	Renew       bool      // the session's cookie should be set again, since Expires has moved
}

// Known reports whether someone has proved who they are.
func (i Identity) Known() bool { return i.Via != Nothing }

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

// Authenticate finds out who asks. Of several credentials one counts: an
// Authorization header, else the header X-ss-id, else the cookie. If that one
// is not valid, the others do not help; but those that do not count are not
// looked at, so a stale cookie beside a valid key does no harm. Without any it
// fails as well; see Credentials.Empty.
func (s *Service) Authenticate(ctx context.Context, c Credentials) (Identity, error) {
	switch {
	case c.Bearer != "":
		return s.byKey(ctx, c.Bearer, Bearer)
	case c.HasBasic && looksLikeKey(c.BasicUser): // whatever the password: many clients insist on one
		return s.byKey(ctx, c.BasicUser, Basic)
	case c.HasBasic:
		return s.byPassword(ctx, c)
	case c.SessionHeader != "":
		return s.bySession(ctx, c.SessionHeader, Header)
	case c.SessionCookie != "":
		return s.bySession(ctx, c.SessionCookie, Cookie)
	}
	return Identity{}, notAuthenticated()
}

func notAuthenticated() error { return fault.New(fault.Unauthorized, "Not Authenticated") }

func (s *Service) byKey(ctx context.Context, secret string, via Via) (Identity, error) {
	now := s.clock()
	var key *Key
	var err error
	if looksLikeKey(secret) {
		hash := hashOf(secret)
		key, err = s.keys.load(ctx, hash, now, func() (*Key, error) { return s.store.Key(ctx, hash) })
	}
	if err != nil {
		return Identity{}, err
	}
	if key == nil || !key.Expires.IsZero() && !key.Expires.After(now) {
		return Identity{}, fault.New(fault.Unauthorized, "Invalid API Key")
	}
	s.lastUses.note(key.ID, now)
	return Identity{Name: key.Name, Role: key.Role, Via: via, KeyID: key.ID}, nil
}

func (s *Service) bySession(ctx context.Context, id string, via Via) (Identity, error) {
	session, expires, err := s.session(ctx, id)
	if err != nil {
		return Identity{}, err
	}
	if session == nil {
		return Identity{}, notAuthenticated()
	}
	who := identityOf(&session.User, via)
	if slid := s.clock().Add(s.ttl(session.Remember)); slid.After(expires) {
		s.expiries.note(session.Hash, slid)
		who.Renew = session.Remember && s.renews(expires, slid)
		expires = slid
	}
	who.SessionHash, who.Expires = session.Hash, expires
	return who, nil
}

// renews reports whether a remembered session's expiry has moved so far that
// its cookie should follow. Each reply could set one, but once in a hundredth
// of the time does it.
func (s *Service) renews(before, after time.Time) bool {
	step := s.lifetimes().Remember / 100
	return !before.Truncate(step).Equal(after.Truncate(step))
}

// session finds a session that has not expired, nil if there is none.
func (s *Service) session(ctx context.Context, id string) (*Session, time.Time, error) {
	if len(id) != SessionIDLength {
		return nil, time.Time{}, nil
	}
	hash, now := hashOf(id), s.clock()
	session, err := s.sessions.load(ctx, hash, now, func() (*Session, error) { return s.store.Session(ctx, hash) })
	if err != nil || session == nil {
		return nil, time.Time{}, err
	}
	expires := session.Expires
	if slid := s.expiries.latest(hash); slid.After(expires) {
		expires = slid
	}
	if !expires.After(now) {
		return nil, time.Time{}, nil
	}
	return session, expires, nil
}

func (s *Service) ttl(remember bool) time.Duration {
	if remember {
		return s.lifetimes().Remember
	}
	return s.lifetimes().Session
}

func identityOf(u *User, via Via) Identity {
	return Identity{Name: u.Name, DisplayName: u.DisplayName, Role: u.Role, Via: via, UserID: u.ID}
}
