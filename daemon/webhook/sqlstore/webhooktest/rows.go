package webhooktest

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// adminRows are the rows of subscribers and subscriptions, which administrators change.
type adminRows struct{ h hooks }

// subscriptions returns the subscriptions of a subscriber.
func (r adminRows) subscriptions(subscriber string) ([]webhook.Subscription, error) {
	subs, _, err := r.h.Admin.Subscriptions(r.h.t.Context(), subscriber, 0, -1)
	return subs, err
}

// subscriberRows adds, changes, reads and removes subscribers.
func subscriberRows(h hooks) {
	r := adminRows{h}
	ctx := h.t.Context()
	const name = "Größe & Söhne"
	first, err := h.Admin.AddSubscriber(ctx, admin.Subscriber{Name: name, Enabled: true}, auditEntry())
	h.check(err)
	r.expectSubscriber(first, admin.Subscriber{Name: name, Enabled: true, ItemNo: 1, SavedAt: noon})
	second, err := h.Admin.AddSubscriber(ctx, admin.Subscriber{Name: "Bay"}, auditEntry())
	h.check(err)
	r.expectSubscriber(second, admin.Subscriber{Name: "Bay", ItemNo: 2, SavedAt: noon})

	newName, enabled := "Bight", true
	later := auditEntry()
	later.At = noon.Add(time.Hour)
	change := admin.SubscriberChange{Name: &newName, Enabled: &enabled, RowHash: second.RowHash}
	changed, err := h.Admin.ChangeSubscriber(ctx, second.GUID, change, later)
	h.check(err)
	r.expectSubscriber(changed, admin.Subscriber{
		GUID:    second.GUID,
		Name:    newName,
		Enabled: true,
		ItemNo:  2,
		SavedAt: later.At,
	})
	if slices.Equal(changed.RowHash, second.RowHash) {
		h.t.Errorf("the row hash is %x before and after a change", changed.RowHash)
	}
	outdated := admin.SubscriberChange{Name: &newName, RowHash: second.RowHash}
	_, err = h.Admin.ChangeSubscriber(ctx, second.GUID, outdated, later)
	if !fault.Is(err, fault.Conflict) {
		h.t.Errorf("changing a subscriber with an old row hash: error %v, want Conflict", err)
	}

	for _, want := range []admin.Subscriber{first, changed} {
		got, err := h.Admin.Subscriber(ctx, want.GUID)
		if err != nil || !reflect.DeepEqual(got, want) {
			h.t.Errorf("subscriber is %+v (%v), want %+v", got, err, want)
		}
	}
	n, err := h.Admin.CountSubscribers(ctx)
	if err != nil || n != 2 {
		h.t.Errorf("counted %d subscribers (%v), want 2", n, err)
	}

	for _, want := range []bool{true, false} {
		got, err := h.Admin.RemoveSubscriber(ctx, second.GUID, auditEntry())
		if err != nil || got != want {
			h.t.Errorf("removed the subscriber: %v (%v), want %v", got, err, want)
		}
	}
	_, err = h.Admin.Subscriber(ctx, second.GUID)
	h.expectMissing(err)
	_, err = h.Admin.ChangeSubscriber(ctx, second.GUID, admin.SubscriberChange{Name: &newName}, auditEntry())
	h.expectMissing(err)
}

// expectSubscriber compares a subscriber, apart from its row hash, and from its GUID if that was
// generated.
func (r adminRows) expectSubscriber(got, want admin.Subscriber) {
	r.h.t.Helper()
	if len(got.GUID) != 36 || len(got.RowHash) != 8 {
		r.h.t.Errorf("subscriber has the GUID %q and the row hash %x", got.GUID, got.RowHash)
	}
	want.RowHash = got.RowHash
	if want.GUID == "" {
		want.GUID = got.GUID
	}
	if !got.SavedAt.Equal(want.SavedAt) {
		r.h.t.Errorf("subscriber was saved at %v, want %v", got.SavedAt, want.SavedAt)
	}
	want.SavedAt = got.SavedAt
	if !reflect.DeepEqual(got, want) {
		r.h.t.Errorf("subscriber is %+v, want %+v", got, want)
	}
}

