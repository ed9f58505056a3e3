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
		l := h.lease(0)
		n := &naiveHooks{h: h, subs: subs, lease: l, version: h.version(), rows: make(map[int64]*naiveMessage)}
		for _, sub := range subs { // messages of an earlier sequence
			for _, m := range h.open(l.Partition, sub.ID) {
				_, err := h.Admin.RemoveMessage(h.t.Context(), addressOf(sub, m))
				h.check(err)
			}
		}
		steps := []func(*rapid.T){n.publish, n.publish, n.outcome, n.outcome, n.remove, n.retry, n.page, n.page, n.due, n.newLease, n.prune}
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			rapid.SampledFrom(steps).Draw(t, "step")(t)
		}
	})
}

// naiveMessage is a message of the model.
type naiveMessage struct {
	webhook.Message
	sub int // index in subs
}

type naiveHooks struct {
	h        hooks
	subs     []webhook.Subscription
	lease    delivery.Lease
	old      []delivery.Lease
	version  int64
	messages []*naiveMessage // all messages, including removed ones
	rows     map[int64]*naiveMessage
}

func (n *naiveHooks) drawTime(t *rapid.T, label string) time.Time {
	return noon.Add(time.Duration(rapid.IntRange(0, 4).Draw(t, label)) * time.Second)
}

// drawLease returns a lease, mostly the one that is held.
func (n *naiveHooks) drawLease(t *rapid.T) (l delivery.Lease, held bool) {
	if len(n.old) > 0 && rapid.IntRange(0, 5).Draw(t, "old lease") == 0 {
		return rapid.SampledFrom(n.old).Draw(t, "lease"), false
	}
	return n.lease, true
}

// write writes a batch, and reports whether it took effect.
func (n *naiveHooks) write(t *rapid.T, b delivery.Batch, held bool) bool {
	b.Version = n.version
	if rapid.IntRange(0, 5).Draw(t, "old version") == 0 {
		b.Version--
	}
	err := n.h.Engine.Write(n.h.t.Context(), b)
	switch {
	case !held:
		if !errors.Is(err, delivery.ErrFenced) {
			t.Fatalf("under an old lease: %v", err)
		}
	case b.Version != n.version:
		if !errors.Is(err, delivery.ErrStale) {
			t.Fatalf("with an old version: %v", err)
		}
	case err != nil:
		t.Fatal(err)
	}
	return err == nil
}

func (n *naiveHooks) publish(t *rapid.T) {
	l, held := n.drawLease(t)
	b := delivery.Batch{Leases: []delivery.Lease{l}}
	var messages []*naiveMessage
	for range rapid.IntRange(1, 4).Draw(t, "events") {
		sub := rapid.IntRange(0, len(n.subs)-1).Draw(t, "subscription")
		m := n.h.publish(&b, n.drawTime(t, "due"), rapid.StringMatching(`[a-z "\\é]{0,6}`).Draw(t, "body"), n.subs[sub].ID)[0]
		messages = append(messages, &naiveMessage{*m, sub})
	}
	if n.write(t, b, held) {
		for _, m := range messages {
			n.rows[m.ID] = m
			n.messages = append(n.messages, m)
		}
	}
}

// drawMessage returns a message that may have been removed since.
func (n *naiveHooks) drawMessage(t *rapid.T) *naiveMessage {
	if len(n.messages) == 0 {
		n.publish(t)
	}
	if len(n.messages) == 0 { // the batch was not written
		return &naiveMessage{webhook.Message{ID: 1 << 40, GUID: guid(1 << 40), Partition: n.lease.Partition}, 0}
	}
	return rapid.SampledFrom(n.messages).Draw(t, "message")
}

func (n *naiveHooks) outcome(t *rapid.T) {
	l, held := n.drawLease(t)
	b := delivery.Batch{Leases: []delivery.Lease{l}}
	chosen := n.drawMessage(t)
	r := webhook.AttemptResult{Message: &chosen.Message, Outcome: webhook.Outcome{Code: 500, Began: noon}}
	r.After.Attempts = chosen.Attempts + rapid.SampledFrom([]int{1, 1, 1, 0, 2}).Draw(t, "attempt")
	r.After.Status = rapid.SampledFrom([]webhook.Status{webhook.Successful, webhook.RetryPending, webhook.RetryPending, webhook.Failed}).Draw(t, "status")
	if r.After.Status.Open() {
		r.After.Next = n.drawTime(t, "next")
	}
	b.Outcomes = []webhook.AttemptResult{r}
	if !n.write(t, b, held) {
		return
	}
	if m := n.rows[chosen.ID]; m != nil && m.Status.Open() && r.After.Attempts == m.Attempts+1 {
		m.State = r.After
	}
}

