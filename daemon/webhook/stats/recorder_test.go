package stats

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/webhook"
)

// TestSeriesTotals compares a series with a list of everything counted, with clocks
// that stop, advance, leap and go back.
func TestSeriesTotals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const span = 10 // minutes
		statuses := []webhook.Status{webhook.Successful, webhook.RetryPending, webhook.Failed}
		var s series
		minute, latest := int64(1000), int64(0)
		noted := make(map[int64]Traffic) // by minute
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			minute += rapid.SampledFrom([]int64{0, 0, 1, 1, 2, 7, 15, -1}).Draw(t, "step")
			latest = max(latest, minute)
			status := rapid.SampledFrom(statuses).Draw(t, "status")
			counted := s.at(minute, span)
			counted.addStatus(status)
			counted.took[bucketOf(time.Second)]++

			traffic := noted[latest] // a clock that goes back is ignored
			traffic.addStatus(status)
			noted[latest] = traffic
			checkSeries(t, s, noted, minute, latest, span)
		}
	})
}

// checkSeries compares the totals of all windows, and their minutes, with the traffic that was noted.
func checkSeries(t *rapid.T, s series, noted map[int64]Traffic, minute, latest, span int64) {
	if len(s) > int(span) {
		t.Fatalf("%d minutes are kept, want at most %d", len(s), span)
	}
	for window := int64(1); window <= span; window++ {
		var want Traffic
		var each []Traffic
		for m := latest - window + 1; m <= latest; m++ {
			want.add(noted[m])
			each = append(each, noted[m])
		}
		got, took := s.total(minute, window)
		attempts := uint64(want.Delivered + want.Failed + want.GivenUp)
		if got != want || took.count() != attempts {
			t.Fatalf("the last %d minutes: %+v and %d attempts, want %+v and %d", window, got, took.count(), want, attempts)
		}
		if got := s.minutes(minute, window); !slices.Equal(got, each) {
			t.Fatalf("the last %d minutes: %+v, want %+v", window, got, each)
		}
	}
}

// TestSeriesExpires reads minutes after the last one with traffic.
func TestSeriesExpires(t *testing.T) {
	var s series
	s.at(100, 10).Delivered = 3
	for minute, want := range map[int64]uint32{100: 3, 104: 3, 105: 0, 500: 0} {
		if got, _ := s.total(minute, 5); got.Delivered != want {
			t.Errorf("at %d: %+v, want %d delivered", minute, got, want)
		}
	}
	var delivered []uint32
	for _, m := range s.minutes(102, 5) {
		delivered = append(delivered, m.Delivered)
	}
	if want := []uint32{0, 0, 3, 0, 0}; !slices.Equal(delivered, want) {
		t.Errorf("deliveries in the minutes 98 to 102: %v, want %v", delivered, want)
	}
}

// TestQuantileMatchesBucketOfExactValue compares an estimate with the exact value: both
// are in the same bucket.
func TestQuantileMatchesBucketOfExactValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		duration := rapid.Custom(func(t *rapid.T) time.Duration { // of any magnitude
			ns := rapid.Int64Range(0, int64(3*time.Hour)).Draw(t, "nanoseconds")
			return time.Duration(ns >> rapid.IntRange(0, 40).Draw(t, "shift"))
		})
		durations := rapid.SliceOfN(duration, 1, 200).Draw(t, "durations")
		var s histogramSum
		for _, d := range durations {
			s[bucketOf(d)]++
		}
		slices.Sort(durations)
		for _, part := range []float64{0.01, 0.5, 0.95, 0.99, 1} {
			rank := int(math.Ceil(part * float64(len(durations))))
			exact := durations[rank-1]
			from, to := bucketBounds(bucketOf(exact))
			if got := s.quantile(part); got < from || got > to {
				t.Fatalf("the quantile %v of %v is %v, want within %v and %v", part, durations, got, from, to)
			}
		}
	})
}

// TestQuantileWhenEmpty checks the quantiles without any attempt.
func TestQuantileWhenEmpty(t *testing.T) {
	var s histogramSum
	if got := s.latency(); got != (wire.Latency{}) {
		t.Errorf("the quantiles of nothing are %+v, want zero", got)
	}
}

// TestBuckets checks the first and the last buckets, and that the bounds ascend.
func TestBuckets(t *testing.T) {
	for d, want := range map[time.Duration]int{
		-time.Second:         0,
		0:                    0,
		time.Millisecond:     0,
		time.Millisecond + 1: 1,
		2 * time.Hour:        bucketCount - 2,
		2*time.Hour + 1:      bucketCount - 1,
	} {
		if got := bucketOf(d); got != want {
			t.Errorf("%v is in bucket %d, want %d", d, got, want)
		}
	}
	for i := 1; i < len(bounds); i++ {
		if bounds[i] <= bounds[i-1] {
			t.Errorf("bound %v follows %v, want ascending bounds", bounds[i], bounds[i-1])
		}
	}
}