// subscriptionPages adds subscriptions concurrently: pages must be parts of the whole
// list nevertheless.
func subscriptionPages(h hooks) {
	r := adminRows{h}
	const added = 4 // subscriptions of each subscriber, apart from its first
	ctx := h.t.Context()
	owner := h.subscribe().Subscriber
	otherOwner := h.subscribe().Subscriber
	headers := []webhook.Header{{Name: "X-B", Value: "2"}, {Name: "X-A", Value: "1"}}
	add := func(owner string, headers []webhook.Header) {
		_, err := h.Admin.AddSubscription(ctx, webhook.Subscription{
			Subscriber:  owner,
			Pattern:     "*",
			URL:         "http://a",
			Secret:      "s",
			SavedAt:     noon,
			MadeByAdmin: true,
			Headers:     headers,
		}, nil)
		if err != nil {
			h.t.Error(err)
		}
	}
	for n := range added {
		for _, to := range []string{owner, otherOwner} {
			// Few at a time: each has a connection and waits for a lock.
			concurrently(2, func(i int) { add(to, headers[(n+i)%3:]) })
		}
	}

	whole, total, err := h.Admin.Subscriptions(ctx, owner, 0, -1)
	h.check(err)
	if len(whole) != 1+2*added || total != int64(len(whole)) {
		h.t.Fatalf("%d subscriptions, total %d, want %d", len(whole), total, 1+2*added)
	}
	for i, sub := range whole {
		if sub.ItemNo != i+1 || sub.Subscriber != owner {
			h.t.Errorf("subscription %d is %+v, want number %d of %s", i, sub, i+1, owner)
		}
	}
	r.expectPartsOf(whole)

	for _, take := range []int64{-1, 0, 1} {
		_, _, err = h.Admin.Subscriptions(ctx, guid(1), 0, take)
		h.expectMissing(err)
	}
}

// expectPartsOf reads all pages of the subscriptions of a subscriber, and compares them with the
// whole list.
func (r adminRows) expectPartsOf(whole []webhook.Subscription) {
	r.h.t.Helper()
	total := int64(len(whole))
	for skip := range total + 2 {
		for take := int64(-1); take <= total+1; take++ { // -1: without a limit
			want := whole[min(skip, total):]
			if take >= 0 {
				want = want[:min(take, int64(len(want)))]
			}
			got, n, err := r.h.Admin.Subscriptions(r.h.t.Context(), whole[0].Subscriber, skip, take)
			r.h.check(err)
			if n != total {
				r.h.t.Errorf("skip %d, take %d: total %d, want %d", skip, take, n, total)
			}
			isSame := slices.EqualFunc(got, want, func(a, b webhook.Subscription) bool {
				return reflect.DeepEqual(a, b)
			})
			if !isSame {
				r.h.t.Errorf("skip %d, take %d: got\n%+v, want\n%+v", skip, take, got, want)
			}
		}
	}
}

func (h hooks) expectMissing(err error) {
	h.t.Helper()
	if !fault.Is(err, fault.NotFound) {
		h.t.Errorf("error %v, want NotFound", err)
	}
}

