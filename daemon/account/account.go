// Package account implements authentication and authorization: users and their
// passwords, sessions, API keys and roles.
//
// Look-ups are cached for five seconds, and verified Basic passwords for five minutes
// unless the user's row changes. Changes made through this Service take effect immediately, changes
// by other processes within five seconds. Password hashes cost 50 ms and 19 MiB each, so at most
// two are computed concurrently.
package account

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/bizhook/whd/daemon/fault"
)

// Config configures a Service. All fields except Store have defaults.
type Config struct {
	Store     Store
	Clock     func() time.Time
	Log       *slog.Logger
	Lifetimes func() Lifetimes // called for each request with a session

	CheapHashes bool // for tests only: hashes of passwords cost next to nothing
}

// Lifetimes contains the lifetimes of unused sessions.
type Lifetimes struct {
	Session  time.Duration
	Remember time.Duration // with RememberMe
}

// Service authenticates requests and changes accounts.
type Service struct {
	*sessions
	*keys
	*passwords
	*owners

	store   Store
	clock   func() time.Time
	log     *slog.Logger
	writing sync.Mutex // held while times are written
	stop    func()     // stops the goroutine of Start
	stopped chan struct{}
}

// New returns a Service.
func New(c Config) (*Service, error) {
	if c.Store == nil {
		return nil, errors.New("account: no store")
	}
	if c.Clock == nil {
		c.Clock = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Lifetimes == nil {
		lifetimes := Lifetimes{Session: 8 * time.Hour, Remember: 14 * 24 * time.Hour}
		c.Lifetimes = func() Lifetimes { return lifetimes }
	}
	s := &Service{
		store: c.Store,
		clock: c.Clock,
		log:   c.Log,
		sessions: &sessions{
			store:     c.Store,
			clock:     c.Clock,
			lifetimes: c.Lifetimes,
			known:     newCache(lookupTTL, c.Store.Session),
			expiries:  newPendingTimes(),
			replaced:  newReplacedSessions(),
		},
		keys: &keys{
			store:    c.Store,
			clock:    c.Clock,
			known:    newCache(lookupTTL, c.Store.Key),
			lastUses: newPendingTimes(),
		},
	}
	s.passwords = newPasswords(c, s.sessions)
	s.owners = &owners{store: c.Store, clock: c.Clock}
	s.owners.known = newCache(lookupTTL, s.owners.read)
	return s, nil
}

const (
	writeInterval = time.Minute
	// sweepGrace is how long expired sessions are kept, since another daemon may have
	// extended them and not yet stored that.
	sweepGrace = 5 * time.Minute
)

// Start starts a goroutine that stores the expiry times of sessions and the last uses
// of keys every minute, until ctx is done or Stop is called. Without Start, these
// times are stored at Stop only.
func (s *Service) Start(ctx context.Context) {
	ctx, s.stop = context.WithCancel(ctx)
	s.stopped = make(chan struct{})
	go s.run(ctx)
}

func (s *Service) run(ctx context.Context) {
	defer close(s.stopped)
	tick := time.NewTicker(writeInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if err := s.write(ctx); err != nil && ctx.Err() == nil {
				s.log.Warn("cannot store session times; retrying in a minute", "err", err)
			}
		case <-ctx.Done():
			return
		}
	}
}

// Stop stops the goroutine of Start, if any, and stores the remaining times. It may be
// called several times.
func (s *Service) Stop(ctx context.Context) error {
	if s.stop != nil {
		s.stop()
		<-s.stopped
	}
	if err := s.write(ctx); err != nil {
		return err
	}
	return s.removeReplaced(ctx, s.clock().Add(replacedGrace)) // the next start does not know them
}

// write stores the times recorded since the last write, and removes expired sessions.
func (s *Service) write(ctx context.Context) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	uses := Uses{Sessions: s.expiries.all(), Keys: s.lastUses.all()}
	if len(uses.Sessions)+len(uses.Keys) > 0 {
		if err := s.store.Write(ctx, uses); err != nil {
			return err
		}
	}
	// Cached sessions contain the expiry before the write.
	s.sessions.known.forget(func(hash string, _ *Session) bool {
		_, extended := uses.Sessions[hash]
		return extended
	})
	s.expiries.stored(uses.Sessions)
	s.lastUses.stored(uses.Keys)
	if err := s.removeReplaced(ctx, s.clock()); err != nil {
		return err
	}
	_, err := s.store.RemoveExpired(ctx, s.clock().Add(-sweepGrace))
	return err
}

// Authenticate returns the identity that the credentials prove. Only one of them is
// checked: the Authorization header, else the header X-ss-id, else the cookie; a stale
// cookie in addition to a valid key is ignored. Without valid credentials it fails with
// fault.Unauthorized; see also Credentials.Empty.
func (s *Service) Authenticate(ctx context.Context, c Credentials) (Identity, error) {
	switch {
	case c.Bearer != "":
		return s.keys.authenticate(ctx, c.Bearer, Bearer)
	case c.HasBasic:
		return s.authenticateBasic(ctx, c)
	case c.SessionHeader != "":
		return s.sessions.authenticate(ctx, c.SessionHeader, Header)
	case c.SessionCookie != "":
		return s.sessions.authenticate(ctx, c.SessionCookie, Cookie)
	}
	return Identity{}, notAuthenticated()
}

// authenticateBasic verifies HTTP Basic credentials of a user, or with an API key as the user
// name. A password with a key is ignored: many clients require one.
func (s *Service) authenticateBasic(ctx context.Context, c Credentials) (Identity, error) {
	if !looksLikeKey(c.BasicUser) {
		return s.passwords.authenticate(ctx, c)
	}
	identity, err := s.keys.authenticate(ctx, c.BasicUser, Basic)
	isNoKey := fault.Is(err, fault.Unauthorized)
	if isNoKey && !ownKey(c.BasicUser) { // a user name can look like a key of another service
		return s.passwords.authenticate(ctx, c)
	}
	return identity, err
}

// Recognize is like Authenticate, but does not verify a password that was not verified recently:
// that takes long, and a wrong one counts as a failed login.
func (s *Service) Recognize(ctx context.Context, c Credentials) (Identity, error) {
	if c.Bearer != "" || !c.HasBasic {
		return s.Authenticate(ctx, c)
	}
	if looksLikeKey(c.BasicUser) {
		identity, err := s.keys.authenticate(ctx, c.BasicUser, Basic)
		if err == nil {
			return identity, nil
		}
	}
	return s.passwords.recognize(ctx, c)
}

// Login checks a password and creates a session. The password is always verified,
// without the cache of Basic passwords.
func (s *Service) Login(ctx context.Context, l Login) (Ticket, error) {
	if err := l.missing(); err != nil {
		return Ticket{}, err
	}
	// The hash can change concurrently, because the password is changed or rehashed.
	// The second round verifies the new hash.
	for range 2 {
		user, err := s.prove(ctx, attempt{Fold(l.UserName), l.Password, Network(l.Address)})
		if err != nil {
			return Ticket{}, err
		}
		ticket, created, err := s.create(ctx, user, l.Remember)
		if err != nil || created {
			return ticket, err
		}
	}
	return Ticket{}, wrongPassword()
}
