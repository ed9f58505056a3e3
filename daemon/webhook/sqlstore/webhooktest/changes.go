package webhooktest

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// changedSubscriptions checks that a daemon reads only the subscriptions that it or
// another daemon has changed since a version.
func changedSubscriptions(h hooks) {
	ctx := h.t.Context()
	other := h.peer()
	l := h.lease(time.Hour)
	a, b := h.subscribe(), h.subscribe()
	off, url := false, "https://shop.example/other"
	began := other.readPeerEvents(-1)
	before := h.version()
	expect := func(name string, want ...int64) map[int64]*webhook.Subscription {
		h.t.Helper()
		now := h.version()
		got, complete, err := other.Engine.ChangedSubscriptions(ctx, before, now)
		h.check(err)
		if ids := slices.Sorted(maps.Keys(got)); complete || !slices.Equal(ids, want) {
			h.t.Errorf("%s: changed are %v, want %v", name, ids, want)
		}
		before = now
		return got
	}
	change := func(r webhook.Subscription, c admin.SubscriptionChange) {
		h.t.Helper()
		_, err := h.Admin.ChangeSubscription(ctx, r.Subscriber, r.GUID, c, noon)
		h.check(err)
	}
	headers := []webhook.Header{{Name: "X-A", Value: "1"}, {Name: "X-B", Value: "2"}}
	change(a, admin.SubscriptionChange{URL: &url, Headers: &headers})
	got := expect("a change", a.ID)[a.ID]
	if got == nil || got.URL != url || !webhook.SameHeaders(got.Headers, headers) {
		h.t.Fatalf("changed to %+v", got)
	}
	if !got.Enabled || got.SubscriberInfo.Name != "Shop" {
		h.t.Errorf("changed to %+v", got)
	}
	change(a, admin.SubscriptionChange{Ordered: &off})
	change(b, admin.SubscriptionChange{Ordered: &off})
	expect("two changes", a.ID, b.ID)
	_, err := h.Admin.ChangeSubscriber(ctx, b.Subscriber, admin.SubscriberChange{Enabled: &off}, auditEntry())
	h.check(err)
	if got := expect("a change of a subscriber", b.ID)[b.ID]; got == nil || got.Active() {
		h.t.Errorf("of a disabled subscriber: %+v", got)
	}
	c := h.subscribe()
	expect("a new subscriber and subscription", 0, c.ID)
	batch := h.batch(l)
	batch.Disabled = []delivery.Disabled{{Subscription: c.ID, Reason: "410 Gone", At: noon}}
	h.check(h.Engine.Write(ctx, batch))
	if got := expect("disabled by the engine", c.ID)[c.ID]; got == nil || got.DisabledReason != "410 Gone" {
		h.t.Errorf("disabled: %+v", got)
	}
	now, err := h.Engine.Now(ctx)
	h.check(err)
	old := []webhook.ReplacedSecret{{Secret: "one", Until: now.Add(past)}}
	change(c, admin.SubscriptionChange{Secret: &admin.Rotation{Secret: "two", Old: old}})
	expect("a new secret", c.ID)
	_, err = h.Engine.Sweep(ctx, 10)
	h.check(err)
	expect("the end of a secret", c.ID)
	_, err = h.Admin.RemoveSubscription(ctx, a.Subscriber, a.GUID, noon)
	h.check(err)
	if got := expect("a removal", a.ID); got[a.ID] != nil {
		h.t.Errorf("removed: %+v", got)
	}
	_, err = h.Admin.RemoveSubscriber(ctx, b.Subscriber, auditEntry())
	h.check(err)
	expect("the removal of a subscriber", b.ID)
	for _, after := range []int64{0, before - 2000, before + 1} {
		if got, complete, err := h.Engine.ChangedSubscriptions(ctx, after, before); err != nil || !complete || got[c.ID] == nil {
			h.t.Errorf("after %d of %d: %v (%v, %v)", after, before, got, complete, err)
		}
	}
	if n := h.readPeerEvents(-1); len(n.Events) != 0 {
		h.t.Errorf("peer events about messages: %+v", n.Events)
	}
	if n := other.readPeerEvents(began.Last); len(n.Events) != 0 {
		h.t.Errorf("another daemon is notified of messages: %+v", n.Events)
	}
}

