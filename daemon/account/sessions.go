package account

import (
	"context"
	"time"
)

// sessions authenticates by session ids and manages sessions.
type sessions struct {
	store     Store
	clock     func() time.Time
	lifetimes func() Lifetimes
	known     *cache[Session] // by hash
	expiries  *pendingTimes   // by hash
}

// authenticate returns the identity of a session and extends its lifetime.
func (s *sessions) authenticate(ctx context.Context, id string, method AuthMethod) (Identity, error) {
	session, expires, err := s.find(ctx, id)
	if err != nil {
		return Identity{}, err
	}
	if session == nil {
		return Identity{}, notAuthenticated()
	}
	identity := identityOf(&session.User, method)
	if extended := s.clock().Add(s.ttl(session.Remember)); extended.After(expires) {
		s.expiries.record(session.Hash, extended)
		// The cookie of a remembered session is renewed about 100 times during its
		// lifetime, not with each response.
		step := s.lifetimes().Remember / 100
		identity.Renew = session.Remember && !expires.Truncate(step).Equal(extended.Truncate(step))
		expires = extended
	}
	identity.SessionHash, identity.Expires = session.Hash, expires
	return identity, nil
}

// find returns a session that has not expired and its expiry, nil if there is none.
func (s *sessions) find(ctx context.Context, id string) (*Session, time.Time, error) {
	if len(id) != SessionIDLength {
		return nil, time.Time{}, nil
	}
	hash, now := hashOf(id), s.clock()
	session, err := s.known.load(ctx, hash, now)
	if err != nil || session == nil {
		return nil, time.Time{}, err
	}
	expires := session.Expires
	if extended := s.expiries.latest(hash); extended.After(expires) {
		expires = extended
	}
	if !expires.After(now) {
		return nil, time.Time{}, nil
	}
	return session, expires, nil
}

func (s *sessions) ttl(remember bool) time.Duration {
	if remember {
		return s.lifetimes().Remember
	}
	return s.lifetimes().Session
}

// create creates a session, unless the user's password hash has changed since it was
// read.
func (s *sessions) create(ctx context.Context, user *User, remember bool) (t Ticket, created bool, err error) {
	id, now := newSessionID(), s.clock()
	session := Session{Hash: hashOf(id), User: *user, Remember: remember, Added: now, Expires: now.Add(s.ttl(remember))}
	if created, err = s.store.AddSession(ctx, session); err != nil {
		return Ticket{}, false, err
	}
	identity := identityOf(user, NotAuthenticated)
	identity.SessionHash, identity.Expires = session.Hash, session.Expires
	return Ticket{SessionID: id, Remember: remember, Identity: identity}, created, nil
}

// Logout deletes a session. An unknown id is not an error.
func (s *sessions) Logout(ctx context.Context, sessionID string) error {
	if len(sessionID) != SessionIDLength {
		return nil
	}
	hash := hashOf(sessionID)
	if err := s.store.RemoveSession(ctx, hash); err != nil {
		return err
	}
	s.known.forget(func(name string, _ *Session) bool { return name == hash })
	s.expiries.drop(hash)
	return nil
}

// tagLength is too short to find the session id by brute force.
const tagLength = 8

// SessionTag returns a prefix of a session id's hash, which identifies the session in
// logs.
func SessionTag(id string) string { return hashOf(id)[:tagLength] }
