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
		const span = 10
		var s series
		minute, latest := int64(1000), int64(0)
		noted := make(map[int64]Traffic)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			minute += rapid.SampledFrom([]int64{0, 0, 1, 1, 2, 7, 15, -1}).Draw(t, "step")
			latest = max(latest, minute)
			status := rapid.SampledFrom([]webhook.Status{webhook.Successful, webhook.RetryPending, webhook.Failed}).Draw(t, "status")
			c := s.at(minute, span)
			c.addStatus(status)
			c.took[bucketOf(time.Second)]++
			traffic := noted[latest] // a clock that goes back is ignored
			traffic.addStatus(status)
			noted[latest] = traffic
			checkSeries(t, s, noted, minute, latest, span)
		}
	})
}

func checkSeries(t *rapid.T, s series, noted map[int64]Traffic, minute, latest, span int64) {
	if len(s) > int(span) {
		t.Fatalf("%d minutes are kept of %d", len(s), span)
	}
	for window := int64(1); window <= span; window++ {
		var want Traffic
		var each []Traffic
		for m := latest - window + 1; m <= latest; m++ {
			want.add(noted[m])
			each = append(each, noted[m])
		}
		got, took := s.total(minute, window)
		if n := uint64(want.Delivered + want.Failed + want.GivenUp); got != want || took.count() != n {
			t.Fatalf("the last %d minutes: %+v and %d attempts, want %+v", window, got, took.count(), want)
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
	if got := s.minutes(102, 5); got[2].Delivered != 3 || len(got) != 5 {
		t.Errorf("%+v", got)
	}
}

// TestQuantileMatchesBucketOfExactValue compares an estimate with the exact value: both
// are in the same bucket.
func TestQuantileMatchesBucketOfExactValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) time.Duration {
			return time.Duration(rapid.Int64Range(0, int64(3*time.Hour)).Draw(t, "d")) >> rapid.IntRange(0, 40).Draw(t, "shift")
		}), 1, 200).Draw(t, "all")
		var s histogramSum
		for _, d := range all {
			s[bucketOf(d)]++
		}
		slices.Sort(all)
		for _, part := range []float64{0.01, 0.5, 0.95, 0.99, 1} {
			exact := all[int(math.Ceil(part*float64(len(all))))-1]
			from, to := bucketBounds(bucketOf(exact))
			if guess := s.quantile(part); guess < from || guess > to {
				t.Fatalf("%v of %v: %v, want within %v and %v", part, all, guess, from, to)
			}
		}
	})
}

func TestQuantileWhenEmpty(t *testing.T) {
	var s histogramSum
	if q := s.latency(); q != (wire.Latency{}) {
		t.Errorf("%+v", q)
	}
}

func TestBuckets(t *testing.T) {
	for d, want := range map[time.Duration]int{
		0: 0, time.Millisecond: 0, time.Millisecond + 1: 1, 2 * time.Hour: bucketCount - 2, 2*time.Hour + 1: bucketCount - 1, -time.Second: 0,
	} {
		if got := bucketOf(d); got != want {
			t.Errorf("%v is in bucket %d, want %d", d, got, want)
		}
	}
	for i := 1; i < len(bounds); i++ {
		if bounds[i] <= bounds[i-1] {
			t.Errorf("bound %v is behind %v", bounds[i], bounds[i-1])
		}
	}
}