// boundedHeaders checks the limit of all headers of a subscriber, which does not
// apply to administrators.
func boundedHeaders(h hooks) {
	ctx := h.t.Context()
	r := h.subscribe()
	large := make([]webhook.Header, 8)
	for i := range large {
		large[i] = webhook.Header{Name: "X-Large", Value: strings.Repeat("v", 4<<10)}
	}
	refused := func(name string, err error) {
		h.t.Helper()
		if !fault.Is(err, fault.Invalid) || fault.From(err).Fields[0].Name != webhook.MemberHeaders {
			h.t.Errorf("%s: %v", name, err)
		}
	}
	limits := &webhook.Limits{Subscriptions: 10, Wildcards: 10, HeaderBytes: 64 << 10}
	half := admin.SubscriptionChange{Headers: &large, Limits: limits}
	_, err := h.Admin.ChangeSubscription(ctx, r.Subscriber, r.GUID, half, noon)
	h.check(err)
	r, err = h.Admin.ChangeSubscription(ctx, r.Subscriber, r.GUID, half, noon) // replaces the headers
	h.check(err)
	another := webhook.Subscription{
		Subscriber: r.Subscriber,
		Pattern:    "*",
		URL:        r.URL,
		Headers:    large,
		Secret:     "s",
		SavedAt:    noon,
	}
	before := h.version()
	_, err = h.Admin.AddSubscription(ctx, another, limits)
	refused("a second half", err)
	another.Headers = nil
	second, err := h.Admin.AddSubscription(ctx, another, limits)
	h.check(err)
	later := admin.SubscriptionChange{Headers: &large, Limits: limits, RowHash: second.RowHash}
	_, err = h.Admin.ChangeSubscription(ctx, second.Subscriber, second.GUID, later, noon)
	refused("a second half, later", err)
	if now := h.version(); now != before+1 {
		h.t.Errorf("version %d after %d", now, before)
	}
	another.Headers = large
	_, err = h.Admin.AddSubscription(ctx, another, nil)
	h.check(err)
	_, err = h.Admin.ChangeSubscription(ctx, second.Subscriber, second.GUID, admin.SubscriptionChange{Headers: &large}, noon)
	h.check(err)
	none := admin.SubscriptionChange{Headers: new([]webhook.Header), Limits: limits}
	_, err = h.Admin.ChangeSubscription(ctx, second.Subscriber, second.GUID, none, noon)
	h.check(err)
	another.Subscriber = guid(1)
	_, err = h.Admin.AddSubscription(ctx, another, limits)
	if !fault.Is(err, fault.NotFound) {
		h.t.Errorf("of no subscriber: %v", err)
	}
}

// boundedSubscriptions checks the limits of the number of subscriptions, and of those to
// several events, which do not apply to administrators.
func boundedSubscriptions(h hooks) {
	ctx := h.t.Context()
	r := h.subscribe()
	limits := &webhook.Limits{Subscriptions: 5, Wildcards: 2, HeaderBytes: 64 << 10}
	add := func(pattern string, l *webhook.Limits) (webhook.Subscription, error) {
		return h.Admin.AddSubscription(ctx, webhook.Subscription{Subscriber: r.Subscriber, Pattern: pattern, URL: r.URL, Secret: "s", SavedAt: noon}, l)
	}
	change := func(s webhook.Subscription, pattern string, l *webhook.Limits) error {
		_, err := h.Admin.ChangeSubscription(ctx, s.Subscriber, s.GUID, admin.SubscriptionChange{Pattern: &pattern, Limits: l}, noon)
		return err
	}
	refused := func(name, member string, err error) {
		h.t.Helper()
		if !fault.Is(err, fault.Invalid) || fault.From(err).Fields[0].Name != member {
			h.t.Errorf("%s: got %v, want an error of %s", name, err, member)
		}
	}

	named := []webhook.Subscription{r}
	h.check(change(r, "debtor.updated", limits))
	for range 2 {
		_, err := add("debtor.*", limits)
		h.check(err)
	}
	for _, pattern := range []string{"*", "debtor.*"} {
		_, err := add(pattern, limits)
		refused("adding a third to "+pattern, webhook.MemberEvent, err)
		refused("changing a third to "+pattern, webhook.MemberEvent, change(named[0], pattern, limits))
	}
	wildcard, err := add("*", nil)
	h.check(err)
	h.check(change(wildcard, "debtor.*", limits)) // instead of another pattern
	refused("changing a fourth to *", webhook.MemberEvent, change(named[0], "*", limits))

	_, err = add("debtor.updated", limits)
	h.check(err)
	_, err = add("debtor.updated", limits)
	refused("adding a sixth", "SubscriberID", err)
	sixth, err := add("debtor.updated", nil)
	h.check(err)
	h.check(change(sixth, "debtor.created", limits))
}
