package importer

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// Store is the store of webhooks that an import fills.
type Store struct {
	Subscribers SubscriberStore
	Messages    MessageStore
}

// SubscriberStore is the part of the administration that an import needs.
type SubscriberStore interface {
	Subscriber(ctx context.Context, guid string) (admin.Subscriber, error)
	AddSubscriber(ctx context.Context, s admin.Subscriber, e audit.Entry) (admin.Subscriber, error)
	AddSubscription(ctx context.Context, s webhook.Subscription, l *webhook.Limits) (webhook.Subscription, error)
}

// MessageStore is the part of the delivery engine's store that an import needs.
type MessageStore interface {
	AllocateIDs(ctx context.Context, n int) (first int64, err error)
	IdempotencyKey(ctx context.Context, hash [32]byte) (*delivery.Key, error)
	// MarkImported is called before messages up to an ID are written, since their GUIDs do not start
	// with their time.
	MarkImported(ctx context.Context, last int64) error
	Write(ctx context.Context, b delivery.Batch) error
	Now(ctx context.Context) (time.Time, error)
}

// Config configures an import.
type Config struct {
	DSN      string // DSN of the .NET service's database, sqlserver://...
	Schema   string // schema of its tables
	Store    Store
	Rules    webhook.Rules
	Zone     *time.Location // time zone of its times
	Messages bool           // also copy unfinished messages
	DryRun   bool           // change nothing
	Actor    audit.Actor
	Report   func(format string, args ...any) // reports one object; values of headers are never reported
}

// Counts are the numbers of objects of one kind.
type Counts struct {
	New     int
	Same    int // here already, and equal; for messages, imported earlier
	Changed int // here already, and different
	Removed int // imported earlier and removed here
	Refused int
}

// String returns the numbers for users.
func (c Counts) String() string {
	return fmt.Sprintf("%d new, %d unchanged, %d different here, %d removed here, %d not imported",
		c.New, c.Same, c.Changed, c.Removed, c.Refused)
}

// Result is the result of an import.
type Result struct {
	Subscribers, Subscriptions, Messages Counts

	Headers    int   // number of headers of new subscriptions
	Finished   int64 // number of finished messages, which are not imported
	Consistent bool  // everything was read in one snapshot
}

// Run imports. In a dry run, it returns the result that an import would have. If it fails,
// the objects imported so far stay.
func Run(ctx context.Context, c Config) (Result, error) {
	server, err := mssql.Open(mssql.Config{DSN: c.DSN, Connections: 2})
	if err != nil {
		return Result{}, fault.Wrap(err, fault.Invalid, "the database of the .NET service: %s",
			strings.TrimPrefix(err.Error(), "mssql: "))
	}
	defer server.Close()
	source, err := openSource(ctx, server, c.Schema)
	if err != nil {
		return Result{}, executor.Classify(err)
	}
	defer source.tx.Rollback()
	r := &run{
		Config:  c,
		source:  source,
		targets: make(map[string]*webhook.Subscription),
		result:  Result{Consistent: source.consistent},
	}
	err = r.importAll(ctx)
	return r.result, executor.Classify(err)
}

// run is a running import.
type run struct {
	Config
	source *source
	result Result
	now    time.Time // of the store

	// targets are the subscriptions for which messages can be added, by GUID. Those that were
	// removed here are nil.
	targets map[string]*webhook.Subscription
}

// importAll imports the subscribers, their subscriptions, and then the messages for these.
func (r *run) importAll(ctx context.Context) (err error) {
	r.now, err = r.Store.Messages.Now(ctx)
	if err != nil {
		return err
	}
	subscribers, err := r.source.rows(ctx, subscriberTable)
	if err != nil {
		return err
	}
	subscriptions, err := r.subscriptions(ctx)
	if err != nil {
		return err
	}

	for _, row := range subscribers {
		s := admin.Subscriber{
			GUID:          row["RecID"],
			Name:          row["Name"],
			Enabled:       row["IsEnabled"] == "1",
			Subscriptions: subscriptions[row["RecID"]],
		}
		if err := r.importSubscriber(ctx, s); err != nil {
			return err
		}
		delete(subscriptions, s.GUID)
	}
	for _, guid := range slices.Sorted(maps.Keys(subscriptions)) {
		n := len(subscriptions[guid])
		r.refuse(&r.result.Subscriptions, n,
			"%d subscriptions of the subscriber %s, which does not exist", n, guid)
	}
	return r.importMessages(ctx)
}

