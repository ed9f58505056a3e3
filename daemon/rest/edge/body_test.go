package edge

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bizhook/whd/daemon/account"
)

// TestBodyDeadline checks that senders at the minimum rate are never cut off, while
// slower ones, and those that pause after a fast start, are.
func TestBodyDeadline(t *testing.T) {
	b := &Bodies{timeout: 5 * time.Second}
	send := func(seconds int, rate func(second int) int) (cut time.Duration) {
		start := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
		until := start.Add(b.timeout)
		for second := 1; second <= seconds; second++ {
			now := start.Add(time.Duration(second) * time.Second)
			if now.After(until) {
				return until.Sub(start)
			}
			until = b.deadline(until, now, rate(second))
		}
		return 0
	}

	for name, test := range map[string]struct {
		rate func(second int) int
		cut  time.Duration
	}{
		"nothing":              {func(int) int { return 0 }, 5 * time.Second},
		"the minimum rate":     {func(int) int { return bodyRate }, 0},
		"three quarters of it": {func(int) int { return bodyRate * 3 / 4 }, 18 * time.Second},
		"late, then at the minimum rate": {func(second int) int {
			if second < 5 {
				return 0
			}
			return bodyRate
		}, 0},
		"fast, then nothing": {func(second int) int {
			if second == 1 {
				return 2 << 20
			}
			return 0
		}, 14 * time.Second},
	} {
		if cut := send(600, test.rate); cut.Round(time.Second) != test.cut {
			t.Errorf("%s: cut off after %v, want %v", name, cut, test.cut)
		}
	}
}

// TestMemoryOfABody checks that a body reserves its size while it arrives. It takes as much once
// more when its pieces are joined. The announced length reserves nothing.
func TestMemoryOfABody(t *testing.T) {
	const size = 4 << 20
	b := NewBodies(size, NewBodyBudget(size, 64<<20), time.Minute, nil)
	receive := func(announced, sent int64) (allocated uint64, body []byte, err error) {
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		r.ContentLength = announced
		r.Body = io.NopCloser(bytes.NewReader(make([]byte, sent)))
		x := bodyContext(r)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		body, err = b.Read(x)
		runtime.ReadMemStats(&after)
		if want := max(0, sent-bodyFree); x.memory.bytes < want || x.memory.bytes > want+bodyStep {
			t.Errorf("a body of %d bytes reserves %d, want %d to %d", sent, x.memory.bytes, want, want+bodyStep)
		}
		return after.TotalAlloc - before.TotalAlloc, body, err
	}
	for _, announced := range []int64{size, -1} {
		allocated, body, err := receive(announced, size)
		if err != nil || len(body) != size || allocated > 2*size+size/4 {
			t.Errorf("announced %d: %d bytes allocated for a body of %d (%v), want %d for %d",
				announced, allocated, len(body), err, 2*size, size)
		}
	}
	if allocated, _, _ := receive(size, 100); allocated > 3*bodyFree {
		t.Errorf("%d bytes allocated for 100 that arrived, want %d at most", allocated, 3*bodyFree)
	}
}

// bodyContext returns the context of a request with credentials.
func bodyContext(r *http.Request) *Context {
	return &Context{
		Response: NewResponse(httptest.NewRecorder(), time.Minute),
		Request:  r,
		Identity: account.Identity{AuthMethod: account.Bearer},
		Call:     Call{Route: &CompiledRoute{}},
	}
}

// TestBodiesAreJoinedInTurn checks that a body that takes twice its memory, because its pieces are
// being joined, keeps others from doing so at the same time.
func TestBodiesAreJoinedInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const bodies, size = 3, 2 * bodyStep
		b := NewBodies(size, NewBodyBudget(size, 64<<20), time.Minute, nil)
		b.joining <- struct{}{} // another body is being joined
		var read atomic.Int64
		for range bodies {
			go func() {
				x := bodyContext(httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(make([]byte, size))))
				if body, err := b.Read(x); err != nil || len(body) != size {
					t.Errorf("read %d bytes (%v), want %d", len(body), err, size)
				}
				read.Add(1)
			}()
		}
		synctest.Wait()
		if n := read.Load(); n != 0 {
			t.Errorf("%d bodies were joined while another one was, want 0", n)
		}

		<-b.joining
		synctest.Wait()
		if n := read.Load(); n != bodies {
			t.Errorf("%d bodies were joined afterwards, want %d", n, bodies)
		}
	})
}

// TestMemoryIncludesJoining checks that the copy of a body that is being joined is a part of the
// configured memory.
func TestMemoryIncludesJoining(t *testing.T) {
	const limit = 1 << 20
	for _, tt := range []struct{ memory, want int64 }{
		{memory: 64 << 20, want: 60 << 20},
		{memory: 20 << 20, want: 16 << 20},
		{memory: 16 << 20, want: 16 << 20}, // the minimum
	} {
		if got := NewBodyBudget(limit, tt.memory).size; got != tt.want {
			t.Errorf("of %d bytes, %d are for bodies that arrive, want %d", tt.memory, got, tt.want)
		}
	}
}
