package account

import (
	"context"
	"log/slog"
	"strconv"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/bizhook/whd/daemon/fault"
)

// verifiedTTL is how long a verified Basic password is accepted without computing its
// hash again.
const verifiedTTL = 5 * time.Minute

// trustedTTL is how long a pair of user and address has priority after it signed in.
// The pairs are in memory only: after a restart each user has to sign in once.
const trustedTTL = 24 * time.Hour

// Login is a request for a session.
type Login struct {
	UserName string
	Password string
	Remember bool   // RememberMe
	Address  string // address of the client, for throttling; a port is ignored
}

// Ticket is the result of a login.
type Ticket struct {
	SessionID string // not stored, only its hash
	Remember  bool
	Identity  Identity
}

func (l Login) missing() error {
	var fields []fault.Field
	for _, m := range [][2]string{{"UserName", l.UserName}, {"Password", l.Password}} {
		if m[1] == "" {
			fields = append(fields, fault.Field{Name: m[0], Message: "must not be empty"})
		}
	}
	if fields == nil {
		return nil
	}
	return &fault.Error{
		Kind:    fault.Missing,
		Message: "A login needs a user name and a password",
		Fields:  fields,
	}
}

func wrongPassword() error { return fault.New(fault.Unauthorized, "Invalid Username or Password") }

// passwords authenticates by user name and password.
type passwords struct {
	store    Store
	clock    func() time.Time
	log      *slog.Logger
	sessions *sessions // its cache contains users

	fingerprints *fingerprints
	hasher       *hasher
	throttle     *throttle // throttle of pairs of user and address
	networks     *throttle // throttle of addresses, over all users that are not trusted there
	flights      singleflight.Group

	users    *cache[User]     // keyed by folded name
	verified *cache[struct{}] // keyed by fingerprint of a Basic pair
	trusted  *cache[struct{}] // keyed by fingerprint of user and address
}

func newPasswords(c Config, s *sessions) *passwords {
	cost := fullCost
	if c.CheapHashes {
		cost = testCost
	}
	return &passwords{
		store:        c.Store,
		clock:        c.Clock,
		log:          c.Log,
		sessions:     s,
		fingerprints: newFingerprints(),
		hasher:       newHasher(cost),
		throttle:     newThrottle(maxFailures),
		networks:     newThrottle(maxNetworkFailures),
		users:        newCache(lookupTTL, c.Store.User),
		verified:     newCache[struct{}](verifiedTTL, nil),
		trusted:      newCache[struct{}](trustedTTL, nil),
	}
}

// CheckPassword verifies a user's password in the same way as Login, including
// throttling, without creating a session.
func (s *passwords) CheckPassword(ctx context.Context, l Login) error {
	_, err := s.prove(ctx, attempt{Fold(l.UserName), l.Password, Network(l.Address)})
	return err
}

// attempt is a user name with a password to verify.
type attempt struct {
	name     string // folded
	password string
	network  string
}

// authenticate verifies HTTP Basic credentials. Verified pairs are cached, see recognize.
func (s *passwords) authenticate(ctx context.Context, c Credentials) (Identity, error) {
	identity, err := s.recognize(ctx, c)
	if !fault.Is(err, fault.Unauthorized) {
		return identity, err
	}
	a := attempt{Fold(c.BasicUser), c.BasicPassword, Network(c.Address)}
	user, err := s.prove(ctx, a)
	if err != nil {
		return Identity{}, err
	}
	s.verified.put(s.pair(user, a.password), nil, s.clock(), s.verified.currentGeneration())
	return identityOf(user, Basic), nil
}

// recognize returns the identity of HTTP Basic credentials that were verified recently. They are
// cached under a fingerprint that includes the user's row, so that any change of the user
// invalidates them.
func (s *passwords) recognize(ctx context.Context, c Credentials) (Identity, error) {
	user, err := s.user(ctx, Fold(c.BasicUser))
	if err != nil {
		return Identity{}, err
	}
	if user == nil {
		return Identity{}, notAuthenticated()
	}
	if _, verified, _ := s.verified.peek(s.pair(user, c.BasicPassword), s.clock()); !verified {
		return Identity{}, notAuthenticated()
	}
	return identityOf(user, Basic), nil
}

