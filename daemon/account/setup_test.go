package account_test

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/storage"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// clock is a manual clock.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2030, 1, 2, 3, 4, 5, 678_901_200, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// logged is a log buffer for concurrent use.
type logged struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// process is the Service of one daemon. Several may use the same store file.
type process struct {
	*account.Service
	*account.Editor // with the actor tester
	clock           *clock
	log             *logged
	hashes          *atomic.Int32 // number of hashes computed
	store           *storage.Store
}

// Rehash replaces the stored hash of a user.
func (p process) Rehash(ctx context.Context, name, old, hash string) error {
	return p.store.AppDB.Accounts().Rehash(ctx, name, old, hash)
}

// start returns a process with the store in dir and cheap hashes.
func start(t *testing.T, dir string, c *clock) process {
	t.Helper()
	config := storage.Config{Dir: dir, Registry: record.Builtin(), Connections: 1}
	s, err := storage.Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	p := process{clock: c, log: &logged{}, hashes: &atomic.Int32{}, store: s}
	p.Service, err = account.New(account.Config{
		Store: s.AppDB.Accounts(),
		Clock: c.Now,
		Log:   slog.New(slog.NewTextHandler(p.log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	p.Editor = p.As(audit.Actor{Name: "tester", Via: "cookie", Address: "10.0.0.9"})
	p.CheapHashes(func() { p.hashes.Add(1) })
	return p
}

// begin returns a process with a new store.
func begin(t *testing.T) process {
	t.Helper()
	return start(t, t.TempDir(), newClock())
}

const (
	goodPassword = "correct horse"
	badPassword  = "incorrect horse"
)

// add adds a user with goodPassword.
func (p process) add(t *testing.T, name string, r account.Role) {
	t.Helper()
	_, err := p.AddUser(t.Context(), account.NewUser{
		Name:        name,
		DisplayName: name + "!",
		Role:        r,
		Password:    goodPassword,
	})
	if err != nil {
		t.Fatal(err)
	}
}

// login logs in with goodPassword and returns the session ID.
func (p process) login(t *testing.T, name string, remember bool) string {
	t.Helper()
	ticket, err := p.Login(t.Context(), account.Login{
		UserName: name,
		Password: goodPassword,
		Remember: remember,
		Address:  "10.0.0.1",
	})
	if err != nil {
		t.Fatal(err)
	}
	return ticket.SessionID
}

// key adds an API key and returns its secret.
func (p process) key(t *testing.T, name string, r account.Role) string {
	t.Helper()
	secret, _, err := p.AddKey(t.Context(), account.NewKey{Name: name, Role: r})
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

func basic(name, password string) account.Credentials {
	return account.Credentials{
		HasBasic:      true,
		BasicUser:     name,
		BasicPassword: password,
		Address:       "10.0.0.1",
	}
}

func cookie(id string) account.Credentials { return account.Credentials{SessionCookie: id} }

func bearer(key string) account.Credentials { return account.Credentials{Bearer: key} }

// known returns the role of the authenticated identity, or the kind of the error.
func (p process) known(ctx context.Context, c account.Credentials) string {
	id, err := p.Authenticate(ctx, c)
	if err != nil {
		return kindOf(err)
	}
	return id.Role.String()
}

// expect expects the role or the kind of error that known returns.
func (p process) expect(t *testing.T, c account.Credentials, want string) {
	t.Helper()
	if got := p.known(t.Context(), c); got != want {
		t.Errorf("authenticating with %+v: got %s, want %s", c, got, want)
	}
}

// kinds are names of kinds of errors.
var kinds = map[fault.Kind]string{
	fault.Internal:     "internal",
	fault.Invalid:      "invalid",
	fault.Missing:      "missing",
	fault.Unauthorized: "unauthorized",
	fault.NotFound:     "not found",
	fault.Conflict:     "conflict",
	fault.TooMany:      "too many",
	fault.Unavailable:  "unavailable",
	fault.TokenExpired: "token expired",
}

// kindOf returns the kind of an error, or ok.
func kindOf(err error) string {
	if err == nil {
		return "ok"
	}
	return kinds[fault.From(err).Kind]
}

func expectKind(t *testing.T, err error, want string) {
	t.Helper()
	if got := kindOf(err); got != want {
		t.Errorf("got %s (%v), want %s", got, err, want)
	}
}

// fieldsOf returns the sorted names of an error's fields.
func fieldsOf(err error) []string {
	var names []string
	for _, f := range fault.From(err).Fields {
		names = append(names, f.Name)
	}
	slices.Sort(names)
	return names
}
