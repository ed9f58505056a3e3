// Package admin creates, changes and removes subscribers, subscriptions and
// messages: it validates, stores and notifies the delivery engine.
package admin

import (
	"context"
	"log/slog"
	"strconv"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/webhook"
)

// Store keeps subscribers, subscriptions and messages. What does not exist is a
// fault of kind NotFound.
type Store interface {
	// HasSubscriber is NotFound where there is no such subscriber.
	HasSubscriber(ctx context.Context, guid string) error
	Subscriber(ctx context.Context, guid string) (Subscriber, error)
	AddSubscriber(ctx context.Context, s Subscriber, e audit.Entry) (Subscriber, error)
	ChangeSubscriber(ctx context.Context, guid string, c SubscriberChange, e audit.Entry) (Subscriber, error)
	RemoveSubscriber(ctx context.Context, guid string, e audit.Entry) (bool, error)

	Subscription(ctx context.Context, subscriber, guid string) (webhook.Subscription, error)
	// AddSubscription bounds what a subscriber has unless an admin adds to it.
	AddSubscription(ctx context.Context, r webhook.Subscription) (webhook.Subscription, error)
	ChangeSubscription(ctx context.Context, subscriber, guid string, c SubscriptionChange, at time.Time) (webhook.Subscription, error)
	RemoveSubscription(ctx context.Context, subscriber, guid string, at time.Time) (bool, error)

	RemoveMessage(ctx context.Context, a Address) (*webhook.Message, error)
	RetryMessage(ctx context.Context, a Address, at time.Time) (*webhook.Message, error)

	// LastMessage is the highest number of a message, 0 where there is none.
	LastMessage(ctx context.Context) (int64, error)
	// RetryMessages and RemoveMessages work, in one transaction, on the messages
	// that are still as they were picked, and give those that they have changed.
	RetryMessages(ctx context.Context, picked []Candidate, at time.Time) ([]Changed, error)
	RemoveMessages(ctx context.Context, picked []Candidate, at time.Time) ([]Changed, error)
	// Note adds an entry to the audit trail by itself.
	Note(ctx context.Context, e audit.Entry) error
}

// Notifier learns of changes that were stored. It is the delivery engine, which
// also sends test messages and knows the store's clock.
type Notifier interface {
	Now() time.Time
	// Reload reads subscriptions that were changed, if it can before it returns.
	Reload(ctx context.Context)
	// Due says that messages of a subscription were made due now.
	Due(subscription int64)
	// Forget says that messages of a subscription were deleted.
	Forget(subscription int64)
	// Announce shows changes of messages to the live streams.
	Announce(changes []webhook.Change)
	// SendTest sends a message to one subscription, whatever events it is for.
	SendTest(ctx context.Context, subscription int64, event string, body []byte) (*webhook.Message, error)
}

// Service creates and changes subscribers and subscriptions; it validates, stores
// and notifies the engine.
type Service struct {
	store    Store
	notifier Notifier
	Rules    func() webhook.Rules // called for each request, so that they may change
	log      *slog.Logger
}

// New makes a Service.
func New(b Store, n Notifier, r func() webhook.Rules, log *slog.Logger) *Service {
	return &Service{b, n, r, log}
}

// guid gives an id of a path in the form in which it is stored. One that is no
// guid is not found.
func guid(text, thing string) (string, error) {
	g, err := wire.ParseGuid(text)
	if err != nil {
		return "", fault.New(fault.NotFound, "There is no such %s", thing)
	}
	return g, nil
}

// The actions on subscribers, for the audit trail.
const (
	addSubscriber    audit.Action = "subscriber add"
	changeSubscriber audit.Action = "subscriber change"
	removeSubscriber audit.Action = "subscriber remove"
)

func (r *Service) entry(by audit.Actor, what audit.Action, subject string, d audit.Detail) audit.Entry {
	return audit.Entry{Actor: by, At: r.notifier.Now(), Action: what, Subject: subject, Detail: d.String()}
}

// Subscriber finds one, with its subscriptions.
func (r *Service) Subscriber(ctx context.Context, id string) (Subscriber, error) {
	g, err := guid(id, "subscriber")
	if err != nil {
		return Subscriber{}, err
	}
	return r.store.Subscriber(ctx, g)
}

// Known gives the id of a subscriber in the form in which it is stored, and is
// NotFound where there is none.
func (r *Service) Known(ctx context.Context, id string) (string, error) {
	g, err := guid(id, "subscriber")
	if err == nil {
		err = r.store.HasSubscriber(ctx, g)
	}
	return g, err
}

// AddSubscriber adds a subscriber.
func (r *Service) AddSubscriber(ctx context.Context, s Subscriber, by audit.Actor) (Subscriber, error) {
	var d audit.Detail
	d.Set("IsEnabled", strconv.FormatBool(s.Enabled))
	return r.store.AddSubscriber(ctx, s, r.entry(by, addSubscriber, s.Name, d))
}

