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

// sessions is a service whose sessions end when it is told.
type sessions struct {
	mu       sync.Mutex
	valid    string
	made     int
	password string
}

func (s *sessions) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	if r.URL.Path == "/auth" {
		var asked struct{ Password string }
		if json.Unmarshal(body, &asked) != nil || asked.Password != s.password {
			answer(401, "application/json", `{"ResponseStatus":{"ErrorCode":"Unauthorized","Message":"Invalid Username or Password"}}`)(w, r)
			return
		}
		s.made++
		s.valid = fmt.Sprintf("session-%d", s.made)
		answer(200, "application/json", fmt.Sprintf(`{"SessionId":%q}`, s.valid))(w, r)
		return
	}
	if r.Header.Get(wire.HeaderSessionID) != s.valid {
		answer(401, "application/json", `{"ResponseStatus":{"ErrorCode":"Unauthorized","Message":"not signed in"}}`)(w, r)
		return
	}
	answer(200, "application/json", `{"UserName":"Ann"}`)(w, r)
}

// A session that is over is renewed once, however many calls find it so.
func TestSessionIsRenewed(t *testing.T) {
	service := &sessions{password: "word"}
	var told atomic.Pointer[string]
	c := serveWith(t, service.ServeHTTP, client.Options{
		Session: "over", User: "Ann", Password: "word", Renewed: func(session string) { told.Store(&session) },
	})
	var calls sync.WaitGroup
	for range 8 {
		calls.Go(func() {
			if who, err := c.CurrentSession(t.Context()); err != nil || who.UserName != "Ann" {
				t.Errorf("%+v, %v", who, err)
			}
		})
	}
	calls.Wait()
	if service.made != 1 || *told.Load() != "session-1" {
		t.Errorf("%d log-ins, told of %s", service.made, *told.Load())
	}
}

func TestSessionIsNotRenewed(t *testing.T) {
	for name, o := range map[string]client.Options{
		"no password":    {Session: "over", User: "Ann"},
		"wrong password": {Session: "over", User: "Ann", Password: "other"},
		"no session":     {User: "Ann", Password: "word"},
	} {
		service := &sessions{password: "word", valid: "another"}
		o.Renewed = func(string) { t.Errorf("%s: renewed", name) }
		if _, err := serveWith(t, service.ServeHTTP, o).CurrentSession(t.Context()); !client.Is(err, client.Unauthorized) {
			t.Errorf("%s: %v", name, err)
		}
		if service.made > 0 {
			t.Errorf("%s: signed in", name)
		}
	}
}

// Where the session ends between the log-in and the call, there is no third try.
func TestSessionIsRenewedOnce(t *testing.T) {
	made := 0
	c := serveWith(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		if r.URL.Path == "/auth" {
			made++
			answer(200, "application/json", `{"SessionId":"short"}`)(w, r)
			return
		}
		answer(401, "application/json", `{}`)(w, r)
	}, client.Options{Session: "over", User: "Ann", Password: "word"})
	if _, err := c.CurrentSession(t.Context()); !client.Is(err, client.Unauthorized) || made != 1 {
		t.Errorf("%d log-ins, %v", made, err)
	}
}
