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

func subscriberRows(h hooks) {
	ctx := h.t.Context()
	a, err := h.Admin.AddSubscriber(ctx, admin.Subscriber{Name: "Größe & Söhne", Enabled: true}, auditEntry())
	h.check(err)
	b, err := h.Admin.AddSubscriber(ctx, admin.Subscriber{Name: "Bay"}, auditEntry())
	h.check(err)
	if a.Name != "Größe & Söhne" || !a.Enabled || a.ItemNo != 1 || !a.SavedAt.Equal(noon) {
		h.t.Errorf("added %+v", a)
	}
	if len(a.GUID) != 36 || len(a.RowHash) != 8 {
		h.t.Errorf("added %+v", a)
	}
	if b.ItemNo != 2 || b.Enabled {
		h.t.Errorf("added %+v", b)
	}
	name, enabled := "Bight", true
	later := auditEntry()
	later.At = noon.Add(time.Hour)
	change := admin.SubscriberChange{Name: &name, Enabled: &enabled, RowHash: b.RowHash}
	c, err := h.Admin.ChangeSubscriber(ctx, b.GUID, change, later)
	h.check(err)
	if c.Name != name || !c.Enabled || slices.Equal(c.RowHash, b.RowHash) || !c.SavedAt.Equal(later.At) || c.GUID != b.GUID {
		h.t.Errorf("changed %+v into %+v", b, c)
	}
	_, err = h.Admin.ChangeSubscriber(ctx, b.GUID, admin.SubscriberChange{Name: &name, RowHash: b.RowHash}, later)
	if !fault.Is(err, fault.Conflict) {
		h.t.Errorf("on an old row hash: %v", err)
	}
	for _, want := range []admin.Subscriber{a, c} {
		if got, err := h.Admin.Subscriber(ctx, want.GUID); err != nil || !reflect.DeepEqual(got, want) {
			h.t.Errorf("subscriber is %+v (%v), want %+v", got, err, want)
		}
	}
	if n, err := h.Admin.CountSubscribers(ctx); err != nil || n != 2 {
		h.t.Errorf("%d subscribers (%v)", n, err)
	}
	for _, want := range []bool{true, false} {
		if got, err := h.Admin.RemoveSubscriber(ctx, b.GUID, auditEntry()); err != nil || got != want {
			h.t.Errorf("removed %v (%v), want %v", got, err, want)
		}
	}
	_, err = h.Admin.Subscriber(ctx, b.GUID)
	h.expectMissing(err)
	_, err = h.Admin.ChangeSubscriber(ctx, b.GUID, admin.SubscriberChange{Name: &name}, auditEntry())
	h.expectMissing(err)
}

// subscriptionPages adds subscriptions concurrently: pages must be parts of the whole
// list nevertheless.
func subscriptionPages(h hooks) {
	const count = 9
	ctx := h.t.Context()
	owner := h.subscribe().Subscriber
	other := h.subscribe().Subscriber
	owners := []string{owner, other}
	headers := []webhook.Header{{Name: "X-B", Value: "2"}, {Name: "X-A", Value: "1"}}
	add := func(n int) {
		_, err := h.Admin.AddSubscription(ctx, webhook.Subscription{
			Subscriber:  owners[n/2%2],
			Pattern:     "*",
			URL:         "http://a",
			Secret:      "s",
			SavedAt:     noon,
			MadeByAdmin: true,
			Headers:     headers[n%3:],
		}, nil)
		if err != nil {
			h.t.Error(err)
		}
	}
	for first := 0; first < count-1; first += 2 { // few at a time: each has a connection and waits for a lock
		concurrently(2, func(n int) { add(first + n) })
	}
	whole, total, err := h.Store.Admin.Subscriptions(ctx, owner, 0, -1)
	h.check(err)
	if len(whole) != 1+(count-1)/2 || total != int64(len(whole)) {
		h.t.Fatalf("%d subscriptions, total %d", len(whole), total)
	}
	for i, s := range whole {
		if s.ItemNo != i+1 || s.Subscriber != owner {
			h.t.Errorf("subscription %d is %+v", i, s)
		}
	}
	for skip := range total + 2 {
		for take := int64(-1); take <= total+1; take++ {
			page, n, err := h.Store.Admin.Subscriptions(ctx, owner, skip, take)
			h.check(err)
			want := whole[min(skip, total):]
			if take >= 0 {
				want = want[:min(take, int64(len(want)))]
			}
			isSame := len(page) == len(want) && (len(want) == 0 || reflect.DeepEqual(page, want))
			if n != total || !isSame {
				h.t.Errorf("skip %d, take %d: %+v of %d, want %+v of %d", skip, take, page, n, want, total)
			}
		}
	}
	for _, take := range []int64{-1, 0, 1} {
		_, _, err = h.Store.Admin.Subscriptions(ctx, guid(1), 0, take)
		h.expectMissing(err)
	}
}

