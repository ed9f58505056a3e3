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

// Subscriptions to change, and clients that change them.
const (
	changedSubscribers   = 2
	changedSubscriptions = 1000 // of each subscriber
	changingClients      = 4
	changesPublished     = 500 // events, about 100 a second
)

// latencyDuringChanges measures the latency of publishing while clients change
// subscriptions as fast as they can: as an administrator, without a rate limit, and
// with only a SubscriberID.
func latencyDuringChanges(s *suite, b *testing.B) {
	r, urls := listen(b, 1)
	h := startDaemon(b)
	h.subscribe(b, event(0), urls[0])
	paths := h.addSubscriptions(b, urls[0])
	measure := func(kind, key string) func(int) {
		p50 := samples{
			title:        "publish during changes " + kind + ", median",
			metric:       "p50-ms-" + kind,
			unit:         "ms",
			digits:       2,
			baselineName: "alone",
		}
		p99 := samples{
			title:        "publish during changes " + kind + ", p99",
			metric:       "p99-ms-" + kind,
			unit:         "ms",
			digits:       2,
			baselineName: "alone",
		}
		rate := samples{title: "effective changes a second, " + kind, metric: "changes/s-" + kind, unit: "/s"}
		b.Cleanup(func() {
			s.table.addSamples(b, p50, limits{limit: 20, goal: 5})
			s.table.addSamples(b, p99, limits{limit: 20, goal: 10})
			s.table.addSamples(b, rate, limits{moreIsBetter: true})
		})
		return func(int) {
			a50, a99 := h.publishLatency(b)
			stop := h.changeSubscriptions(b, key, paths)
			o50, o99 := h.publishLatency(b)
			perSecond, limited := stop()
			p50.add(o50, a50)
			p99.add(o99, a99)
			rate.values = append(rate.values, perSecond)
			b.Logf("%s: p50 %.2f ms, p99 %.2f ms (without changes %.2f, %.2f), %.0f effective changes/s, %.0f responses 429/s", kind, o50, o99, a50, a99, perSecond, limited)
		}
	}
	off, on := measure("unlimited", h.manager), measure("limited", "")
	rounds(b, func(n int) { off(n); on(n) })
	r.reset()
}

// addSubscriptions creates the subscriptions to change and returns their paths. No
// published event matches them.
func (h *benchDaemon) addSubscriptions(b *testing.B, url string) (paths []string) {
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
			event := event(1 + i%(maxEvents-1))
			r, err := c.AddSubscription(b.Context(), s.RecID, wire.SubscriptionRequest{EventName: &event, URL: &url})
			if err != nil {
				b.Fatal(err)
			}
			paths = append(paths, "/Webhooks/Subscribers/"+s.RecID+"/Subscriptions/"+r.RecID)
		}
	}
	return paths
}

// changeSubscriptions has clients change the URLs of subscriptions until stop is
// called, which returns the rates of changes made and rejected, per second.
func (h *benchDaemon) changeSubscriptions(b *testing.B, key string, paths []string) (stop func() (effective, limited float64)) {
	var ended atomic.Bool
	var refusals, next atomic.Int64
	var clients sync.WaitGroup
	before, began := h.count(b, changesMade), time.Now()
	for range changingClients {
		clients.Go(func() {
			c := &http.Client{Transport: &http.Transport{}}
			defer c.CloseIdleConnections()
			for !ended.Load() {
				n := next.Add(1)
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

// changesMade selects the number of changes of subscriptions so far.
const changesMade = "SELECT Next FROM WH_Number WHERE Name = 'SubscriptionVersion'"

// publishLatency publishes events one after another and returns the latency of the
// responses, in ms.
func (h *benchDaemon) publishLatency(b *testing.B) (p50, p99 float64) {
	b.Helper()
	t := h.publishTarget(event(0))
	p, err := dial(t.address)
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	var waits []time.Duration
	for n := range changesPublished {
		began := time.Now()
		if err := p.publish(&t, n); err != nil {
			b.Log(err) // a 503 counts, too
		}
		waits = append(waits, time.Since(began))
		if n >= 4 && percentile(waits, 50) > 1000 {
			break // half of them take more than a second: this is enough
		}
		time.Sleep(time.Until(began.Add(10 * time.Millisecond)))
	}
	return percentile(waits, 50), percentile(waits, 99)
}