// subscriptionRows adds, changes, reads and removes a subscription with a value in each column.
func subscriptionRows(h hooks) {
	r := adminRows{h}
	ctx := h.t.Context()
	owner, err := h.Admin.AddSubscriber(ctx, admin.Subscriber{Name: "Shop", Enabled: true}, auditEntry())
	h.check(err)
	want := webhook.Subscription{
		Subscriber:     owner.GUID,
		SubscriberInfo: webhook.SubscriberInfo{Name: "Shop", Enabled: true},
		Pattern:        "debtor.created",
		URL:            "https://shop.example/größe?x='1'",
		ItemNo:         1,
		Enabled:        true,
		Order:          webhook.Order{All: true},
		MadeByAdmin:    true,
		Schedule:       []time.Duration{time.Second, 90 * time.Minute},
		MaxPerMinute:   600,
		Format:         webhook.FormatCloudEvents,
		Headers:        []webhook.Header{{Name: "X-B", Value: "2", ID: guid(2)}, {Name: "X-A", Value: "", ID: guid(3)}},
		Secret:         "whsec_abc",
		SavedAt:        noon,
		Owner:          webhook.Owner{Name: "user:Ann Größe"},
		Where:          webhook.Where{Text: `{"NameStartsWith":"Größe '","StatusIn":[1,2]}`},
	}
	first, err := h.Admin.AddSubscription(ctx, want, nil)
	h.check(err)
	if first.ID == 0 || len(first.GUID) != 36 || len(first.RowHash) != 8 {
		h.t.Errorf("added with ID %d, GUID %q and row hash %x", first.ID, first.GUID, first.RowHash)
	}
	want.ID = first.ID
	want.GUID = first.GUID
	want.RowHash = first.RowHash
	if !reflect.DeepEqual(first, want) {
		h.t.Errorf("added %+v, want %+v", first, want)
	}
	r.expectGUIDsTaken(owner.GUID, want)

	plain := webhook.Subscription{Subscriber: owner.GUID, Pattern: "*", URL: "http://a", Secret: "s", SavedAt: noon}
	second, err := h.Admin.AddSubscription(ctx, plain, nil)
	h.check(err)
	if second.ItemNo != 2 {
		h.t.Errorf("the second subscription has number %d, want 2", second.ItemNo)
	}
	both := []webhook.Subscription{first, second}
	listed, err := r.subscriptions(owner.GUID)
	if err != nil || !reflect.DeepEqual(listed, both) {
		h.t.Errorf("subscriptions are %+v (%v), want %+v", listed, err, both)
	}
	r.changeSubscription(first)

	plain.Subscriber = guid(1) // which does not exist
	_, err = h.Admin.AddSubscription(ctx, plain, nil)
	h.expectMissing(err)
	_, err = r.subscriptions(guid(1))
	h.expectMissing(err)
	r.removeSubscription(first)
}

// expectGUIDsTaken adds a subscription, and a subscriber, with the GUID of an existing one.
func (r adminRows) expectGUIDsTaken(owner string, existing webhook.Subscription) {
	r.h.t.Helper()
	_, err := r.h.Admin.AddSubscription(r.h.t.Context(), existing, nil)
	if !fault.Is(err, fault.Conflict) {
		r.h.t.Fatalf("adding a subscription with a GUID in use: error %v, want Conflict", err)
	}
	if field := fault.From(err).Fields[0].Name; field != webhook.MemberRecID {
		r.h.t.Errorf("adding a subscription with a GUID in use: error of %s, want %s", field, webhook.MemberRecID)
	}
	taken := admin.Subscriber{GUID: owner, Name: "Shop"}
	_, err = r.h.Admin.AddSubscriber(r.h.t.Context(), taken, auditEntry())
	if !fault.Is(err, fault.Conflict) {
		r.h.t.Errorf("adding a subscriber with a GUID in use: error %v, want Conflict", err)
	}
}

// removeSubscription removes a subscription twice, and tries so with another subscriber.
func (r adminRows) removeSubscription(sub webhook.Subscription) {
	r.h.t.Helper()
	ctx := r.h.t.Context()
	otherOwner := r.h.subscribe().Subscriber
	_, err := r.h.Admin.Subscription(ctx, otherOwner, sub.GUID)
	r.h.expectMissing(err)
	removed, err := r.h.Admin.RemoveSubscription(ctx, otherOwner, sub.GUID, noon)
	if err != nil || removed {
		r.h.t.Errorf("removed a subscription of another subscriber: %v (%v), want false", removed, err)
	}
	for _, want := range []bool{true, false} {
		got, err := r.h.Admin.RemoveSubscription(ctx, sub.Subscriber, sub.GUID, noon)
		if err != nil || got != want {
			r.h.t.Errorf("removed the subscription: %v (%v), want %v", got, err, want)
		}
	}
}