// subscriptions returns the subscriptions of the .NET service with their headers, by the
// GUID of their subscriber.
func (r *run) subscriptions(ctx context.Context) (map[string][]webhook.Subscription, error) {
	rows, err := r.source.rows(ctx, subscriptionTable)
	if err != nil {
		return nil, err
	}
	headerRows, err := r.source.rows(ctx, headerTable)
	if err != nil {
		return nil, err
	}

	headers := make(map[string][]webhook.Header)
	for _, row := range headerRows {
		subscription := row["SY_WebhookSubscription_RecID"]
		headers[subscription] = append(headers[subscription], webhook.Header{
			ID:    row["RecID"],
			Name:  row["Name"],
			Value: row["Value"],
		})
	}
	subscriptions := make(map[string][]webhook.Subscription)
	for _, row := range rows {
		subscriber := row["SY_WebhookSubscriber_RecID"]
		subscriptions[subscriber] = append(subscriptions[subscriber], webhook.Subscription{
			GUID:        row["RecID"],
			Subscriber:  subscriber,
			Pattern:     row["EventName"],
			URL:         row["URL"],
			Headers:     headers[row["RecID"]],
			Enabled:     true,
			Secret:      webhook.NewSecret(),
			MadeByAdmin: true,
			SavedAt:     r.now,
		})
	}
	return subscriptions, nil
}

// refuse counts and reports objects that cannot be imported.
func (r *run) refuse(c *Counts, n int, format string, args ...any) {
	c.Refused += n
	r.Report(format+"; not imported", args...)
}

// compare counts an object that is here already, and reports a difference.
func (r *run) compare(c *Counts, same bool, object, guid, members string) {
	if same {
		c.Same++
		return
	}
	c.Changed++
	r.Report("%s %s: its %s differs here; not changed", object, guid, members)
}

// importSubscriber imports a subscriber, unless it is here already, and its subscriptions.
func (r *run) importSubscriber(ctx context.Context, s admin.Subscriber) error {
	counts := &r.result.Subscribers
	stored, err := r.Store.Subscribers.Subscriber(ctx, s.GUID)
	if err == nil {
		isEqual := stored.Name == s.Name && stored.Enabled == s.Enabled
		r.compare(counts, isEqual, "subscriber", s.GUID, "Name or IsEnabled")
		return r.importSubscriptions(ctx, s.Subscriptions, stored.Subscriptions)
	}
	if !fault.Is(err, fault.NotFound) {
		return err
	}

	wasRemoved, err := r.imported(ctx, s.GUID)
	if err != nil {
		return err
	}
	if wasRemoved {
		counts.Removed++
		r.result.Subscriptions.Removed += len(s.Subscriptions)
		for _, subscription := range s.Subscriptions {
			r.targets[subscription.GUID] = nil
		}
		return nil
	}

	counts.New++
	entry := audit.Entry{
		Actor:   r.Actor,
		At:      r.now,
		Action:  "subscriber import",
		Subject: s.Name,
		Detail:  "RecID=" + s.GUID,
	}
	err = r.add(ctx, s.GUID, func() error {
		_, err := r.Store.Subscribers.AddSubscriber(ctx, s, entry)
		return err
	})
	if err != nil {
		return err
	}
	return r.importSubscriptions(ctx, s.Subscriptions, nil)
}