func (h hooks) expectMissing(err error) {
	h.t.Helper()
	if !fault.Is(err, fault.NotFound) {
		h.t.Errorf("got %v, want NotFound", err)
	}
}

func subscriptionRows(h hooks) {
	ctx := h.t.Context()
	s, err := h.Admin.AddSubscriber(ctx, admin.Subscriber{Name: "Shop", Enabled: true}, auditEntry())
	h.check(err)
	want := webhook.Subscription{
		Subscriber:     s.GUID,
		SubscriberInfo: webhook.SubscriberInfo{Name: "Shop", Enabled: true},
		Pattern:        "debtor.created",
		URL:            "https://shop.example/größe?x='1'",
		ItemNo:         1,
		Enabled:        true,
		Order:          webhook.Order{All: true},
		MadeByAdmin:    true,
		Schedule:       []time.Duration{time.Second, 90 * time.Minute},
		Headers:        []webhook.Header{{Name: "X-B", Value: "2", ID: guid(2)}, {Name: "X-A", Value: "", ID: guid(3)}},
		Secret:         "whsec_abc",
		SavedAt:        noon,
		Owner:          webhook.Owner{Name: "user:Ann Größe"},
		Where:          webhook.Where{Text: `{"NameStartsWith":"Größe '","StatusIn":[1,2]}`},
	}
	r, err := h.Admin.AddSubscription(ctx, want, nil)
	h.check(err)
	want.ID = r.ID
	want.GUID = r.GUID
	want.RowHash = r.RowHash
	if !reflect.DeepEqual(r, want) || r.ID == 0 || len(r.GUID) != 36 || len(r.RowHash) != 8 {
		h.t.Errorf("added %+v, want %+v", r, want)
	}
	_, err = h.Admin.AddSubscription(ctx, want, nil)
	if !fault.Is(err, fault.Conflict) || fault.From(err).Fields[0].Name != webhook.MemberRecID {
		h.t.Errorf("a GUID in use: %v", err)
	}
	_, err = h.Admin.AddSubscriber(ctx, admin.Subscriber{GUID: s.GUID, Name: "Shop"}, auditEntry())
	if !fault.Is(err, fault.Conflict) {
		h.t.Errorf("a GUID in use: %v", err)
	}
	second := webhook.Subscription{Subscriber: s.GUID, Pattern: "*", URL: "http://a", Secret: "s", SavedAt: noon}
	other, err := h.Admin.AddSubscription(ctx, second, nil)
	h.check(err)
	both := []webhook.Subscription{r, other}
	if listed, err := h.Subscriptions(ctx, s.GUID); err != nil || !reflect.DeepEqual(listed, both) || other.ItemNo != 2 {
		h.t.Errorf("subscriptions are %+v (%v)", listed, err)
	}
	h.changeSubscription(r)
	second.Subscriber = guid(1)
	_, err = h.Admin.AddSubscription(ctx, second, nil)
	h.expectMissing(err)
	_, err = h.Subscriptions(ctx, guid(1))
	h.expectMissing(err)
	elsewhere := h.subscribe()
	_, err = h.Admin.Subscription(ctx, elsewhere.Subscriber, r.GUID) // of another subscriber
	h.expectMissing(err)
	if removed, err := h.Admin.RemoveSubscription(ctx, elsewhere.Subscriber, r.GUID, noon); removed || err != nil {
		h.t.Errorf("removed a subscription of another subscriber: %v (%v)", removed, err)
	}
	for _, want := range []bool{true, false} {
		if got, err := h.Admin.RemoveSubscription(ctx, s.GUID, r.GUID, noon); err != nil || got != want {
			h.t.Errorf("removed %v (%v), want %v", got, err, want)
		}
	}
}

