package webhooktest

import (
	"errors"
	"reflect"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/delivery"
	"github.com/bizhook/whd/daemon/webhook/stats"
)

// noonMinute is the minute of noon.
var noonMinute = stats.MinuteOf(noon)

// activity returns the counts of the hour that ends some minutes after noon.
func (h hooks) activity(after int64) stats.Activity {
	h.t.Helper()
	f, err := h.Engine.Activity(h.t.Context(), stats.LastMinutes(stats.StartOf(noonMinute+after), 60))
	h.check(err)
	return f
}

// expectTraffic compares the traffic of all minutes.
func (h hooks) expectTraffic(when string, want stats.Traffic) {
	h.t.Helper()
	var got stats.Traffic
	for _, m := range h.activity(10).Minutes {
		got.Add(m.Traffic)
	}
	if got != want {
		h.t.Errorf("%s: %+v was counted, want %+v", when, got, want)
	}
}

// expectCount compares the traffic of a subscription, and the number of its durations.
func (h hooks) expectCount(when string, sub webhook.Subscription, want stats.Traffic) {
	h.t.Helper()
	count := h.activity(10).Subscriptions[sub.ID]
	if count == nil {
		count = new(stats.Count)
	}
	attempts := want.Delivered + want.Failed + want.GivenUp
	if count.Traffic != want || sumOf(count.Took) != attempts {
		h.t.Errorf("%s: %+v was counted of the subscription, with %d durations, want %+v and %d",
			when, count.Traffic, sumOf(count.Took), want, attempts)
	}
}

func sumOf(took stats.Took) (n int64) {
	for _, in := range took {
		n += in
	}
	return n
}

// tookOf returns the counts of durations.
func tookOf(durations ...time.Duration) (took stats.Took) {
	for _, d := range durations {
		took[stats.TookBucket(d)]++
	}
	return took
}

// minutes checks the additions of batches to their minutes, for all daemons together.
func minutes(h hooks) {
	a, b := h.subscribe(), h.subscribe()
	first, second := h.lease(time.Hour), h.lease(time.Hour)
	sent := h.send(first, a.ID, 3)
	others := h.send(second, b.ID, 1)
	retried := attempt(sent[1], 503, webhook.RetryPending, noon.Add(time.Hour))
	givenUp := attempt(sent[2], 0, webhook.Failed, time.Time{})
	givenUp.Cause = webhook.TimedOut
	givenUp.Began = noon.Add(2 * time.Minute)
	givenUp.Took = 15 * time.Second
	for _, batch := range []delivery.Batch{
		{
			Leases: []delivery.Lease{first},
			Home:   first.Partition,
			Outcomes: []webhook.AttemptResult{
				attempt(sent[0], 200, webhook.Successful, time.Time{}),
				retried,
				givenUp,
			},
		},
		{
			Leases:   []delivery.Lease{second},
			Home:     second.Partition,
			Outcomes: []webhook.AttemptResult{attempt(others[0], 200, webhook.Successful, time.Time{})},
		},
	} {
		batch.Version = h.version()
		h.check(h.Engine.Write(h.t.Context(), batch))
	}

	f := h.activity(2)
	byMinute := make(map[int64]stats.Traffic)
	for _, m := range f.Minutes {
		byMinute[m.Minute-noonMinute] = m.Traffic
	}
	want := map[int64]stats.Traffic{
		0: {Events: 4, Messages: 4, Delivered: 2, Failed: 1},
		2: {GivenUp: 1},
	}
	if !reflect.DeepEqual(byMinute, want) {
		h.t.Errorf("by minute after noon %+v was counted, want %+v", byMinute, want)
	}
	h.expectCount("the failing one", a, stats.Traffic{Delivered: 1, Failed: 1, GivenUp: 1})
	h.expectCount("the other one", b, stats.Traffic{Delivered: 1})

	const usual = 20 * time.Millisecond
	durations := tookOf(usual, usual, usual, 15*time.Second)
	delays := tookOf(usual, usual)
	if f.Attempts != durations || f.Delays != delays {
		h.t.Errorf("the durations are %v, the delays %v, want %v and %v", f.Attempts, f.Delays, durations, delays)
	}
	step := noonMinute / stats.StepMinutes
	steps := map[stats.Step]bool{
		{Subscription: a.ID, Step: step, Attempts: 3}: true,
		{Subscription: b.ID, Step: step, Attempts: 1}: true,
	}
	if len(f.Steps) != len(steps) || !steps[f.Steps[0]] || !steps[f.Steps[1]] {
		h.t.Errorf("the steps are %+v, want %+v", f.Steps, steps)
	}
	last := wire.Failed{At: wire.Timestamp(givenUp.Began.Add(givenUp.Took)), Message: givenUp.Reason()}
	if got := f.Subscriptions[a.ID].Last; got == nil || *got != last {
		h.t.Errorf("the last failed attempt is %+v, want %+v", got, last)
	}
	earlier := wire.Failed{At: wire.Timestamp(noon.Add(retried.Took)), HTTPCode: 503, Message: retried.Reason()}
	if got := h.activity(1).Subscriptions[a.ID].Last; got == nil || *got != earlier {
		h.t.Errorf("two minutes earlier the last failed attempt is %+v, want %+v", got, earlier)
	}
	if got := f.Subscriptions[b.ID].Last; got != nil {
		h.t.Errorf("the last failed attempt of the other subscription is %+v, want none", got)
	}
}

