package daemon_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
)

// The rates of TestEventsSurviveConnectionLoss.
const (
	resets     = 20
	publishers = 8
	goodEvents = 300 // number of accepted events at which it ends
)

// TestEventsSurviveConnectionLoss publishes events while the connections to the database
// server are repeatedly reset. Accepted events arrive; the others get status 503.
func TestEventsSurviveConnectionLoss(t *testing.T) {
	line := mssqltest.NewProxy(t, mssqltest.Database(t))
	i := daemontest.Start(t, "--store", line.DSN, "--migrate", "--webhooks-allow-targets",
		"127.0.0.0/8", "--http-write-stall", "1m")
	c, err := client.New(client.Options{URL: i.URL})
	if err != nil {
		t.Fatal(err)
	}

	ctx := context.Background()
	if _, err := c.Login(ctx, "admin", daemontest.AdminPassword); err != nil {
		t.Fatal(err)
	}

	shop, err := c.AddSubscriber(ctx, wire.SubscriberRequest{Name: pointer("Shop")})
	if err != nil {
		t.Fatal(err)
	}

	arrivals := newArrivals(t)
	if _, err := c.AddSubscription(ctx, shop.RecID, wire.SubscriptionRequest{
		URL:       &arrivals.url,
		EventName: pointer("*"),
	}); err != nil {
		t.Fatal(err)
	}

	var mu sync.Mutex
	accepted, refused := make(map[string]bool), 0
	enough := make(chan struct{})
	var all sync.WaitGroup
	for p := range publishers {
		all.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-enough:
					return
				default:
				}
				body := fmt.Sprint(p, "-", n)
				_, err := c.PublishEvent(ctx, "debtor.updated", body)
				mu.Lock()
				if err == nil {
					accepted[body] = true
				} else {
					refused++
				}
				mu.Unlock()
				e, ok := errors.AsType[*client.Error](err)
				if err != nil && (!ok || e.Status != http.StatusServiceUnavailable) {
					t.Errorf("publishing failed with %v", err)
				}
			}
		})
	}

	for n := range resets {
		// Each reset happens during deliveries.
		before := arrivals.count()
		for arrivals.count() < before+5 {
			arrivals.next(t)
		}
		if n%2 == 0 {
			line.Reset()
		} else {
			line.HangUp()
		}
	}

	good := 0
	for good < goodEvents {
		arrivals.next(t)
		mu.Lock()
		good = len(accepted)
		mu.Unlock()
	}

	close(enough)
	all.Wait()
	for body := range accepted {
		arrivals.await(t, body)
	}

	t.Logf("%d events accepted during %d resets, %d rejected, %d requests arrived",
		len(accepted), resets, refused, arrivals.count())
}

// arrivals is a receiver that records the bodies that it gets.
type arrivals struct {
	url  string
	got  <-chan delivery
	seen map[string]bool
	all  int
}

func newArrivals(t *testing.T) *arrivals {
	a := &arrivals{seen: make(map[string]bool)}
	a.url, a.got = receiver(t, 200)
	return a
}

func (a *arrivals) count() int { return a.all }

func (a *arrivals) next(t *testing.T) {
	t.Helper()
	select {
	case d := <-a.got:
		a.seen[d.body] = true
		a.all++
	case <-time.After(2 * time.Minute):
		t.Fatal("deliveries have stopped")
	}
}

func (a *arrivals) await(t *testing.T, body string) {
	t.Helper()
	for !a.seen[body] {
		a.next(t)
	}
}
