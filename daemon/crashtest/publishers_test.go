package crashtest

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/daemontest"
)

// publisherPool publishes events for the whole test, even while no daemon runs.
type publisherPool struct {
	key     string
	service *daemontest.Service
	client  *http.Client
	cancel  context.CancelFunc
	tasks   sync.WaitGroup

	mu       sync.Mutex
	accepted []string // bodies of events with the response 201
	refused  int      // events with an unknown result
}

// eventPause is the pause between two events of a publisher, which keeps the files
// small enough for hundreds of rounds.
const eventPause = 15 * time.Millisecond

func startPublishers(t *testing.T, service *daemontest.Service, key string) *publisherPool {
	ctx, end := context.WithCancel(context.Background())
	c := &publisherPool{
		key:     key,
		service: service,
		cancel:  end,
		client: &http.Client{
			Timeout:   time.Minute,
			Transport: &http.Transport{MaxIdleConnsPerHost: *publisherCount},
		},
	}
	for p := range *publisherCount {
		c.tasks.Go(func() { c.publish(ctx, p) })
	}
	t.Cleanup(c.stop)
	return c
}

func (c *publisherPool) publish(ctx context.Context, member int) {
	tick := time.NewTicker(eventPause)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if url := c.service.URL(); url != "" {
			c.publishEvent(url, fmt.Sprintf("%s %d.%d", addresses[1+n%(addressCount-1)], member, n))
		}
	}
}

// publishEvent publishes an event. Its body starts with its name.
func (c *publisherPool) publishEvent(url, body string) {
	name, _, _ := strings.Cut(body, " ")
	post := fmt.Sprintf(`{"EventName":%q,"Key":%q,"Body":%q}`, name, publisherOf(body), body)
	req, err := http.NewRequest(http.MethodPost, url+"/Webhooks/Events", strings.NewReader(post))
	if err != nil {
		panic(err) // the URL is valid
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
func (c *publisherPool) awaitAccepted() {
	for c.acceptedCount() == 0 {
		time.Sleep(eventPause)
	}
}

func (c *publisherPool) acceptedCount() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.accepted)
}

// stop ends publishing.
func (c *publisherPool) stop() {
	c.cancel()
	c.tasks.Wait()
	c.client.CloseIdleConnections()
}