// minutesOfPeriods checks that a longer period has all minutes, and each subscription those of the
// last hour.
func minutesOfPeriods(h hooks) {
	sub := h.subscribe()
	lease := h.lease(time.Hour)
	sent := h.send(lease, sub.ID, 2)
	late := attempt(sent[1], 200, webhook.Successful, time.Time{})
	late.Began = noon.Add(3 * time.Hour)
	late.Took = time.Second
	h.record(lease, attempt(sent[0], 200, webhook.Successful, time.Time{}), late)

	day := stats.LastMinutes(noon.Add(3*time.Hour), 24*60)
	f, err := h.Engine.Activity(h.t.Context(), day)
	h.check(err)
	attempts := tookOf(20*time.Millisecond, time.Second)
	if len(f.Minutes) != 2 || f.Attempts != attempts || sumOf(f.Delays) != 2 {
		h.t.Errorf("the day has the minutes %+v, durations %v and delays %v, want 2, %v and 2",
			f.Minutes, f.Attempts, f.Delays, attempts)
	}
	if got := f.Subscriptions[sub.ID].Delivered; got != 1 {
		h.t.Errorf("%d deliveries of the subscription were counted in the last hour, want 1", got)
	}
	if earliest := stats.StartOf(day.Last).Add(-stats.Kept); f.Since.Before(earliest) {
		h.t.Errorf("counting began at %v, want at most %v before", f.Since, stats.Kept)
	}
}

// minutesOnce checks that only stored rows are counted, and each once.
func minutesOnce(h hooks) {
	ctx := h.t.Context()
	sub, removedSub := h.subscribe(), h.subscribe()
	lease := h.lease(time.Hour)

	b := h.batch(lease)
	sent := h.publish(&b, noon, "{}", sub.ID)
	sent = append(sent, h.publish(&b, noon, "{}", sub.ID, removedSub.ID)...)
	for range 2 {
		h.check(h.Engine.Write(ctx, b))
	}
	want := stats.Traffic{Events: 2, Messages: 3}
	h.expectTraffic("published", want)

	retried := attempt(sent[0], 500, webhook.RetryPending, noon.Add(time.Minute))
	second := retried
	second.After = webhook.State{Status: webhook.Successful, Attempts: 2}
	second.Code = 200
	want.Failed, want.Delivered = 1, 1
	for range 2 {
		h.record(lease, retried, second, second)
		h.expectTraffic("attempted twice", want)
	}
	h.expectCount("attempted twice", sub, stats.Traffic{Failed: 1, Delivered: 1})

	_, err := h.Admin.RemoveMessage(ctx, addressOf(sub, sent[1]))
	h.check(err)
	_, err = h.Admin.RemoveSubscription(ctx, removedSub.Subscriber, removedSub.GUID, noon)
	h.check(err)
	h.record(lease,
		attempt(sent[1], 500, webhook.Failed, time.Time{}),
		attempt(sent[2], 200, webhook.Successful, time.Time{}))
	h.expectTraffic("a message and a subscription were removed", want)

	outdated := lease
	outdated.Fence--
	fenced := h.batch(outdated)
	added := h.publish(&fenced, noon, "{}", sub.ID)
	fenced.Outcomes = []webhook.AttemptResult{attempt(added[0], 200, webhook.Successful, time.Time{})}
	if err := h.Engine.Write(ctx, fenced); !errors.Is(err, delivery.ErrFenced) {
		h.t.Errorf("writing with an outdated lease: error %v, want %v", err, delivery.ErrFenced)
	}
	h.expectTraffic("after a fenced batch", want)
	fenced.Leases = []delivery.Lease{lease}
	fenced.Version--
	if err := h.Engine.Write(ctx, fenced); !errors.Is(err, delivery.ErrStale) {
		h.t.Errorf("writing with an earlier version: error %v, want %v", err, delivery.ErrStale)
	}
	h.expectTraffic("after a stale batch", want)
}

// removeMinutes checks that old minutes are removed, whole ones at a time.
func removeMinutes(h hooks) {
	ctx := h.t.Context()
	a, b := h.subscribe(), h.subscribe()
	lease := h.lease(time.Hour)
	var results []webhook.AttemptResult
	for minute := range 4 {
		for _, sub := range []webhook.Subscription{a, b} {
			r := attempt(h.send(lease, sub.ID, 1)[0], 500, webhook.Failed, time.Time{})
			r.Began = noon.Add(time.Duration(minute) * time.Minute)
			results = append(results, r)
		}
	}
	h.record(lease, results...)
	expect := func(when string, wantMore bool, r delivery.Removed, err error, want ...int64) {
		h.t.Helper()
		h.check(err)
		var kept []int64
		for minute := range int64(4) {
			minutes, err := h.Engine.Minutes(ctx, noonMinute+minute, noonMinute+minute)
			h.check(err)
			if len(minutes) > 0 {
				kept = append(kept, minute)
			}
		}
		if r.More != wantMore || !reflect.DeepEqual(kept, want) {
			h.t.Errorf("%s: the minutes %v after noon are left, more to do: %v, want %v and %v",
				when, kept, r.More, want, wantMore)
		}
	}
	r, err := h.Engine.RemoveMinutes(ctx, noonMinute+3, 2)
	expect("the first step", true, r, err, 1, 2, 3)
	if r.Rows != 3 || r.Took <= 0 {
		h.t.Errorf("the first step has removed %d rows in %v, want 3 in the time of a write", r.Rows, r.Took)
	}
	r, err = h.Engine.RemoveMinutes(ctx, noonMinute+3, 100)
	expect("the second step", false, r, err, 3)
	r, err = h.Engine.RemoveMinutes(ctx, noonMinute+3, 100)
	expect("nothing to do", false, r, err, 3)
	if r.Rows != 0 {
		h.t.Errorf("a step with nothing to do has removed %d rows", r.Rows)
	}
}
