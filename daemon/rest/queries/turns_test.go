package queries

import (
	"context"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/rest/edge"
)

// takeTurn takes the turn of a request of a reader.
func takeTurn(ctx context.Context, turns *turns, reader string) (*turn, error) {
	r := httptest.NewRequest("GET", "/", nil).WithContext(ctx)
	return turns.take(&edge.Context{
		Request:  r,
		Response: edge.NewResponse(httptest.NewRecorder(), time.Minute),
		Identity: account.Identity{KeyID: reader},
	})
}

// TestTurns checks that a reader has a number of turns, that another reader does not wait for
// them, and that the next request of the first one gets the turn that ends.
func TestTurns(t *testing.T) {
	var turns turns
	var running []*turn
	for n := range maxTurns {
		turn, err := takeTurn(t.Context(), &turns, "first")
		if err != nil {
			t.Fatalf("turn %d: %v", n, err)
		}
		running = append(running, turn)
	}

	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := takeTurn(gone, &turns, "first"); !fault.Is(err, fault.Unavailable) {
		t.Errorf("turn %d of a reader: %v, want Unavailable", maxTurns, err)
	}

	another, err := takeTurn(t.Context(), &turns, "second")
	if err != nil {
		t.Fatalf("a turn of another reader: %v", err)
	}

	another.end(0)
	next := make(chan *turn)
	go func() {
		turn, err := takeTurn(t.Context(), &turns, "first")
		if err != nil {
			t.Error(err)
		}
		next <- turn
	}()
	running[0].end(0)
	running[0].end(0) // has no effect
	running[0] = <-next
	for _, turn := range running {
		turn.end(0)
	}
	if len(turns.queues) > 0 {
		t.Errorf("%d queues are left after the last turn", len(turns.queues))
	}
}

// TestRateOfTurns checks that a turn that has sent many bytes at once is given to the next request
// as late as its rate demands.
func TestRateOfTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var turns turns
		for range maxTurns {
			turn, err := takeTurn(t.Context(), &turns, "reader")
			if err != nil {
				t.Fatal(err)
			}
			turn.end(2 * turnRate)
		}
		start := time.Now()
		turn, err := takeTurn(t.Context(), &turns, "reader")
		if took := time.Since(start); err != nil || took != 2*time.Second {
			t.Errorf("the next turn after %v (%v), want it after 2s", took, err)
		}
		turn.end(0)
		time.Sleep(time.Second)
		synctest.Wait()
		if len(turns.queues) > 0 {
			t.Errorf("%d queues are left after the last turn", len(turns.queues))
		}
	})
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

// TestTurnOfASlowClient checks that a client that reads slowly does not keep its turn.
func TestTurnOfASlowClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var turns turns
		for range maxTurns {
			turn, err := takeTurn(t.Context(), &turns, "reader")
			if err != nil {
				t.Fatal(err)
			}
			turn.limit() // and no end
		}
		start := time.Now()
		turn, err := takeTurn(t.Context(), &turns, "reader")
		if took := time.Since(start); err != nil || took != maxSending {
			t.Errorf("the next turn after %v (%v), want it after %v", took, err, maxSending)
		}
		turn.end(0)
	})
}