func (h hooks) changeSubscription(r webhook.Subscription) {
	h.t.Helper()
	ctx, later := h.t.Context(), noon.Add(time.Hour)
	pattern, url := "*", "http://b"
	where := `{"Total":1}`
	no := false
	var settings []time.Duration
	headers := []webhook.Header{{Name: "X-C", Value: strings.Repeat("v", 5000), ID: guid(4)}}
	got, err := h.Admin.ChangeSubscription(ctx, r.Subscriber, r.GUID, admin.SubscriptionChange{
		Pattern:     &pattern,
		URL:         &url,
		Where:       &where,
		Enabled:     &no,
		Ordered:     &no,
		MadeByAdmin: &no,
		Schedule:    &settings,
		Headers:     &headers,
		RowHash:     r.RowHash,
		Owner:       new(string),
	}, later)
	h.check(err)
	want := r
	want.Pattern = pattern
	want.URL = url
	want.Enabled = false
	want.Order = webhook.Order{}
	want.MadeByAdmin = false
	want.Owner.Name = ""
	want.Schedule = nil
	want.Headers = headers
	want.SavedAt = later
	want.RowHash = got.RowHash
	want.Where.Text = where
	if !reflect.DeepEqual(got, want) || slices.Equal(got.RowHash, r.RowHash) {
		h.t.Errorf("changed into %+v, want %+v", got, want)
	}
	none, empty := []webhook.Header{}, []time.Duration{}
	outdated := admin.SubscriptionChange{Headers: &none, RowHash: r.RowHash}
	_, err = h.Admin.ChangeSubscription(ctx, r.Subscriber, r.GUID, outdated, later)
	if !fault.Is(err, fault.Conflict) {
		h.t.Errorf("on an old row hash: %v", err)
	}
	emptied := admin.SubscriptionChange{Headers: &none, Schedule: &empty, Where: new(string)}
	got, err = h.Admin.ChangeSubscription(ctx, r.Subscriber, r.GUID, emptied, later)
	if err != nil || got.Headers != nil || got.Where.Text != "" || got.Schedule == nil || len(got.Schedule) != 0 {
		h.t.Errorf("changed into %+v (%v), want no headers, no condition and no retries", got, err)
	}
	_, err = h.Admin.ChangeSubscription(ctx, r.Subscriber, guid(1), admin.SubscriptionChange{URL: &url}, later)
	h.expectMissing(err)
}

