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
	unit   *unit
	key    string
	client *http.Client
	cancel context.CancelFunc
	tasks  sync.WaitGroup

	mu       sync.Mutex
	changed  *sync.Cond
	began    time.Time
	reads    int
	accepted []string // bodies of events
	retries  int      // tries that carried no answer
	failed   []string
}

// maxLoadConcurrency is how many requests, and how many events, may be under way at once.
const maxLoadConcurrency = 32

// applyLoad begins with so many requests and events a second, as far as the
// machine keeps up.
func applyLoad(t *testing.T, u *unit, key string, reads, events int) *load {
	ctx, end := context.WithCancel(context.Background())
	l := &load{unit: u, key: key, cancel: end, began: time.Now(), client: &http.Client{Timeout: notifyTimeout, Transport: &http.Transport{MaxIdleConnsPerHost: 2 * maxLoadConcurrency}}}
	l.changed = sync.NewCond(&l.mu)
	l.pace(ctx, reads, func(int) { l.read() })
	l.pace(ctx, events, func(n int) { l.publish(fmt.Sprintf("event %d", n)) })
	t.Cleanup(l.stop)
	return l
}

// pace does the work so many times a second, with the number of each time.
func (l *load) pace(ctx context.Context, rate int, work func(int)) {
	turns := make(chan int)
	l.tasks.Go(func() {
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
	for range maxLoadConcurrency {
		l.tasks.Go(func() {
			for n := range turns {
				work(n)
			}
		})
	}
}

func (l *load) read() {
	l.retry(http.MethodGet, "/json/reply/DB_ClassQuery?Take=1", "", http.StatusOK, func() { l.reads++ })
}

func (l *load) publish(body string) {
	l.retry(http.MethodPost, "/Webhooks/Events", body, http.StatusCreated, func() { l.accepted = append(l.accepted, body) })
}

// retry asks until there is an answer, which should be of the status.
func (l *load) retry(method, path, body string, want int, done func()) {
	for late := time.Now().Add(notifyTimeout); ; {
		status, text, err := l.send(method, path, body)
		l.mu.Lock()
		switch {
		case status == want && err == nil:
			done()
			l.changed.Broadcast()
		case status == 0 && time.Now().Before(late):
			l.retries++
		default:
			l.failed = append(l.failed, fmt.Sprintf("%s %s: status %d, %v, %.200s", method, path, status, err, text))
			l.changed.Broadcast()
		}
		l.mu.Unlock()
		if status != 0 || time.Now().After(late) {
			return
		}
		sleepContext(context.Background(), 10*time.Millisecond)
	}
}

// send sends one request. The status is 0 where nothing was answered.
func (l *load) send(method, path, body string) (int, string, error) {
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
		l.changed.Wait()
	}
}

// stop ends the load.
func (l *load) stop() {
	l.cancel()
	l.tasks.Wait()
	l.client.CloseIdleConnections()
}
