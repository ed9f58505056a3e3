package crashtest

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// crowd publishes events for as long as the test runs, whether a daemon is there
// or not.
type crowd struct {
	key     string
	url     atomic.Pointer[string] // of the daemon
	client  *http.Client
	end     context.CancelFunc
	members sync.WaitGroup

	mu       sync.Mutex
	accepted []string // bodies of events that were answered 201
	refused  int      // others: nobody knows what became of them
}

const publishers = 32

// pause is what a publisher waits before its next event, so that the files stay
// small enough for hundreds of rounds.
const pause = 15 * time.Millisecond

func gather(t *testing.T, key string) *crowd {
	ctx, end := context.WithCancel(context.Background())
	c := &crowd{key: key, end: end, client: &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: publishers}}}
	for p := range publishers {
		c.members.Go(func() { c.publish(ctx, p) })
	}
	t.Cleanup(c.disperse)
	return c
}

func (c *crowd) publish(ctx context.Context, member int) {
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if url := c.url.Load(); url != nil {
			c.raise(*url, fmt.Sprintf("%s %d.%d", addresses[1+n%(howMany-1)], member, n))
		}
	}
}

// raise publishes an event, whose name its body begins with.
func (c *crowd) raise(url, body string) {
	name, _, _ := strings.Cut(body, " ")
	req, err := http.NewRequest(http.MethodPost, url+"/Webhooks/Events", strings.NewReader(fmt.Sprintf(`{"EventName":%q,"Body":%q}`, name, body)))
	if err != nil {
		panic(err) // the address is ours
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+c.key)
	resp, err := c.client.Do(req)
	if err == nil {
		resp.Body.Close()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil && resp.StatusCode == http.StatusCreated {
		c.accepted = append(c.accepted, body)
	} else {
		c.refused++
	}
}

// awaitAccepted waits until an event was accepted.
func (c *crowd) awaitAccepted() {
	for c.acceptedSoFar() == 0 {
		time.Sleep(pause)
	}
}

func (c *crowd) acceptedSoFar() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.accepted)
}

// disperse ends publishing.
func (c *crowd) disperse() {
	c.end()
	c.members.Wait()
	c.client.CloseIdleConnections()
}
