package rest

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/rest/edge"
)

// TestBodyMemoryAfterAPanic checks that a panicking handler releases the memory
// of the body.
func TestBodyMemoryAfterAPanic(t *testing.T) {
	s := New(Config{
		Edge:    edge.Config{MaxBody: 1 << 20},
		Options: func() *edge.Options { return &edge.Options{LogLines: true} },
	}) // panics without a log
	x := s.begin(httptest.NewRecorder(),
		httptest.NewRequest(http.MethodPost, "/", strings.NewReader(strings.Repeat("x", 4<<10+100))))
	x.Identity.AuthMethod, x.Route = account.Bearer, new(edge.CompiledRoute)
	if _, err := s.bodies.Read(x); err != nil || s.bodies.Held() != 100 {
		t.Fatal(err)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		s.end(x)
	}()
	if held := s.bodies.Held(); held != 0 {
		t.Errorf("%v bytes are held", held)
	}
}
