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

// load sends requests and events at a constant rate, even while the daemon is down.
// Refused and interrupted requests are repeated.
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
	retries  int      // attempts without a response
	failed   []string
}

// maxLoadConcurrency is the maximum number of concurrent requests, and of concurrent
// events.
const maxLoadConcurrency = 32

// applyLoad starts a load with the given rates per second, as far as the machine keeps
// up.
func applyLoad(t *testing.T, u *unit, key string, reads, events int) *load {
	ctx, cancel := context.WithCancel(context.Background())
	l := &load{
		unit:   u,
		key:    key,
		cancel: cancel,
		began:  time.Now(),
		client: &http.Client{
			Timeout:   notifyTimeout,
			Transport: &http.Transport{MaxIdleConnsPerHost: 2 * maxLoadConcurrency},
		},
	}
	l.changed = sync.NewCond(&l.mu)
	l.pace(ctx, reads, func(int) { l.read() })
	l.pace(ctx, events, func(n int) { l.publish(fmt.Sprintf("event %d", n)) })
	t.Cleanup(l.stop)
	return l
}

// pace calls work at a rate per second, with the number of the call.
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

// read sends a query.
func (l *load) read() {
	l.retry(http.MethodGet, "/json/reply/DB_ClassQuery?Take=1", "", http.StatusOK, func() { l.reads++ })
}

// publish publishes an event.
func (l *load) publish(body string) {
	accept := func() { l.accepted = append(l.accepted, body) }
	l.retry(http.MethodPost, "/Webhooks/Events", body, http.StatusCreated, accept)
}

// retry repeats a request until it gets a response, which must have the given status. Then it calls
// done under the lock.
func (l *load) retry(method, path, body string, want int, done func()) {
	end := time.Now().Add(notifyTimeout)
	for {
		status, text, err := l.send(method, path, body)
		mayRetry := status == 0 && time.Now().Before(end)
		l.mu.Lock()
		switch {
		case status == want && err == nil:
			done()
		case mayRetry:
			l.retries++
		default:
			l.failed = append(l.failed, fmt.Sprintf("%s %s returned status %d, %.200s (%v), want %d",
				method, path, status, text, err, want))
		}
		l.changed.Broadcast()
		l.mu.Unlock()
		if !mayRetry {
			return
		}
		sleepContext(context.Background(), 10*time.Millisecond)
	}
}

// send sends one request. It returns the status 0 without a response.
func (l *load) send(method, path, body string) (int, string, error) {
	var content io.Reader
	if body != "" {
		content = strings.NewReader(fmt.Sprintf(`{"EventName":"debtor.updated","Body":%q}`, body))
	}
	r, err := http.NewRequest(method, l.unit.url()+path, content)
	if err != nil {
		panic(err) // the URL is valid
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

// await waits until more requests and events have succeeded, or one has failed.
func (l *load) await(reads, events int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	wantReads := l.reads + reads
	wantEvents := len(l.accepted) + events
	for l.failed == nil {
		if l.reads >= wantReads && len(l.accepted) >= wantEvents {
			return
		}
		l.changed.Wait()
	}
}

// stop ends the load.
func (l *load) stop() {
	l.cancel()
	l.tasks.Wait()
	l.client.CloseIdleConnections()
}
