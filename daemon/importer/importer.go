package importer

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// Store is the part of the store of webhooks that an import needs.
type Store interface {
	Subscriber(ctx context.Context, guid string) (admin.Subscriber, error)
	AddSubscriber(ctx context.Context, s admin.Subscriber, e audit.Entry) (admin.Subscriber, error)
	AddSubscription(ctx context.Context, s webhook.Subscription) (webhook.Subscription, error)
	AllocateIDs(ctx context.Context, n int) (first int64, err error)
	IdempotencyKey(ctx context.Context, hash [32]byte) (*delivery.Key, error)
	Write(ctx context.Context, b delivery.Batch) error
	Now(ctx context.Context) (time.Time, error)
}

// Config configures an import.
type Config struct {
	DSN      string // of the existing service's database, sqlserver://...
	Schema   string // of its tables
	Store    Store
	Rules    webhook.Rules
	Zone     *time.Location // of its times
	Messages bool           // also copy unfinished messages
	DryRun   bool           // change nothing
	Actor    audit.Actor
	Report   func(format string, args ...any) // reports one object; values of headers are never reported
}

// Counts are the numbers of objects of one kind.
type Counts struct {
	New     int
	Same    int // here already, and equal
	Changed int // here already, and different
	Removed int // imported earlier and removed here
	Refused int
}

// Result is the result of an import. For messages, those imported earlier are Same.
type Result struct {
	Subscribers, Subscriptions, Messages Counts

	Headers    int   // of new subscriptions
	Finished   int64 // messages of the existing service that are not imported
	Consistent bool  // all was read in one state
}

// Refused returns the number of objects that could not be imported.
func (r Result) Refused() int {
	return r.Subscribers.Refused + r.Subscriptions.Refused + r.Messages.Refused
}

