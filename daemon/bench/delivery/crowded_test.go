package delivery

import (
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/bench/benchtest"
)

const (
	wildcardSubscriptions = 20  // to all events that a holder of a SubscriberID can add
	namedSubscriptions    = 229 // to single events that it can add besides, with the first
	crowdedRate           = 20  // events a second, slow enough for the deliveries to end between them
	crowdedEvents         = 40  // events of a round
)

// publishWithCrowd measures how much longer publishing takes when one subscriber has as many
// subscriptions as it can add by its SubscriberID alone. The baseline is a daemon with one
// subscription.
func publishWithCrowd(s *suite, b *testing.B) {
	_, urls := listen(b, 1)
	alone := startDaemon(b)
	alone.subscribe(b, event(0), urls[0])
	crowded := startDaemon(b)
	crowded.subscribe(b, event(0), urls[0])
	for range wildcardSubscriptions {
		crowded.subscribe(b, "*", urls[0])
	}
	for range namedSubscriptions {
		crowded.subscribe(b, event(1), urls[0])
	}

	byWildcard := samples{
		title:        "publish, one subscriber at its limit, an event for its * only",
		metric:       "other-p50-ms",
		unit:         "ms",
		digits:       2,
		baselineName: "one subscription",
	}
	named := byWildcard
	named.title = "the same, an event that its other subscriptions name"
	named.metric = "named-p50-ms"
	rounds(b, func(n int) {
		var base, wildcardTime, namedTime float64
		benchtest.InTurns(n, func() { base = publishMedian(b, alone.publishTarget(event(0))) }, func() {
			wildcardTime = publishMedian(b, crowded.publishTarget(event(0)))
			namedTime = publishMedian(b, crowded.publishTarget(event(1)))
		})
		byWildcard.add(wildcardTime, base)
		named.add(namedTime, base)
	})
	s.table.addSamples(b, byWildcard, limits{limit: 2, goal: 1.5, timesBaseline: true})
	s.table.addSamples(b, named, limits{limit: 8, goal: 4, timesBaseline: true})
}

// publishMedian returns the median time of publishing an event, in milliseconds.
func publishMedian(b *testing.B, t target) float64 {
	p, err := dial(t.address)
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	ticks := time.NewTicker(time.Second / crowdedRate)
	defer ticks.Stop()

	var times []time.Duration
	for n := range crowdedEvents {
		<-ticks.C
		began := time.Now()
		if err := p.publish(&t, n); err != nil {
			b.Fatal(err)
		}
		times = append(times, time.Since(began))
	}
	return percentile(times, 50)
}
