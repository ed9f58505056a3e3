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

func (s *sessions) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	if r.URL.Path == "/auth" {
		var login struct{ Password string }
		if json.Unmarshal(body, &login) != nil || login.Password != s.password {
			respond(401, "application/json", `{"ResponseStatus":{"ErrorCode":"Unauthorized","Message":"Invalid Username or Password"}}`)(w, r)
			return
		}
		s.logins++
		s.valid = fmt.Sprintf("session-%d", s.logins)
		respond(200, "application/json", fmt.Sprintf(`{"SessionId":%q}`, s.valid))(w, r)
		return
	}
	if r.Header.Get(wire.HeaderSessionID) != s.valid {
		respond(401, "application/json", `{"ResponseStatus":{"ErrorCode":"Unauthorized","Message":"not signed in"}}`)(w, r)
		return
	}
	respond(200, "application/json", `{"UserName":"Ann"}`)(w, r)
}

// TestConcurrentCallsRenewSessionOnce: several calls with an expired session log in once.
func TestConcurrentCallsRenewSessionOnce(t *testing.T) {
	service := &sessions{password: "word"}
	var renewed atomic.Pointer[string]
	c := serveWith(t, service.ServeHTTP, client.Options{
		Session: "expired", User: "Ann", Password: "word", Renewed: func(session string) { renewed.Store(&session) },
	})
	var calls sync.WaitGroup
	for range 8 {
		calls.Go(func() {
			if session, err := c.CurrentSession(t.Context()); err != nil || session.UserName != "Ann" {
				t.Errorf("session %+v, error %v", session, err)
			}
		})
	}
	calls.Wait()
	if service.logins != 1 || *renewed.Load() != "session-1" {
		t.Errorf("%d logins, renewed session %s", service.logins, *renewed.Load())
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
		if _, err := serveWith(t, service.ServeHTTP, o).CurrentSession(t.Context()); !client.Is(err, client.Unauthorized) {
			t.Errorf("%s: %v", name, err)
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
	if _, err := c.CurrentSession(t.Context()); !client.Is(err, client.Unauthorized) || logins != 1 {
		t.Errorf("%d logins, error %v", logins, err)
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
	if _, err := c.CurrentSession(t.Context()); !client.Is(err, client.Unauthorized) || service.logins != 1 {
		t.Errorf("after the end of Bob's session: %d logins, error %v; want status 401 and no login of Ann", service.logins, err)
	}
}

// expire ends the session.
func (s *sessions) expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.valid = "none"
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
	if err := c.RemoveUser(t.Context(), "x"); !client.Is(err, client.Unauthorized) || calls != 1 {
		t.Errorf("%d calls, error %v; want one call with status 401", calls, err)
	}
}

// SignIn leaves the session of its client as it is, and another client can use the new session.
func TestSignInReturnsOtherClient(t *testing.T) {
	service := &sessions{password: "word", valid: "first"}
	c := serveWith(t, service.ServeHTTP, client.Options{Session: "first", User: "Ann", Password: "word", ReadOnly: true})
	signedIn, reply, err := c.SignIn(t.Context(), "Bob", "word")
	if err != nil || reply.SessionID != "session-1" {
		t.Fatalf("the reply is %+v, error %v", reply, err)
	}
	unlocked, err := client.New(client.Options{URL: c.URL(), User: "Ann", Password: "word"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(unlocked.Close)
	for name, c := range map[string]*client.Client{"the new client": signedIn, "a client with its session": unlocked.WithSessionOf(signedIn)} {
		if _, err := c.CurrentSession(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if unlocked.WithSessionOf(unlocked) != unlocked {
		t.Error("the credentials of a client without a session were replaced")
	}
	if err := unlocked.WithSessionOf(signedIn).RemoveUser(t.Context(), "x"); err != nil {
		t.Errorf("a client that may change data, with the session of another: %v", err)
	}
	service.expire()
	for name, c := range map[string]*client.Client{"the new client": signedIn, "a client with its session": unlocked.WithSessionOf(signedIn)} {
		if _, err := c.CurrentSession(t.Context()); !client.Is(err, client.Unauthorized) || service.logins != 1 {
			t.Errorf("%s after the end of the session: %d logins, error %v; want status 401 and no login", name, service.logins, err)
		}
	}
}
