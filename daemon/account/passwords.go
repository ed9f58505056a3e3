package account

import (
	"context"
	"log/slog"
	"strconv"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/bizhook/whd/daemon/fault"
)

// verifiedTTL is how long a Basic password is believed without computing its
// hash again.
const verifiedTTL = 5 * time.Minute

// trustedTTL is how long a pair of user and address that signed in goes before
// others. It is not stored: after a restart everybody is unknown until they sign
// in, while sessions go on.
const trustedTTL = 24 * time.Hour

// Login is a request for a session.
type Login struct {
	UserName string
	Password string
	Remember bool   // RememberMe
	Address  string // of the client, for throttling; a port does not count
}

// Ticket is what a login gives.
type Ticket struct {
	SessionID string // shown once, kept as a hash
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
	return &fault.Error{Kind: fault.Missing, Message: "A login needs a user name and a password", Fields: fields}
}

func wrongPassword() error { return fault.New(fault.Unauthorized, "Invalid Username or Password") }

// passwords finds the users whose passwords they are.
type passwords struct {
	store    Store
	clock    func() time.Time
	log      *slog.Logger
	sessions *sessions // that show users

	fingerprints *fingerprints
	hasher       *hasher
	throttle     *throttle // of pairs of user and address
	networks     *throttle // of addresses, over all users that are not trusted there
	flights      singleflight.Group

	users    *cache[User]     // by folded name
	verified *cache[struct{}] // by fingerprint of a Basic pair
	trusted  *cache[struct{}] // by fingerprint of user and address
}

func newPasswords(c Config, s *sessions) *passwords {
	return &passwords{
		store: c.Store, clock: c.Clock, log: c.Log, sessions: s,
		fingerprints: newFingerprints(), hasher: newHasher(), throttle: newThrottle(maxFailures), networks: newThrottle(maxNetworkFailures),
		users: newCache(lookupTTL, c.Store.User), verified: newCache[struct{}](verifiedTTL, nil), trusted: newCache[struct{}](trustedTTL, nil),
	}
}

// CheckPassword reports whether a password is a user's, as a login would, and
// counts a wrong one as a login does.
func (s *passwords) CheckPassword(ctx context.Context, l Login) error {
	_, err := s.prove(ctx, attempt{Fold(l.UserName), l.Password, Network(l.Address)})
	return err
}

// attempt is a password that someone claims to know.
type attempt struct {
	name     string // folded
	password string
	network  string
}

// authenticate is Basic. A pair that was right lately is found by a fingerprint
// that includes the user's row, so any change of the user forgets it.
func (s *passwords) authenticate(ctx context.Context, c Credentials) (Identity, error) {
	a := attempt{Fold(c.BasicUser), c.BasicPassword, Network(c.Address)}
	user, err := s.user(ctx, a.name)
	if err != nil {
		return Identity{}, err
	}
	if user != nil {
		if _, known, _ := s.verified.peek(s.pair(user, a.password), s.clock()); known {
			return identityOf(user, Basic), nil
		}
	}
	if user, err = s.prove(ctx, a); err != nil {
		return Identity{}, err
	}
	s.verified.put(s.pair(user, a.password), nil, s.clock(), s.verified.generation())
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

// prove finds the user whose password it is, by computing its hash.
func (s *passwords) prove(ctx context.Context, a attempt) (*User, error) {
	if a.password == "" || len(a.password) > maxPassword {
		return nil, wrongPassword() // nobody has such a password
	}
	// The generation keeps those who come after a change from sharing a check
	// that began before it.
	generation := strconv.FormatUint(s.users.generation(), 10)
	name := s.fingerprints.of(a.name, a.network, a.password, generation)
	return share(ctx, &s.flights, string(name[:]), "the request ended before its password was checked", func() (*User, error) {
		return s.throttled(ctx, a)
	})
}

// throttled compares a password unless too many were wrong. A pair of user and
// address that signed in lately is not stopped by what others try from there.
func (s *passwords) throttled(ctx context.Context, a attempt) (*User, error) {
	who, network, began := s.fingerprints.of(a.name, a.network), s.fingerprints.of(a.network), s.clock()
	pair := string(who[:])
	_, trusted, _ := s.trusted.peek(pair, began)
	if !trusted {
		if err := s.networks.check(network, began); err != nil {
			return nil, err
		}
	}
	if err := s.throttle.begin(who, began); err != nil {
		return nil, err
	}
	user, err := s.compare(ctx, a, trusted)
	switch {
	case err == nil:
		s.throttle.succeeded(who)
		s.trusted.put(pair, nil, s.clock(), s.trusted.generation())
	case !fault.Is(err, fault.Unauthorized):
		s.throttle.undo(who, began)
	case !trusted:
		s.networks.fail(network, s.clock())
	}
	return user, err
}

// compare reads the user afresh: beside a password hash a look-up costs
// nothing, and a new password works at once.
func (s *passwords) compare(ctx context.Context, a attempt, trusted bool) (*User, error) {
	var user *User
	var stored string
	if len(a.name) <= maxName {
		age := s.users.generation()
		var err error
		if user, err = s.store.User(ctx, a.name); err != nil {
			return nil, err
		}
		s.users.put(a.name, user, s.clock(), age)
	}
	if user != nil {
		stored = user.PasswordHash
	}
	right, err := s.hasher.matches(ctx, stored, a.password, trusted)
	if err != nil {
		return nil, err
	}
	if !right {
		name := "(unknown)" // people type passwords there
		if user != nil {
			name = user.Name
		}
		s.log.Warn("login failed", "user", name, "network", a.network)
		return nil, wrongPassword()
	}
	if weak(user.PasswordHash) {
		return s.rehash(ctx, user, a)
	}
	return user, nil
}

// rehash gives a password whose hash was made at a lower cost one of today's.
// Where that fails the login goes on: the next one tries again.
func (s *passwords) rehash(ctx context.Context, user *User, a attempt) (*User, error) {
	hash, err := s.hasher.hash(ctx, a.password)
	if err == nil {
		err = s.store.Rehash(ctx, a.name, user.PasswordHash, hash)
	}
	if err != nil {
		s.log.Warn("a password could not be given a hash of the present cost", "user", user.Name, "err", err)
		return user, nil
	}
	s.forgetUser(user.Name)
	renewed := *user
	renewed.PasswordHash = hash
	return &renewed, nil
}

// forgetUser drops what is remembered of a user: the row, and the sessions
// that show it. Verified passwords go with the row, see pair.
func (s *passwords) forgetUser(name string) {
	folded := Fold(name)
	s.users.forget(func(name string, _ *User) bool { return name == folded })
	s.sessions.known.forget(func(_ string, v *Session) bool { return v == nil || Fold(v.User.Name) == folded })
}
