package webhooktest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
	"github.com/bizhook/whd/daemon/webhook/delivery"
	"pgregory.net/rapid"
)

// history compares the store with a model that has all rows in a map, over random
// sequences of operations of engines and administrators.
func history(h hooks) {
	subs := []webhook.Subscription{h.subscribe(), h.subscribe()}
	rapid.Check(h.t, func(t *rapid.T) {
		n := &model{
			h:       h,
			subs:    subs,
			lease:   h.lease(0),
			version: h.version(),
			rows:    make(map[int64]*modelMessage),
		}
		n.removeEarlierMessages()

		// The frequent operations are listed twice.
		steps := []func(*rapid.T){
			n.publish, n.publish,
			n.outcome, n.outcome,
			n.page, n.page,
			n.due,
			n.remove,
			n.retry,
			n.newLease,
			n.prune,
		}
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			step := rapid.SampledFrom(steps).Draw(t, "step")
			step(t)
		}
	})
}

// modelMessage is a message of the model.
type modelMessage struct {
	webhook.Message
	sub int // index in subs
}

// model is the expected content of the store. Its methods each apply one random operation to the
// store and to the model, and compare the results.
type model struct {
	h         hooks
	subs      []webhook.Subscription
	lease     delivery.Lease
	oldLeases []delivery.Lease
	version   int64
	messages  []*modelMessage // all messages, including removed ones
	rows      map[int64]*modelMessage
}

// removeEarlierMessages removes the open messages of an earlier sequence of operations.
func (n *model) removeEarlierMessages() {
	for _, sub := range n.subs {
		for _, m := range n.h.open(n.lease.Partition, sub.ID) {
			_, err := n.h.Admin.RemoveMessage(n.h.t.Context(), addressOf(sub, m))
			n.h.check(err)
		}
	}
}

func (n *model) drawTime(t *rapid.T, label string) time.Time {
	seconds := rapid.IntRange(0, 4).Draw(t, label)
	return noon.Add(time.Duration(seconds) * time.Second)
}

// drawLease returns a lease, mostly the one that is held.
func (n *model) drawLease(t *rapid.T) (lease delivery.Lease, isHeld bool) {
	if len(n.oldLeases) > 0 && rapid.IntRange(0, 5).Draw(t, "old lease") == 0 {
		return rapid.SampledFrom(n.oldLeases).Draw(t, "lease"), false
	}
	return n.lease, true
}

// drawMessage returns a message that may have been removed since.
func (n *model) drawMessage(t *rapid.T) *modelMessage {
	if len(n.messages) == 0 {
		n.publish(t)
	}
	if len(n.messages) == 0 { // the batch was rejected
		const unusedID = 1 << 40
		m := &modelMessage{sub: 0}
		m.ID = unusedID
		m.GUID = guid(unusedID)
		m.Partition = n.lease.Partition
		return m
	}
	return rapid.SampledFrom(n.messages).Draw(t, "message")
}

func (n *model) drawPage(t *rapid.T) delivery.Page {
	p := delivery.Page{
		Partition:    n.lease.Partition,
		Subscription: rapid.SampledFrom(n.subs).Draw(t, "subscription").ID,
		Until:        n.drawTime(t, "until"),
		InOrder:      rapid.Bool().Draw(t, "in order"),
		Limit:        rapid.IntRange(1, 5).Draw(t, "limit"),
	}
	if len(n.messages) > 0 && rapid.Bool().Draw(t, "from a place") {
		p.After = delivery.Position{Next: n.drawTime(t, "after"), ID: n.drawMessage(t).ID}
	}
	return p
}

// write writes a batch, sometimes with an old version, and reports whether it took effect.
// The store must reject a batch with an old version, or under a lease that is not held.
func (n *model) write(t *rapid.T, b delivery.Batch, isHeld bool) bool {
	b.Version = n.version
	if rapid.IntRange(0, 5).Draw(t, "old version") == 0 {
		b.Version--
	}

	var want error
	if !isHeld {
		want = delivery.ErrFenced
	} else if b.Version != n.version {
		want = delivery.ErrStale
	}
	err := n.h.Engine.Write(n.h.t.Context(), b)
	if !errors.Is(err, want) {
		t.Fatalf("writing with version %d of %d, lease held: %v: error %v, want %v",
			b.Version, n.version, isHeld, err, want)
	}
	return err == nil
}

func (n *model) publish(t *rapid.T) {
	lease, isHeld := n.drawLease(t)
	b := delivery.Batch{Leases: []delivery.Lease{lease}}
	var messages []*modelMessage
	for range rapid.IntRange(1, 4).Draw(t, "events") {
		sub := rapid.IntRange(0, len(n.subs)-1).Draw(t, "subscription")
		due := n.drawTime(t, "due")
		body := rapid.StringMatching(`[a-z "\\é]{0,6}`).Draw(t, "body")
		published := n.h.publish(&b, due, body, n.subs[sub].ID)
		messages = append(messages, &modelMessage{Message: *published[0], sub: sub})
	}

	if !n.write(t, b, isHeld) {
		return
	}
	n.messages = append(n.messages, messages...)
	for _, m := range messages {
		n.rows[m.ID] = m
	}
}

