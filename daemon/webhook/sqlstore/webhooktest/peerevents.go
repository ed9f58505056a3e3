package webhooktest

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// readPeerEvents returns the events of other daemons that follow an ID.
func (h hooks) readPeerEvents(after int64) delivery.PeerEvents {
	h.t.Helper()
	events, err := h.Engine.PeerEvents(h.t.Context(), after)
	h.check(err)
	return events
}

// peer returns the same store opened by another daemon.
func (h hooks) peer() hooks {
	return hooks{Store: h.reopen().Webhooks, t: h.t, reopen: h.reopen}
}

// peerEvents checks that another daemon reads the events of a batch once, and the daemon that
// wrote it does not.
func peerEvents(h hooks) {
	sub := h.subscribe()
	peer := h.peer()
	lease := h.lease(time.Hour)
	start := h.readPeerEvents(-1)
	if start.Version != h.version() || start.Daemons != 1 || start.Watched || len(start.Events) != 0 {
		h.t.Errorf("before any event: %+v, want version %d, one daemon and no events", start, h.version())
	}

	b := h.batch(lease)
	h.publish(&b, noon, "a", sub.ID)
	b.PeerEvents = []delivery.PeerEvent{
		{Subscription: sub.ID, Kind: delivery.PeerAdded},
		{Subscription: sub.ID, Kind: delivery.PeerDue},
	}
	h.check(h.Engine.Write(h.t.Context(), b))

	atWriter := h.readPeerEvents(start.Last)
	if len(atWriter.Events) != 0 || atWriter.Last <= start.Last {
		h.t.Errorf("the writer reads %+v after %d, want no events and a later ID", atWriter, start.Last)
	}
	got := peer.readPeerEvents(start.Last)
	want := []delivery.PeerEvent{
		{Subscription: sub.ID, Kind: delivery.PeerDue},
		{Subscription: sub.ID, Kind: delivery.PeerAdded},
	}
	if !slices.Equal(got.Events, want) {
		h.t.Errorf("another daemon reads %+v, want %+v", got.Events, want)
	}
	later := peer.readPeerEvents(got.Last)
	if len(later.Events) != 0 {
		h.t.Errorf("another daemon reads again %+v, want nothing", later.Events)
	}
}

// adminPeerEvents checks that other daemons are notified of administrators' changes
// of messages.
func adminPeerEvents(h hooks) {
	ctx := h.t.Context()
	sub := h.subscribe()
	peer := h.peer()
	message := addressOf(sub, h.send(h.lease(time.Hour), sub.ID, 1)[0])
	expect := func(did string, after int64, kind delivery.PeerEventKind) {
		h.t.Helper()
		got := peer.readPeerEvents(after).Events
		want := []delivery.PeerEvent{{Subscription: sub.ID, Kind: kind}}
		if !slices.Equal(got, want) {
			h.t.Errorf("after %s, another daemon reads %+v, want %+v", did, got, want)
		}
	}

	before := peer.readPeerEvents(-1).Last
	_, err := h.Admin.RetryMessage(ctx, message, noon)
	h.check(err)
	expect("a retry", before, delivery.PeerDue)

	before = peer.readPeerEvents(-1).Last
	_, err = h.Admin.RemoveMessage(ctx, message)
	h.check(err)
	expect("a removal", before, delivery.PeerDeleted)
}

// daemonsCounted checks the number of daemons, which are the holders of leases, and
// that a daemon is watched only for the other ones.
func daemonsCounted(h hooks) {
	ctx := h.t.Context()
	peer := h.peer()
	lease := h.lease(time.Hour)
	peerLease := peer.lease(time.Hour)
	h.lease(time.Hour) // a second lease of the same daemon does not count
	if n := h.readPeerEvents(-1).Daemons; n != 2 {
		h.t.Errorf("two daemons with leases: counted %d, want 2", n)
	}

	h.check(h.Engine.Watch(ctx, lease, time.Hour))
	if h.readPeerEvents(-1).Watched {
		h.t.Error("the daemon that watches is watched by another one, want not watched")
	}
	if !peer.readPeerEvents(-1).Watched {
		h.t.Error("the other daemon is not watched, want watched for an hour")
	}
	h.check(h.Engine.Watch(ctx, lease, past))
	if peer.readPeerEvents(-1).Watched {
		h.t.Error("the other daemon is still watched after the end of the time")
	}

	h.check(peer.Engine.Release(ctx, []delivery.Lease{peerLease}))
	if n := h.readPeerEvents(-1).Daemons; n != 1 {
		h.t.Errorf("after the release of a lease: counted %d daemons, want 1", n)
	}
}

