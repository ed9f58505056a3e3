// Package account says who may do what: users and their passwords, sessions,
// and API keys.
//
// Two things keep it cheap. What was looked up is believed for five seconds,
// and a verified Basic password for five minutes as long as the user's row
// stays the same; a change made through this Service shows at once, one made
// by another process within those five seconds. And password hashes, which
// cost 50 ms and 19 MiB each, are computed one or two at a time.
package account

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"
)

// Config is what a Service works with. All but Store has a default.
type Config struct {
	Store     Store
	Clock     func() time.Time
	Log       *slog.Logger
	Lifetimes func() Lifetimes // asked for each request with a session
}

// Lifetimes are how long unused sessions last.
type Lifetimes struct {
	Session  time.Duration
	Remember time.Duration // with RememberMe
}

// Service applies the rules of accounts.
type Service struct {
	*sessions
	*keys
	*passwords

	store   Store
	clock   func() time.Time
	log     *slog.Logger
	writing sync.Mutex // held while uses are written
	stop    func()     // ends the goroutine of Start
	stopped chan struct{}
}

// New makes a Service.
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
		c.Lifetimes = func() Lifetimes { return Lifetimes{Session: 8 * time.Hour, Remember: 14 * 24 * time.Hour} }
	}
	s := &Service{
		store: c.Store, clock: c.Clock, log: c.Log,
		sessions: &sessions{store: c.Store, clock: c.Clock, lifetimes: c.Lifetimes, known: newCache(lookupTTL, c.Store.Session), expiries: newLedger()},
		keys:     &keys{store: c.Store, clock: c.Clock, known: newCache(lookupTTL, c.Store.Key), lastUses: newLedger()},
	}
	s.passwords = newPasswords(c, s.sessions)
	return s, nil
}

const (
	writeEvery = time.Minute
	// sweepGrace spares sessions that another daemon has slid and not yet
	// written.
	sweepGrace = 5 * time.Minute
)

// Start begins to write down, once a minute, when sessions expire and keys
// were used. It ends with ctx or Stop. A Service that is not started works,
// but writes these times only at Stop.
func (s *Service) Start(ctx context.Context) {
	ctx, s.stop = context.WithCancel(ctx)
	s.stopped = make(chan struct{})
	go s.run(ctx)
}

func (s *Service) run(ctx context.Context) {
	defer close(s.stopped)
	tick := time.NewTicker(writeEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if err := s.write(ctx); err != nil && ctx.Err() == nil {
				s.log.Warn("session times could not be written; trying again in a minute", "err", err)
			}
		case <-ctx.Done():
			return
		}
	}
}

// Stop ends what Start began and writes the times that are left. It may be
// called without Start, and again.
func (s *Service) Stop(ctx context.Context) error {
	if s.stop != nil {
		s.stop()
		<-s.stopped
	}
	return s.write(ctx)
}

// write stores the times noted since the last write and removes what expired.
func (s *Service) write(ctx context.Context) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	uses := Uses{Sessions: s.expiries.all(), Keys: s.lastUses.all()}
	if len(uses.Sessions)+len(uses.Keys) > 0 {
		if err := s.store.Write(ctx, uses); err != nil {
			return err
		}
	}
	// Else a cached session would show its expiry of before the write.
	s.sessions.known.forget(func(hash string, _ *Session) bool {
		_, slid := uses.Sessions[hash]
		return slid
	})
	s.expiries.wrote(uses.Sessions)
	s.lastUses.wrote(uses.Keys)
	_, err := s.store.RemoveExpired(ctx, s.clock().Add(-sweepGrace))
	return err
}

// Authenticate finds out who asks. Of several credentials one counts: an
// Authorization header, else the header X-ss-id, else the cookie. If that one
// is not valid, the others do not help; but those that do not count are not
// looked at, so a stale cookie beside a valid key does no harm. Without any it
// fails as well; see Credentials.Empty.
func (s *Service) Authenticate(ctx context.Context, c Credentials) (Identity, error) {
	switch {
	case c.Bearer != "":
		return s.keys.authenticate(ctx, c.Bearer, Bearer)
	case c.HasBasic && looksLikeKey(c.BasicUser): // whatever the password: many clients insist on one
		return s.keys.authenticate(ctx, c.BasicUser, Basic)
	case c.HasBasic:
		return s.passwords.authenticate(ctx, c)
	case c.SessionHeader != "":
		return s.sessions.authenticate(ctx, c.SessionHeader, Header)
	case c.SessionCookie != "":
		return s.sessions.authenticate(ctx, c.SessionCookie, Cookie)
	}
	return Identity{}, notAuthenticated()
}

// Login checks a password and begins a session. Its password is checked in
// full each time, so that it tells wrong from throttled as it should.
func (s *Service) Login(ctx context.Context, l Login) (Ticket, error) {
	if err := l.missing(); err != nil {
		return Ticket{}, err
	}
	// The password's hash may change at the same moment: because the password
	// does, which the second round finds out, or because it got a dearer hash.
	for range 2 {
		user, err := s.prove(ctx, attempt{Fold(l.UserName), l.Password, Network(l.Address)})
		if err != nil {
			return Ticket{}, err
		}
		if ticket, began, err := s.begin(ctx, user, l.Remember); err != nil || began {
			return ticket, err
		}
	}
	return Ticket{}, wrongPassword()
}