// versionsIncremented checks that only changes of subscriptions increment their
// version.
func versionsIncremented(h hooks) {
	ctx, l := h.t.Context(), h.lease(time.Hour)
	r := h.subscribe()
	off, now := false, h.version()
	m := h.send(l, r.ID, 2)
	for _, c := range []struct {
		name       string
		increments bool
		do         func() error
	}{
		{"change of a subscriber", true, func() error {
			_, err := h.Admin.ChangeSubscriber(ctx, r.Subscriber, admin.SubscriberChange{Enabled: &off}, auditEntry())
			return err
		}},
		{"change of a subscription", true, func() error {
			_, err := h.Admin.ChangeSubscription(ctx, r.Subscriber, r.GUID, admin.SubscriptionChange{Ordered: &off}, noon)
			return err
		}},
		{"change of nothing", false, func() error {
			_, err := h.Admin.ChangeSubscription(ctx, r.Subscriber, r.GUID, admin.SubscriptionChange{Ordered: &off, RowHash: r.RowHash}, noon)
			if fault.Is(err, fault.Conflict) {
				return nil
			}
			return err
		}},
		{"retry", false, func() error {
			_, err := h.Admin.RetryMessage(ctx, addressOf(r, m[0]), noon)
			return err
		}},
		{"removal of a message", false, func() error {
			_, err := h.Admin.RemoveMessage(ctx, addressOf(r, m[0]))
			return err
		}},
		{"sweep", false, func() error {
			_, err := h.Engine.Sweep(ctx, 10)
			return err
		}},
		{"removal of a subscription", true, func() error {
			_, err := h.Admin.RemoveSubscription(ctx, r.Subscriber, r.GUID, noon)
			return err
		}},
		{"removal of a subscriber", true, func() error {
			_, err := h.Admin.RemoveSubscriber(ctx, r.Subscriber, auditEntry())
			return err
		}},
	} {
		h.check(c.do())
		before := now
		now = h.version()
		if now > before != c.increments {
			h.t.Errorf("%s: version %d after %d", c.name, now, before)
		}
	}
}

// oldSecrets checks that a replaced secret is used until its end time.
func oldSecrets(h hooks) {
	ctx, r := h.t.Context(), h.subscribe()
	now, err := h.Engine.Now(ctx)
	h.check(err)
	expect := func(want ...string) {
		h.t.Helper()
		s, err := h.Engine.Snapshot(ctx)
		h.check(err)
		if got := s.Subscription(r.ID).SecretsAt(now); !slices.Equal(got, want) {
			h.t.Errorf("secrets are %v, want %v", got, want)
		}
	}
	rotate := func(secret string, old ...webhook.ReplacedSecret) {
		h.t.Helper()
		change := admin.SubscriptionChange{Secret: &admin.Rotation{Secret: secret, Old: old}}
		_, err := h.Admin.ChangeSubscription(ctx, r.Subscriber, r.GUID, change, noon)
		h.check(err)
	}
	sweep := func() {
		h.t.Helper()
		before := h.version()
		_, err := h.Engine.Sweep(ctx, 10)
		h.check(err)
		if after := h.version(); after == before {
			h.t.Error("the end of a secret does not increment the version")
		}
	}
	later, past := now.Add(time.Hour), now.Add(-time.Hour)
	rotate("two", webhook.ReplacedSecret{Secret: "one", Until: later})
	expect("two", "one")
	rotate("three", webhook.ReplacedSecret{Secret: "two", Until: past})
	expect("three")
	sweep()
	expect("three")

	two := webhook.ReplacedSecret{Secret: "two", Until: later}
	rotate("five", webhook.ReplacedSecret{Secret: "four", Until: past}, two, webhook.ReplacedSecret{Secret: "one", Until: past})
	expect("five", "two")
	sweep()
	expect("five", "two")
	if s, err := h.Engine.Snapshot(ctx); err != nil || !slices.Equal(s.Subscription(r.ID).Earlier, []webhook.ReplacedSecret{two}) {
		h.t.Errorf("the stored secrets are %v (%v), want only those that sign", s.Subscription(r.ID).Earlier, err)
	}
	long := webhook.SecretPrefix + strings.Repeat("A", 88)
	var most []webhook.ReplacedSecret
	for range webhook.MaxSecrets - 1 {
		most = append(most, webhook.ReplacedSecret{Secret: long, Until: later})
	}
	rotate(long, most...)
	expect(long, long, long, long, long)
	rotate("six")
	expect("six")
}

