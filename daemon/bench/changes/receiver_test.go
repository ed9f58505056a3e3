package changes

import (
	"encoding/json"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/bench/benchtest"
)

// listen starts a receiver with one endpoint, and returns its URL. It calls handle for one body
// at a time.
func listen(b *testing.B, handle func(body []byte, at time.Time)) (url string) {
	b.Helper()
	var mu sync.Mutex
	respond := func(_ string, body []byte) (code int) {
		at := time.Now()
		mu.Lock()
		defer mu.Unlock()
		handle(body, at)
		return http.StatusOK
	}
	return benchtest.Listen(b, 1, respond).URLs[0]
}

// received are the changes that were delivered.
type received struct {
	mu    sync.Mutex
	first map[int64]time.Time // by ChangeID
	keys  map[string]time.Time
	twice int
}

func newReceived() *received {
	return &received{first: make(map[int64]time.Time), keys: make(map[string]time.Time)}
}

// add is a handler of a receiver.
func (r *received) add(body []byte, at time.Time) {
	var change struct {
		ChangeID int64
		Key      string
	}
	err := json.Unmarshal(body, &change)
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.first[change.ChangeID]; ok || err != nil {
		r.twice++
		return
	}
	r.first[change.ChangeID] = at
	r.keys[change.Key] = at
}

// count returns the number of different changes, and of their keys.
func (r *received) count() (changes, keys int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.first), len(r.keys)
}

// await waits for n changes.
func (r *received) await(b *testing.B, n int) {
	b.Helper()
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		changes, _ := r.count()
		if changes >= n {
			return
		}
		if time.Since(began) > testTimeout {
			b.Fatalf("%d of %d changes were delivered", changes, n)
		}
	}
}
