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
	Write(ctx context.Context, b delivery.Batch) error
	Now(ctx context.Context) (time.Time, error)
}

// Config configures an import.
type Config struct {
	DSN      string // DSN of the existing service's database, sqlserver://...
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
	Finished   int64 // messages of the existing service that are not imported
	Consistent bool  // all was read in one state
}

// Run imports. In a dry run, it returns the result that an import would have. If it fails,
// the objects imported so far stay.
func Run(ctx context.Context, c Config) (Result, error) {
	server, err := mssql.Open(mssql.Config{DSN: c.DSN, Connections: 2})
	if err != nil {
		return Result{}, fault.Wrap(err, fault.Invalid, "the database of the existing service: %s",
			strings.TrimPrefix(err.Error(), "mssql: "))
	}
	defer server.Close()
	r := &run{Config: c, targets: make(map[string]*webhook.Subscription)}
	if r.source, err = openSource(ctx, server, c.Schema); err == nil {
		defer r.source.tx.Rollback()
		err = r.all(ctx)
	}
	return r.result, executor.Classify(err)
}

// run is a running import.
type run struct {
	Config
	source  *source
	result  Result
	now     time.Time
	targets map[string]*webhook.Subscription // to which messages can be added, by GUID; nil for those removed here
}

func (r *run) all(ctx context.Context) (err error) {
	r.result.Consistent = r.source.consistent
	if r.now, err = r.Store.Messages.Now(ctx); err != nil {
		return err
	}
	var rows [3][][]string
	for i, t := range []table{subscriberTable, subscriptionTable, headerTable} {
		if rows[i], err = r.source.rows(ctx, t); err != nil {
			return err
		}
	}
	headers := make(map[string][]webhook.Header)
	for _, row := range rows[2] {
		headers[row[1]] = append(headers[row[1]], webhook.Header{ID: row[0], Name: row[2], Value: row[3]})
	}
	subscriptions := make(map[string][]webhook.Subscription)
	for _, row := range rows[1] {
		subscriptions[row[1]] = append(subscriptions[row[1]], webhook.Subscription{
			GUID:        row[0],
			Subscriber:  row[1],
			Pattern:     row[2],
			URL:         row[3],
			Headers:     headers[row[0]],
			Enabled:     true,
			Secret:      webhook.NewSecret(),
			MadeByAdmin: true,
			SavedAt:     r.now,
		})
	}
	for _, row := range rows[0] {
		s := admin.Subscriber{GUID: row[0], Name: row[1], Enabled: row[2] == "1", Subscriptions: subscriptions[row[0]]}
		if err := r.subscriber(ctx, s); err != nil {
			return err
		}
		delete(subscriptions, s.GUID)
	}
	for _, id := range slices.Sorted(maps.Keys(subscriptions)) {
		n := len(subscriptions[id])
		r.refuse(&r.result.Subscriptions, n, "%d subscriptions of the subscriber %s, which does not exist", n, id)
	}
	return r.messages(ctx)
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

// subscriber imports a subscriber and its subscriptions.
func (r *run) subscriber(ctx context.Context, s admin.Subscriber) error {
	counts := &r.result.Subscribers
	here, err := r.Store.Subscribers.Subscriber(ctx, s.GUID)
	switch {
	case err == nil:
		isEqual := here.Name == s.Name && here.Enabled == s.Enabled
		r.compare(counts, isEqual, "subscriber", s.GUID, "Name or IsEnabled")
	case !fault.Is(err, fault.NotFound):
		return err
	default:
		removed, err := r.imported(ctx, s.GUID)
		if err != nil {
			return err
		}
		if removed {
			counts.Removed++
			r.result.Subscriptions.Removed += len(s.Subscriptions)
			for _, o := range s.Subscriptions {
				r.targets[o.GUID] = nil
			}
			return nil
		}
		counts.New++
		e := audit.Entry{
			Actor:   r.Actor,
			At:      r.now,
			Action:  "subscriber import",
			Subject: s.Name,
			Detail:  "RecID=" + s.GUID,
		}
		addSubscriber := func() error {
			_, err := r.Store.Subscribers.AddSubscriber(ctx, s, e)
			return err
		}
		if err := r.add(ctx, s.GUID, addSubscriber); err != nil {
			return err
		}
	}
	for i := range s.Subscriptions {
		if err := r.subscription(ctx, &s.Subscriptions[i], here.Subscriptions); err != nil {
			return err
		}
	}
	return nil
}

// subscription imports a subscription, unless it is among those here.
func (r *run) subscription(ctx context.Context, s *webhook.Subscription, here []webhook.Subscription) error {
	counts := &r.result.Subscriptions
	if i := slices.IndexFunc(here, func(o webhook.Subscription) bool { return o.GUID == s.GUID }); i >= 0 {
		stored := here[i]
		r.compare(counts,
			strings.EqualFold(stored.Pattern, s.Pattern) && stored.URL == s.URL &&
				webhook.SameHeaders(stored.Headers, s.Headers),
			"subscription", s.GUID, "EventName, URL or Headers")
		r.reportBlocked(&stored)
		stored.Pattern = s.Pattern // the event of its messages
		r.targets[s.GUID] = &stored
		return nil
	}
	if removed, err := r.imported(ctx, s.GUID); err != nil || removed {
		counts.Removed++
		r.targets[s.GUID] = nil
		return err
	}
	anywhere := r.Rules
	anywhere.Guard.Allow = []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}
	if err := cmp.Or(anywhere.CheckURL(s.URL, true), webhook.CheckHeaders(s.Headers)); err != nil {
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
		r.Report("subscription %s: its event %s is not published; add it to webhooks.events", s.GUID, s.Pattern)
	}
}