func snapshotOfAll(h hooks) {
	ctx := h.t.Context()
	empty, err := h.Engine.Snapshot(ctx)
	h.check(err)
	if empty.Version < 1 {
		h.t.Errorf("version %d, want at least 1", empty.Version)
	}
	a, b := h.subscribe(), h.subscribe()
	off := false
	_, err = h.Admin.ChangeSubscriber(ctx, b.Subscriber, admin.SubscriberChange{Enabled: &off}, auditEntry())
	h.check(err)
	s, err := h.Engine.Snapshot(ctx)
	h.check(err)
	if s.Version != h.version() {
		h.t.Errorf("version %d, want %d", s.Version, h.version())
	}
	want := &webhook.Subscription{
		ID:             a.ID,
		GUID:           a.GUID,
		Subscriber:     a.Subscriber,
		SubscriberInfo: webhook.SubscriberInfo{Name: "Shop", Enabled: true},
		Pattern:        "debtor.*",
		URL:            a.URL,
		Secret:         "whsec_x",
		Enabled:        true,
		ItemNo:         1,
		SavedAt:        a.SavedAt,
		RowHash:        a.RowHash,
	}
	if got := s.Subscription(a.ID); !reflect.DeepEqual(got, want) {
		h.t.Errorf("subscription is %+v, want %+v", got, want)
	}
	if got := s.Subscription(b.ID); got == nil || got.Active() || got.InactiveReason() != "its subscriber is disabled" {
		h.t.Errorf("subscription of a disabled subscriber is %+v", got)
	}
	if n := len(s.Match("debtor.deleted")); n != 2 {
		h.t.Errorf("%d match", n)
	}
}

func staleVersion(h hooks) {
	r, l := h.subscribe(), h.lease(time.Hour)
	b := h.batch(l)
	h.publish(&b, noon, "{}", r.ID)
	other := h.subscribe()
	for range 2 {
		if err := h.Engine.Write(h.t.Context(), b); !errors.Is(err, delivery.ErrStale) {
			h.t.Errorf("with an old version: %v", err)
		}
	}
	h.expectIDs("of a stale batch", h.open(l.Partition, r.ID))
	nothing := delivery.Batch{Version: b.Version, Leases: b.Leases} // as of events that matched no subscription at that version
	if err := h.Engine.Write(h.t.Context(), nothing); !errors.Is(err, delivery.ErrStale) {
		h.t.Errorf("an empty batch with an old version: %v", err)
	}
	b.Version = delivery.AnyVersion
	h.check(h.Engine.Write(h.t.Context(), b))
	h.expectIDs("matched again", h.open(l.Partition, r.ID), b.Messages...)
	h.expectIDs("for another", h.open(l.Partition, other.ID))
}

func disabledByEngine(h hooks) {
	ctx := h.t.Context()
	r := h.subscribe()
	l := h.lease(time.Hour)
	b := h.batch(l)
	b.Disabled = []delivery.Disabled{
		{Subscription: r.ID, Reason: "410 Gone\x00" + strings.Repeat("é", 400), At: noon.Add(time.Minute)},
		{Subscription: 999_999, Reason: "none", At: noon},
	}
	h.check(h.Engine.Write(ctx, b))
	got, err := h.Admin.Subscription(ctx, r.Subscriber, r.GUID)
	h.check(err)
	if got.Enabled || !strings.HasPrefix(got.DisabledReason, "410 Gone\uFFFDé") {
		h.t.Errorf("subscription is %+v", got)
	}
	if slices.Equal(got.RowHash, r.RowHash) || !got.SavedAt.Equal(noon.Add(time.Minute)) {
		h.t.Errorf("subscription is %+v", got)
	}
	if v := h.version(); v != b.Version+1 {
		h.t.Errorf("version %d after %d", v, b.Version)
	}
	b.Version++
	h.check(h.Engine.Write(ctx, b)) // which has no effect
	if v := h.version(); v != b.Version {
		h.t.Errorf("version %d after %d, although nothing has changed", v, b.Version)
	}
	on := true
	got, err = h.Admin.ChangeSubscription(ctx, r.Subscriber, r.GUID, admin.SubscriptionChange{Enabled: &on}, noon)
	if err != nil || !got.Enabled || got.DisabledReason != "" {
		h.t.Errorf("enabled again: %+v (%v)", got, err)
	}
}