func (s *passwords) pair(u *User, password string) string {
	sum := s.fingerprints.of(u.ID, u.Saved.String(), u.PasswordHash, password)
	return string(sum[:])
}

// user finds a user by folded name, nil if there is none.
func (s *passwords) user(ctx context.Context, name string) (*User, error) {
	if len(name) > maxName {
		return nil, nil
	}
	return s.users.load(ctx, name, s.clock())
}

// prove returns the user if the password is correct, by computing its hash.
func (s *passwords) prove(ctx context.Context, a attempt) (*User, error) {
	if a.password == "" || len(a.password) > maxPassword {
		return nil, wrongPassword() // checkPassword does not allow such passwords
	}
	// With the generation, callers after a change do not share a verification that
	// started before it.
	generation := strconv.FormatUint(s.users.currentGeneration(), 10)
	name := s.fingerprints.of(a.name, a.network, a.password, generation)
	const cancelled = "the request was cancelled before its password was checked"
	return share(ctx, &s.flights, string(name[:]), cancelled, func() (*User, error) {
		return s.throttled(ctx, a)
	})
}

// throttled verifies a password unless there were too many failures. A pair of user and
// address that signed in recently is not affected by other users' failures from that
// address.
func (s *passwords) throttled(ctx context.Context, a attempt) (*User, error) {
	user := s.fingerprints.of(a.name, a.network)
	network := s.fingerprints.of(a.network)
	startedAt := s.clock()
	pair := string(user[:])
	_, trusted, _ := s.trusted.peek(pair, startedAt)
	if !trusted {
		if err := s.networks.check(network, startedAt); err != nil {
			return nil, err
		}
	}
	if err := s.throttle.begin(user, startedAt); err != nil {
		return nil, err
	}
	verified, err := s.compare(ctx, a, trusted)
	switch {
	case err == nil:
		s.throttle.succeeded(user)
		s.trusted.put(pair, nil, s.clock(), s.trusted.currentGeneration())
	case !fault.Is(err, fault.Unauthorized):
		s.throttle.undo(user, startedAt)
	case !trusted:
		s.networks.fail(network, s.clock())
	}
	return verified, err
}

// compare verifies the password against the user's current row. It bypasses the cache:
// compared with a password hash, a look-up is cheap.
func (s *passwords) compare(ctx context.Context, a attempt, trusted bool) (*User, error) {
	var user *User
	var stored string
	if len(a.name) <= maxName {
		generation := s.users.currentGeneration()
		var err error
		user, err = s.store.User(ctx, a.name)
		if err != nil {
			return nil, err
		}
		s.users.put(a.name, user, s.clock(), generation)
	}
	if user != nil {
		stored = user.PasswordHash
	}
	correct, err := s.hasher.matches(ctx, stored, a.password, trusted)
	if err != nil {
		return nil, err
	}
	if !correct {
		name := "(unknown)" // users sometimes enter their password as the name
		if user != nil {
			name = user.Name
		}
		s.log.Warn("login failed", "user", name, "network", a.network)
		return nil, wrongPassword()
	}
	if s.hasher.weak(user.PasswordHash) {
		return s.rehash(ctx, user, a)
	}
	return user, nil
}

// rehash replaces a hash that was computed at a lower cost. If that fails, the login
// still succeeds, and the next one retries.
func (s *passwords) rehash(ctx context.Context, user *User, a attempt) (*User, error) {
	hash, err := s.hasher.hash(ctx, a.password)
	if err == nil {
		err = s.store.Rehash(ctx, a.name, user.PasswordHash, hash)
	}
	if err != nil {
		s.log.Warn("cannot upgrade a password hash to the current cost",
			"user", user.Name, "err", err)
		return user, nil
	}
	s.forgetUser(user.Name)
	renewed := *user
	renewed.PasswordHash = hash
	return &renewed, nil
}

// forgetUser removes a user from the caches: the row, and the sessions that contain it.
// Verified passwords become invalid with the row, see pair.
func (s *passwords) forgetUser(name string) {
	folded := Fold(name)
	s.users.forget(func(name string, _ *User) bool { return name == folded })
	s.sessions.known.forget(func(_ string, session *Session) bool {
		return session == nil || Fold(session.User.Name) == folded
	})
}
