package webhooktest

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// readPeerEvents returns the events of other daemons.
func (h hooks) readPeerEvents(after int64) delivery.PeerEvents {
	h.t.Helper()
	n, err := h.Engine.PeerEvents(h.t.Context(), after)
	h.check(err)
	return n
}

// peer returns the same store opened by another daemon.
func (h hooks) peer() hooks { return hooks{Store: h.reopen().Webhooks, t: h.t, reopen: h.reopen} }

// peerEvents checks the events of other daemons.
func peerEvents(h hooks) {
	r, other := h.subscribe(), h.peer()
	l := h.lease(time.Hour)
	began := h.readPeerEvents(-1)
	if began.Version != h.version() || began.Daemons != 1 || began.Watched || len(began.Events) != 0 {
		h.t.Errorf("in the beginning: %+v", began)
	}
	b := h.batch(l)
	h.publish(&b, noon, "a", r.ID)
	b.PeerEvents = []delivery.PeerEvent{{Subscription: r.ID, Kind: delivery.PeerAdded}, {Subscription: r.ID, Kind: delivery.PeerDue}}
	h.check(h.Engine.Write(h.t.Context(), b))
	if db := h.readPeerEvents(began.Last); len(db.Events) != 0 || db.Last <= began.Last {
		h.t.Errorf("a daemon was notified of its own changes: %+v", db)
	}
	theirs := other.readPeerEvents(began.Last)
	if want := []delivery.PeerEvent{{Subscription: r.ID, Kind: delivery.PeerDue}, {Subscription: r.ID, Kind: delivery.PeerAdded}}; !slices.Equal(theirs.Events, want) {
		h.t.Errorf("the other one hears %+v, want %+v", theirs.Events, want)
	}
	if reopen := other.readPeerEvents(theirs.Last); len(reopen.Events) != 0 {
		h.t.Errorf("and once more %+v", reopen.Events)
	}
}

// adminPeerEvents checks that other daemons are notified of administrators' changes
// of messages.
func adminPeerEvents(h hooks) {
	r, other := h.subscribe(), h.peer()
	b := h.batch(h.lease(time.Hour))
	m := h.publish(&b, noon, "a", r.ID)[0]
	h.check(h.Engine.Write(h.t.Context(), b))
	at := admin.Address{Subscriber: r.Subscriber, Subscription: r.GUID, Message: m.GUID}
	for _, c := range []struct {
		kind delivery.PeerEventKind
		do   func() error
	}{
		{delivery.PeerDue, func() error { _, err := h.Admin.RetryMessage(h.t.Context(), at, noon); return err }},
		{delivery.PeerDeleted, func() error { _, err := h.Admin.RemoveMessage(h.t.Context(), at); return err }},
	} {
		before := other.readPeerEvents(-1).Last
		h.check(c.do())
		if got := other.readPeerEvents(before).Events; !slices.Equal(got, []delivery.PeerEvent{{Subscription: r.ID, Kind: c.kind}}) {
			h.t.Errorf("nudges are %+v, want kind %d", got, c.kind)
		}
	}
}

// daemonsCounted checks the number of daemons, which are the holders of leases.
func daemonsCounted(h hooks) {
	other := h.peer()
	a, b := h.lease(time.Hour), other.lease(time.Hour)
	h.lease(time.Hour)
	if n := h.readPeerEvents(-1).Daemons; n != 2 {
		h.t.Errorf("%d daemons, want 2", n)
	}
	h.check(h.Engine.Watch(h.t.Context(), a, time.Hour))
	if h.readPeerEvents(-1).Watched || !other.readPeerEvents(-1).Watched {
		h.t.Error("the daemon that is watched is not the other one")
	}
	h.check(h.Engine.Watch(h.t.Context(), a, past))
	if other.readPeerEvents(-1).Watched {
		h.t.Error("still watched")
	}
	h.check(other.Engine.Release(h.t.Context(), []delivery.Lease{b}))
	if n := h.readPeerEvents(-1).Daemons; n != 1 {
		h.t.Errorf("%d daemons, want 1", n)
	}
}

func peerChanges(h hooks) {
	r, other := h.subscribe(), h.peer()
	mine, theirs := h.lease(time.Hour), other.lease(time.Hour)
	marks := make(map[int64]int64)
	read := func() []webhook.Change {
		h.t.Helper()
		all, err := h.Engine.PeerChanges(h.t.Context(), mine.Partition, marks)
		h.check(err)
		return all
	}
	other.change(theirs, 1, "before")
	if all := read(); len(all) != 0 {
		h.t.Errorf("the first look shows %+v", all)
	}
	other.change(theirs, 2, "a", "b")
	other.change(theirs, 3, strings.Repeat("long ", 2000)+"Größe \U0001F980")
	h.change(mine, 9, "mine")
	got := read()
	var names []string
	for _, c := range got {
		names = append(names, c.Event)
	}
	if want := []string{"a", "b", strings.Repeat("long ", 2000) + "Größe \U0001F980"}; !slices.Equal(names, want) {
		h.t.Fatalf("changes are %.200q, want %.200q", names, want)
	}
	want := changeNamed("a")
	if !reflect.DeepEqual(got[0], want) {
		h.t.Errorf("changed to %+v, want %+v", got[0], want)
	}
	if all := read(); len(all) != 0 {
		h.t.Errorf("read again: %+v", all)
	}
	h.check(h.Engine.PrunePeerEvents(h.t.Context()))
	other.change(theirs, 4, "c")
	if all := read(); len(all) != 1 {
		h.t.Errorf("after tidying up: %+v", all)
	}
	_ = r
}

