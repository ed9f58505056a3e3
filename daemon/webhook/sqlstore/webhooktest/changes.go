package webhooktest

import (
	"maps"
	"slices"
	"strings"
	"sync"
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
	c := &changeReader{h: h, peer: h.peer()}
	lease := h.lease(time.Hour)
	first := h.subscribe()
	second := h.subscribe()
	start := c.peer.readPeerEvents(-1)
	c.version = h.version()
	off := false

	url := "https://shop.example/other"
	headers := []webhook.Header{{Name: "X-A", Value: "1"}, {Name: "X-B", Value: "2"}}
	c.change(first, admin.SubscriptionChange{URL: &url, Headers: &headers})
	got := c.expect("a change", first.ID)[first.ID]
	if got == nil {
		h.t.Fatal("a changed subscription is missing")
	}
	if got.URL != url || !webhook.SameHeaders(got.Headers, headers) {
		h.t.Errorf("changed to %+v, want URL %s and headers %v", got, url, headers)
	}
	if !got.Enabled || got.SubscriberInfo.Name != "Shop" {
		h.t.Errorf("changed to %+v, want it enabled, of the subscriber Shop", got)
	}

	c.change(first, admin.SubscriptionChange{Ordered: &off})
	c.change(second, admin.SubscriptionChange{Ordered: &off})
	c.expect("two changes", first.ID, second.ID)

	_, err := h.Admin.ChangeSubscriber(ctx, second.Subscriber, admin.SubscriberChange{Enabled: &off}, auditEntry())
	h.check(err)
	got = c.expect("disabling a subscriber", second.ID)[second.ID]
	if got == nil || got.Active() {
		h.t.Errorf("the subscription of a disabled subscriber is %+v, want inactive", got)
	}

	added := h.subscribe()
	c.expect("a new subscriber and subscription", 0, added.ID)

	b := h.batch(lease)
	b.Disabled = []delivery.Disabled{{Subscription: added.ID, Reason: "410 Gone", At: noon}}
	h.check(h.Engine.Write(ctx, b))
	got = c.expect("disabling by the engine", added.ID)[added.ID]
	if got == nil || got.DisabledReason != "410 Gone" {
		h.t.Errorf("the disabled subscription is %+v, want the reason 410 Gone", got)
	}

	now, err := h.Engine.Now(ctx)
	h.check(err)
	expired := []webhook.ReplacedSecret{{Secret: "one", Until: now.Add(past)}}
	c.change(added, admin.SubscriptionChange{Secret: &admin.Rotation{Secret: "two", Old: expired}})
	c.expect("a new secret", added.ID)
	_, err = h.Engine.Sweep(ctx, 10)
	h.check(err)
	c.expect("the end of a secret", added.ID)

	_, err = h.Admin.RemoveSubscription(ctx, first.Subscriber, first.GUID, noon)
	h.check(err)
	got = c.expect("the removal of a subscription", first.ID)[first.ID]
	if got != nil {
		h.t.Errorf("the removed subscription is %+v, want nil", got)
	}
	_, err = h.Admin.RemoveSubscriber(ctx, second.Subscriber, auditEntry())
	h.check(err)
	c.expect("the removal of a subscriber", second.ID)

	c.expectAll(added.ID, 0, c.version-2000, c.version+1)
	if events := h.readPeerEvents(-1).Events; len(events) != 0 {
		h.t.Errorf("the daemon reads peer events %+v, want none about messages", events)
	}
	if events := c.peer.readPeerEvents(start.Last).Events; len(events) != 0 {
		h.t.Errorf("another daemon reads peer events %+v, want none about messages", events)
	}
}

// changeReader changes subscriptions at one daemon, and reads the changes at another.
type changeReader struct {
	h       hooks
	peer    hooks
	version int64 // up to which changes were read
}

func (c *changeReader) change(sub webhook.Subscription, change admin.SubscriptionChange) {
	c.h.t.Helper()
	_, err := c.h.Admin.ChangeSubscription(c.h.t.Context(), sub.Subscriber, sub.GUID, change, noon)
	c.h.check(err)
}

