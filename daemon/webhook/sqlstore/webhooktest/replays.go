package webhooktest

import (
	"time"

	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// replays sends a delivered message again: it is open, but on pages of replays only, until its
// attempt is recorded.
func replays(h hooks) {
	ctx := h.t.Context()
	r := h.subscribe()
	l := h.lease(time.Hour)
	later := noon.Add(time.Minute)
	sent := h.oneOfEach(l, r)
	selected := h.candidates(r, sent.all()...)
	done, err := h.Admin.ReplayMessages(ctx, selected, later)
	due := webhook.Change{Status: webhook.RetryPending, Next: later, At: later, Code: 200}
	h.expectChanged("replay of messages of each status", done, err,
		changedFrom(r, sent.delivered, webhook.Successful, due))
	replay := webhook.State{Status: webhook.RetryPending, Attempts: 1, Next: later, Replay: true}
	h.expectState(addressOf(r, sent.delivered), replay)
	repeated, err := h.Admin.ReplayMessages(ctx, selected, later)
	h.expectChanged("second replay of the same candidates", repeated, err)

	// The replay is not on pages of other messages.
	page := delivery.Page{Partition: l.Partition, Subscription: r.ID, Until: later.Add(2 * time.Hour), Limit: 10}
	h.expectPage("other messages", page, sent.notSent, sent.pending)
	page.After = delivery.Position{Next: noon.Add(time.Hour), ID: sent.pending.ID}
	next, err := h.Engine.NextDue(ctx, page)
	h.check(err)
	if !next.IsZero() {
		h.t.Errorf("the next other message is due at %v, want none", next)
	}

	page.After = delivery.Position{}
	page.Replays = true
	h.expectPage("replays", page, sent.delivered)
	page.After = delivery.Position{Next: later, ID: sent.delivered.ID}
	h.expectPage("replays after the only one", page)
	page.After = delivery.Position{}
	page.Replays = false
	page.InOrder = true
	h.expectPage("all in order", page, sent.notSent, sent.delivered, sent.pending)

	// A retry of the replay, or of the others, leaves it a replay.
	_, err = h.Admin.RetryMessage(ctx, addressOf(r, sent.delivered), later.Add(time.Minute))
	h.check(err)
	n, err := h.Engine.MakeDue(ctx, r.ID, l.Partition, later.Add(-30*time.Second), later.Add(-30*time.Second), 10)
	h.check(err)
	if n != 1 {
		h.t.Errorf("%d messages were made due, want only the retry", n)
	}
	h.expectState(addressOf(r, sent.delivered), replay)

	// A replay that fails remains delivered, with one attempt more.
	failed := attempt(sent.delivered, 500, webhook.Successful, time.Time{})
	failed.Message.State = replay
	failed.After.Attempts = 2
	h.record(l, failed)
	h.expectState(addressOf(r, sent.delivered), webhook.State{Status: webhook.Successful, Attempts: 2})
	success, err := h.Engine.Succeeded(ctx, r.ID, failed.Began.Add(-time.Second))
	h.check(err)
	if success {
		h.t.Error("a replay that failed counts as a success of the endpoint")
	}
}

// retryOfReplay retries a message that is to be sent again: its due time remains, and so does the one
// that streams announce.
func retryOfReplay(h hooks) {
	ctx := h.t.Context()
	r := h.subscribe()
	sent := h.oneOfEach(h.lease(time.Hour), r)
	replayed := noon.Add(time.Minute)
	_, err := h.Admin.ReplayMessages(ctx, h.candidates(r, sent.delivered), replayed)
	h.check(err)

	selected := h.candidates(r, sent.delivered)
	done, err := h.Admin.RetryMessages(ctx, selected, replayed.Add(time.Hour))
	h.expectChanged("retry of a replay", done, err, changedFrom(r, sent.delivered, webhook.RetryPending,
		webhook.Change{Status: webhook.RetryPending, Next: replayed, Code: 200}))
	h.expectState(addressOf(r, sent.delivered), webhook.State{
		Status:   webhook.RetryPending,
		Attempts: 1,
		Next:     replayed,
		Replay:   true,
	})
}

// orderedReplays opens messages again that were delivered before their subscription had an order:
// they belong to the first partition then.
func orderedReplays(h hooks) {
	ctx := h.t.Context()
	r := h.subscribe()
	first := h.lease(time.Hour)
	other := h.lease(time.Hour)
	sent := h.send(other, r.ID, 2)
	h.record(other,
		attempt(sent[0], 200, webhook.Successful, time.Time{}),
		attempt(sent[1], 410, webhook.Failed, time.Time{}))
	ordered := true
	change := admin.SubscriptionChange{Ordered: &ordered}
	_, err := h.Admin.ChangeSubscription(ctx, r.Subscriber, r.GUID, change, noon)
	h.check(err)
	selected := h.candidates(r, sent...)
	n, err := h.Admin.CountOrdered(ctx, selected)
	h.check(err)
	if n != 2 {
		h.t.Errorf("%d messages have an order, want 2", n)
	}
	_, err = h.Admin.ReplayMessages(ctx, selected, noon)
	h.check(err)
	_, err = h.Admin.RetryMessages(ctx, selected, noon)
	h.check(err)
	page := delivery.Page{Partition: first.Partition, Subscription: r.ID, InOrder: true, Limit: 10}
	h.expectPage("of the first partition", page, sent...)
}

// expectPage checks the messages of a page.
func (h hooks) expectPage(name string, p delivery.Page, want ...*webhook.Message) {
	h.t.Helper()
	got, err := h.Engine.OpenMessages(h.t.Context(), p)
	h.check(err)
	h.expectIDs(name, got, want...)
}
