//go:build unix

package crashtest

import (
	"context"
	"errors"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
)

var (
	restarts = flag.Int("restarts", 2, "how often the daemon is restarted and reloaded under load")
	perRound = flag.Duration("restartspan", 500*time.Millisecond, "load between two of these, at its full pace")
	readRate = flag.Int("reads", 200, "requests per second")
	postRate = flag.Int("events", 60, "events per second")
)

// countingReceiver accepts and counts all messages.
type countingReceiver struct {
	mu         sync.Mutex
	changed    *sync.Cond
	received   map[string]map[string]bool // message IDs, by body
	deliveries int
}

func (c *countingReceiver) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.received[string(body)] == nil {
		c.received[string(body)] = make(map[string]bool)
	}
	c.received[string(body)][r.Header.Get("Webhook-Id")] = true
	c.deliveries++
	c.changed.Broadcast()
}

// await waits until all events have been received, and returns those missing after
// recoveryTimeout.
func (c *countingReceiver) await(events []string) (lost []string) {
	late := time.AfterFunc(recoveryTimeout, c.changed.Broadcast)
	defer late.Stop()
	began := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		lost = nil
		for _, event := range events {
			if len(c.received[event]) == 0 {
				lost = append(lost, event)
			}
		}
		if lost == nil || time.Since(began) >= recoveryTimeout {
			return lost
		}
		c.changed.Wait()
	}
}

// TestSignalsUnderLoad restarts and reloads the daemon under load: a client that
// repeats requests without a response must see no failures, and every accepted event
// must be delivered once.
func TestSignalsUnderLoad(t *testing.T) {
	u := loadUnit(t, append(settings, "--webhooks-retry-schedule", "1s,1s,1s,1s,1s")...)
	u.args = append(u.args, "--config", u.config(), "--http-shutdown-grace", "10m") // for slow machines
	u.writeConfig(t, 1000)
	u.start(t)
	c := &countingReceiver{received: make(map[string]map[string]bool)}
	c.changed = sync.NewCond(&c.mu)
	receiver := httptest.NewServer(c)
	t.Cleanup(receiver.Close)
	l := applyLoad(t, u, u.subscribe(t, receiver.URL), *readRate, *postRate)
	for n := range *restarts {
		l.await(l.expectedPerInterval())
		u.writeConfig(t, 1001+n)
		u.reload(t)
		l.await(l.expectedPerInterval())
		u.stop(t)
		u.start(t)
	}
	l.await(l.expectedPerInterval())
	l.stop()
	took := time.Since(l.began)
	lost := c.await(l.accepted)
	u.stop(t)
	perSecond := func(n int) float64 { return float64(n) / took.Seconds() }
	t.Logf("%d restarts and reloads in %v: %d requests (%.0f/s) and %d events (%.0f/s) completed",
		*restarts, took.Round(time.Millisecond), l.reads, perSecond(l.reads), len(l.accepted), perSecond(len(l.accepted)))
	t.Logf("%d attempts without a response; %d failed; %d events lost, %d deliveries beyond one",
		l.retries, len(l.failed), len(lost), c.deliveries-len(c.received))
	if len(l.failed) > 0 || len(lost) > 0 || c.deliveries != len(c.received) {
		t.Errorf("failed: %.5q, lost: %.5q", l.failed, lost)
	}
}

// expectedPerInterval returns half of the requests and events due between two signals:
// the machine may be too slow for the full rate.
func (l *load) expectedPerInterval() (reads, events int) {
	seconds := perRound.Seconds() / 2
	return int(seconds * float64(*readRate)), int(seconds * float64(*postRate))
}

// subscribe subscribes a receiver to all events, and returns a key for publishing.
func (u *unit) subscribe(t *testing.T, receiver string) (key string) {
	t.Helper()
	ctx := context.Background()
	c := signedIn(t, u.url())
	name, all := "all", "*"
	subscriber, err := c.AddSubscriber(ctx, wire.SubscriberRequest{Name: &name})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.AddSubscription(ctx, subscriber.RecID, wire.SubscriptionRequest{URL: &receiver, EventName: &all}); err != nil {
		t.Fatal(err)
	}
	made, err := c.AddAPIKey(ctx, wire.APIKeyRequest{Name: "load", Role: "publisher"})
	if err != nil {
		t.Fatal(err)
	}
	return made.Key
}

// TestShutdownDelay checks that a daemon that shuts down reports this to load balancers
// and continues to serve until the delay is over. A second signal ends it immediately.
func TestShutdownDelay(t *testing.T) {
	u := loadUnit(t, "--auth-queries", "anonymous", "--http-shutdown-delay", "24h")
	u.start(t)
	u.signal(t, syscall.SIGTERM)
	u.awaitNotification(t, "STOPPING=1")
	for path, want := range map[string]int{"/readyz": 503, "/healthz": 200, "/json/reply/DB_ClassQuery": 200} {
		reply, err := http.Get(u.url() + path)
		if err != nil {
			t.Fatal(err)
		}
		reply.Body.Close()
		if reply.StatusCode != want {
			t.Errorf("%s: status %d, want %d", path, reply.StatusCode, want)
		}
	}
	u.signal(t, syscall.SIGTERM)
	ended, ok := errors.AsType[*exec.ExitError](u.process.Wait())
	if !ok || ended.ExitCode() != 1 {
		t.Errorf("exited with %v", ended)
	}
}
