package stats

import (
	"slices"
	"time"

	"github.com/bizhook/whd/client/wire"
)

// How many minutes reports cover at most.
const (
	reportSpan = 24 * 60 // for all subscriptions together
	queueSpan  = 60      // for each subscription
)

// Kept is how long minutes are stored.
const Kept = 48 * time.Hour

// Period is the period of a report, in minutes from 1970. The last one is incomplete.
type Period struct {
	First, Last int64
	QueueFirst  int64 // the first minute that is counted for each subscription
}

// LastMinutes returns the period of the last minutes, from one minute to 24 hours.
func LastMinutes(now time.Time, minutes int) Period {
	last := MinuteOf(now)
	span := int64(min(max(1, minutes), reportSpan))
	return Period{
		First:      last - span + 1,
		Last:       last,
		QueueFirst: last - min(span, queueSpan) + 1,
	}
}

// Minutes returns the number of minutes.
func (p Period) Minutes() int { return int(p.Last - p.First + 1) }

// QueueMinutes returns the number of minutes that are counted for each subscription.
func (p Period) QueueMinutes() int { return int(p.Last - p.QueueFirst + 1) }

// settledAfter is the number of minutes with counts that usually still grow.
const settledAfter = 2

// Split divides a period into settled minutes, which are none if it is short, and the last ones.
func (p Period) Split() (settled, recent Period) {
	settled, recent = p, p
	recent.First = max(p.First, p.Last-settledAfter+1)
	recent.QueueFirst = max(p.QueueFirst, recent.First)
	settled.Last = recent.First - 1
	return settled, recent
}

// Activity holds the stored counts of a period.
type Activity struct {
	Since         time.Time // when counting began, at most Kept ago
	Minutes       []Minute  // of the period, with traffic
	Attempts      Took      // of the period
	Delays        Took      // of the period
	Subscriptions map[int64]*Count
	Steps         []Step
}

// StepMinutes is the length of a step. The first one starts in 1970.
const StepMinutes = 6

// maxSteps is the number of steps of a report.
const maxSteps = queueSpan / StepMinutes

// Step counts the attempts of a subscription in some minutes.
type Step struct {
	Subscription int64
	Step         int64
	Attempts     int64
}

// Plus returns the activity together with the activity of the following minutes.
func (f Activity) Plus(recent Activity) Activity {
	sum := Activity{
		Since:         recent.Since,
		Minutes:       slices.Concat(f.Minutes, recent.Minutes),
		Attempts:      f.Attempts,
		Delays:        f.Delays,
		Subscriptions: make(map[int64]*Count, len(f.Subscriptions)),
		Steps:         slices.Concat(f.Steps, recent.Steps),
	}
	sum.Attempts.Add(&recent.Attempts)
	sum.Delays.Add(&recent.Delays)
	for _, part := range []Activity{f, recent} {
		for subscription, count := range part.Subscriptions {
			if sum.Subscriptions[subscription] == nil {
				sum.Subscriptions[subscription] = new(Count)
			}
			sum.Subscriptions[subscription].add(count)
		}
	}
	return sum
}

// Report holds statistics of the last minutes.
type Report struct {
	Period   Period
	At       time.Time // end of the period
	Since    time.Time // when counting began
	Total    Traffic
	Attempts wire.Latency // durations of attempts
	Delay    wire.Latency // from publishing to delivery, of messages that were delivered by the first attempt
	Minutes  []Traffic    // by minute, the oldest first; the last one is incomplete
	Queues   []Queue      // with traffic, open messages or problems, the most severe first
	Omitted  int          // number of queues beyond the limit
	Troubled int          // number of queues with a problem, including those beyond the limit
}

// NewReport summarizes the activity of a period that ends at a time, with at most limit queues. It
// fills in the traffic of the given queues.
func NewReport(at time.Time, p Period, f Activity, limit int, queues []Queue) Report {
	report := Report{
		Period:   p,
		At:       at,
		Since:    f.Since,
		Attempts: f.Attempts.latency(),
		Delay:    f.Delays.latency(),
		Minutes:  make([]Traffic, p.Minutes()),
	}
	for _, m := range f.Minutes {
		report.Total.Add(m.Traffic)
		report.Minutes[m.Minute-p.First] = m.Traffic
	}
	for i := range queues {
		q := &queues[i]
		if count := f.Subscriptions[q.Subscription.ID]; count != nil {
			q.Traffic = count.Traffic
		}
	}
	report.Queues = slices.DeleteFunc(queues, func(q Queue) bool { return !q.notable() })
	slices.SortFunc(report.Queues, compareSeverity)
	for i := range report.Queues {
		if report.Queues[i].severity() > 0 {
			report.Troubled++
		}
	}
	report.Omitted = max(0, len(report.Queues)-limit)
	report.Queues = report.Queues[:len(report.Queues)-report.Omitted]
	for i := range report.Queues {
		q := &report.Queues[i]
		if count := f.Subscriptions[q.Subscription.ID]; count != nil {
			q.P99 = count.Took.quantile(0.99)
			q.Last = count.Last
		}
	}
	report.addSteps(f.Steps)
	return report
}

// OmittedTroubled returns the number of queues with a problem beyond the limit. The most severe come
// first, so that there are some only if all listed ones have a problem.
func (r *Report) OmittedTroubled() int { return max(0, r.Troubled-len(r.Queues)) }

// addSteps adds the attempts of the last steps to the queues that had any.
func (r *Report) addSteps(steps []Step) {
	queues := make(map[int64]*Queue, len(r.Queues))
	for i := range r.Queues {
		queues[r.Queues[i].Subscription.ID] = &r.Queues[i]
	}
	last := r.Period.Last / StepMinutes
	first := max(r.Period.QueueFirst/StepMinutes, last-maxSteps+1)
	for _, s := range steps {
		q := queues[s.Subscription]
		if q == nil || s.Step < first || s.Step > last {
			continue
		}
		if q.Attempts == nil {
			q.Attempts = make([]int64, last-first+1)
		}
		q.Attempts[s.Step-first] += s.Attempts
	}
}