// changeSubscription changes all columns of a subscription, and then empties those that can be
// empty.
func (r adminRows) changeSubscription(sub webhook.Subscription) {
	r.h.t.Helper()
	ctx := r.h.t.Context()
	later := noon.Add(time.Hour)
	pattern, url := "*", "http://b"
	where := `{"Total":1}`
	no := false
	var settings []time.Duration // nil: the schedule of the settings
	headers := []webhook.Header{{Name: "X-C", Value: strings.Repeat("v", 5000), ID: guid(4)}}
	got, err := r.h.Admin.ChangeSubscription(ctx, sub.Subscriber, sub.GUID, admin.SubscriptionChange{
		Pattern:      &pattern,
		URL:          &url,
		Where:        &where,
		Enabled:      &no,
		Ordered:      &no,
		MadeByAdmin:  &no,
		Schedule:     &settings,
		MaxPerMinute: new(30),
		Format:       new(""),
		Headers:      &headers,
		RowHash:      sub.RowHash,
		Owner:        new(string),
	}, later)
	r.h.check(err)
	want := sub
	want.Pattern = pattern
	want.URL = url
	want.Enabled = false
	want.Order = webhook.Order{}
	want.MadeByAdmin = false
	want.Owner.Name = ""
	want.Schedule = nil
	want.MaxPerMinute = 30
	want.Format = ""
	want.Headers = headers
	want.SavedAt = later
	want.MovedAt = later
	want.RowHash = got.RowHash
	want.Where.Text = where
	if !reflect.DeepEqual(got, want) {
		r.h.t.Errorf("changed into %+v, want %+v", got, want)
	}
	if slices.Equal(got.RowHash, sub.RowHash) {
		r.h.t.Errorf("the row hash is %x before and after a change", got.RowHash)
	}

	none, empty := []webhook.Header{}, []time.Duration{}
	outdated := admin.SubscriptionChange{Headers: &none, RowHash: sub.RowHash}
	_, err = r.h.Admin.ChangeSubscription(ctx, sub.Subscriber, sub.GUID, outdated, later)
	if !fault.Is(err, fault.Conflict) {
		r.h.t.Errorf("changing a subscription with an old row hash: error %v, want Conflict", err)
	}

	emptied := admin.SubscriptionChange{
		Headers:      &none,
		Schedule:     &empty,
		MaxPerMinute: new(0),
		Where:        new(string),
	}
	got, err = r.h.Admin.ChangeSubscription(ctx, sub.Subscriber, sub.GUID, emptied, later)
	r.h.check(err)
	hasNoRetries := got.Schedule != nil && len(got.Schedule) == 0
	if got.Headers != nil || got.Where.Text != "" || !hasNoRetries || got.MaxPerMinute != 0 {
		r.h.t.Errorf("changed into %+v, want no headers, no condition, no retries and no rate limit", got)
	}
	moved := admin.SubscriptionChange{URL: &url}
	_, err = r.h.Admin.ChangeSubscription(ctx, sub.Subscriber, guid(1), moved, later)
	r.h.expectMissing(err)
}