func idempotencyKeys(h hooks) {
	ctx, l := h.t.Context(), h.lease(time.Hour)
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
		b := h.batch(l)
		b.Keys = keys
		return h.Engine.Write(ctx, b)
	}
	expect := func(want *delivery.Key) {
		h.t.Helper()
		if got, err := h.Engine.IdempotencyKey(ctx, key.Hash); err != nil || !reflect.DeepEqual(got, want) {
			h.t.Errorf("key is %+v (%v), want %+v", got, err, want)
		}
	}
	expect(nil)
	h.check(write(key))
	h.check(write(key)) // a second time
	expect(&key)
	other := key
	other.Event = guid(2)
	if err := write(other); !errors.Is(err, delivery.ErrKeyTaken) {
		h.t.Errorf("another event: %v", err)
	}
	twin := other
	twin.Hash = [32]byte{9}
	if err := write(twin, twin); !errors.Is(err, delivery.ErrKeyTaken) {
		h.t.Errorf("twice in a batch: %v", err)
	}
	expect(&key)
	ended := other
	ended.Hash = [32]byte{3}
	ended.Until = now.Add(-time.Hour).Truncate(time.Millisecond)
	h.check(write(ended))
	if got, err := h.Engine.IdempotencyKey(ctx, ended.Hash); got != nil || err != nil {
		h.t.Errorf("a key that has ended: %+v (%v)", got, err)
	}
	ended.Event = guid(3)
	ended.Until = key.Until
	h.check(write(ended))
	_, err = h.Engine.Sweep(ctx, 10)
	h.check(err)
	expect(&key)
}

// outboxMarks checks that a batch marks rows of an external outbox, or writes nothing if
// one of them is marked.
func outboxMarks(h hooks) {
	ctx := h.t.Context()
	l := h.lease(time.Hour)
	r := h.subscribe()
	const here, elsewhere = "whd.wh_outbox", "dbo.größe 'x'"
	guids := func(ns ...int64) []string {
		var guids []string
		for _, n := range ns {
			guids = append(guids, guid(n))
		}
		return guids
	}
	messages := 0
	write := func(want error, source string, rows ...int64) {
		h.t.Helper()
		b := h.batch(l)
		h.publish(&b, noon, "{}", r.ID)
		b.Source, b.Taken = source, guids(rows...)
		if err := h.Engine.Write(ctx, b); !errors.Is(err, want) {
			h.t.Errorf("with %v: %v, want %v", rows, err, want)
		}
		if want == nil {
			messages++
		}
		if n := len(h.open(l.Partition, r.ID)); n != messages {
			h.t.Errorf("with %v: %d messages, want %d", rows, n, messages)
		}
	}
	expect := func(source string, ns ...int64) {
		h.t.Helper()
		got, err := h.Engine.OutboxMarks(ctx, source)
		slices.Sort(got)
		if want := guids(ns...); err != nil || !slices.Equal(got, want) {
			h.t.Errorf("%s: marked %q (%v), want %q", source, got, err, want)
		}
	}
	expect(here)
	write(nil, here, 1, 2, 3)
	write(nil, elsewhere, 2)
	write(delivery.ErrOutboxTaken, here, 4, 3)
	write(delivery.ErrOutboxTaken, here, 5, 5)
	expect(here, 1, 2, 3)
	h.check(h.Engine.RemoveOutboxMarks(ctx, here, guids(1, 3, 9)))
	expect(here, 2)
	expect(elsewhere, 2)
	write(nil, here, 1)
	expect(here, 1, 2)
	h.check(h.Engine.RemoveOutboxMarks(ctx, elsewhere, guids(2)))
	expect(elsewhere)
	expect(here, 1, 2)
	var many []int64
	for n := range int64(1000) {
		many = append(many, 100+n)
	}
	write(nil, elsewhere, many...)
	expect(elsewhere, many...)
	marked, err := h.Engine.OutboxMarks(ctx, elsewhere)
	h.check(err)
	h.check(h.Engine.RemoveOutboxMarks(ctx, elsewhere, marked))
	expect(elsewhere)
}
