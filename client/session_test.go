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