// versionsIncremented checks that only changes of subscriptions increment their
// version.
func versionsIncremented(h hooks) {
	ctx := h.t.Context()
	lease := h.lease(time.Hour)
	sub := h.subscribe()
	message := addressOf(sub, h.send(lease, sub.ID, 2)[0])
	off := false
	version := h.version()
	for _, c := range []struct {
		name       string
		increments bool
		do         func() error
	}{
		{"change of a subscriber", true, func() error {
			change := admin.SubscriberChange{Enabled: &off}
			_, err := h.Admin.ChangeSubscriber(ctx, sub.Subscriber, change, auditEntry())
			return err
		}},
		{"change of a subscription", true, func() error {
			change := admin.SubscriptionChange{Ordered: &off}
			_, err := h.Admin.ChangeSubscription(ctx, sub.Subscriber, sub.GUID, change, noon)
			return err
		}},
		{"rejected change of a subscription", false, func() error {
			outdated := admin.SubscriptionChange{Ordered: &off, RowHash: sub.RowHash}
			_, err := h.Admin.ChangeSubscription(ctx, sub.Subscriber, sub.GUID, outdated, noon)
			if fault.Is(err, fault.Conflict) {
				return nil
			}
			return err
		}},
		{"retry", false, func() error {
			_, err := h.Admin.RetryMessage(ctx, message, noon)
			return err
		}},
		{"removal of a message", false, func() error {
			_, err := h.Admin.RemoveMessage(ctx, message)
			return err
		}},
		{"sweep", false, func() error {
			_, err := h.Engine.Sweep(ctx, 10)
			return err
		}},
		{"removal of a subscription", true, func() error {
			_, err := h.Admin.RemoveSubscription(ctx, sub.Subscriber, sub.GUID, noon)
			return err
		}},
		{"removal of a subscriber", true, func() error {
			_, err := h.Admin.RemoveSubscriber(ctx, sub.Subscriber, auditEntry())
			return err
		}},
	} {
		h.check(c.do())
		before := version
		version = h.version()
		if increments := version > before; increments != c.increments {
			h.t.Errorf("%s: version %d after %d, want an increment: %v", c.name, version, before, c.increments)
		}
	}
}

// oldSecrets checks that a replaced secret is used until its end time.
func oldSecrets(h hooks) {
	ctx := h.t.Context()
	sub := h.subscribe()
	now, err := h.Engine.Now(ctx)
	h.check(err)
	later := now.Add(time.Hour)
	expired := now.Add(-time.Hour)
	stored := func() *webhook.Subscription {
		h.t.Helper()
		snapshot, err := h.Engine.Snapshot(ctx)
		h.check(err)
		return snapshot.Subscription(sub.ID)
	}
	expect := func(want ...string) {
		h.t.Helper()
		if got := stored().SecretsAt(now); !slices.Equal(got, want) {
			h.t.Errorf("secrets are %v, want %v", got, want)
		}
	}
	rotate := func(secret string, old ...webhook.ReplacedSecret) {
		h.t.Helper()
		change := admin.SubscriptionChange{Secret: &admin.Rotation{Secret: secret, Old: old}}
		_, err := h.Admin.ChangeSubscription(ctx, sub.Subscriber, sub.GUID, change, noon)
		h.check(err)
	}
	sweep := func() {
		h.t.Helper()
		before := h.version()
		_, err := h.Engine.Sweep(ctx, 10)
		h.check(err)
		if after := h.version(); after == before {
			h.t.Errorf("version %d before and after the removal of a secret, want an increment", after)
		}
	}

	rotate("two", webhook.ReplacedSecret{Secret: "one", Until: later})
	expect("two", "one")
	rotate("three", webhook.ReplacedSecret{Secret: "two", Until: expired})
	expect("three")
	sweep()
	expect("three")

	// Only secrets that still sign are stored after a sweep.
	two := webhook.ReplacedSecret{Secret: "two", Until: later}
	rotate("five",
		webhook.ReplacedSecret{Secret: "four", Until: expired},
		two,
		webhook.ReplacedSecret{Secret: "one", Until: expired})
	expect("five", "two")
	sweep()
	expect("five", "two")
	if got, want := stored().Earlier, []webhook.ReplacedSecret{two}; !slices.Equal(got, want) {
		h.t.Errorf("the stored secrets are %v, want %v", got, want)
	}

	// The largest number of secrets of the largest size.
	long := webhook.SecretPrefix + strings.Repeat("A", 88)
	var replaced []webhook.ReplacedSecret
	for range webhook.MaxSecrets - 1 {
		replaced = append(replaced, webhook.ReplacedSecret{Secret: long, Until: later})
	}
	rotate(long, replaced...)
	expect(slices.Repeat([]string{long}, webhook.MaxSecrets)...)
	rotate("six")
	expect("six")
}