func changeNamed(event string) webhook.Change {
	return webhook.Change{Message: guid(1), Subscriber: guid(2), Subscription: guid(3), Event: event, Status: webhook.RetryPending, Retries: 2,
		Next: noon.Add(time.Minute), Code: 503, Took: 12 * time.Millisecond, At: noon}
}

func (h hooks) change(home delivery.Lease, number int64, events ...string) {
	h.t.Helper()
	b := h.batch(home)
	b.Home, b.Number = home.Partition, number
	for _, event := range events {
		b.Changes = append(b.Changes, changeNamed(event))
	}
	h.check(h.Engine.Write(h.t.Context(), b))
}

func storedHealth(h hooks) {
	r, ctx := h.subscribe(), h.t.Context()
	l := h.lease(time.Hour)
	write := func(n delivery.Health) {
		h.t.Helper()
		b := h.batch(l)
		b.Health = []delivery.Health{n}
		h.check(h.Engine.Write(ctx, b))
	}
	note := func(since time.Time) {
		h.t.Helper()
		write(delivery.Health{Subscription: r.ID, Since: since})
	}
	expect := func(want time.Time) {
		h.t.Helper()
		current, err := h.Admin.Subscription(ctx, r.Subscriber, r.GUID)
		h.check(err)
		if !current.FailingSince.Equal(want) {
			h.t.Errorf("failing since %v, want %v", current.FailingSince, want)
		}
	}
	expect(time.Time{})
	note(noon)
	note(noon.Add(time.Hour)) // by another daemon, later
	expect(noon)
	write(delivery.Health{Subscription: r.ID, Since: noon.Add(time.Hour), Replace: true})
	expect(noon.Add(time.Hour))
	note(time.Time{})
	expect(time.Time{})
	note(noon)
	enabled := true
	_, err := h.Admin.ChangeSubscription(ctx, r.Subscriber, r.GUID, admin.SubscriptionChange{Enabled: &enabled}, noon)
	h.check(err)
	expect(time.Time{}) // enabling the subscription resets it
	write(delivery.Health{Subscription: r.ID, Since: noon, Replace: true})
	_, err = h.Admin.ChangeSubscriber(ctx, r.Subscriber, admin.SubscriberChange{Enabled: &enabled}, auditEntry())
	h.check(err)
	expect(time.Time{}) // enabling the subscriber resets it as well
}

func successSince(h hooks) {
	r, ctx := h.subscribe(), h.t.Context()
	b := h.batch(h.lease(time.Hour))
	made := h.publish(&b, noon, "a", r.ID)
	h.check(h.Engine.Write(ctx, b))
	expect := func(since time.Time, want bool) {
		h.t.Helper()
		got, err := h.Engine.Succeeded(ctx, r.ID, since)
		h.check(err)
		if got != want {
			h.t.Errorf("succeeded since %v: %v", since, got)
		}
	}
	expect(noon.Add(-time.Hour), false)
	b.Events, b.Messages = nil, nil
	b.Outcomes = []webhook.AttemptResult{{Message: made[0], After: webhook.State{Status: webhook.Successful, Attempts: 1}, Outcome: webhook.Outcome{Code: 200, Began: noon}}}
	h.check(h.Engine.Write(ctx, b))
	expect(noon.Add(-time.Second), true)
	expect(noon.Add(time.Second), false)
}

// otherPartition checks that a batch with a peer event may add messages to another
// daemon's partition.
func otherPartition(h hooks) {
	r, other := h.subscribe(), h.peer()
	mine, theirs := h.lease(time.Hour), other.lease(time.Hour)
	b := h.batch(mine)
	m := h.publish(&b, noon, "a", r.ID)[0]
	m.Partition = theirs.Partition
	if err := h.Engine.Write(h.t.Context(), b); err != delivery.ErrFenced {
		h.t.Errorf("without telling: %v", err)
	}
	b.PeerEvents = []delivery.PeerEvent{{Subscription: r.ID, Kind: delivery.PeerAdded}}
	h.check(h.Engine.Write(h.t.Context(), b))
	page, err := other.Engine.OpenMessages(h.t.Context(), delivery.Page{Partition: theirs.Partition, Subscription: r.ID, InOrder: true, Limit: 9})
	h.check(err)
	if len(page) != 1 || page[0].GUID != m.GUID {
		h.t.Errorf("the other one finds %+v", page)
	}
}