// outcome records an attempt. It takes effect if it is the next attempt of an open message.
func (n *model) outcome(t *rapid.T) {
	lease, isHeld := n.drawLease(t)
	chosen := n.drawMessage(t)
	attempts := rapid.SampledFrom([]int{1, 1, 1, 0, 2}).Draw(t, "attempt")
	status := rapid.SampledFrom([]webhook.Status{
		webhook.Successful, webhook.RetryPending, webhook.RetryPending, webhook.Failed,
	}).Draw(t, "status")
	result := webhook.AttemptResult{
		Message: &chosen.Message,
		After:   webhook.State{Status: status, Attempts: chosen.Attempts + attempts},
		Outcome: webhook.Outcome{Code: 500, Began: noon},
	}
	if status.Open() {
		result.After.Next = n.drawTime(t, "next")
	}

	b := delivery.Batch{
		Leases:   []delivery.Lease{lease},
		Outcomes: []webhook.AttemptResult{result},
	}
	if !n.write(t, b, isHeld) {
		return
	}
	m := n.rows[chosen.ID]
	if m == nil || !m.Status.Open() {
		return
	}
	if result.After.Attempts == m.Attempts+1 {
		m.State = result.After
	}
}

func (n *model) address(m *modelMessage) admin.Address {
	return addressOf(n.subs[m.sub], &m.Message)
}

func (n *model) remove(t *rapid.T) {
	m := n.drawMessage(t)
	removed, err := n.h.Admin.RemoveMessage(n.h.t.Context(), n.address(m))
	if err != nil {
		t.Fatalf("removing message %d: %v", m.ID, err)
	}
	_, exists := n.rows[m.ID]
	if (removed != nil) != exists {
		t.Fatalf("removed message %d: %v, want %v", m.ID, removed != nil, exists)
	}
	delete(n.rows, m.ID)
}

func (n *model) retry(t *rapid.T) {
	chosen := n.drawMessage(t)
	due := n.drawTime(t, "at")
	_, err := n.h.Admin.RetryMessage(n.h.t.Context(), n.address(chosen), due)

	m := n.rows[chosen.ID]
	switch {
	case m == nil:
		if !fault.Is(err, fault.NotFound) {
			t.Fatalf("retrying the removed message %d: error %v, want NotFound", chosen.ID, err)
		}
	case m.Status == webhook.Successful:
		if !fault.Is(err, fault.Conflict) {
			t.Fatalf("retrying the delivered message %d: error %v, want Conflict", m.ID, err)
		}
	case err != nil:
		t.Fatalf("retrying message %d: %v", m.ID, err)
	case m.Status != webhook.NotSent:
		m.Status = webhook.RetryPending
		m.Next = due
	}
}

// listed returns the open messages that follow the position of a page, in its order.
func (n *model) listed(p delivery.Page) []*modelMessage {
	var messages []*modelMessage
	for _, m := range n.rows {
		if m.Subscription == p.Subscription && m.Status.Open() && isBehind(m, p) {
			messages = append(messages, m)
		}
	}
	slices.SortFunc(messages, func(a, b *modelMessage) int {
		byID := cmp.Compare(a.ID, b.ID)
		if p.InOrder {
			return byID
		}
		return cmp.Or(a.Next.Compare(b.Next), byID)
	})
	return messages
}

// isBehind reports whether a message follows the position of a page in its order.
func isBehind(m *modelMessage, p delivery.Page) bool {
	if p.InOrder || m.Next.Equal(p.After.Next) {
		return m.ID > p.After.ID
	}
	return m.Next.After(p.After.Next)
}

func (n *model) page(t *rapid.T) {
	p := n.drawPage(t)
	var want []string
	for _, m := range n.listed(p) {
		isDue := p.InOrder || !m.Next.After(p.Until)
		if isDue && len(want) < p.Limit {
			want = append(want, describe(&m.Message))
		}
	}
	var got []string
	for _, m := range n.h.page(p) {
		got = append(got, describe(m))
	}
	if !slices.Equal(got, want) {
		t.Fatalf("page %+v:\ngot  %q\nwant %q", p, got, want)
	}
}

// describe returns the columns of a message in one line.
func describe(m *webhook.Message) string {
	return fmt.Sprintf("%d %s %d/%d %s %s",
		m.ID, m.GUID, m.Status, m.Attempts, m.Next.Format(time.TimeOnly), m.Event.Body)
}

// due compares the time of the next message after a page, and whether its subscription is listed
// as having open messages.
func (n *model) due(t *rapid.T) {
	p := n.drawPage(t)
	p.InOrder = false
	var want time.Time
	if messages := n.listed(p); len(messages) > 0 {
		want = messages[0].Next
	}
	got, err := n.h.Engine.NextDue(n.h.t.Context(), p)
	if err != nil || !got.Equal(want) {
		t.Fatalf("next due after page %+v: %v (%v), want %v", p, got, err, want)
	}

	open, err := n.h.Engine.OpenSubscriptions(n.h.t.Context(), n.lease.Partition)
	if err != nil {
		t.Fatal(err)
	}
	p.After = delivery.Position{}
	isOpen := slices.Contains(open, p.Subscription)
	hasMessages := len(n.listed(p)) > 0
	if isOpen != hasMessages {
		t.Fatalf("subscription %d is listed as open: %v, want %v", p.Subscription, isOpen, hasMessages)
	}
}

// newLease replaces the lease, like another daemon's takeover or a restart.
func (n *model) newLease(t *rapid.T) {
	lease, err := n.h.Engine.Lease(n.h.t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if lease.Partition != n.lease.Partition || lease.Fence <= n.lease.Fence {
		t.Fatalf("leased %+v after %+v, want the same partition and a higher fence", lease, n.lease)
	}
	n.oldLeases = append(n.oldLeases, n.lease)
	n.lease = lease
}
