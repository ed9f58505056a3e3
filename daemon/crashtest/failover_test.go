package crashtest

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// failoverPublishers publish events at two daemons for the whole test. A failed request
// is repeated at the other daemon. The first publisher publishes one event after
// another, which must be delivered in this order.
type failoverPublishers struct {
	key    string
	nodes  []*node
	client *http.Client
	cancel context.CancelFunc
	tasks  sync.WaitGroup

	mu       sync.Mutex
	accepted []string       // bodies of events with the response 201
	failures map[string]int // other results, by status
}

const failoverPublisherCount = 6

// publishPause is the pause between two requests. It leaves the ordered subscription
// time to catch up.
const publishPause = 50 * time.Millisecond

// publishTimeout is the time limit of a request.
const publishTimeout = 2 * attemptLimit

func startFailoverPublishers(t *testing.T, key string, nodes []*node) *failoverPublishers {
	ctx, end := context.WithCancel(context.Background())
	c := &failoverPublishers{
		key:      key,
		nodes:    nodes,
		cancel:   end,
		failures: make(map[string]int),
		client: &http.Client{
			Timeout:   publishTimeout,
			Transport: &http.Transport{MaxIdleConnsPerHost: failoverPublisherCount},
		},
	}
	for publisher := range failoverPublisherCount {
		c.tasks.Go(func() { c.run(ctx, publisher) })
	}
	t.Cleanup(c.stop)
	return c
}

func (c *failoverPublishers) run(ctx context.Context, publisher int) {
	name := concurrentEvent
	if publisher == 0 {
		name = orderedEvent
	}
	for n := 0; ctx.Err() == nil; n++ {
		c.publishUntilAccepted(ctx, name, fmt.Sprintf("%s %d.%d", name, publisher, n), publisher+n)
		sleepContext(ctx, publishPause)
	}
}

// publisherOf returns the name of the publisher of an event, which is the event's key.
func publisherOf(body string) string {
	_, number, _ := strings.Cut(body, " ")
	publisher, _, _ := strings.Cut(number, ".")
	return publisher
}

// isIdempotent reports whether an event is published under an idempotency key: ordered events,
// and those of publishers with odd numbers.
func isIdempotent(body string) bool {
	name, _, _ := strings.Cut(body, " ")
	publisher := publisherOf(body)
	return name == orderedEvent || strings.Contains("13579", publisher[len(publisher)-1:])
}

// publishUntilAccepted publishes an event until it is accepted, alternating between the
// daemons.
func (c *failoverPublishers) publishUntilAccepted(ctx context.Context, name, body string, attempt int) {
	for ; ctx.Err() == nil; attempt++ {
		url := c.nodes[attempt%len(c.nodes)].URL()
		if url != "" && c.publish(ctx, url, name, body) {
			return
		}
		sleepContext(ctx, publishPause)
	}
}

// publish publishes an event and reports whether it was accepted.
func (c *failoverPublishers) publish(ctx context.Context, url, name, body string) bool {
	post := fmt.Sprintf(`{"EventName":%q,"Key":%q,"Body":%q}`, name, publisherOf(body), body)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/Webhooks/Events", strings.NewReader(post))
	if err != nil {
		panic(err) // the URL is valid
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+c.key)
	if isIdempotent(body) {
		req.Header.Set("Idempotency-Key", body)
	}
	resp, err := c.client.Do(req)
	result := "no response"
	if err == nil {
		result = resp.Status
		resp.Body.Close()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil && resp.StatusCode == http.StatusCreated {
		c.accepted = append(c.accepted, body)
		return true
	}
	c.failures[result]++
	return false
}

// stop ends publishing.
func (c *failoverPublishers) stop() {
	c.cancel()
	c.tasks.Wait()
	c.client.CloseIdleConnections()
}