// Run imports. In a dry run, it returns the result that an import would have. If it fails,
// the objects imported so far stay.
func Run(ctx context.Context, c Config) (Result, error) {
	server, err := mssql.Open(mssql.Config{DSN: c.DSN, Connections: 2})
	if err != nil {
		return Result{}, fault.Wrap(err, fault.Invalid, "the database of the existing service: %s", strings.TrimPrefix(err.Error(), "mssql: "))
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
	if r.now, err = r.Store.Now(ctx); err != nil {
		return err
	}
	subscribers, err := r.source.subscribers(ctx)
	if err != nil {
		return err
	}
	subscriptions, err := r.subscriptions(ctx)
	if err != nil {
		return err
	}
	for _, row := range subscribers {
		id, problem := wire.ParseGuid(row[0])
		if problem == nil && utf8.RuneCountInString(row[1]) > maxName {
			problem = fmt.Errorf("has a name of more than %d characters", maxName)
		}
		if problem != nil {
			r.refuse(&r.result.Subscribers, "subscriber %s %v", row[0], problem)
			continue
		}
		if err := r.subscriber(ctx, admin.Subscriber{GUID: id, Name: row[1], Enabled: row[2] == "1", Subscriptions: subscriptions[id]}); err != nil {
			return err
		}
		delete(subscriptions, id)
	}
	for id, all := range subscriptions {
		r.Report("%d subscriptions of the subscriber %s, which is missing or not imported; not imported", len(all), id)
		r.result.Subscriptions.Refused += len(all)
	}
	if !r.Messages {
		return nil
	}
	return r.messages(ctx)
}

// maxName is the maximum length of a subscriber's name.
const maxName = 256

// refuse counts and reports an object that cannot be imported.
func (r *run) refuse(c *Counts, format string, args ...any) {
	c.Refused++
	r.Report(format+"; not imported", args...)
}

// subscriptions returns the subscriptions with their headers, by subscriber.
func (r *run) subscriptions(ctx context.Context) (map[string][]webhook.Subscription, error) {
	rows, err := r.source.headers(ctx)
	if err != nil {
		return nil, err
	}
	headers := make(map[string][]webhook.Header)
	for _, row := range rows {
		id, _ := wire.ParseGuid(row[0]) // the store assigns another
		of, _ := wire.ParseGuid(row[1])
		headers[of] = append(headers[of], webhook.Header{ID: id, Name: row[2], Value: row[3]})
	}
	all := make(map[string][]webhook.Subscription)
	rows, err = r.source.subscriptions(ctx)
	for _, row := range rows {
		id, problem := wire.ParseGuid(row[0])
		if problem != nil {
			r.refuse(&r.result.Subscriptions, "subscription %s %v", row[0], problem)
			continue
		}
		of, _ := wire.ParseGuid(row[1])
		all[of] = append(all[of], webhook.Subscription{GUID: id, Subscriber: of, Pattern: row[2], URL: row[3], Headers: headers[id],
			Enabled: true, Secret: webhook.NewSecret(), MadeByAdmin: true, SavedAt: r.now})
	}
	return all, err
}

// subscriber imports a subscriber and its subscriptions.
func (r *run) subscriber(ctx context.Context, s admin.Subscriber) error {
	here, err := r.Store.Subscriber(ctx, s.GUID)
	if fault.Is(err, fault.NotFound) {
		var removed bool
		if removed, err = r.imported(ctx, s.GUID); removed {
			r.result.Subscribers.Removed++
			r.result.Subscriptions.Removed += len(s.Subscriptions)
			for _, o := range s.Subscriptions {
				r.targets[o.GUID] = nil
			}
			return err
		}
		r.result.Subscribers.New++
		if err == nil && !r.DryRun {
			detail := audit.Detail{"RecID=" + s.GUID}
			if _, err = r.Store.AddSubscriber(ctx, s, audit.Entry{Actor: r.Actor, At: r.now, Action: "subscriber import", Subject: s.Name, Detail: detail.String()}); err == nil {
				err = r.remember(ctx, s.GUID)
			}
		}
	} else if err == nil {
		r.compare(&r.result.Subscribers, "subscriber "+s.GUID, differences{"Name": here.Name != s.Name, "IsEnabled": here.Enabled != s.Enabled})
	}
	for i := range s.Subscriptions {
		if err == nil {
			err = r.subscription(ctx, &s.Subscriptions[i], here.Subscriptions)
		}
	}
	return err
}

// differences are the members in which an object here may differ from that of the
// existing service.
type differences map[string]bool

// compare counts an object that is here already, and reports differences.
func (r *run) compare(c *Counts, object string, members differences) {
	var names []string
	for name, differs := range members {
		if differs {
			names = append(names, name)
		}
	}
	if names == nil {
		c.Same++
		return
	}
	c.Changed++
	slices.Sort(names)
	r.Report("%s: %s differs here; not changed", object, strings.Join(names, ", "))
}

// subscription imports a subscription, unless it is among those here.
func (r *run) subscription(ctx context.Context, s *webhook.Subscription, here []webhook.Subscription) error {
	counts, object := &r.result.Subscriptions, "subscription "+s.GUID
	if i := slices.IndexFunc(here, func(o webhook.Subscription) bool { return o.GUID == s.GUID }); i >= 0 {
		o := here[i]
		r.targets[s.GUID] = &o
		r.compare(counts, object, differences{"EventName": !strings.EqualFold(o.Pattern, s.Pattern), "URL": o.URL != s.URL, "Headers": !webhook.SameHeaders(o.Headers, s.Headers)})
		o.Pattern = s.Pattern // the event of its messages
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
		r.refuse(counts, "%s: %s", object, fault.From(err).Message)
		return nil
	}
	pattern, err := r.Rules.Pattern(s.Pattern)
	switch {
	case err == nil:
		s.Pattern = pattern
	case s.Pattern == "" || utf8.RuneCountInString(s.Pattern) > maxName:
		r.refuse(counts, "%s: its EventName is empty or too long", object)
		return nil
	default:
		r.Report("%s: its event %s is not published; add it to webhooks.events", object, s.Pattern)
	}
	if err := r.Rules.CheckURL(s.URL, true); err != nil {
		r.Report("%s: %s; until then its messages fail", object, fault.From(err).Message)
	}
	counts.New++
	r.result.Headers += len(s.Headers)
	r.targets[s.GUID] = s
	if r.DryRun {
		return nil
	}
	added, err := r.Store.AddSubscription(ctx, *s)
	if err != nil {
		return err
	}
	r.targets[s.GUID] = &added
	return r.remember(ctx, s.GUID)
}

// messages imports the unfinished messages in pages.
func (r *run) messages(ctx context.Context) (err error) {
	if r.result.Finished, err = r.source.finished(ctx); err != nil {
		return err
	}
	for after := ""; ; {
		page, err := r.source.page(ctx, after)
		if err != nil || len(page) == 0 {
			return err
		}
		after = page[len(page)-1].key
		var b delivery.Batch
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
	of, _ := wire.ParseGuid(m.subscription)
	target, known := r.targets[of]
	counts := &r.result.Messages
	id, err := wire.ParseGuid(m.id)
	switch {
	case known && target == nil:
		counts.Removed++
		return nil
	case err != nil:
		r.refuse(counts, "message %s %v", m.id, err)
		return nil
	case !known:
		r.refuse(counts, "message %s of the subscription %s", id, cmp.Or(of, m.subscription))
		return nil
	case len(m.body.String) > delivery.MaxBodySize || !m.body.Valid && m.size > 0:
		r.refuse(counts, "message %s: its body is larger than %d bytes", id, delivery.MaxBodySize)
		return nil
	}
	if known, err := r.imported(ctx, id); err != nil || known {
		counts.Same++
		return err
	}
	counts.New++
	event := &webhook.Event{GUID: id, Name: target.Pattern, Body: []byte(m.body.String), AddedAt: r.time(m.added)}
	state := webhook.State{Next: r.now}
	if m.status != int(webhook.NotSent) {
		state.Status, state.Attempts = webhook.RetryPending, 1+max(0, m.retries)
		if due := r.time(m.due); m.due != "" && due.After(r.now) {
			state.Next = due
		}
	}
	b.Events = append(b.Events, event)
	b.Messages = append(b.Messages, &webhook.Message{GUID: id, Event: event, Partition: firstPartition, Subscription: target.ID, URL: target.URL, MadeByAdmin: target.MadeByAdmin, State: state})
	b.Keys = append(b.Keys, r.key(id))
	if n := (delivery.PeerEvent{Subscription: target.ID, Kind: delivery.PeerAdded}); !slices.Contains(b.PeerEvents, n) {
		b.PeerEvents = append(b.PeerEvents, n)
	}
	return nil
}

// firstPartition is the partition that always has a daemon. That daemon is notified of
// the messages.
const firstPartition = 1

// time returns a time of the existing service, now if it is unknown.
func (r *run) time(text string) time.Time {
	t, err := time.ParseInLocation(time.DateTime, text, r.Zone)
	if err != nil {
		return r.now
	}
	return t
}

// write writes a batch of messages, with ascending IDs.
func (r *run) write(ctx context.Context, b delivery.Batch) error {
	if r.DryRun || len(b.Messages) == 0 {
		return nil
	}
	id, err := r.Store.AllocateIDs(ctx, 2*len(b.Messages))
	if err != nil {
		return err
	}
	for i, m := range b.Messages {
		m.Event.ID, m.ID = id+int64(2*i), id+int64(2*i)+1
	}
	b.Version = delivery.AnyVersion
	return r.Store.Write(ctx, b)
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
	k, err := r.Store.IdempotencyKey(ctx, r.key(guid).Hash)
	return k != nil, err
}

// remember records that an object was imported.
func (r *run) remember(ctx context.Context, guid string) error {
	return r.Store.Write(ctx, delivery.Batch{Version: delivery.AnyVersion, Keys: []delivery.Key{r.key(guid)}})
}

// Empty is a store without objects, for a dry run before there is a store.
type Empty struct{ Store }

// Subscriber implements Store.
func (Empty) Subscriber(context.Context, string) (admin.Subscriber, error) {
	return admin.Subscriber{}, fault.New(fault.NotFound, "the store is empty")
}

// IdempotencyKey implements Store.
func (Empty) IdempotencyKey(context.Context, [32]byte) (*delivery.Key, error) { return nil, nil }

// Now implements Store.
func (Empty) Now(context.Context) (time.Time, error) { return time.Now(), nil }
