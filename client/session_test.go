package client_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
)

// sessions is a service with a single valid session.
type sessions struct {
	mu       sync.Mutex
	valid    string // session ID
	logins   int
	password string
}

const (
	wrongPassword = `{"ResponseStatus":{"ErrorCode":"Unauthorized","Message":"Invalid Username or Password"}}`
	notSignedIn   = `{"ResponseStatus":{"ErrorCode":"Unauthorized","Message":"not signed in"}}`
)

func (s *sessions) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	if r.URL.Path == "/auth" {
		var login struct{ Password string }
		if json.Unmarshal(body, &login) != nil || login.Password != s.password {
			respond(401, "application/json", wrongPassword)(w, r)
			return
		}
		s.logins++
		s.valid = fmt.Sprintf("session-%d", s.logins)
		respond(200, "application/json", fmt.Sprintf(`{"SessionId":%q}`, s.valid))(w, r)
		return
	}
	if r.Header.Get(wire.HeaderSessionID) != s.valid {
		respond(401, "application/json", notSignedIn)(w, r)
		return
	}
	respond(200, "application/json", `{"UserName":"Ann"}`)(w, r)
}

// expire ends the session.
func (s *sessions) expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.valid = "none"
}

// TestConcurrentCallsRenewSessionOnce: several calls with an expired session log in once.
func TestConcurrentCallsRenewSessionOnce(t *testing.T) {
	service := &sessions{password: "word"}
	var renewed atomic.Pointer[string]
	c := serveWith(t, service.ServeHTTP, client.Options{
		Session:  "expired",
		User:     "Ann",
		Password: "word",
		Renewed:  func(session string) { renewed.Store(&session) },
	})
	var calls sync.WaitGroup
	for range 8 {
		calls.Go(func() {
			session, err := c.CurrentSession(t.Context())
			if err != nil || session.UserName != "Ann" {
				t.Errorf("a call with an expired session: got %+v, error %v; want that of Ann", session, err)
			}
		})
	}
	calls.Wait()
	if service.logins != 1 {
		t.Errorf("8 calls with an expired session: got %d logins, want 1", service.logins)
	}
	if session := renewed.Load(); session == nil || *session != "session-1" {
		t.Errorf("Renewed was not called with session-1: %v", session)
	}
}

func TestSessionIsNotRenewedWithoutPassword(t *testing.T) {
	for name, o := range map[string]client.Options{
		"no password":    {Session: "expired", User: "Ann"},
		"wrong password": {Session: "expired", User: "Ann", Password: "other"},
		"no session":     {User: "Ann", Password: "word"},
	} {
		service := &sessions{password: "word", valid: "another"}
		o.Renewed = func(string) { t.Errorf("%s: renewed", name) }
		_, err := serveWith(t, service.ServeHTTP, o).CurrentSession(t.Context())
		if !client.Is(err, client.Unauthorized) {
			t.Errorf("%s: got error %v, want status 401", name, err)
		}
		if service.logins > 0 {
			t.Errorf("%s: logged in", name)
		}
	}
}

// TestCallIsNotRetriedTwice: if the new session is rejected too, there is no second login.
func TestCallIsNotRetriedTwice(t *testing.T) {
	logins := 0
	c := serveWith(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		if r.URL.Path == "/auth" {
			logins++
			respond(200, "application/json", `{"SessionId":"short"}`)(w, r)
			return
		}
		respond(401, "application/json", `{}`)(w, r)
	}, client.Options{Session: "expired", User: "Ann", Password: "word"})
	if _, err := c.CurrentSession(t.Context()); !client.Is(err, client.Unauthorized) {
		t.Errorf("a call with a new session that is rejected: got error %v, want status 401", err)
	}
	if logins != 1 {
		t.Errorf("a call with a new session that is rejected: got %d logins, want 1", logins)
	}
}

// A session that Login has started for another user is not replaced by one of Options.User.
func TestSessionOfOtherUserIsNotRenewed(t *testing.T) {
	service := &sessions{password: "word"}
	c := serveWith(t, service.ServeHTTP, client.Options{Session: "expired", User: "Ann", Password: "word"})
	if _, err := c.Login(t.Context(), "Bob", "word"); err != nil {
		t.Fatal(err)
	}
	service.expire()
	if _, err := c.CurrentSession(t.Context()); !client.Is(err, client.Unauthorized) {
		t.Errorf("a call after the end of Bob's session: got error %v, want status 401", err)
	}
	if service.logins != 1 {
		t.Errorf("after the end of Bob's session: got %d logins, want only that of Bob", service.logins)
	}
}

