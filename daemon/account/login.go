package account

import (
	"context"
	"strconv"
	"time"

	"github.com/bizhook/whd/daemon/fault"
	"golang.org/x/sync/singleflight"
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

// Login checks a password and begins a session. Its password is checked in
// full each time, so that it tells wrong from throttled as it should.
func (s *Service) Login(ctx context.Context, l Login) (Ticket, error) {
	if err := l.missing(); err != nil {
		return Ticket{}, err
	}
	// The password's hash may change at the same moment: because the password
	// does, which the second round finds out, or because it got a dearer hash.
	for range 2 {
		ticket, began, err := s.begin(ctx, l)
		if err != nil || began {
			return ticket, err
		}
	}
	return Ticket{}, wrongPassword()
}

// begin begins a session, unless the user's password hash is another one by
// the time that it is compared.
func (s *Service) begin(ctx context.Context, l Login) (t Ticket, began bool, err error) {
	user, err := s.prove(ctx, attempt{Fold(l.UserName), l.Password, Network(l.Address)})
	if err != nil {
		return Ticket{}, false, err
	}
	id, now := newSessionID(), s.clock()
	session := Session{Hash: hashOf(id), User: *user, Remember: l.Remember, Added: now, Expires: now.Add(s.ttl(l.Remember))}
	if began, err = s.store.AddSession(ctx, session); err != nil {
		return Ticket{}, false, err
	}
	who := identityOf(user, Nothing)
	who.SessionHash, who.Expires = session.Hash, session.Expires
	return Ticket{SessionID: id, Remember: l.Remember, Identity: who}, began, nil
}

// CheckPassword reports whether a password is a user's, as a login would, and
// counts a wrong one as a login does.
func (s *Service) CheckPassword(ctx context.Context, l Login) error {
	_, err := s.prove(ctx, attempt{Fold(l.UserName), l.Password, Network(l.Address)})
	return err
}

func (l Login) missing() error {
	var fields []fault.Field
	if l.UserName == "" {
		fields = append(fields, fault.Field{Name: "UserName", Message: "must not be empty"})
	}
	if l.Password == "" {
		fields = append(fields, fault.Field{Name: "Password", Message: "must not be empty"})
	}
	if fields == nil {
		return nil
	}
	return &fault.Error{Kind: fault.Missing, Message: "A login needs a user name and a password", Fields: fields}
}

func wrongPassword() error { return fault.New(fault.Unauthorized, "Invalid Username or Password") }

// Logout ends a session. An id that is unknown is no error.
func (s *Service) Logout(ctx context.Context, sessionID string) error {
	if len(sessionID) != SessionIDLength {
		return nil
	}
	hash := hashOf(sessionID)
	if err := s.store.RemoveSession(ctx, hash); err != nil {
		return err
	}
	s.sessions.forget(func(name string, _ *Session) bool { return name == hash })
	s.expiries.drop(hash)
	return nil
}

// attempt is a password that someone claims to know.
type attempt struct {
	name     string // folded
	password string
	network  string
}

// byPassword is Basic. A pair that was right lately is found by a fingerprint
// that includes the user's row, so any change of the user forgets it.
func (s *Service) byPassword(ctx context.Context, c Credentials) (Identity, error) {
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

func (s *Service) pair(u *User, password string) string {
	sum := s.printer.of(u.ID, u.Saved.String(), u.PasswordHash, password)
	return string(sum[:])
}

// user finds a user by folded name, nil if there is none.
func (s *Service) user(ctx context.Context, name string) (*User, error) {
	if len(name) > maxName {
		return nil, nil
	}
	return s.users.load(ctx, name, s.clock(), func() (*User, error) { return s.store.User(ctx, name) })
}

// prove finds the user whose password it is, by computing its hash.
func (s *Service) prove(ctx context.Context, a attempt) (*User, error) {
	if a.password == "" || len(a.password) > maxPassword {
		return nil, wrongPassword() // nobody has such a password
	}
	// The generation keeps those who come after a change from sharing a check
	// that began before it.
	generation := strconv.FormatUint(s.users.generation(), 10)
	return shared(ctx, &s.flights, s.printer.of(a.name, a.network, a.password, generation), func() (*User, error) {
		return s.throttled(ctx, a)
	})
}

// throttled compares a password unless too many were wrong. A pair of user and
// address that signed in lately is not stopped by what others try from there.
func (s *Service) throttled(ctx context.Context, a attempt) (*User, error) {
	who, network, began := s.printer.of(a.name, a.network), s.printer.of(a.network), s.clock()
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
func (s *Service) compare(ctx context.Context, a attempt, trusted bool) (*User, error) {
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
		s.logFailure(user, a)
		return nil, wrongPassword()
	}
	if weak(user.PasswordHash) {
		return s.rehash(ctx, user, a)
	}
	return user, nil
}

// rehash gives a password whose hash was made at a lower cost one of today's.
// Where that fails the login goes on: the next one tries again.
func (s *Service) rehash(ctx context.Context, user *User, a attempt) (*User, error) {
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

// logFailure leaves out names that are not a user's: people type passwords
// there.
func (s *Service) logFailure(user *User, a attempt) {
	name := "(unknown)"
	if user != nil {
		name = user.Name
	}
	s.log.Warn("login failed", "user", name, "network", a.network)
}

// checked is what came of a check that several callers may share.
type checked struct {
	user      *User
	err       error
	abandoned bool // its caller went away, which says nothing about the others
	panicked  any
}

// shared runs check, or waits for the one of the same name that is running: a
// client that opens many connections at once with the same password neither pays
// for each nor runs into the throttle.
func shared(ctx context.Context, flights *singleflight.Group, name print, check func() (*User, error)) (*User, error) {
	for {
		mine := false
		done := flights.DoChan(string(name[:]), func() (any, error) {
			mine = true
			c := checked{abandoned: true}
			func() {
				defer func() { c.panicked = recover() }() // the program would end: this goroutine is no request's
				c.user, c.err = check()
				c.abandoned = c.err != nil && ctx.Err() != nil
			}()
			return c, nil
		})
		select {
		case r := <-done:
			c := r.Val.(checked)
			if mine && c.panicked != nil {
				panic(c.panicked)
			}
			if mine || !c.abandoned {
				return c.user, c.err
			}
		case <-ctx.Done():
			return nil, fault.Because(ctx.Err(), fault.Unavailable, "the request ended before its password was checked")
		}
	}
}