// TestClassOf classifies every outcome.
func TestClassOf(t *testing.T) {
	for name, o := range map[string][]webhook.Outcome{
		"ok": {{Code: 200}, {Code: 299}}, "3xx": {{Code: 101}, {Code: 301}, {Code: 399}}, "4xx": {{Code: 400}, {Code: 410}, {Code: 499}},
		"5xx": {{Code: 500}, {Code: 599}, {Code: 999}}, "timeout": {{Cause: webhook.TimedOut}}, "forbidden": {{Cause: webhook.TargetForbidden}},
		"network": {{Cause: webhook.ConnectionRefused}, {Cause: webhook.ConnectionReset}, {Cause: webhook.NameNotFound}, {Cause: webhook.TLSFailed}, {Cause: webhook.InvalidResponse}, {Cause: webhook.NetworkFailed}},
	} {
		for _, o := range o {
			if got := outcomeClasses[classOf(o)]; got != name {
				t.Errorf("%+v is %s, want %s", o, got, name)
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
	all := make(map[int64]*webhook.Subscription)
	for i := range int64(subs) {
		all[i] = &webhook.Subscription{ID: i, GUID: fmt.Sprint(i)}
	}
	event := &webhook.Event{AddedAt: testStart}
	for i := range int64(batchSize) {
		m := &webhook.Message{ID: i, Subscription: i % int64(subs), Event: event}
		results = append(results, webhook.AttemptResult{Message: m, After: webhook.State{Status: webhook.Successful, Attempts: 1},
			Outcome: webhook.Outcome{Code: 200, Began: testStart, Took: time.Duration(i) * time.Millisecond}})
	}
	return results, webhook.NewSnapshot(1, all)
}

// TestIdleSubscriptionsArePruned: subscriptions without recent attempts and deleted
// ones use no memory.
func TestIdleSubscriptionsArePruned(t *testing.T) {
	var f Recorder
	l, subs := manyQueues(100)
	note := func(minute int64, results []webhook.AttemptResult, subs *webhook.Snapshot) {
		f.Record(time.Unix(60*minute, 0), len(results), len(results), results, subs)
	}
	note(1000, l, subs)
	if len(f.subscriptions) != 100 {
		t.Fatalf("%d subscriptions are retained", len(f.subscriptions))
	}
	single, few := manyQueues(1)
	note(1030, single, subs)
	if len(f.subscriptions) != 100 {
		t.Errorf("after half an hour %d are retained, want 100", len(f.subscriptions))
	}
	note(1000+queueSpan, single, subs)
	if len(f.subscriptions) != 1 {
		t.Errorf("after an hour %d are retained, want 1", len(f.subscriptions))
	}
	note(1001+queueSpan, l, subs)
	note(1002+queueSpan, single, few)
	if len(f.subscriptions) != 1 {
		t.Errorf("%d deleted subscriptions are retained", len(f.subscriptions)-1)
	}
	for minute := range int64(2 * daySpan) {
		note(2000+minute, single, few)
	}
	if n, m := len(f.all), len(f.subscriptions[0].series); n != daySpan || m != queueSpan {
		t.Errorf("%d minutes are kept of all, %d of one, want %d and %d", n, m, daySpan, queueSpan)
	}
}

// TestRecordDoesNotAllocate covers calls within one minute: memory that grows with
// minutes is bounded.
func TestRecordDoesNotAllocate(t *testing.T) {
	var f Recorder
	l, subs := manyQueues(50)
	record := func() { f.Record(time.Unix(60*1000, 0), len(l), len(l), l, subs) }
	record()
	if n := testing.AllocsPerRun(100, record); n > 0 {
		t.Errorf("%v allocations for a batch", n)
	}
}

// BenchmarkRecord counts batches of events with one message and one attempt each. The
// metric is the time per message.
func BenchmarkRecord(b *testing.B) {
	for _, subs := range []int{1, 100, batchSize} {
		b.Run(fmt.Sprint(subs), func(b *testing.B) {
			f := NewRecorder(testStart)
			l, s := manyQueues(subs)
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				f.Record(time.Now(), len(l), len(l), l, s)
				n += batchSize
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/message")
		})
	}
}

// BenchmarkReport computes reports with many subscriptions, each with traffic in every
// minute of the last hour.
func BenchmarkReport(b *testing.B) {
	for _, subs := range []int{100, 10_000} {
		b.Run(fmt.Sprint(subs), func(b *testing.B) {
			f, at := NewRecorder(testStart), time.Now()
			now := minuteOf(at)
			var queues []Queue
			for i := range int64(subs) {
				queues = append(queues, Queue{Subscription: &webhook.Subscription{ID: i, Enabled: true, SubscriberInfo: webhook.SubscriberInfo{Enabled: true}}})
				to := f.subscription(i)
				for m := range int64(queueSpan) {
					to.at(now-queueSpan+1+m, queueSpan).addStatus(webhook.Successful)
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				if s := f.Report(at, 60, 500, slices.Clone(queues)); len(s.Queues)+s.Omitted != subs {
					b.Fatalf("%d queues and %d omitted", len(s.Queues), s.Omitted)
				}
			}
		})
	}
}