// ChangeSubscriber changes a subscriber.
func (r *Service) ChangeSubscriber(ctx context.Context, id string, c SubscriberChange, by audit.Actor) (Subscriber, error) {
	g, err := guid(id, "subscriber")
	if err != nil {
		return Subscriber{}, err
	}
	var d audit.Detail
	if c.Name != nil {
		d.Set("Name", *c.Name)
	}
	if c.Enabled != nil {
		d.Set("IsEnabled", strconv.FormatBool(*c.Enabled))
	}
	s, err := r.store.ChangeSubscriber(ctx, g, c, r.entry(by, changeSubscriber, g, d))
	if err == nil {
		r.notifier.Reload(ctx)
	}
	return s, err
}

// RemoveSubscriber removes a subscriber with its subscriptions and messages.
func (r *Service) RemoveSubscriber(ctx context.Context, id string, by audit.Actor) error {
	g, err := guid(id, "subscriber")
	if err != nil {
		return err
	}
	removed, err := r.store.RemoveSubscriber(ctx, g, r.entry(by, removeSubscriber, g, nil))
	return r.removed(ctx, removed, err, "subscriber")
}

func (r *Service) removed(ctx context.Context, was bool, err error, thing string) error {
	switch {
	case err != nil:
		return err
	case !was:
		return fault.New(fault.NotFound, "There is no such %s", thing)
	}
	r.notifier.Reload(ctx)
	return nil
}

// Subscriptions lists the subscriptions of a subscriber.
func (r *Service) Subscriptions(ctx context.Context, subscriber string) ([]webhook.Subscription, error) {
	s, err := r.Subscriber(ctx, subscriber)
	return s.Subscriptions, err
}

// Subscription finds a subscription.
func (r *Service) Subscription(ctx context.Context, subscriber, id string) (webhook.Subscription, error) {
	of, g, err := guids(subscriber, id)
	if err != nil {
		return webhook.Subscription{}, err
	}
	return r.store.Subscription(ctx, of, g)
}

func guids(subscriber, subscription string) (of, g string, err error) {
	if of, err = guid(subscriber, "subscriber"); err == nil {
		g, err = guid(subscription, "subscription")
	}
	return of, g, err
}

// AddSubscription adds a subscription. Its secret is made here and shown once.
func (r *Service) AddSubscription(ctx context.Context, n webhook.Subscription) (webhook.Subscription, error) {
	var err error
	if n.Subscriber, err = r.Known(ctx, n.Subscriber); err != nil {
		return n, err
	}
	if n.Pattern, err = r.Rules().Pattern(n.Pattern); err != nil {
		return n, err
	}
	if err := r.Rules().CheckURL(n.URL, n.MadeByAdmin); err != nil {
		return n, err
	}
	if err := webhook.CheckHeaders(n.Headers); err != nil {
		return n, err
	}
	n.Secret, n.SavedAt = webhook.NewSecret(), r.notifier.Now()
	made, err := r.store.AddSubscription(ctx, n)
	if err == nil {
		r.notifier.Reload(ctx)
	}
	return made, err
}

// ChangeSubscription changes a subscription. A new URL is checked by the rights
// of the caller, not by those of its creator.
func (r *Service) ChangeSubscription(ctx context.Context, subscriber, id string, c SubscriptionChange, admin bool) (webhook.Subscription, error) {
	of, g, err := guids(subscriber, id)
	if err != nil {
		return webhook.Subscription{}, err
	}
	if err := r.check(&c, admin); err != nil {
		return webhook.Subscription{}, err
	}
	c.Bounded = !admin
	var is webhook.Subscription
	for range changeAttempts {
		var again bool
		if is, again, err = r.change(ctx, of, g, c); !again {
			break
		}
	}
	return is, err
}

// changeAttempts is how often a change is tried that others get ahead of.
const changeAttempts = 10

// change changes a subscription, unless it is like that already. Stored headers
// stay with the origin that they were given for: where they are kept, the change
// is based on the state that was looked at, and tried again where another one
// was faster.
func (r *Service) change(ctx context.Context, of, g string, c SubscriptionChange) (is webhook.Subscription, again bool, err error) {
	if is, err = r.store.Subscription(ctx, of, g); err != nil || c.leaves(&is) {
		return is, false, err
	}
	if c.Bounded && c.URL != nil && c.Headers == nil {
		if len(is.Headers) > 0 && !webhook.SameOrigin(*c.URL, is.URL) {
			return is, false, webhook.Invalid(webhook.MemberHeaders, "are stored for another origin; give the headers again when the origin changes (scheme, host or port of URL), or [] to remove them")
		}
		if c.RowHash == nil {
			c.RowHash, again = is.RowHash, true
		}
	}
	is, err = r.store.ChangeSubscription(ctx, of, g, c, r.notifier.Now())
	if err == nil {
		r.notifier.Reload(ctx)
	}
	return is, again && fault.Is(err, fault.Conflict), err
}

func (r *Service) check(c *SubscriptionChange, admin bool) error {
	if c.Pattern != nil {
		pattern, err := r.Rules().Pattern(*c.Pattern)
		if err != nil {
			return err
		}
		c.Pattern = &pattern
	}
	if c.URL != nil {
		c.MadeByAdmin = &admin
		if err := r.Rules().CheckURL(*c.URL, admin); err != nil {
			return err
		}
	}
	if c.Headers != nil {
		return webhook.CheckHeaders(*c.Headers)
	}
	return nil
}