// importSubscriptions imports the subscriptions of a subscriber, unless they are among the
// stored ones.
func (r *run) importSubscriptions(ctx context.Context, subscriptions, stored []webhook.Subscription) error {
	for i := range subscriptions {
		s := &subscriptions[i]
		hasGUID := func(other webhook.Subscription) bool { return other.GUID == s.GUID }
		if index := slices.IndexFunc(stored, hasGUID); index >= 0 {
			r.compareSubscription(s, stored[index])
			continue
		}
		if err := r.importSubscription(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// compareSubscription compares a subscription with the stored one, to which messages are
// added.
func (r *run) compareSubscription(s *webhook.Subscription, stored webhook.Subscription) {
	isEqual := strings.EqualFold(stored.Pattern, s.Pattern) &&
		stored.URL == s.URL &&
		webhook.SameHeaders(stored.Headers, s.Headers)
	r.compare(&r.result.Subscriptions, isEqual, "subscription", s.GUID, "EventName, URL or Headers")
	r.reportBlocked(&stored)
	stored.Pattern = s.Pattern // the event of the messages to import
	r.targets[s.GUID] = &stored
}

// anywhere are the networks of all addresses.
var anywhere = []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}

// importSubscription imports a subscription that is not here, unless it was removed.
func (r *run) importSubscription(ctx context.Context, s *webhook.Subscription) error {
	counts := &r.result.Subscriptions
	if removed, err := r.imported(ctx, s.GUID); err != nil || removed {
		counts.Removed++
		r.targets[s.GUID] = nil
		return err
	}

	// The target guard decides at each attempt, so it does not matter here.
	lenient := r.Rules
	lenient.Guard.Allow = anywhere
	if err := cmp.Or(lenient.CheckURL(s.URL, true), webhook.CheckHeaders(s.Headers)); err != nil {
		r.refuse(counts, 1, "subscription %s: %s", s.GUID, fault.From(err).Message)
		return nil
	}
	if pattern, err := r.Rules.Pattern(s.Pattern); err == nil {
		s.Pattern = pattern
	}
	r.reportBlocked(s)
	counts.New++
	r.result.Headers += len(s.Headers)
	r.targets[s.GUID] = s
	return r.add(ctx, s.GUID, func() (err error) {
		*s, err = r.Store.Subscribers.AddSubscription(ctx, *s, nil)
		return err
	})
}

// reportBlocked reports which settings keep a subscription from getting messages.
func (r *run) reportBlocked(s *webhook.Subscription) {
	if err := r.Rules.CheckURL(s.URL, s.MadeByAdmin); err != nil {
		r.Report("subscription %s: %s; until then its messages fail", s.GUID, fault.From(err).Message)
	}
	if _, err := r.Rules.Pattern(s.Pattern); err != nil {
		r.Report("subscription %s: its event %s is not published; add it to webhooks.events",
			s.GUID, s.Pattern)
	}
}

// importMessages imports the unfinished messages in pages, if configured.
func (r *run) importMessages(ctx context.Context) (err error) {
	r.result.Finished, err = r.source.finished(ctx)
	if err != nil || !r.Messages {
		return err
	}
	lastKey := ""
	for {
		page, err := r.source.page(ctx, lastKey)
		if err != nil || len(page) == 0 {
			return err
		}
		lastKey = page[len(page)-1].key
		batch := delivery.Batch{Version: delivery.AnyVersion}
		for _, m := range page {
			if err := r.addMessage(ctx, &batch, m); err != nil {
				return err
			}
		}
		if err := r.write(ctx, batch); err != nil {
			return err
		}
	}
}

// addMessage adds a message to a batch if it is new.
func (r *run) addMessage(ctx context.Context, b *delivery.Batch, m message) error {
	counts := &r.result.Messages
	target, ok := r.targets[m.subscription]
	if !ok {
		r.refuse(counts, 1, "message %s of the subscription %s", m.id, m.subscription)
		return nil
	}
	if target == nil {
		counts.Removed++
		return nil
	}
	if m.tooLarge {
		r.refuse(counts, 1, "message %s: its body has more than %d bytes", m.id, delivery.MaxEventBody)
		return nil
	}
	if imported, err := r.imported(ctx, m.id); err != nil || imported {
		counts.Same++
		return err
	}

	counts.New++
	event := &webhook.Event{GUID: m.id, Name: target.Pattern, Body: []byte(m.body), AddedAt: r.now}
	if addedAt, err := time.ParseInLocation(time.DateTime, m.added, r.Zone); err == nil {
		event.AddedAt = addedAt
	}
	copied := webhook.NewMessage(m.id, event, target, delivery.FirstPartition)
	copied.Next = r.now // even if a retry was due later
	if m.status != int(webhook.NotSent) {
		copied.Status = webhook.RetryPending
		copied.Attempts = 1 + max(0, m.retries)
	}
	b.Events = append(b.Events, event)
	b.Messages = append(b.Messages, copied)
	b.Keys = append(b.Keys, r.key(m.id))
	peerEvent := delivery.PeerEvent{Subscription: target.ID, Kind: delivery.PeerAdded}
	if !slices.Contains(b.PeerEvents, peerEvent) {
		b.PeerEvents = append(b.PeerEvents, peerEvent)
	}
	return nil
}

// write writes a batch of messages, with ascending IDs.
func (r *run) write(ctx context.Context, b delivery.Batch) error {
	if r.DryRun || len(b.Messages) == 0 {
		return nil
	}
	id, err := r.Store.Messages.AllocateIDs(ctx, 2*len(b.Messages))
	if err != nil {
		return err
	}
	for _, m := range b.Messages {
		m.Event.ID = id
		m.ID = id + 1
		id += 2
	}
	err = r.Store.Messages.MarkImported(ctx, id-1)
	if err != nil {
		return err
	}
	return r.Store.Messages.Write(ctx, b)
}

// keyLife is how long the RecID of an imported object is kept. The .NET service is
// gone long before.
const keyLife = 10 * 365 * 24 * time.Hour

// key returns the idempotency key that records that an object was imported.
func (r *run) key(guid string) delivery.Key {
	hash := sha256.Sum256([]byte("import " + guid))
	return delivery.Key{Hash: hash, Digest: hash, Event: guid, Count: 1, Until: r.now.Add(keyLife)}
}

// imported reports whether an object was imported earlier.
func (r *run) imported(ctx context.Context, guid string) (bool, error) {
	k, err := r.Store.Messages.IdempotencyKey(ctx, r.key(guid).Hash)
	return k != nil, err
}

// add adds an object by a function and records that, except in a dry run.
func (r *run) add(ctx context.Context, guid string, addObject func() error) error {
	if r.DryRun {
		return nil
	}
	if err := addObject(); err != nil {
		return err
	}
	return r.Store.Messages.Write(ctx, delivery.Batch{
		Version: delivery.AnyVersion,
		Keys:    []delivery.Key{r.key(guid)},
	})
}
