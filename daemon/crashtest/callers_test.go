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

// callers publish events at two daemons for as long as the test runs. Who is
// refused or cut off tries again at the other one. The first of them raises one
// event after another, which must come in that order.
type callers struct {
	key     string
	posts   []*post
	client  *http.Client
	end     context.CancelFunc
	members sync.WaitGroup

	mu       sync.Mutex
	accepted []string       // bodies of events that were answered 201
	others   map[string]int // calls that were answered otherwise, or not at all
}

const howManyCall = 6

// callPause is what a caller waits before the next call. The one who calls in
// order leaves the ordered line time to catch up.
const callPause = 50 * time.Millisecond

// callLimit is how long a caller waits for an answer.
const callLimit = 2 * attemptLimit

func call(t *testing.T, key string, posts []*post) *callers {
	ctx, end := context.WithCancel(context.Background())
	c := &callers{key: key, posts: posts, end: end, others: make(map[string]int), client: &http.Client{Timeout: callLimit, Transport: &http.Transport{MaxIdleConnsPerHost: howManyCall}}}
	for member := range howManyCall {
		c.members.Go(func() { c.work(ctx, member) })
	}
	t.Cleanup(c.disperse)
	return c
}

func (c *callers) work(ctx context.Context, member int) {
	name := ofMany
	if member == 0 {
		name = ofOne
	}
	for n := 0; ctx.Err() == nil; n++ {
		c.insist(ctx, name, fmt.Sprintf("%s %d.%d", name, member, n), member+n)
		linger(ctx, callPause)
	}
}

// hasKey reports whether an event is raised under an idempotency key: those in
// order, and half of the others.
func hasKey(body string) bool {
	name, rest, _ := strings.Cut(body, " ")
	member, _, _ := strings.Cut(rest, ".")
	return name == ofOne || strings.Contains("13579", member[len(member)-1:])
}

// insist raises an event until it is accepted, first at the daemon whose turn it
// is.
func (c *callers) insist(ctx context.Context, name, body string, turn int) {
	for ; ctx.Err() == nil; turn++ {
		url := c.posts[turn%len(c.posts)].url.Load()
		if url != nil && c.raise(ctx, *url, name, body) {
			return
		}
		linger(ctx, callPause)
	}
}

// raise publishes an event and reports whether it was accepted.
func (c *callers) raise(ctx context.Context, url, name, body string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/Webhooks/Events", strings.NewReader(fmt.Sprintf(`{"EventName":%q,"Body":%q}`, name, body)))
	if err != nil {
		panic(err) // the address is ours
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+c.key)
	if hasKey(body) {
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
	c.others[answer]++
	return false
}

// disperse ends publishing.
func (c *callers) disperse() {
	c.end()
	c.members.Wait()
	c.client.CloseIdleConnections()
}
