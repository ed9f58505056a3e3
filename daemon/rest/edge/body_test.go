package edge

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
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

// TestMemoryOfABody checks that a body reserves its size while it arrives, and once
// more when its pieces are joined. The announced length reserves nothing.
func TestMemoryOfABody(t *testing.T) {
	const size = 4 << 20
	b := NewBodies(size, 64<<20, time.Minute, nil)
	receive := func(announced, sent int64) (allocated uint64, body []byte, err error) {
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		r.ContentLength, r.Body = announced, io.NopCloser(bytes.NewReader(make([]byte, sent)))
		x := &Context{Response: NewResponse(httptest.NewRecorder(), time.Minute), Request: r, Identity: account.Identity{AuthMethod: account.Bearer}, Route: &CompiledRoute{}}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		body, err = b.Read(x)
		runtime.ReadMemStats(&after)
		if want := max(0, sent-bodyFree); x.memory.bytes < want || x.memory.bytes > want+bodyStep {
			t.Errorf("%d bytes reserve %d", sent, x.memory.bytes)
		}
		return after.TotalAlloc - before.TotalAlloc, body, err
	}
	for _, announced := range []int64{size, -1} {
		allocated, body, err := receive(announced, size)
		if err != nil || len(body) != size || allocated > 2*size+size/4 {
			t.Errorf("announced %d: %d bytes allocated for a body of %d (%v)", announced, allocated, len(body), err)
		}
	}
	if allocated, _, _ := receive(size, 100); allocated > 3*bodyFree {
		t.Errorf("%d bytes allocated for 100 that arrived", allocated)
	}
}
