package stats

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/webhook"
)

// TestQuantileMatchesBucketOfExactValue compares an estimate with the exact value: both
// are in the same bucket.
func TestQuantileMatchesBucketOfExactValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		duration := rapid.Custom(func(t *rapid.T) time.Duration { // of any magnitude
			ns := rapid.Int64Range(0, int64(longestTook)).Draw(t, "nanoseconds")
			return time.Duration(ns >> rapid.IntRange(0, 40).Draw(t, "shift"))
		})
		durations := rapid.SliceOfN(duration, 1, 200).Draw(t, "durations")
		var s Took
		for _, d := range durations {
			s[TookBucket(d)]++
		}
		slices.Sort(durations)
		for _, part := range []float64{0.01, 0.5, 0.95, 0.99, 1} {
			rank := int(math.Ceil(part * float64(len(durations))))
			exact := durations[rank-1]
			shortest, longest := tookRange(TookBucket(exact))
			if got := s.quantile(part); got < shortest || got > longest {
				t.Fatalf("the quantile %v of %v is %v, want within %v and %v", part, durations, got, shortest, longest)
			}
		}
	})
}

// TestQuantileWhenEmpty checks the quantiles without any attempt.
func TestQuantileWhenEmpty(t *testing.T) {
	var s Took
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
	expectAscending(t, bounds[:])
}

// TestTookBuckets checks the first and the last classes of durations, that the bounds ascend, and
// that a median of any duration up to a minute differs at most by a factor of four.
func TestTookBuckets(t *testing.T) {
	for d, want := range map[time.Duration]int{
		-time.Second:         0,
		0:                    0,
		time.Millisecond:     0,
		time.Millisecond + 1: 1,
		15 * time.Second:     TookBuckets - 2,
		15*time.Second + 1:   TookBuckets - 1,
		time.Hour:            TookBuckets - 1,
	} {
		if got := TookBucket(d); got != want {
			t.Errorf("%v is in class %d, want %d", d, got, want)
		}
	}
	expectAscending(t, tookBounds[:])
	for d := time.Millisecond; d <= longestTook; d += d / 10 {
		var took Took
		took[TookBucket(d)] = 1000
		ratio := float64(took.quantile(0.5)) / float64(d)
		if ratio < 0.25 || ratio > 4 {
			t.Errorf("the median of %v is estimated as %v", d, took.quantile(0.5))
		}
	}
}