// expect reads the changes since the last call, and checks which subscriptions they concern.
func (c *changeReader) expect(after string, want ...int64) map[int64]*webhook.Subscription {
	c.h.t.Helper()
	version := c.h.version()
	changed, isWhole, err := c.peer.Engine.ChangedSubscriptions(c.h.t.Context(), c.version, version)
	c.h.check(err)
	c.version = version
	if isWhole {
		c.h.t.Errorf("after %s: got all subscriptions, want only %v", after, want)
	}
	if ids := slices.Sorted(maps.Keys(changed)); !slices.Equal(ids, want) {
		c.h.t.Errorf("after %s: changed are %v, want %v", after, ids, want)
	}
	return changed
}

// expectAll checks that all subscriptions are read if the changes since a version are not known.
// One of them is given.
func (c *changeReader) expectAll(id int64, versions ...int64) {
	c.h.t.Helper()
	for _, version := range versions {
		subs, isWhole, err := c.h.Engine.ChangedSubscriptions(c.h.t.Context(), version, c.version)
		c.h.check(err)
		if !isWhole || subs[id] == nil {
			c.h.t.Errorf("changes from version %d to %d: %v (all: %v), want all subscriptions",
				version, c.version, subs, isWhole)
		}
	}
}

// expectRefused checks that a change is invalid because of a member.
func (h hooks) expectRefused(did, member string, err error) {
	h.t.Helper()
	if !fault.Is(err, fault.Invalid) {
		h.t.Errorf("%s: error %v, want Invalid", did, err)
		return
	}
	if got := fault.From(err).Fields[0].Name; got != member {
		h.t.Errorf("%s: error of %s (%v), want %s", did, got, err, member)
	}
}

// boundedHeaders checks the limit of all headers of a subscriber, which does not
// apply to administrators.
func boundedHeaders(h hooks) {
	ctx := h.t.Context()
	first := h.subscribe()
	limits := &webhook.Limits{Subscriptions: 10, Wildcards: 10, HeaderBytes: 64 << 10}
	large := make([]webhook.Header, 8) // more than half of the limit
	for i := range large {
		large[i] = webhook.Header{Name: "X-Large", Value: strings.Repeat("v", 4<<10)}
	}
	change := func(sub webhook.Subscription, change admin.SubscriptionChange) error {
		_, err := h.Admin.ChangeSubscription(ctx, sub.Subscriber, sub.GUID, change, noon)
		return err
	}
	add := func(headers []webhook.Header, limits *webhook.Limits) (webhook.Subscription, error) {
		return h.Admin.AddSubscription(ctx, webhook.Subscription{
			Subscriber: first.Subscriber,
			Pattern:    "*",
			URL:        first.URL,
			Headers:    headers,
			Secret:     "s",
			SavedAt:    noon,
		}, limits)
	}

	h.check(change(first, admin.SubscriptionChange{Headers: &large, Limits: limits}))
	h.check(change(first, admin.SubscriptionChange{Headers: &large, Limits: limits})) // replaces them
	before := h.version()
	_, err := add(large, limits)
	h.expectRefused("adding a second subscription with large headers", webhook.MemberHeaders, err)
	second, err := add(nil, limits)
	h.check(err)
	err = change(second, admin.SubscriptionChange{Headers: &large, Limits: limits, RowHash: second.RowHash})
	h.expectRefused("changing a second subscription to large headers", webhook.MemberHeaders, err)
	if version := h.version(); version != before+1 {
		h.t.Errorf("version %d after one change, want %d", version, before+1)
	}

	// Without limits.
	_, err = add(large, nil)
	h.check(err)
	h.check(change(second, admin.SubscriptionChange{Headers: &large}))

	// Headers can be removed although there are too many.
	h.check(change(second, admin.SubscriptionChange{Headers: new([]webhook.Header), Limits: limits}))

	missing := webhook.Subscription{
		Subscriber: guid(1),
		Pattern:    "*",
		URL:        first.URL,
		Headers:    large,
		Secret:     "s",
		SavedAt:    noon,
	}
	_, err = h.Admin.AddSubscription(ctx, missing, limits)
	h.expectMissing(err)
}

