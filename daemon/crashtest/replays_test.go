package crashtest

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
)

// replayKeys is the number of keys of the events that are sent again.
const replayKeys = 5

// replayReceiver counts the requests for each message, and the replays among them. Its URLs have
// the order of the subscription as their path, and the bodies are the numbers of the events.
type replayReceiver struct {
	mu        sync.Mutex
	requests  map[string]int
	replays   map[string]int
	sequences map[string][]int // numbers of the events that were sent again, by path
}

func (o *replayReceiver) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the daemon died while sending
	}
	number, err := strconv.Atoi(string(body))
	if err != nil {
		panic(err)
	}
	id := r.Header.Get("Webhook-Id")
	o.mu.Lock()
	defer o.mu.Unlock()
	o.requests[id]++
	if r.Header.Get("Webhook-Replay") == "true" {
		o.replays[id]++
		o.sequences[r.URL.Path] = append(o.sequences[r.URL.Path], number)
	}
}

// TestReplaysAfterKills kills daemons that send delivered messages again: each message arrives
// once more in the order of its subscription, and not again after its result was stored.
func TestReplaysAfterKills(t *testing.T) {
	const messages = 300
	dir := t.TempDir()
	receiver := &replayReceiver{
		requests:  make(map[string]int),
		replays:   make(map[string]int),
		sequences: make(map[string][]int),
	}
	server := httptest.NewServer(receiver)
	t.Cleanup(server.Close)

	d, err := daemontest.Open(dir, settings...)
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(client.Options{URL: d.URL, Token: d.Key(t, "admin")})
	if err != nil {
		t.Fatal(err)
	}
	publishToAllOrders(t, c, server.URL, messages)
	awaitNothingOpen(t, dir)
	result, err := c.RetryMessages(t.Context(), url.Values{"Status": {"1"}})
	if err != nil || result.Retried != messages {
		t.Fatalf("sending again returned %+v (%v), want %d", result, err, messages)
	}
	if err := d.Stop(); err != nil {
		t.Fatal(err)
	}
	service := &daemontest.Service{Dir: dir, Args: settings}
	for range *rounds {
		runAndKill(t, service)
	}

	service.Launch(t)
	service.Await(t)
	awaitNothingOpen(t, dir)
	service.Stop(t)
	receiver.evaluate(t, messages)
}

// publishToAllOrders subscribes a receiver in each order, and publishes events until it has a
// number of messages.
func publishToAllOrders(t *testing.T, c *client.Client, receiver string, messages int) {
	t.Helper()
	ctx := context.Background()
	name, event := "all", "debtor.updated"
	subscriber, err := c.AddSubscriber(ctx, wire.SubscriberRequest{Name: &name})
	if err != nil {
		t.Fatal(err)
	}
	orders := []string{"none", "subscription", "key"}
	for _, order := range orders {
		address := receiver + "/" + order
		request := wire.SubscriptionRequest{URL: &address, EventName: &event, OrderBy: &order}
		if _, err := c.AddSubscription(ctx, subscriber.RecID, request); err != nil {
			t.Fatal(err)
		}
	}
	for i := range messages / len(orders) {
		post := wire.EventPost{EventName: event, Key: strconv.Itoa(i % replayKeys), Body: strconv.Itoa(i)}
		if _, err := c.PublishEventWith(ctx, post, ""); err != nil {
			t.Fatal(err)
		}
	}
}

// evaluate checks that each message was sent again, in order, and repeatedly only after a kill.
func (o *replayReceiver) evaluate(t *testing.T, messages int) {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	repeated := 0
	for id, n := range o.requests {
		if o.replays[id] == 0 {
			t.Errorf("message %s was not sent again", id)
		}
		if o.replays[id] > 1+*rounds {
			t.Errorf("message %s was sent again %d times with %d kills", id, o.replays[id], *rounds)
		}
		if n-o.replays[id] != 1 {
			t.Errorf("message %s was sent %d times without the header of a replay", id, n-o.replays[id])
		}
		repeated += max(0, o.replays[id]-1)
	}
	o.checkOrder(t)
	t.Logf("%d kills: %d messages sent again, %d repeated attempts", *rounds, len(o.replays), repeated)
	if len(o.requests) != messages {
		t.Errorf("%d messages were sent, want %d", len(o.requests), messages)
	}
}

// checkOrder checks that no message was sent again after a newer one of its subscription or key.
// One that was repeated after a kill still precedes all newer ones.
func (o *replayReceiver) checkOrder(t *testing.T) {
	t.Helper()
	if !slices.IsSorted(o.sequences["/subscription"]) {
		t.Errorf("with the order of the subscription, the events were sent again as %v, want ascending numbers",
			o.sequences["/subscription"])
	}
	byKey := make(map[int][]int)
	for _, number := range o.sequences["/key"] {
		byKey[number%replayKeys] = append(byKey[number%replayKeys], number)
	}
	if len(byKey) != replayKeys {
		t.Errorf("events of %d keys were sent again, want %d", len(byKey), replayKeys)
	}
	for key, numbers := range byKey {
		if !slices.IsSorted(numbers) {
			t.Errorf("the events of key %d were sent again as %v, want ascending numbers", key, numbers)
		}
	}
}