// expectAscending checks the order of bounds.
func expectAscending(t *testing.T, bounds []time.Duration) {
	t.Helper()
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

// manyResults returns a batch of attempts for the given number of subscriptions.
func manyResults(subs int) []webhook.AttemptResult {
	var results []webhook.AttemptResult
	event := &webhook.Event{AddedAt: testStart}
	for i := range int64(batchSize) {
		m := &webhook.Message{ID: i, Subscription: i % int64(subs), Event: event}
		results = append(results, webhook.AttemptResult{
			Message: m,
			After:   webhook.State{Status: webhook.Successful, Attempts: 1},
			Outcome: webhook.Outcome{Code: 200, Began: testStart, Took: time.Duration(i) * time.Millisecond},
		})
	}
	return results
}

// TestIncrements checks the increments of the counts of a minute by results.
func TestIncrements(t *testing.T) {
	event := &webhook.Event{AddedAt: testStart}
	message := &webhook.Message{Subscription: 7, Event: event}
	began := testStart.Add(50 * time.Second)
	const took = 12 * time.Second
	ended := MinuteOf(testStart) + 1
	for name, c := range map[string]struct {
		code      int
		after     webhook.State
		want      Traffic
		wantDelay bool
	}{
		"delivered": {200, webhook.State{Status: webhook.Successful, Attempts: 1}, Traffic{Delivered: 1}, true},
		"retried":   {500, webhook.State{Status: webhook.RetryPending, Attempts: 1}, Traffic{Failed: 1}, false},
		"given up":  {500, webhook.State{Status: webhook.Failed, Attempts: 9}, Traffic{GivenUp: 1}, false},
		"delivered by the second attempt": {
			200, webhook.State{Status: webhook.Successful, Attempts: 2}, Traffic{Delivered: 1}, false,
		},
		"a replay that failed": {
			500, webhook.State{Status: webhook.Successful, Attempts: 2}, Traffic{Failed: 1}, false,
		},
	} {
		r := webhook.AttemptResult{
			Message: message,
			After:   c.after,
			Outcome: webhook.Outcome{Code: c.code, Began: began, Took: took},
		}
		want := Increment{
			Key:      Key{Minute: ended, Subscription: 7},
			Traffic:  c.want,
			Bucket:   TookBucket(took),
			IsFailed: c.want.Delivered == 0,
		}
		if got := OfAttempt(&r); got != want {
			t.Errorf("%s: adds %+v, want %+v", name, got, want)
		}
		delay, ok := OfDelay(&r)
		wantDelay := Increment{Key: Key{Minute: ended, Subscription: Published}, Bucket: TookBucket(62 * time.Second)}
		if ok != c.wantDelay || ok && delay != wantDelay {
			t.Errorf("%s: adds the delay %+v (%v), want %+v (%v)", name, delay, ok, wantDelay, c.wantDelay)
		}
	}
}

// TestRecordDoesNotAllocate counts a batch.
func TestRecordDoesNotAllocate(t *testing.T) {
	r := NewRecorder()
	results := manyResults(50)
	if n := testing.AllocsPerRun(100, func() { r.Record(len(results), len(results), results) }); n > 0 {
		t.Errorf("a batch takes %v allocations, want none", n)
	}
}

// BenchmarkRecord counts batches of events with one message and one attempt each. The
// metric is the time per message.
func BenchmarkRecord(b *testing.B) {
	r := NewRecorder()
	results := manyResults(100)
	b.ReportAllocs()
	messages := 0
	for b.Loop() {
		r.Record(len(results), len(results), results)
		messages += batchSize
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(messages), "ns/message")
}

// manyQueues returns queues of subscriptions with an ID from 1 on, and activity with traffic of
// each.
func manyQueues(n int) ([]Queue, Activity) {
	var queues []Queue
	f := Activity{Subscriptions: make(map[int64]*Count)}
	for id := range int64(n) {
		queues = append(queues, Queue{Subscription: &webhook.Subscription{
			ID:             id + 1,
			Enabled:        true,
			SubscriberInfo: webhook.SubscriberInfo{Enabled: true},
		}})
		f.Subscriptions[id+1] = &Count{Traffic: Traffic{Delivered: id + 1}, Took: Took{3: id + 1}}
	}
	return queues, f
}

// TestTroubledBeyondTheLimit checks how many of the omitted queues have a problem.
func TestTroubledBeyondTheLimit(t *testing.T) {
	for limit, want := range map[int]int{1: 2, 2: 1, 3: 0, 4: 0, 9: 0} {
		queues, activity := manyQueues(5)
		for _, i := range []int{0, 2, 4} {
			queues[i].FailingSince = testStart
		}
		report := NewReport(testStart, LastMinutes(testStart, 60), activity, limit, queues)
		if got := report.OmittedTroubled(); got != want {
			t.Errorf("%d of the queues beyond %d are in trouble, want %d", got, limit, want)
		}
	}
}

// TestReport checks the totals, the minutes and the order of the queues of a report.
func TestReport(t *testing.T) {
	p := LastMinutes(testStart, 90)
	queues, activity := manyQueues(5)
	activity.Minutes = []Minute{
		{Minute: p.First, Traffic: Traffic{Events: 1, Failed: 2}},
		{Minute: p.Last, Traffic: Traffic{Messages: 3, Delivered: 4}},
	}
	failure := &wire.Failed{HTTPCode: 503}
	activity.Subscriptions[2] = &Count{Traffic: Traffic{Failed: 2}, Last: failure}
	delete(activity.Subscriptions, 5)
	step := p.Last / StepMinutes
	activity.Steps = []Step{
		{Subscription: 2, Step: step - maxSteps, Attempts: 100}, // too old
		{Subscription: 2, Step: step - 1, Attempts: 1},
		{Subscription: 2, Step: step, Attempts: 2},
		{Subscription: 2, Step: step, Attempts: 3}, // of the recent part
		{Subscription: 9, Step: step, Attempts: 4}, // removed
	}

	report := NewReport(testStart, p, activity, 2, queues)
	if want := (Traffic{Events: 1, Messages: 3, Delivered: 4, Failed: 2}); report.Total != want {
		t.Errorf("the total is %+v, want %+v", report.Total, want)
	}
	last := len(report.Minutes) - 1
	if last != 89 || report.Minutes[0].Failed != 2 || report.Minutes[last].Delivered != 4 {
		t.Errorf("the minutes are %+v, want 90 with traffic in the first and the last one", report.Minutes)
	}
	if p.QueueMinutes() != 60 {
		t.Errorf("%d minutes are counted for each subscription, want 60", p.QueueMinutes())
	}
	if len(report.Queues) != 2 || report.Omitted != 2 {
		t.Fatalf("the report has %d queues and omits %d, want 2 and 2", len(report.Queues), report.Omitted)
	}
	failing, busiest := report.Queues[0], report.Queues[1]
	if failing.Subscription.ID != 2 || failing.Last != failure {
		t.Errorf("the first queue is %+v, want the failing one", failing)
	}
	if want := []int64{0, 0, 0, 0, 0, 0, 0, 0, 1, 5}; !slices.Equal(failing.Attempts, want) {
		t.Errorf("the failing queue has the attempts %v, want %v", failing.Attempts, want)
	}
	if busiest.Attempts != nil {
		t.Errorf("the second queue has the attempts %v, want none", busiest.Attempts)
	}
	if busiest.Subscription.ID != 4 || busiest.P99 == 0 {
		t.Errorf("the second queue is %+v, want the busiest one with a P99", busiest)
	}
}

// TestActivityOfParts splits periods, and adds the activity of their parts.
func TestActivityOfParts(t *testing.T) {
	for _, minutes := range []int{1, 2, 3, 60, 61, 1440} {
		p := LastMinutes(testStart, minutes)
		settled, recent := p.Split()
		if settled.First != p.First || settled.Last+1 != recent.First || recent.Last != p.Last {
			t.Errorf("%d minutes are split into %+v and %+v", minutes, settled, recent)
		}
		if recent.Minutes() != min(minutes, settledAfter) || recent.QueueFirst != recent.First {
			t.Errorf("of %d minutes the recent ones are %+v, want %d", minutes, recent, min(minutes, settledAfter))
		}
	}

	before := &wire.Failed{HTTPCode: 503}
	settled := Activity{
		Minutes:  []Minute{{Minute: 1, Traffic: Traffic{Events: 1}}},
		Attempts: Took{1: 2},
		Delays:   Took{2: 1},
		Subscriptions: map[int64]*Count{
			7: {Traffic: Traffic{Delivered: 1, Failed: 1}, Took: Took{1: 2}, Last: before},
		},
	}
	recent := Activity{
		Since:    testStart,
		Minutes:  []Minute{{Minute: 2, Traffic: Traffic{Events: 2}}},
		Attempts: Took{1: 2, 3: 1},
		Subscriptions: map[int64]*Count{
			7: {Traffic: Traffic{Delivered: 2}, Took: Took{1: 2}},
			8: {Traffic: Traffic{GivenUp: 1}, Took: Took{3: 1}},
		},
	}
	want := Activity{
		Since:    testStart,
		Minutes:  []Minute{{Minute: 1, Traffic: Traffic{Events: 1}}, {Minute: 2, Traffic: Traffic{Events: 2}}},
		Attempts: Took{1: 4, 3: 1},
		Delays:   Took{2: 1},
		Subscriptions: map[int64]*Count{
			7: {Traffic: Traffic{Delivered: 3, Failed: 1}, Took: Took{1: 4}, Last: before},
			8: {Traffic: Traffic{GivenUp: 1}, Took: Took{3: 1}},
		},
	}
	for range 2 { // the settled ones are not changed
		if got := settled.Plus(recent); !reflect.DeepEqual(got, want) {
			t.Errorf("the sum is %+v, want %+v", got, want)
		}
	}
}

// BenchmarkReport computes reports with many subscriptions.
func BenchmarkReport(b *testing.B) {
	for _, subs := range []int{100, 10_000} {
		b.Run(fmt.Sprint(subs), func(b *testing.B) {
			queues, activity := manyQueues(subs)
			p := LastMinutes(testStart, 60)
			b.ReportAllocs()
			for b.Loop() {
				report := NewReport(testStart, p, activity, 500, slices.Clone(queues))
				if len(report.Queues)+report.Omitted != subs {
					b.Fatalf("%d queues and %d omitted, want %d together", len(report.Queues), report.Omitted, subs)
				}
			}
		})
	}
}
