package delivery

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
)

// The subscriptions that are changed, and those who change them.
const (
	changedSubscribers   = 2
	changedSubscriptions = 1000 // of each
	changingClients      = 4
	changesPublished     = 500 // events, about 100 a second
)

// besideChanges measures how long publishing takes while clients change
// subscriptions as fast as they can: as an administrator, whose changes are not
// limited, and with the SubscriberID alone.
func besideChanges(s *stage, b *testing.B) {
	r, urls := listen(b, 1)
	h := build(b)
	h.subscribe(b, event(0), urls[0])
	paths := h.crowd(b, urls[0])
	measure := func(what, key string) func(int) {
		p50 := samples{what: "publish beside changes " + what + ", median", metric: "p50-ms-" + what, unit: "ms", digits: 2, named: "alone"}
		p99 := samples{what: "publish beside changes " + what + ", p99", metric: "p99-ms-" + what, unit: "ms", digits: 2, named: "alone"}
		rate := samples{what: "effective changes a second, " + what, metric: "changes/s-" + what, unit: "/s"}
		b.Cleanup(func() {
			s.table.note(b, p50, bounds{must: 20, aim: 5})
			s.table.note(b, p99, bounds{must: 20, aim: 10})
			s.table.note(b, rate, bounds{more: true})
		})
		return func(int) {
			a50, a99 := h.publishWaits(b)
			stop := h.change(b, key, paths)
			o50, o99 := h.publishWaits(b)
			perSecond, limited := stop()
			p50.add(o50, a50)
			p99.add(o99, a99)
			rate.ours = append(rate.ours, perSecond)
			b.Logf("%s: p50 %.2f ms, p99 %.2f ms (alone %.2f, %.2f), %.0f effective changes/s, %.0f answers 429/s", what, o50, o99, a50, a99, perSecond, limited)
		}
	}
	off, on := measure("unlimited", h.manager), measure("limited", "")
	rounds(b, func(n int) { off(n); on(n) })
	r.reset()
}

// crowd makes the subscriptions that are changed, and gives their paths. No event
// that is published is for them.
func (h *house) crowd(b *testing.B, url string) (paths []string) {
	b.Helper()
	c, err := client.New(client.Options{URL: h.URL, Token: h.manager})
	if err != nil {
		b.Fatal(err)
	}
	for n := range changedSubscribers {
		name := fmt.Sprint("crowd ", n)
		s, err := c.AddSubscriber(b.Context(), wire.SubscriberRequest{Name: &name})
		if err != nil {
			b.Fatal(err)
		}
		for i := range changedSubscriptions {
			event := event(1 + i%(mostEvents-1))
			r, err := c.AddSubscription(b.Context(), s.RecID, wire.SubscriptionRequest{EventName: &event, URL: &url})
			if err != nil {
				b.Fatal(err)
			}
			paths = append(paths, "/Webhooks/Subscribers/"+s.RecID+"/Subscriptions/"+r.RecID)
		}
	}
	return paths
}

// change has clients change the URLs of subscriptions until it is stopped, which
// gives the changes a second that were made, and the refusals.
func (h *house) change(b *testing.B, key string, paths []string) (stop func() (effective, limited float64)) {
	var ended atomic.Bool
	var refusals, turn atomic.Int64
	var clients sync.WaitGroup
	before, began := h.count(b, changesMade), time.Now()
	for range changingClients {
		clients.Go(func() {
			c := &http.Client{Transport: &http.Transport{}}
			defer c.CloseIdleConnections()
			for !ended.Load() {
				n := turn.Add(1)
				req, err := http.NewRequest("PATCH", h.URL+paths[n*7%int64(len(paths))], strings.NewReader(fmt.Sprintf(`{"URL":"http://127.0.0.1:9/%d"}`, n)))
				if err != nil {
					b.Error(err)
					return
				}
				req.Header.Set("Content-Type", "application/json")
				if key != "" {
					req.Header.Set("Authorization", "Bearer "+key)
				}
				resp, err := c.Do(req)
				if err != nil {
					b.Error(err)
					return
				}
				text, _ := io.ReadAll(resp.Body)
				resp.Body.Close()
				switch resp.StatusCode {
				case http.StatusOK:
				case http.StatusTooManyRequests:
					refusals.Add(1)
				default:
					b.Errorf("%s: %.300s", resp.Status, text)
					return
				}
			}
		})
	}
	return func() (float64, float64) {
		ended.Store(true)
		clients.Wait()
		took := time.Since(began).Seconds()
		return float64(h.count(b, changesMade)-before) / took, float64(refusals.Load()) / took
	}
}

// changesMade is the number of changes of subscriptions so far.
const changesMade = "SELECT Next FROM WH_Number WHERE Name = 'SubscriptionVersion'"

// publishWaits publishes one event after another and gives how long the answers
// took, in ms.
func (h *house) publishWaits(b *testing.B) (p50, p99 float64) {
	b.Helper()
	t := h.target(event(0))
	p, err := dial(t.address)
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	var waits []time.Duration
	for n := range changesPublished {
		began := time.Now()
		if err := p.publish(&t, n); err != nil {
			b.Log(err) // a 503 took its time too
		}
		waits = append(waits, time.Since(began))
		if n >= 4 && percentile(waits, 50) > 1000 {
			break // half of them take a second and more: that says enough
		}
		time.Sleep(time.Until(began.Add(10 * time.Millisecond)))
	}
	return percentile(waits, 50), percentile(waits, 99)
}