// snapshotOfAll reads all subscriptions, enabled or not.
func snapshotOfAll(h hooks) {
	ctx := h.t.Context()
	empty, err := h.Engine.Snapshot(ctx)
	h.check(err)
	if empty.Version < 1 {
		h.t.Errorf("version %d of an empty store, want at least 1", empty.Version)
	}
	active := h.subscribe()
	disabled := h.subscribe()
	off := false
	_, err = h.Admin.ChangeSubscriber(ctx, disabled.Subscriber, admin.SubscriberChange{Enabled: &off}, auditEntry())
	h.check(err)
	snapshot, err := h.Engine.Snapshot(ctx)
	h.check(err)
	if snapshot.Version != h.version() {
		h.t.Errorf("version %d, want %d", snapshot.Version, h.version())
	}
	want := &webhook.Subscription{
		ID:             active.ID,
		GUID:           active.GUID,
		Subscriber:     active.Subscriber,
		SubscriberInfo: webhook.SubscriberInfo{Name: "Shop", Enabled: true},
		Pattern:        "debtor.*",
		URL:            active.URL,
		Secret:         "whsec_x",
		Enabled:        true,
		ItemNo:         1,
		SavedAt:        active.SavedAt,
		RowHash:        active.RowHash,
	}
	if got := snapshot.Subscription(active.ID); !reflect.DeepEqual(got, want) {
		h.t.Errorf("subscription is %+v, want %+v", got, want)
	}
	inactive := snapshot.Subscription(disabled.ID)
	if inactive == nil {
		h.t.Fatal("the subscription of a disabled subscriber is missing")
	}
	const reason = "its subscriber is disabled"
	if got := inactive.InactiveReason(); got != reason || inactive.Active() {
		h.t.Errorf("the subscription of a disabled subscriber is inactive because of %q, want %q", got, reason)
	}
	if n := len(snapshot.Match("debtor.deleted")); n != 2 {
		h.t.Errorf("%d subscriptions match debtor.deleted, want 2", n)
	}
}

// staleVersion checks that a batch is rejected if the subscriptions have changed since they were
// matched.
func staleVersion(h hooks) {
	ctx := h.t.Context()
	sub := h.subscribe()
	lease := h.lease(time.Hour)
	b := h.batch(lease)
	h.publish(&b, noon, "{}", sub.ID)
	otherSub := h.subscribe()
	for range 2 {
		err := h.Engine.Write(ctx, b)
		if !errors.Is(err, delivery.ErrStale) {
			h.t.Errorf("writing with an old version: error %v, want %v", err, delivery.ErrStale)
		}
	}
	h.expectIDs("open messages of a stale batch", h.open(lease.Partition, sub.ID))

	// The events of such a batch matched no subscription at that version.
	empty := delivery.Batch{Version: b.Version, Leases: b.Leases}
	err := h.Engine.Write(ctx, empty)
	if !errors.Is(err, delivery.ErrStale) {
		h.t.Errorf("writing an empty batch with an old version: error %v, want %v", err, delivery.ErrStale)
	}

	b.Version = delivery.AnyVersion
	h.check(h.Engine.Write(ctx, b))
	h.expectIDs("open messages with any version", h.open(lease.Partition, sub.ID), b.Messages...)
	h.expectIDs("open messages of the new subscription", h.open(lease.Partition, otherSub.ID))
}