func (n *naiveHooks) address(m *naiveMessage) admin.Address {
	return addressOf(n.subs[m.sub], &m.Message)
}

func (n *naiveHooks) remove(t *rapid.T) {
	m := n.drawMessage(t)
	removed, err := n.h.Admin.RemoveMessage(n.h.t.Context(), n.address(m))
	if _, ok := n.rows[m.ID]; err != nil || ok != (removed != nil) {
		t.Fatalf("removed %v (%v), want %v", removed != nil, err, ok)
	}
	delete(n.rows, m.ID)
}

func (n *naiveHooks) retry(t *rapid.T) {
	m, at := n.drawMessage(t), n.drawTime(t, "at")
	_, err := n.h.Admin.RetryMessage(n.h.t.Context(), n.address(m), at)
	switch m := n.rows[m.ID]; {
	case m == nil:
		if !fault.Is(err, fault.NotFound) {
			t.Fatalf("of a message that was removed: %v", err)
		}
	case m.Status == webhook.Successful:
		if !fault.Is(err, fault.Conflict) {
			t.Fatalf("of a message that was delivered: %v", err)
		}
	case err != nil:
		t.Fatal(err)
	case m.Status != webhook.NotSent:
		m.Status, m.Next = webhook.RetryPending, at
	}
}

// listed returns the open messages that a page may contain, in their order.
func (n *naiveHooks) listed(p delivery.Page) []*naiveMessage {
	var all []*naiveMessage
	for _, m := range n.rows {
		behind := m.ID > p.After.ID
		if !p.InOrder {
			behind = m.Next.After(p.After.Next) || m.Next.Equal(p.After.Next) && behind
		}
		if m.Subscription == p.Subscription && m.Status.Open() && behind {
			all = append(all, m)
		}
	}
	slices.SortFunc(all, func(a, b *naiveMessage) int {
		if d := a.Next.Compare(b.Next); d != 0 && !p.InOrder {
			return d
		}
		return cmp.Compare(a.ID, b.ID)
	})
	return all
}

func (n *naiveHooks) drawPage(t *rapid.T) delivery.Page {
	p := delivery.Page{
		Partition: n.lease.Partition, Subscription: rapid.SampledFrom(n.subs).Draw(t, "subscription").ID, Until: n.drawTime(t, "until"),
		InOrder: rapid.Bool().Draw(t, "in order"), Limit: rapid.IntRange(1, 5).Draw(t, "limit"),
	}
	if len(n.messages) > 0 && rapid.Bool().Draw(t, "from a place") {
		p.After = delivery.Position{Next: n.drawTime(t, "after"), ID: n.drawMessage(t).ID}
	}
	return p
}

func (n *naiveHooks) page(t *rapid.T) {
	p := n.drawPage(t)
	got := n.h.page(p)
	var want, have []string
	for _, m := range n.listed(p) {
		if len(want) < p.Limit && (p.InOrder || !m.Next.After(p.Until)) {
			want = append(want, described(&m.Message))
		}
	}
	for _, m := range got {
		have = append(have, described(m))
	}
	if !slices.Equal(have, want) {
		t.Fatalf("%+v:\ngot  %q\nwant %q", p, have, want)
	}
}

func described(m *webhook.Message) string {
	return fmt.Sprintf("%d %s %d/%d %s %s", m.ID, m.GUID, m.Status, m.Attempts, m.Next.Format(time.TimeOnly), m.Event.Body)
}

func (n *naiveHooks) due(t *rapid.T) {
	p := n.drawPage(t)
	p.InOrder = false
	due, err := n.h.Engine.NextDue(n.h.t.Context(), p)
	var want time.Time
	if all := n.listed(p); len(all) > 0 {
		want = all[0].Next
	}
	if err != nil || !due.Equal(want) {
		t.Fatalf("%+v: due %v (%v), want %v", p, due, err, want)
	}
	open, err := n.h.Engine.OpenSubscriptions(n.h.t.Context(), n.lease.Partition)
	p.After = delivery.Position{}
	if listed, has := slices.Contains(open, p.Subscription), len(n.listed(p)) > 0; err != nil || listed != has {
		t.Fatalf("subscription %d is open: %v (%v), want %v", p.Subscription, listed, err, has)
	}
}

// newLease replaces the lease, like another daemon's takeover or a restart.
func (n *naiveHooks) newLease(t *rapid.T) {
	l, err := n.h.Engine.Lease(n.h.t.Context(), 0)
	if err != nil || l.Partition != n.lease.Partition || l.Fence <= n.lease.Fence {
		t.Fatalf("leased %+v (%v) after %+v", l, err, n.lease)
	}
	n.old = append(n.old, n.lease)
	n.lease = l
}
