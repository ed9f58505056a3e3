package account

import (
	"context"
	"time"
)

// sessions are logins that last.
type sessions struct {
	store     Store
	clock     func() time.Time
	lifetimes func() Lifetimes
	known     *cache[Session] // by hash
	expiries  *ledger         // by hash
}

// authenticate finds out whose session an id is of.
func (s *sessions) authenticate(ctx context.Context, id string, method AuthMethod) (Identity, error) {
	session, expires, err := s.find(ctx, id)
	if err != nil {
		return Identity{}, err
	}
	if session == nil {
		return Identity{}, notAuthenticated()
	}
	who := identityOf(&session.User, method)
	if slid := s.clock().Add(s.ttl(session.Remember)); slid.After(expires) {
		s.expiries.note(session.Hash, slid)
		// Each reply could set the cookie of a remembered session, but once in a
		// hundredth of the time does it.
		step := s.lifetimes().Remember / 100
		who.Renew = session.Remember && !expires.Truncate(step).Equal(slid.Truncate(step))
		expires = slid
	}
	who.SessionHash, who.Expires = session.Hash, expires
	return who, nil
}

// find finds a session that has not expired, nil if there is none.
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
	if slid := s.expiries.latest(hash); slid.After(expires) {
		expires = slid
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

// begin begins a session, unless the user's password hash is another one by the
// time that it is compared.
func (s *sessions) begin(ctx context.Context, user *User, remember bool) (t Ticket, began bool, err error) {
	id, now := newSessionID(), s.clock()
	session := Session{Hash: hashOf(id), User: *user, Remember: remember, Added: now, Expires: now.Add(s.ttl(remember))}
	if began, err = s.store.AddSession(ctx, session); err != nil {
		return Ticket{}, false, err
	}
	who := identityOf(user, NotAuthenticated)
	who.SessionHash, who.Expires = session.Hash, session.Expires
	return Ticket{SessionID: id, Remember: remember, Identity: who}, began, nil
}

// Logout ends a session. An id that is unknown is no error.
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

// tagLength is short enough to be of no use to anybody who wants the session.
const tagLength = 8

// SessionTag is the beginning of what is stored of a session id, by which logs
// tell sessions apart.
func SessionTag(id string) string { return hashOf(id)[:tagLength] }
