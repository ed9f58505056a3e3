package delivery

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/webhook/stats"
)

// trafficTimeout limits a read of the last minutes.
const trafficTimeout = 2 * time.Second

// recentMinutes reads the traffic of the last minutes about once a second. Without other daemons
// it only reads the store if this one has counted something since.
type recentMinutes struct {
	*core
	isRead  bool
	first   int64
	counts  stats.Counts // before the last read
	minutes []stats.Minute
}

// read returns the traffic from a minute on.
func (r *recentMinutes) read(first int64) ([]stats.Minute, error) {
	counts := r.recorder.Counts()
	if r.isRead && r.LeaseTerm == 0 && first == r.first && counts == r.counts {
		return r.minutes, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), trafficTimeout)
	defer cancel()
	minutes, err := r.Store.Minutes(ctx, first, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	r.isRead = true
	r.first = first
	r.counts = counts
	r.minutes = minutes
	return minutes, nil
}

// troublesInterval is how long the numbers of troubles are kept.
const troublesInterval = 5 * time.Second

// troublesReader counts troubles for the readers of live streams.
type troublesReader struct {
	engine *Engine
	readAt time.Time
	last   *wire.Troubles // nil until it is known
}

// read returns the last numbers, and counts again if they are old. If that fails, they stay. It does
// not wait for a count of the backlog.
func (r *troublesReader) read() *wire.Troubles {
	now := r.engine.Now()
	if now.Sub(r.readAt) < troublesInterval {
		return r.last
	}
	open := r.engine.backlog.latest()
	if open.At.IsZero() {
		return r.last
	}
	ctx, cancel := context.WithTimeout(context.Background(), trafficTimeout)
	defer cancel()
	report, err := r.engine.Stats(ctx, int(time.Hour/time.Minute), 0, open.Subscriptions)
	r.readAt = now
	if err != nil {
		return r.last
	}
	troubles := wire.Troubles{
		Endpoints:    report.Troubled,
		GivenUp:      report.Total.GivenUp,
		RetryPending: open.Total().RetryPending,
	}
	if r.last == nil || *r.last != troubles {
		r.last = &troubles
	}
	return r.last
}

// activityReader reads the stored counts. It keeps those of settled minutes, which are most of them,
// as long as the last minute lasts: for screens that request the statistics every few seconds.
// Results that are written late, after the store was unavailable, are in those of the next minute.
type activityReader struct {
	*core
	mu      sync.Mutex
	period  stats.Period // of settled
	settled stats.Activity
}

// read returns the counts of all daemons in a period.
func (r *activityReader) read(ctx context.Context, p stats.Period) (stats.Activity, error) {
	settledPeriod, recentPeriod := p.Split()
	settled, err := r.readSettled(ctx, settledPeriod)
	if err != nil {
		return stats.Activity{}, err
	}
	recent, err := r.Store.Activity(ctx, recentPeriod)
	return settled.Plus(recent), err
}

// readSettled returns the activity of settled minutes.
func (r *activityReader) readSettled(ctx context.Context, p stats.Period) (stats.Activity, error) {
	if p.First > p.Last {
		return stats.Activity{}, nil
	}
	r.mu.Lock()
	period, settled := r.period, r.settled
	r.mu.Unlock()
	if period == p {
		return settled, nil
	}

	settled, err := r.Store.Activity(ctx, p)
	if err != nil {
		return stats.Activity{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.period = p
	r.settled = settled
	return settled, nil
}