// TestClassOf classifies every outcome.
func TestClassOf(t *testing.T) {
	for want, outcomes := range map[string][]webhook.Outcome{
		"ok":        {{Code: 200}, {Code: 299}},
		"3xx":       {{Code: 101}, {Code: 301}, {Code: 399}},
		"4xx":       {{Code: 400}, {Code: 410}, {Code: 499}},
		"5xx":       {{Code: 500}, {Code: 599}, {Code: 999}},
		"timeout":   {{Cause: webhook.TimedOut}},
		"forbidden": {{Cause: webhook.TargetForbidden}},
		"network": {
			{Cause: webhook.ConnectionRefused},
			{Cause: webhook.ConnectionReset},
			{Cause: webhook.NameNotFound},
			{Cause: webhook.TLSFailed},
			{Cause: webhook.InvalidResponse},
			{Cause: webhook.NetworkFailed},
		},
	} {
		for _, o := range outcomes {
			if got := outcomeClasses[classOf(o)]; got != want {
				t.Errorf("%+v is %s, want %s", o, got, want)
			}
		}
	}
}

// testStart is the time at which these tests start.
var testStart = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// batchSize is the number of messages in a batch of these tests.
const batchSize = 512

// manyQueues returns a batch of attempts for the given number of subscriptions.
func manyQueues(subs int) ([]webhook.AttemptResult, *webhook.Snapshot) {
	var results []webhook.AttemptResult
	byID := make(map[int64]*webhook.Subscription)
	for i := range int64(subs) {
		byID[i] = &webhook.Subscription{ID: i, GUID: fmt.Sprint(i)}
	}
	event := &webhook.Event{AddedAt: testStart}
	for i := range int64(batchSize) {
		m := &webhook.Message{ID: i, Subscription: i % int64(subs), Event: event}
		results = append(results, webhook.AttemptResult{
			Message: m,
			After:   webhook.State{Status: webhook.Successful, Attempts: 1},
			Outcome: webhook.Outcome{Code: 200, Began: testStart, Took: time.Duration(i) * time.Millisecond},
		})
	}
	return results, webhook.NewSnapshot(1, byID)
}

// TestIdleSubscriptionsArePruned: subscriptions without recent attempts and deleted
// ones use no memory.
func TestIdleSubscriptionsArePruned(t *testing.T) {
	var r Recorder
	record := func(minute int64, results []webhook.AttemptResult, subs *webhook.Snapshot) {
		r.Record(time.Unix(60*minute, 0), len(results), len(results), results, subs)
	}
	expectRetained := func(when string, want int) {
		t.Helper()
		if got := len(r.subscriptions); got != want {
			t.Errorf("%s: %d subscriptions are retained, want %d", when, got, want)
		}
	}
	results, subs := manyQueues(100)
	single, onlyOne := manyQueues(1)

	record(1000, results, subs)
	expectRetained("at first", 100)
	record(1030, single, subs)
	expectRetained("after half an hour", 100)
	record(1000+queueSpan, single, subs)
	expectRetained("after an hour", 1)

	record(1001+queueSpan, results, subs)
	record(1002+queueSpan, single, onlyOne)
	expectRetained("after the others were deleted", 1)

	for minute := range int64(2 * daySpan) {
		record(2000+minute, single, onlyOne)
	}
	total, perQueue := len(r.all), len(r.subscriptions[0].series)
	if total != daySpan || perQueue != queueSpan {
		t.Errorf("%d minutes are kept of all, %d of one, want %d and %d", total, perQueue, daySpan, queueSpan)
	}
}

// TestRecordDoesNotAllocate covers calls within one minute: memory that grows with
// minutes is bounded.
func TestRecordDoesNotAllocate(t *testing.T) {
	var r Recorder
	results, subs := manyQueues(50)
	record := func() { r.Record(time.Unix(60*1000, 0), len(results), len(results), results, subs) }
	record()
	if n := testing.AllocsPerRun(100, record); n > 0 {
		t.Errorf("a batch takes %v allocations, want none", n)
	}
}

// BenchmarkRecord counts batches of events with one message and one attempt each. The
// metric is the time per message.
func BenchmarkRecord(b *testing.B) {
	for _, subs := range []int{1, 100, batchSize} {
		b.Run(fmt.Sprint(subs), func(b *testing.B) {
			r := NewRecorder(testStart)
			results, snapshot := manyQueues(subs)
			b.ReportAllocs()
			messages := 0
			for b.Loop() {
				r.Record(time.Now(), len(results), len(results), results, snapshot)
				messages += batchSize
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(messages), "ns/message")
		})
	}
}

// BenchmarkReport computes reports with many subscriptions, each with traffic in every
// minute of the last hour.
func BenchmarkReport(b *testing.B) {
	for _, subs := range []int{100, 10_000} {
		b.Run(fmt.Sprint(subs), func(b *testing.B) {
			r := NewRecorder(testStart)
			now := time.Now()
			var queues []Queue
			for i := range int64(subs) {
				queues = append(queues, Queue{Subscription: &webhook.Subscription{
					ID:             i,
					Enabled:        true,
					SubscriberInfo: webhook.SubscriberInfo{Enabled: true},
				}})
				series := r.subscription(i)
				for m := range int64(queueSpan) {
					series.at(minuteOf(now)-queueSpan+1+m, queueSpan).addStatus(webhook.Successful)
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				report := r.Report(now, 60, 500, slices.Clone(queues))
				if len(report.Queues)+report.Omitted != subs {
					b.Fatalf("%d queues and %d omitted, want %d together", len(report.Queues), report.Omitted, subs)
				}
			}
		})
	}
}