// peerChanges checks that a daemon reads the changes that another one has written since its first
// look, once and in order, but not its own.
func peerChanges(h hooks) {
	peer := h.peer()
	lease := h.lease(time.Hour)
	peerLease := peer.lease(time.Hour)
	marks := make(map[int64]int64)
	read := func() []webhook.Change {
		h.t.Helper()
		changes, err := h.Engine.PeerChanges(h.t.Context(), lease.Partition, marks)
		h.check(err)
		return changes
	}

	peer.change(peerLease, 1, "before")
	if changes := read(); len(changes) != 0 {
		h.t.Errorf("the first look returned %+v, want nothing", changes)
	}

	long := strings.Repeat("long ", 2000) + "Größe \U0001F980"
	peer.change(peerLease, 2, "a", "b")
	peer.change(peerLease, 3, long)
	h.change(lease, 9, "own")
	got := read()
	var names []string
	for _, c := range got {
		names = append(names, c.Event)
	}
	if want := []string{"a", "b", long}; !slices.Equal(names, want) {
		h.t.Fatalf("changes are %.200q, want %.200q", names, want)
	}
	if want := changeNamed("a"); !reflect.DeepEqual(got[0], want) {
		h.t.Errorf("the first change is %+v, want %+v", got[0], want)
	}
	if changes := read(); len(changes) != 0 {
		h.t.Errorf("reading again returned %+v, want nothing", changes)
	}

	h.check(h.Engine.PrunePeerEvents(h.t.Context()))
	peer.change(peerLease, 4, "c")
	if changes := read(); len(changes) != 1 {
		h.t.Errorf("after pruning, reading returned %+v, want one change", changes)
	}
}

// changeNamed returns a change of a message of an event.
func changeNamed(event string) webhook.Change {
	return webhook.Change{
		Message:      guid(1),
		Subscriber:   guid(2),
		Subscription: guid(3),
		Event:        event,
		Status:       webhook.RetryPending,
		Retries:      2,
		Next:         noon.Add(time.Minute),
		Code:         503,
		Took:         12 * time.Millisecond,
		At:           noon,
	}
}

// change writes changes of messages of events in one batch.
func (h hooks) change(home delivery.Lease, number int64, events ...string) {
	h.t.Helper()
	b := h.batch(home)
	b.Home = home.Partition
	b.Number = number
	for _, event := range events {
		b.Changes = append(b.Changes, changeNamed(event))
	}
	h.check(h.Engine.Write(h.t.Context(), b))
}

// storedHealth checks that the first failure of a series is kept, until a success, a replacement,
// or the subscription or its subscriber is enabled.
func storedHealth(h hooks) {
	ctx := h.t.Context()
	sub := h.subscribe()
	lease := h.lease(time.Hour)
	write := func(health delivery.Health) {
		h.t.Helper()
		b := h.batch(lease)
		b.Health = []delivery.Health{health}
		h.check(h.Engine.Write(ctx, b))
	}
	note := func(since time.Time) {
		h.t.Helper()
		write(delivery.Health{Subscription: sub.ID, Since: since})
	}
	replace := func(since time.Time) {
		h.t.Helper()
		write(delivery.Health{Subscription: sub.ID, Since: since, Replace: true})
	}
	expect := func(after string, want time.Time) {
		h.t.Helper()
		current, err := h.Admin.Subscription(ctx, sub.Subscriber, sub.GUID)
		h.check(err)
		if !current.FailingSince.Equal(want) {
			h.t.Errorf("after %s: failing since %v, want %v", after, current.FailingSince, want)
		}
	}
	healthy := time.Time{}
	enabled := true

	expect("subscribing", healthy)
	note(noon)
	note(noon.Add(time.Hour))
	expect("a failure, and a later one at another daemon", noon)
	replace(noon.Add(time.Hour))
	expect("a success and a failure", noon.Add(time.Hour))
	note(healthy)
	expect("a success", healthy)

	note(noon)
	change := admin.SubscriptionChange{Enabled: &enabled}
	_, err := h.Admin.ChangeSubscription(ctx, sub.Subscriber, sub.GUID, change, noon)
	h.check(err)
	expect("enabling the subscription", healthy)

	replace(noon)
	subscriberChange := admin.SubscriberChange{Enabled: &enabled}
	_, err = h.Admin.ChangeSubscriber(ctx, sub.Subscriber, subscriberChange, auditEntry())
	h.check(err)
	expect("enabling the subscriber", healthy)
}

// successSince checks that a success counts from the time of its attempt.
func successSince(h hooks) {
	ctx := h.t.Context()
	sub := h.subscribe()
	lease := h.lease(time.Hour)
	sent := h.send(lease, sub.ID, 1)
	expect := func(since time.Time, want bool) {
		h.t.Helper()
		got, err := h.Engine.Succeeded(ctx, sub.ID, since)
		h.check(err)
		if got != want {
			h.t.Errorf("succeeded since %v: %v, want %v", since, got, want)
		}
	}

	expect(noon.Add(-time.Hour), false)
	h.record(lease, attempt(sent[0], 200, webhook.Successful, time.Time{})) // at noon
	expect(noon.Add(-time.Second), true)
	expect(noon.Add(time.Second), false)
}

// otherPartition checks that a batch with a peer event may add messages to another
// daemon's partition.
func otherPartition(h hooks) {
	ctx := h.t.Context()
	sub := h.subscribe()
	peer := h.peer()
	lease := h.lease(time.Hour)
	peerLease := peer.lease(time.Hour)
	b := h.batch(lease)
	message := h.publish(&b, noon, "a", sub.ID)[0]
	message.Partition = peerLease.Partition

	err := h.Engine.Write(ctx, b)
	if !errors.Is(err, delivery.ErrFenced) {
		h.t.Errorf("writing without a peer event: error %v, want %v", err, delivery.ErrFenced)
	}
	b.PeerEvents = []delivery.PeerEvent{{Subscription: sub.ID, Kind: delivery.PeerAdded}}
	h.check(h.Engine.Write(ctx, b))
	h.expectIDs("open messages of the other daemon", peer.open(peerLease.Partition, sub.ID), message)
}