// disabledByEngine disables a subscription with a batch, and enables it again.
func disabledByEngine(h hooks) {
	ctx := h.t.Context()
	sub := h.subscribe()
	b := h.batch(h.lease(time.Hour))
	disabledAt := noon.Add(time.Minute)
	b.Disabled = []delivery.Disabled{
		{Subscription: sub.ID, Reason: "410 Gone\x00" + strings.Repeat("é", 400), At: disabledAt},
		{Subscription: 999_999, Reason: "no such subscription", At: noon},
	}
	h.check(h.Engine.Write(ctx, b))
	got, err := h.Admin.Subscription(ctx, sub.Subscriber, sub.GUID)
	h.check(err)
	if got.Enabled || !strings.HasPrefix(got.DisabledReason, "410 Gone\uFFFDé") {
		h.t.Errorf("subscription is %+v, want disabled with the reason, and a sign for the control character", got)
	}
	if slices.Equal(got.RowHash, sub.RowHash) || !got.SavedAt.Equal(disabledAt) {
		h.t.Errorf("subscription is %+v, want a new row hash, saved at %v", got, disabledAt)
	}
	if version, want := h.version(), b.Version+1; version != want {
		h.t.Errorf("version %d after disabling, want %d", version, want)
	}

	b.Version++
	h.check(h.Engine.Write(ctx, b))
	if version := h.version(); version != b.Version {
		h.t.Errorf("version %d after disabling again, want %d", version, b.Version)
	}

	enabled := true
	change := admin.SubscriptionChange{Enabled: &enabled}
	got, err = h.Admin.ChangeSubscription(ctx, sub.Subscriber, sub.GUID, change, noon)
	h.check(err)
	if !got.Enabled || got.DisabledReason != "" {
		h.t.Errorf("enabled again: %+v, want enabled without a reason", got)
	}
}

// idempotencyKeys checks that a key belongs to one event until its end.
func idempotencyKeys(h hooks) {
	ctx := h.t.Context()
	lease := h.lease(time.Hour)
	now, err := h.Engine.Now(ctx)
	h.check(err)
	key := delivery.Key{
		Hash:   [32]byte{1, 255},
		Digest: [32]byte{2},
		Event:  guid(1),
		Count:  3,
		Until:  now.Add(time.Hour).Truncate(time.Millisecond),
	}
	write := func(keys ...delivery.Key) error {
		b := h.batch(lease)
		b.Keys = keys
		return h.Engine.Write(ctx, b)
	}
	expect := func(want *delivery.Key) {
		h.t.Helper()
		got, err := h.Engine.IdempotencyKey(ctx, key.Hash)
		if err != nil || !reflect.DeepEqual(got, want) {
			h.t.Errorf("key is %+v (%v), want %+v", got, err, want)
		}
	}

	expect(nil)
	h.check(write(key))
	h.check(write(key)) // the same event again
	expect(&key)

	other := key
	other.Event = guid(2)
	if err := write(other); !errors.Is(err, delivery.ErrKeyTaken) {
		h.t.Errorf("writing the key of another event: error %v, want %v", err, delivery.ErrKeyTaken)
	}
	unused := other
	unused.Hash = [32]byte{9}
	if err := write(unused, unused); !errors.Is(err, delivery.ErrKeyTaken) {
		h.t.Errorf("writing a key twice in a batch: error %v, want %v", err, delivery.ErrKeyTaken)
	}
	expect(&key)

	expired := other
	expired.Hash = [32]byte{3}
	expired.Until = now.Add(-time.Hour).Truncate(time.Millisecond)
	h.check(write(expired))
	got, err := h.Engine.IdempotencyKey(ctx, expired.Hash)
	if err != nil || got != nil {
		h.t.Errorf("an expired key is %+v (%v), want none", got, err)
	}
	expired.Event = guid(3)
	expired.Until = key.Until
	h.check(write(expired)) // the expired key is free again

	_, err = h.Engine.Sweep(ctx, 10)
	h.check(err)
	expect(&key)
}

