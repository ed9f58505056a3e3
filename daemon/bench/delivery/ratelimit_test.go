package delivery

import (
	"context"
	"testing"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/bench/benchtest"
)

const (
	limitedQueue     = 10_000 // messages that wait for the rate limit
	limitedPerMinute = 600
	limitedSeconds   = 10 // of a round
)

// latencyWithRateLimit measures a subscription while many messages of another one wait for its rate
// limit. The baseline is a daemon without such a queue; while it is measured, the queue is disabled.
func latencyWithRateLimit(s *suite, b *testing.B) {
	const rate = 300
	r, urls := listen(b, 1)
	limited, limitedURLs := listen(b, 1)
	alone := startDaemon(b)
	alone.subscribe(b, event(0), urls[0])
	queued := startDaemon(b)
	queued.subscribe(b, event(0), urls[0])
	queue := queued.subscribe(b, event(1), limitedURLs[0])
	queued.limitRate(b, queue, limitedPerMinute)
	if err := publishAll(limitedQueue, queued.publishTarget(event(1))); err != nil {
		b.Fatal(err)
	}
	queued.enable(b, queue, false)
	measurePaced(b, r, rate, alone.publishTarget(event(0))) // fills the caches
	measurePaced(b, r, rate, queued.publishTarget(event(0)))

	p50 := samples{
		title:        "p50 while 10,000 messages of another subscription wait, at 600 a minute",
		metric:       "p50-ms",
		unit:         "ms",
		digits:       2,
		baselineName: "alone",
	}
	p99 := p50
	p99.title = "p99 of the same"
	p99.metric = "p99-ms"
	rounds(b, func(n int) {
		var alone50, alone99, queued50, queued99 float64
		benchtest.InTurns(n,
			func() {
				alone50, alone99 = measureFor(b, r, rate, limitedSeconds, alone.publishTarget(event(0)))
			},
			func() {
				queued.enable(b, queue, true)
				limited.reset()
				queued50, queued99 = measureFor(b, r, rate, limitedSeconds, queued.publishTarget(event(0)))
				sent := limited.count()
				queued.enable(b, queue, false)
				const perRound = limitedPerMinute * limitedSeconds / 60
				if sent < perRound/2 || sent > perRound*3/2 {
					b.Errorf("%d messages of the limited subscription in a round, want about %d", sent, perRound)
				}
			})
		b.Logf("alone %.2f and %.2f ms, with the queue %.2f and %.2f ms", alone50, alone99, queued50, queued99)
		p50.add(queued50, alone50)
		p99.add(queued99, alone99)
	})
	s.table.addSamples(b, p50, limits{limit: 1.2, goal: 1.1, timesBaseline: true})
	s.table.addSamples(b, p99, limits{limit: 1.2, goal: 1.1, timesBaseline: true})
}

// limitRate sets the rate limit of a subscription.
func (h *benchDaemon) limitRate(b *testing.B, id string, perMinute int) {
	b.Helper()
	request := wire.SubscriptionRequest{MaxPerMinute: &perMinute}
	_, err := h.admin.UpdateSubscription(context.Background(), h.subscriber, id, request)
	if err != nil {
		b.Fatal(err)
	}
}

// count returns the number of deliveries since the last reset.
func (r *receiver) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.received
}
