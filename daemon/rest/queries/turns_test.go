package queries

import (
	"context"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/rest/edge"
)

// TestTurns checks that a reader has a number of turns, that another reader does not wait for
// them, and that the next request of the first one gets the turn that ends.
func TestTurns(t *testing.T) {
	var turns turns
	take := func(ctx context.Context, reader string) (end func(), err error) {
		r := httptest.NewRequest("GET", "/", nil).WithContext(ctx)
		return turns.take(&edge.Context{
			Request:  r,
			Response: edge.NewResponse(httptest.NewRecorder(), time.Minute),
			Identity: account.Identity{KeyID: reader},
		})
	}
	var ends []func()
	for n := range maxTurns {
		end, err := take(t.Context(), "first")
		if err != nil {
			t.Fatalf("turn %d: %v", n, err)
		}
		ends = append(ends, end)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := take(gone, "first"); !fault.Is(err, fault.Unavailable) {
		t.Errorf("turn %d of a reader: %v, want Unavailable", maxTurns, err)
	}
	other, err := take(t.Context(), "second")
	if err != nil {
		t.Fatalf("a turn of another reader: %v", err)
	}
	other()
	next := make(chan func())
	go func() {
		end, err := take(t.Context(), "first")
		if err != nil {
			t.Error(err)
		}
		next <- end
	}()
	ends[0]()
	ends[0]() // has no effect
	ends[0] = <-next
	for _, end := range ends {
		end()
	}
	if len(turns.queues) > 0 {
		t.Errorf("%d queues are left after the last turn", len(turns.queues))
	}
}

// TestWaitingOfReaders checks the limits of waiting requests, of a reader and of all.
func TestWaitingOfReaders(t *testing.T) {
	var turns turns
	var ends []func()
	wait := func(reader string) int {
		for n := 0; ; n++ {
			end, err := turns.wait(reader)
			if err != nil {
				return n
			}
			ends = append(ends, end)
		}
	}
	for _, tt := range []struct {
		reader string
		want   int
	}{{"first", maxWaitingOfReader}, {"second", maxWaiting - maxWaitingOfReader}, {"third", 0}} {
		if got := wait(tt.reader); got != tt.want {
			t.Errorf("%d requests of the %s reader wait, want %d", got, tt.reader, tt.want)
		}
	}
	for _, end := range ends {
		end()
	}
	if len(turns.queues) > 0 || turns.waiting > 0 {
		t.Errorf("%d queues and %d requests are left", len(turns.queues), turns.waiting)
	}
}