// RemoveSubscription removes a subscription and cancels what is pending.
func (r *Service) RemoveSubscription(ctx context.Context, subscriber, id string) error {
	of, g, err := guids(subscriber, id)
	if err != nil {
		return err
	}
	removed, err := r.store.RemoveSubscription(ctx, of, g, r.notifier.Now())
	return r.removed(ctx, removed, err, "subscription")
}

// TestMessage is what a subscription is tried out with. Where it is zero the message
// says no more than that it is a test.
type TestMessage struct {
	Event string // that the message looks like, one that the subscription takes; empty for none
	Body  []byte // nil for a sample
}

// SendTest sends a message to a subscription, so that people can see whether it
// arrives. Its headers say that it is a test.
func (r *Service) SendTest(ctx context.Context, subscriber, id string, t TestMessage) (*webhook.Message, error) {
	s, err := r.Subscription(ctx, subscriber, id)
	if err != nil {
		return nil, err
	}
	name, body := record.TestEvent, t.Body
	if t.Event != "" {
		event, err := r.Rules().Event(t.Event)
		if err != nil {
			return nil, err
		}
		if !record.TakesEvent(s.Pattern, event) {
			return nil, webhook.Invalid(webhook.MemberEvent, "must be one that the subscription takes, which is for %s", s.Pattern)
		}
		if name = record.TestOf(event); body == nil {
			body = []byte(record.SampleBody(event))
		}
	}
	if body == nil {
		body = []byte(`{"Test":true,"SubscriptionID":"` + s.GUID + `"}`)
	}
	return r.notifier.SendTest(ctx, s.ID, name, body)
}

// address puts the ids of a path into the form in which they are stored.
func address(a Address) (Address, error) {
	of, g, err := guids(a.Subscriber, a.Subscription)
	if err != nil {
		return a, err
	}
	m, err := guid(a.Message, "message")
	return Address{of, g, m}, err
}

// RemoveMessage removes a message, whatever its state, and cancels what is
// pending of it. One that is gone already is no error, as long as the
// subscription is there.
func (r *Service) RemoveMessage(ctx context.Context, a Address) error {
	a, err := address(a)
	if err != nil {
		return err
	}
	if _, err := r.store.Subscription(ctx, a.Subscriber, a.Subscription); err != nil {
		return err
	}
	m, err := r.store.RemoveMessage(ctx, a)
	if err == nil && m != nil {
		r.notifier.Forget(m.Subscription)
		gone := r.changeOf(a, m)
		gone.Deleted, gone.Next = true, time.Time{}
		r.notifier.Announce([]webhook.Change{gone})
	}
	return err
}

// RetryMessage makes a message that has failed due now.
func (r *Service) RetryMessage(ctx context.Context, a Address) (*webhook.Message, error) {
	a, err := address(a)
	if err != nil {
		return nil, err
	}
	m, err := r.store.RetryMessage(ctx, a, r.notifier.Now())
	if err == nil {
		r.notifier.Due(m.Subscription)
		r.notifier.Announce([]webhook.Change{r.changeOf(a, m)})
	}
	return m, err
}

// changeOf is what a request has made of the message at an address.
func (r *Service) changeOf(a Address, m *webhook.Message) webhook.Change {
	c := webhook.NewChange(m, m.State, r.notifier.Now())
	c.Subscriber, c.Subscription = a.Subscriber, a.Subscription
	return c
}

// RotateSecret replaces the secret of a subscription by another one, a new one
// where none is given. Messages are signed with both for a while, so that the
// receiver has the time to learn it.
func (r *Service) RotateSecret(ctx context.Context, subscriber, id, secret string, keep time.Duration) (webhook.Subscription, error) {
	if err := webhook.CheckKeepFor(keep); err != nil {
		return webhook.Subscription{}, err
	}
	is, err := r.Subscription(ctx, subscriber, id)
	if err != nil {
		return is, err
	}
	if secret, err = nextSecret(is.Secret, secret); err != nil {
		return is, err
	}
	now := r.notifier.Now()
	change := Rotation{Secret: secret}
	if keep > 0 {
		change.OldUntil = now.Add(keep)
	}
	is, err = r.store.ChangeSubscription(ctx, is.Subscriber, is.GUID, SubscriptionChange{Secret: &change}, now)
	if err == nil {
		r.notifier.Reload(ctx)
		r.log.Info("the secret of a subscription was replaced", "subscription", is.GUID, "old until", is.OldSecretUntil)
	}
	return is, err
}

// nextSecret is the secret that follows another one. Who replaces a secret by
// itself, in a second attempt perhaps, would take the right to sign from the one
// before it.
func nextSecret(present, wanted string) (string, error) {
	if wanted == "" {
		return webhook.NewSecret(), nil
	}
	if _, err := webhook.ParseSecret(wanted); err != nil {
		return "", webhook.Invalid(webhook.MemberSecret, "%s", err)
	}
	if wanted == present {
		return "", webhook.Invalid(webhook.MemberSecret, "is the present one already")
	}
	return wanted, nil
}
