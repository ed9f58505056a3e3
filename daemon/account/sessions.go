package account

import (
	"context"
	"slices"
	"sync"
	"time"
)

// sessions authenticates by session ids and manages sessions.
type sessions struct {
	store     Store
	clock     func() time.Time
	lifetimes func() Lifetimes
	known     *cache[Session] // keyed by hash
	expiries  *pendingTimes   // keyed by hash
	replaced  *replacedSessions
}

const (
	// maxSessions limits the sessions of a user. Programs that log in for each request
	// would otherwise fill the store.
	maxSessions = 1000
	// replacedGrace is how long the session of a request works after a login by that
	// request, for other requests that are under way.
	replacedGrace = time.Minute
)

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
	if s.replaced.has(session.Hash) {
		identity.SessionHash = session.Hash
		identity.Expires = expires
		return identity, nil
	}
	if extended := s.clock().Add(s.ttl(session.Remember)); extended.After(expires) {
		s.expiries.record(session.Hash, extended)
		// The cookie of a remembered session is renewed about 100 times during its
		// lifetime, not with each response.
		step := s.lifetimes().Remember / 100
		identity.Renew = session.Remember && !expires.Truncate(step).Equal(extended.Truncate(step))
		expires = extended
	}
	identity.SessionHash = session.Hash
	identity.Expires = expires
	return identity, nil
}

// find returns a session that has not expired and its expiry, nil if there is none.
func (s *sessions) find(ctx context.Context, id string) (*Session, time.Time, error) {
	if len(id) != SessionIDLength {
		return nil, time.Time{}, nil
	}
	hash := hashOf(id)
	now := s.clock()
	session, err := s.known.load(ctx, hash, now)
	if err != nil || session == nil {
		return nil, time.Time{}, err
	}
	expires := session.Expires
	if extended := s.expiries.latest(hash); extended.After(expires) {
		expires = extended
	}
	if end, ok := s.replaced.end(hash); ok && end.Before(expires) {
		expires = end
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
	id := newSessionID()
	now := s.clock()
	session := Session{
		Hash:     hashOf(id),
		User:     *user,
		Remember: remember,
		Added:    now,
		Expires:  now.Add(s.ttl(remember)),
	}
	created, err = s.store.AddSession(ctx, session)
	if err != nil {
		return Ticket{}, false, err
	}
	if err := s.limit(ctx, session); err != nil {
		return Ticket{}, false, err
	}
	identity := identityOf(user, NotAuthenticated)
	identity.SessionHash = session.Hash
	identity.Expires = session.Expires
	return Ticket{SessionID: id, Remember: remember, Identity: identity}, created, nil
}

// limit removes the longest unused sessions of the user of a new session if there are too
// many. Up to a minute of their use by other daemons is not known yet.
func (s *sessions) limit(ctx context.Context, added Session) error {
	sessions, err := s.store.UserSessions(ctx, added.User.ID)
	if err != nil || len(sessions) <= maxSessions {
		return err
	}

	lastUse := func(session Session) time.Time {
		expires := session.Expires
		if extended := s.expiries.latest(session.Hash); extended.After(expires) {
			expires = extended
		}
		return expires.Add(-s.ttl(session.Remember))
	}
	isAdded := func(session Session) bool { return session.Hash == added.Hash }
	sessions = slices.DeleteFunc(sessions, isAdded)
	slices.SortFunc(sessions, func(a, b Session) int { return lastUse(a).Compare(lastUse(b)) })
	unused := sessions[:len(sessions)+1-maxSessions]

	var hashes []string
	for _, session := range unused {
		hashes = append(hashes, session.Hash)
	}
	if err := s.store.RemoveSessions(ctx, hashes); err != nil {
		return err
	}
	for _, hash := range hashes {
		s.expiries.drop(hash)
	}
	s.known.forget(func(hash string, _ *Session) bool { return slices.Contains(hashes, hash) })
	return nil
}

// Replace ends a session a minute from now, after a login by a request of the session. An
// unknown id is not an error.
func (s *sessions) Replace(ctx context.Context, sessionID string) error {
	session, _, err := s.find(ctx, sessionID)
	if err != nil || session == nil {
		return err
	}
	end := s.clock().Add(replacedGrace)
	s.replaced.add(session.Hash, end)
	s.expiries.drop(session.Hash)
	return s.store.EndSession(ctx, session.Hash, end)
}

// removeReplaced removes replaced sessions that end before a time: another daemon could have
// extended them.
func (s *sessions) removeReplaced(ctx context.Context, before time.Time) error {
	hashes := s.replaced.ended(before)
	if len(hashes) == 0 {
		return nil
	}
	if err := s.store.RemoveSessions(ctx, hashes); err != nil {
		return err
	}
	s.known.forget(func(hash string, _ *Session) bool { return slices.Contains(hashes, hash) })
	s.replaced.drop(hashes)
	return nil
}

// replacedSessions are sessions that end soon and are not extended, with their ends, by
// hash.
type replacedSessions struct {
	mu   sync.Mutex
	ends map[string]time.Time
}

func newReplacedSessions() *replacedSessions {
	return &replacedSessions{ends: make(map[string]time.Time)}
}

// add keeps the earlier end of a session that has been replaced before.
func (r *replacedSessions) add(hash string, end time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.ends[hash]; !ok {
		r.ends[hash] = end
	}
}

func (r *replacedSessions) end(hash string) (time.Time, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	end, ok := r.ends[hash]
	return end, ok
}

func (r *replacedSessions) has(hash string) bool {
	_, ok := r.end(hash)
	return ok
}

// ended returns the sessions that have ended.
func (r *replacedSessions) ended(now time.Time) (hashes []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for hash, end := range r.ends {
		if !end.After(now) {
			hashes = append(hashes, hash)
		}
	}
	return hashes
}

func (r *replacedSessions) drop(hashes []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, hash := range hashes {
		delete(r.ends, hash)
	}
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