// messages imports the unfinished messages in pages, if configured.
func (r *run) messages(ctx context.Context) (err error) {
	if r.result.Finished, err = r.source.finished(ctx); err != nil || !r.Messages {
		return err
	}
	for after := ""; ; {
		page, err := r.source.page(ctx, after)
		if err != nil || len(page) == 0 {
			return err
		}
		after = page[len(page)-1].key
		b := delivery.Batch{Version: delivery.AnyVersion}
		for _, m := range page {
			if err := r.message(ctx, &b, m); err != nil {
				return err
			}
		}
		if err := r.write(ctx, b); err != nil {
			return err
		}
	}
}

// message adds a message to a batch if it is new.
func (r *run) message(ctx context.Context, b *delivery.Batch, m message) error {
	counts := &r.result.Messages
	target, ok := r.targets[m.subscription]
	switch {
	case !ok:
		r.refuse(counts, 1, "message %s of the subscription %s", m.id, m.subscription)
		return nil
	case target == nil:
		counts.Removed++
		return nil
	case m.tooLarge:
		r.refuse(counts, 1, "message %s: its body has more than %d bytes", m.id, delivery.MaxBodySize)
		return nil
	}
	if imported, err := r.imported(ctx, m.id); err != nil || imported {
		counts.Same++
		return err
	}
	counts.New++
	event := &webhook.Event{GUID: m.id, Name: target.Pattern, Body: []byte(m.body), AddedAt: r.now}
	if added, err := time.ParseInLocation(time.DateTime, m.added, r.Zone); err == nil {
		event.AddedAt = added
	}
	added := webhook.NewMessage(m.id, event, target, delivery.FirstPartition)
	added.Next = r.now // also if a retry was due later
	if m.status != int(webhook.NotSent) {
		added.Status = webhook.RetryPending
		added.Attempts = 1 + max(0, m.retries)
	}
	b.Events = append(b.Events, event)
	b.Messages = append(b.Messages, added)
	b.Keys = append(b.Keys, r.key(m.id))
	if n := (delivery.PeerEvent{Subscription: target.ID, Kind: delivery.PeerAdded}); !slices.Contains(b.PeerEvents, n) {
		b.PeerEvents = append(b.PeerEvents, n)
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
	for i, m := range b.Messages {
		m.Event.ID, m.ID = id+int64(2*i), id+int64(2*i)+1
	}
	return r.Store.Messages.Write(ctx, b)
}

// keyLife is how long the RecID of an imported object is kept. The existing service is
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

// add adds an object and records that, except in a dry run.
func (r *run) add(ctx context.Context, guid string, work func() error) error {
	if r.DryRun {
		return nil
	}
	if err := work(); err != nil {
		return err
	}
	return r.Store.Messages.Write(ctx, delivery.Batch{Version: delivery.AnyVersion, Keys: []delivery.Key{r.key(guid)}})
}
