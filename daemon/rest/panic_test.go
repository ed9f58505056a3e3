package rest

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/account"
)

// What a request took is given back also where the work behind it panics.
func TestMemoryOfABodyAfterAPanic(t *testing.T) {
	s := New(Config{MaxBody: 1 << 20}) // without a log there is a panic
	x := s.begin(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/", strings.NewReader(strings.Repeat("x", 4<<10+100))))
	x.who.Via, x.route = account.Bearer, new(compiledRoute)
	if _, err := s.bodies.read(x); err != nil || s.bodies.held() != 100 {
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
	if held := s.bodies.held(); held != 0 {
		t.Errorf("%v bytes are held", held)
	}
}
