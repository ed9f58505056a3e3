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

// failoverPublishers publish events at two daemons for as long as the test runs. Who is
// refused or cut off tries again at the other one. The first of them raises one
// event after another, which must come in that order.
type failoverPublishers struct {
	key    string
	nodes  []*node
	client *http.Client
	cancel context.CancelFunc
	tasks  sync.WaitGroup

	mu       sync.Mutex
	accepted []string       // bodies of events that were answered 201
	failures map[string]int // calls that were answered otherwise, or not at all
}

const failoverPublisherCount = 6

// publishPause is what a caller waits before the next call. The one who calls in
// order leaves the ordered line time to catch up.
const publishPause = 50 * time.Millisecond

// publishTimeout is how long a caller waits for an answer.
const publishTimeout = 2 * attemptLimit

func startFailoverPublishers(t *testing.T, key string, posts []*node) *failoverPublishers {
	ctx, end := context.WithCancel(context.Background())
	c := &failoverPublishers{key: key, nodes: posts, cancel: end, failures: make(map[string]int), client: &http.Client{Timeout: publishTimeout, Transport: &http.Transport{MaxIdleConnsPerHost: failoverPublisherCount}}}
	for member := range failoverPublisherCount {
		c.tasks.Go(func() { c.run(ctx, member) })
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

// usesKey reports whether an event is raised under an idempotency key: those in
// order, and half of the others.
func usesKey(body string) bool {
	name, rest, _ := strings.Cut(body, " ")
	member, _, _ := strings.Cut(rest, ".")
	return name == orderedEvent || strings.Contains("13579", member[len(member)-1:])
}

// publishUntilAccepted raises an event until it is accepted, first at the daemon whose turn it
// is.
func (c *failoverPublishers) publishUntilAccepted(ctx context.Context, name, body string, turn int) {
	for ; ctx.Err() == nil; turn++ {
		url := c.nodes[turn%len(c.nodes)].url.Load()
		if url != nil && c.publish(ctx, *url, name, body) {
			return
		}
		sleepContext(ctx, publishPause)
	}
}

// publish publishes an event and reports whether it was accepted.
func (c *failoverPublishers) publish(ctx context.Context, url, name, body string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/Webhooks/Events", strings.NewReader(fmt.Sprintf(`{"EventName":%q,"Body":%q}`, name, body)))
	if err != nil {
		panic(err) // the address is ours
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+c.key)
	if usesKey(body) {
		req.Header.Set("Idempotency-Key", body)
	}
	resp, err := c.client.Do(req)
	answer := "no answer"
	if err == nil {
		answer = resp.Status
		resp.Body.Close()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil && resp.StatusCode == http.StatusCreated {
		c.accepted = append(c.accepted, body)
		return true
	}
	c.failures[answer]++
	return false
}

// stop ends publishing.
func (c *failoverPublishers) stop() {
	c.cancel()
	c.tasks.Wait()
	c.client.CloseIdleConnections()
}