// boundedSubscriptions checks the limits of the number of subscriptions, and of those to
// several events, which do not apply to administrators.
func boundedSubscriptions(h hooks) {
	ctx := h.t.Context()
	named := h.subscribe()
	limits := &webhook.Limits{Subscriptions: 5, Wildcards: 2, HeaderBytes: 64 << 10}
	add := func(pattern string, limits *webhook.Limits) (webhook.Subscription, error) {
		return h.Admin.AddSubscription(ctx, webhook.Subscription{
			Subscriber: named.Subscriber,
			Pattern:    pattern,
			URL:        named.URL,
			Secret:     "s",
			SavedAt:    noon,
		}, limits)
	}
	change := func(sub webhook.Subscription, pattern string, limits *webhook.Limits) error {
		change := admin.SubscriptionChange{Pattern: &pattern, Limits: limits}
		_, err := h.Admin.ChangeSubscription(ctx, sub.Subscriber, sub.GUID, change, noon)
		return err
	}

	// Two subscriptions to several events are allowed.
	h.check(change(named, "debtor.updated", limits))
	for range 2 {
		_, err := add("debtor.*", limits)
		h.check(err)
	}
	for _, pattern := range []string{"*", "debtor.*"} {
		_, err := add(pattern, limits)
		h.expectRefused("adding a third wildcard "+pattern, webhook.MemberEvent, err)
		err = change(named, pattern, limits)
		h.expectRefused("changing a third subscription to "+pattern, webhook.MemberEvent, err)
	}
	third, err := add("*", nil)
	h.check(err)
	h.check(change(third, "debtor.*", limits)) // a wildcard may be replaced by another
	h.expectRefused("changing a fourth subscription to *", webhook.MemberEvent, change(named, "*", limits))

	// Five subscriptions are allowed.
	_, err = add("debtor.updated", limits)
	h.check(err)
	_, err = add("debtor.updated", limits)
	h.expectRefused("adding a sixth subscription", "SubscriberID", err)
	_, err = add("*", limits) // the number is checked first, since that does not read all subscriptions
	h.expectRefused("adding a sixth subscription to *", "SubscriberID", err)
	sixth, err := add("debtor.updated", nil)
	h.check(err)
	h.check(change(sixth, "debtor.created", limits))
}

// concurrentBounds checks that subscriptions that two daemons add at the same time use up the limit
// of headers but do not exceed it, and that removed ones make room again.
func concurrentBounds(h hooks) {
	const (
		fitting = 1
		callers = 4    // few, since each waits for the others on new connections
		size    = 1000 // bytes of the headers of a subscription
	)
	ctx := h.t.Context()
	first := h.subscribe()
	daemons := []hooks{h, {Store: h.reopen().Webhooks, t: h.t}}
	limits := &webhook.Limits{Subscriptions: 2 * callers, Wildcards: 2 * callers, HeaderBytes: fitting * size}
	var mu sync.Mutex
	var added []webhook.Subscription
	add := func(i int) {
		sub, err := daemons[i%2].Admin.AddSubscription(ctx, webhook.Subscription{
			Subscriber: first.Subscriber,
			Pattern:    "*",
			URL:        first.URL,
			Headers:    []webhook.Header{{Name: "X", Value: strings.Repeat("v", size-1)}},
			Secret:     "s",
			SavedAt:    noon,
		}, limits)
		if err != nil {
			h.expectRefused("adding a subscription at the same time as another", webhook.MemberHeaders, err)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		added = append(added, sub)
	}
	for round := range 2 {
		concurrently(callers, add)
		if len(added) != fitting {
			h.t.Errorf("round %d: %d subscriptions were added, want %d", round, len(added), fitting)
		}
		concurrently(len(added), func(i int) {
			_, err := daemons[i%2].Admin.RemoveSubscription(ctx, first.Subscriber, added[i].GUID, noon)
			if err != nil {
				h.t.Error(err)
			}
		})
		added = nil
	}
}
