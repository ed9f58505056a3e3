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

	"golang.org/x/sync/singleflight"
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

// usualLifetimes are those that nothing else is said about.
func usualLifetimes() Lifetimes {
	return Lifetimes{Session: 8 * time.Hour, Remember: 14 * 24 * time.Hour}
}

// Service applies the rules of accounts.
type Service struct {
	store     Store
	clock     func() time.Time
	log       *slog.Logger
	lifetimes func() Lifetimes

	printer  *printer
	hasher   *hasher
	throttle *throttle // of pairs of user and address
	networks *throttle // of addresses, over all users that are not trusted there
	flights  singleflight.Group

	users    *cache[User]     // by folded name
	sessions *cache[Session]  // by hash
	keys     *cache[Key]      // by hash
	verified *cache[struct{}] // by fingerprint of a Basic pair
	trusted  *cache[struct{}] // by fingerprint of user and address

	expiries *ledger // of sessions, by hash
	lastUses *ledger // of keys, by id

	writing sync.Mutex // held while uses are written
	stop    func()     // ends the goroutine of Start
	stopped chan struct{}
}

// New makes a Service.
func New(c Config) (*Service, error) {
	if c.Store == nil {
		return nil, errors.New("account: no store")
	}
	s := &Service{
		store: c.Store, clock: c.Clock, log: c.Log, lifetimes: c.Lifetimes,
		printer: newPrinter(), hasher: newHasher(), throttle: newThrottle(mostFailures), networks: newThrottle(mostNetworkFailures),
		users: newCache[User](lookupTTL), sessions: newCache[Session](lookupTTL), keys: newCache[Key](lookupTTL),
		verified: newCache[struct{}](verifiedTTL), trusted: newCache[struct{}](trustedTTL),
		expiries: newLedger(), lastUses: newLedger(),
	}
	s.fillDefaults()
	return s, nil
}

func (s *Service) fillDefaults() {
	if s.clock == nil {
		s.clock = time.Now
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.lifetimes == nil {
		s.lifetimes = usualLifetimes
	}
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
	uses := Uses{Sessions: s.expiries.take(), Keys: s.lastUses.take()}
	var err error
	if len(uses.Sessions)+len(uses.Keys) > 0 {
		err = s.store.Write(ctx, uses)
	}
	if err == nil {
		// Else a cached session would show its expiry of before the write.
		s.sessions.forget(func(hash string, _ *Session) bool {
			_, slid := uses.Sessions[hash]
			return slid
		})
	}
	s.expiries.wrote(err)
	s.lastUses.wrote(err)
	if err != nil {
		return err
	}
	_, err = s.store.RemoveExpired(ctx, s.clock().Add(-sweepGrace))
	return err
}
