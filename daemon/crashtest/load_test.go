//go:build unix

package crashtest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// load is requests and events that come at a pace whether the daemon is there or
// not. A client tries again where it was refused, or cut off before any answer.
type load struct {
	unit    *unit
	key     string
	client  *http.Client
	end     context.CancelFunc
	members sync.WaitGroup

	mu       sync.Mutex
	grown    *sync.Cond
	began    time.Time
	reads    int
	accepted []string // bodies of events
	again    int      // tries that carried no answer
	failed   []string
}

// loaders is how many requests, and how many events, may be under way at once.
const loaders = 32

// applyLoad begins with so many requests and events a second, as far as the
// machine keeps up.
func applyLoad(t *testing.T, u *unit, key string, reads, events int) *load {
	ctx, end := context.WithCancel(context.Background())
	l := &load{unit: u, key: key, end: end, began: time.Now(), client: &http.Client{Timeout: patience, Transport: &http.Transport{MaxIdleConnsPerHost: 2 * loaders}}}
	l.grown = sync.NewCond(&l.mu)
	l.pace(ctx, reads, func(int) { l.read() })
	l.pace(ctx, events, func(n int) { l.raise(fmt.Sprintf("event %d", n)) })
	t.Cleanup(l.lift)
	return l
}

// pace does the work so many times a second, with the number of each time.
func (l *load) pace(ctx context.Context, rate int, work func(int)) {
	turns := make(chan int)
	l.members.Go(func() {
		defer close(turns)
		ticker := time.NewTicker(time.Second / time.Duration(rate))
		defer ticker.Stop()
		for n := 0; ; n++ {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				turns <- n
			}
		}
	})
	for range loaders {
		l.members.Go(func() {
			for n := range turns {
				work(n)
			}
		})
	}
}

func (l *load) read() {
	l.insist(http.MethodGet, "/json/reply/DB_ClassQuery?Take=1", "", http.StatusOK, func() { l.reads++ })
}

func (l *load) raise(body string) {
	l.insist(http.MethodPost, "/Webhooks/Events", body, http.StatusCreated, func() { l.accepted = append(l.accepted, body) })
}

// insist asks until there is an answer, which should be of the status.
func (l *load) insist(method, path, body string, want int, done func()) {
	for late := time.Now().Add(patience); ; {
		status, text, err := l.ask(method, path, body)
		l.mu.Lock()
		switch {
		case status == want && err == nil:
			done()
			l.grown.Broadcast()
		case status == 0 && time.Now().Before(late):
			l.again++
		default:
			l.failed = append(l.failed, fmt.Sprintf("%s %s: status %d, %v, %.200s", method, path, status, err, text))
			l.grown.Broadcast()
		}
		l.mu.Unlock()
		if status != 0 || time.Now().After(late) {
			return
		}
		linger(context.Background(), 10*time.Millisecond)
	}
}

// ask sends one request. The status is 0 where nothing was answered.
func (l *load) ask(method, path, body string) (int, string, error) {
	var content io.Reader
	if body != "" {
		content = strings.NewReader(fmt.Sprintf(`{"EventName":"debtor.updated","Body":%q}`, body))
	}
	r, err := http.NewRequest(method, l.unit.url()+path, content)
	if err != nil {
		panic(err) // the address is ours
	}
	r.Header.Set("Authorization", "Bearer "+l.key)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Idempotency-Key", body)
	}
	reply, err := l.client.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	return reply.StatusCode, string(text), err
}

// await waits until so many more requests and events were answered, or one has
// failed.
func (l *load) await(reads, events int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for reads, events = l.reads+reads, len(l.accepted)+events; (l.reads < reads || len(l.accepted) < events) && l.failed == nil; {
		l.grown.Wait()
	}
}

// lift ends the load.
func (l *load) lift() {
	l.end()
	l.members.Wait()
	l.client.CloseIdleConnections()
}
