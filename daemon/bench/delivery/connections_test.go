package delivery

import (
	"testing"
	"time"
)

// The deliveries of connectionsOpened: each event has a message for each subscription.
const (
	sharedHostSubscriptions = 100
	sharedHostEvents        = 100
	sharedHostDelay         = 50 * time.Millisecond
)

// connectionsOpened counts the connections that deliveries to many subscriptions on one host open.
func connectionsOpened(s *suite, b *testing.B) {
	opened := samples{title: "connections for 10,000 deliveries to 100 subscriptions on one host", metric: "connections"}
	rounds(b, func(int) {
		r, urls := listen(b, 1)
		r.slow.Store(int64(sharedHostDelay)) // so that many attempts run at once
		h := startDaemon(b)
		for range sharedHostSubscriptions {
			h.subscribe(b, event(0), urls[0])
		}
		measure(b, r, sharedHostEvents, sharedHostSubscriptions, h.publishTarget(event(0)))
		opened.values = append(opened.values, float64(r.Opened()))
	})
	s.table.addSamples(b, opened, limits{limit: 1000, goal: 300})
}
