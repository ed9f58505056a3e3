package crashtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
)

// maxDelay is the maximum time between a kill and the event before it.
const maxDelay = time.Second

// TestEventsAfterKills kills the daemon at random moments while programs write: each change
// is received, and none is published twice.
func TestEventsAfterKills(t *testing.T) {
	r := newEventRun(t, sqliteFile, 1)
	s := r.services[0]
	n := max(*rounds/2, 3)
	for kill := range n {
		if kill%4 > 0 { // otherwise it may be killed before it listens
			s.AwaitRestarting(t)
			r.awaitEvents(t)
		}
		if kill%4 < 2 {
			<-time.After(rand.N(maxDelay))
		} else {
			r.awaitBurst(t)
		}
		s.Kill(t)
		s.Launch(t)
	}
	t.Logf("the daemon was killed %d times", n)
	r.finish(t)
}

// With two daemons leases are as short as attempts allow.
const (
	attemptLimit = 4 * time.Second
	leaseTerm    = 3 * attemptLimit
)

// TestTakeOverOfCapture kills the one of two daemons that captures: the other one goes on, no
// change is lost, and none is published twice.
func TestTakeOverOfCapture(t *testing.T) {
	r := newEventRun(t, sqlServer, 2)
	var leased, published []time.Duration
	for range max(*rounds/20, 2) {
		holder := r.holder(t)
		r.awaitEvents(t)
		<-time.After(rand.N(maxDelay))
		r.services[holder].Kill(t)
		killed, other := time.Now(), r.clients[1-holder]
		before := position(t, other, stamped)
		r.holder(t)
		leased = append(leased, r.services[1-holder].tookOver(t).Sub(killed).Round(100*time.Millisecond))
		await(t, "the other daemon publishes changes", func() (bool, string) {
			at := position(t, other, stamped)
			return at > before, fmt.Sprint(at)
		})
		published = append(published, time.Since(killed).Round(100*time.Millisecond))
		r.services[holder].Launch(t)
		r.services[holder].AwaitRestarting(t)
	}
	t.Logf("the lease is %v; after a kill the other daemon took it over after %v, and published changes after %v", leaseTerm, leased, published)
	r.finish(t)
}

// eventRun is a run of programs, daemons and a receiver of all events.
type eventRun struct {
	services []*service
	clients  []*client.Client // of an administrator, for each service
	writers  *writers
	markers  *markers
	receiver *receiver
}

// newEventRun starts daemons, and programs that write when all tables are captured. Several
// daemons share a store on the server.
func newEventRun(t *testing.T, engine *engine, daemons int) *eventRun {
	t.Helper()
	r := &eventRun{receiver: newReceiver(t)}
	dir := t.TempDir()
	e := newERP(t, dir, engine)
	args := append([]string{"--webhooks-retry-schedule", strings.Repeat("1s,", 50) + "1s"}, e.args...)
	if daemons > 1 {
		args = append(args, "--store", e.place, "--migrate",
			"--webhooks-attempt-timeout", attemptLimit.String(), "--webhooks-lease", leaseTerm.String())
	}
	token := ""
	for n := range daemons {
		if n > 0 {
			dir = t.TempDir()
		}
		s := newService(t, dir, args...)
		if n == 0 {
			token = s.prepare(t, func(c *client.Client) { r.subscribe(t, c) })
		}
		r.services = append(r.services, s)
		r.clients = append(r.clients, s.client(t, token))
		s.Launch(t)
	}
	for _, s := range r.services {
		s.AwaitRestarting(t)
	}
	awaitCaptures(t, r.clients[0], e, func(k wire.Capture) bool { return k.Phase == "capturing" })
	r.writers = newWriters(t, e, 50)
	r.markers = newMarkers(t, e)
	r.writers.start(*rate)
	return r
}

// subscribe subscribes the receiver to all events.
func (r *eventRun) subscribe(t *testing.T, c *client.Client) {
	t.Helper()
	name, all := "all", "*"
	subscriber, err := c.AddSubscriber(context.Background(), wire.SubscriberRequest{Name: &name})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.AddSubscription(context.Background(), subscriber.RecID, wire.SubscriptionRequest{URL: &r.receiver.url, EventName: &all}); err != nil {
		t.Fatal(err)
	}
}

// awaitEvents waits until the receiver has got more changes.
func (r *eventRun) awaitEvents(t *testing.T) {
	t.Helper()
	defer r.explain(t)
	before := r.receiver.count()
	await(t, "more events are received", func() (bool, string) {
		n := r.receiver.count()
		return n > before, strconv.Itoa(n)
	})
}

// awaitBurst waits for the first event of a group of changes, which arrives while the daemon
// still writes the shadow.
func (r *eventRun) awaitBurst(t *testing.T) {
	t.Helper()
	defer r.explain(t)
	select {
	case <-r.receiver.burst: // an earlier one
	default:
	}
	select {
	case <-r.receiver.burst:
	case <-time.After(timeout):
		t.Fatal("no event is received")
	}
}

// holder returns the daemon that captures.
func (r *eventRun) holder(t *testing.T) (index int) {
	t.Helper()
	defer r.explain(t)
	await(t, "a daemon captures", func() (bool, string) {
		for n, c := range r.clients {
			captures, err := c.Captures(t.Context())
			if err == nil && slices.ContainsFunc(captures, func(k wire.Capture) bool { return k.Lag > 0 }) {
				index = n
				return true, ""
			}
		}
		return false, "none"
	})
	return index
}

// finish waits until all changes have been received, and evaluates them.
func (r *eventRun) finish(t *testing.T) {
	t.Helper()
	for _, s := range r.services {
		s.AwaitRestarting(t)
	}
	r.writers.stop()
	r.writers.report(t)
	defer r.explain(t)
	r.markers.settle(t, r.clients[0])
	last := make(map[string]int64)
	for _, tb := range r.markers.erp.tables {
		await(t, "the last marker of "+tb.name+" is received", func() (bool, string) {
			marker := r.receiver.marker(tb.name)
			return marker == r.markers.last, fmt.Sprintf("marker %d of %d", marker, r.markers.last)
		})
		last[tb.name] = position(t, r.clients[0], tb.name)
		deadline := time.Now().Add(timeout)
		for len(r.receiver.missing(tb.name, last[tb.name])) > 0 && time.Now().Before(deadline) {
			<-time.After(100 * time.Millisecond) // those that are missing at the end are lost
		}
	}
	for _, s := range r.services {
		s.stop(t)
	}
	r.receiver.evaluate(t, r.markers, r.writers, last)
}

// explain prints the logs if the test has failed.
func (r *eventRun) explain(t *testing.T) {
	t.Helper()
	if t.Failed() {
		for _, s := range r.services {
			t.Logf("%s:\n%s", s.url, lastLog(s.Dir, daemontest.ProcessLog))
		}
	}
}