// A call that was rejected with the session of one user is not repeated with that of another.
func TestCallIsNotRepeatedByOtherUser(t *testing.T) {
	service := &sessions{password: "word"}
	var c *client.Client
	calls := 0
	c = serveWith(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/auth" {
			calls++
			if _, err := c.Login(t.Context(), "Bob", "word"); err != nil {
				t.Error(err)
			}
			r.Header.Set(wire.HeaderSessionID, "expired")
		}
		service.ServeHTTP(w, r)
	}, client.Options{Session: "expired", User: "Ann", Password: "word"})
	if err := c.RemoveUser(t.Context(), "x"); !client.Is(err, client.Unauthorized) {
		t.Errorf("a call with Ann's session, which was replaced by Bob's: got error %v, want status 401", err)
	}
	if calls != 1 {
		t.Errorf("a call with Ann's session, which was replaced by Bob's: got %d requests, want 1", calls)
	}
}

// signIn returns a client with the session that SignIn started for another user.
func (s *sessions) signIn(t *testing.T) *client.Client {
	t.Helper()
	c := serveWith(t, s.ServeHTTP, client.Options{Session: "first", User: "Ann", Password: "word", ReadOnly: true})
	signedIn, reply, err := c.SignIn(t.Context(), "Bob", "word")
	if err != nil {
		t.Fatal(err)
	}
	if reply.SessionID != "session-1" {
		t.Fatalf("the reply to SignIn is %+v, want the session session-1", reply)
	}
	return signedIn
}

// withoutSession returns a client of the same service that may change data.
func withoutSession(t *testing.T, c *client.Client) *client.Client {
	t.Helper()
	unlocked, err := client.New(client.Options{URL: c.URL(), User: "Ann", Password: "word"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(unlocked.Close)
	return unlocked
}

// SignIn returns a client with the new session, which further clients can use.
func TestSignInReturnsOtherClient(t *testing.T) {
	service := &sessions{password: "word", valid: "first"}
	signedIn := service.signIn(t)
	for name, c := range map[string]*client.Client{
		"the new client":            signedIn,
		"a client with its session": withoutSession(t, signedIn).WithSessionOf(signedIn),
	} {
		if _, err := c.CurrentSession(t.Context()); err != nil {
			t.Errorf("a call of %s: %v", name, err)
		}
	}
}

// The session of SignIn is not replaced by one of Options.User when it ends.
func TestSignInReturnsOtherClientWithoutRenewal(t *testing.T) {
	service := &sessions{password: "word", valid: "first"}
	signedIn := service.signIn(t)
	shared := withoutSession(t, signedIn).WithSessionOf(signedIn)
	service.expire()
	for name, c := range map[string]*client.Client{
		"the new client":            signedIn,
		"a client with its session": shared,
	} {
		if _, err := c.CurrentSession(t.Context()); !client.Is(err, client.Unauthorized) {
			t.Errorf("a call of %s after the end of the session: got error %v, want status 401", name, err)
		}
	}
	if service.logins != 1 {
		t.Errorf("after the end of the session: got %d logins, want only that of SignIn", service.logins)
	}
}

func TestWithSessionOfClientWithoutSession(t *testing.T) {
	c := serveWith(t, (&sessions{}).ServeHTTP, client.Options{User: "Ann", Password: "word"})
	if c.WithSessionOf(c) != c {
		t.Error("the credentials of a client without a session were replaced")
	}
}

// A client that may change data may do so with the session of a read-only one too.
func TestWithSessionOfReadOnlyClient(t *testing.T) {
	service := &sessions{password: "word", valid: "first"}
	signedIn := service.signIn(t)
	c := withoutSession(t, signedIn).WithSessionOf(signedIn)
	if err := c.RemoveUser(t.Context(), "x"); err != nil {
		t.Errorf("RemoveUser with the session of a read-only client: %v", err)
	}
}