// outboxMarks checks that a batch marks rows of an external outbox, or writes nothing if
// one of them is marked.
func outboxMarks(h hooks) {
	ctx := h.t.Context()
	lease := h.lease(time.Hour)
	sub := h.subscribe()
	const source, otherSource = "whd.wh_outbox", "dbo.größe 'x'"
	guids := func(numbers ...int64) []string {
		var guids []string
		for _, n := range numbers {
			guids = append(guids, guid(n))
		}
		return guids
	}
	messages := 0 // written
	write := func(source string, rows ...int64) error {
		h.t.Helper()
		b := h.batch(lease)
		h.publish(&b, noon, "{}", sub.ID)
		b.Source = source
		b.Taken = guids(rows...)
		err := h.Engine.Write(ctx, b)
		if err == nil {
			messages++
		}
		if n := len(h.open(lease.Partition, sub.ID)); n != messages {
			h.t.Errorf("after taking rows %v: %d messages, want %d", rows, n, messages)
		}
		return err
	}
	expectTaken := func(rows ...int64) {
		h.t.Helper()
		err := write(source, rows...)
		if !errors.Is(err, delivery.ErrOutboxTaken) {
			h.t.Errorf("taking rows %v: error %v, want %v", rows, err, delivery.ErrOutboxTaken)
		}
	}
	remove := func(source string, rows ...int64) {
		h.t.Helper()
		h.check(h.Engine.RemoveOutboxMarks(ctx, source, guids(rows...)))
	}
	expect := func(source string, rows ...int64) {
		h.t.Helper()
		got, err := h.Engine.OutboxMarks(ctx, source)
		h.check(err)
		slices.Sort(got)
		if want := guids(rows...); !slices.Equal(got, want) {
			h.t.Errorf("marks of %s are %q, want %q", source, got, want)
		}
	}

	expect(source)
	h.check(write(source, 1, 2, 3))
	h.check(write(otherSource, 2))
	expectTaken(4, 3)
	expectTaken(5, 5)
	expect(source, 1, 2, 3)

	remove(source, 1, 3, 9)
	expect(source, 2)
	expect(otherSource, 2)
	h.check(write(source, 1))
	expect(source, 1, 2)
	remove(otherSource, 2)
	expect(otherSource)
	expect(source, 1, 2)

	// Many rows at once.
	var many []int64
	for n := range int64(1000) {
		many = append(many, 100+n)
	}
	h.check(write(otherSource, many...))
	expect(otherSource, many...)
	remove(otherSource, many...)
	expect(otherSource)
}

// movedURL changes subscriptions, and checks the stored time of the last change of the URL.
func movedURL(h hooks) {
	sub := h.subscribe()
	for i, step := range []struct {
		change admin.SubscriptionChange
		want   time.Time
	}{
		{admin.SubscriptionChange{Enabled: new(false)}, time.Time{}},
		{admin.SubscriptionChange{URL: &sub.URL, Enabled: new(true)}, time.Time{}},
		{admin.SubscriptionChange{URL: new("https://shop.example/other")}, noon.Add(2 * time.Hour)},
		{admin.SubscriptionChange{URL: new("https://shop.example/other"), Enabled: new(false)}, noon.Add(2 * time.Hour)},
		{admin.SubscriptionChange{URL: &sub.URL}, noon.Add(4 * time.Hour)},
		{admin.SubscriptionChange{URL: new("https://shop.example/HOOK")}, noon.Add(5 * time.Hour)},
		{admin.SubscriptionChange{URL: new("https://shop.example/hook")}, noon.Add(6 * time.Hour)},
	} {
		savedAt := noon.Add(time.Duration(i) * time.Hour)
		got, err := h.Admin.ChangeSubscription(h.t.Context(), sub.Subscriber, sub.GUID, step.change, savedAt)
		h.check(err)
		if !got.MovedAt.Equal(step.want) {
			h.t.Errorf("after change %d the URL was changed at %v, want %v", i, got.MovedAt, step.want)
		}
	}
}
