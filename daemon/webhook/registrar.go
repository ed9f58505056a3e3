package webhook

import (
	"context"
	"log/slog"
	"strconv"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/fault"
)

// Book is where subscribers, subscriptions and messages are written down.
// Things that are not there are faults of kind NotFound.
type Book interface {
	// HasSubscriber is NotFound where there is no such subscriber.
	HasSubscriber(ctx context.Context, guid string) error
	Subscriber(ctx context.Context, guid string) (Subscriber, error)
	Subscribers(ctx context.Context) ([]Subscriber, error)
	AddSubscriber(ctx context.Context, s Subscriber, e audit.Entry) (Subscriber, error)
	ChangeSubscriber(ctx context.Context, guid string, c SubscriberChange, e audit.Entry) (Subscriber, error)
	RemoveSubscriber(ctx context.Context, guid string, e audit.Entry) (bool, error)

	Registration(ctx context.Context, subscriber, guid string) (Registration, error)
	Registrations(ctx context.Context, subscriber string) ([]Registration, error)
	// AddRegistration bounds what a subscriber has unless an admin adds to it.
	AddRegistration(ctx context.Context, r Registration) (Registration, error)
	ChangeRegistration(ctx context.Context, subscriber, guid string, c RegistrationChange, at time.Time) (Registration, error)
	RemoveRegistration(ctx context.Context, subscriber, guid string, at time.Time) (bool, error)

	Message(ctx context.Context, a Address) (*Message, error)
	RemoveMessage(ctx context.Context, a Address) (*Message, error)
	RetryMessage(ctx context.Context, a Address, at time.Time) (*Message, error)

	// LastMessage is the highest number of a message, 0 where there is none.
	LastMessage(ctx context.Context) (int64, error)
	// RetryMessages and RemoveMessages work, in one transaction, on the messages
	// that are still as they were picked, and give those that they have changed.
	RetryMessages(ctx context.Context, picked []Picked, at time.Time) ([]Altered, error)
	RemoveMessages(ctx context.Context, picked []Picked, at time.Time) ([]Altered, error)
	// Note adds an entry to the audit trail by itself.
	Note(ctx context.Context, e audit.Entry) error
}

// Registrar is the desk at which subscribers and subscriptions are made and
// changed: it applies the rules, writes in the book, and tells the engine.
type Registrar struct {
	book   Book
	engine Notifier
	Rules  func() Rules // called for each request, so that they may change
	log    *slog.Logger
}

// NewRegistrar makes a Registrar.
func NewRegistrar(b Book, n Notifier, r func() Rules, log *slog.Logger) *Registrar {
	return &Registrar{b, n, r, log}
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
	Announce(changes []Change)
	// SendTest sends a message to one subscription, whatever events it is for.
	SendTest(ctx context.Context, subscription int64, event string, body []byte) (*Message, error)
}

// guid gives an id of a path in the form in which it is stored. One that is no
// guid is nobody's.
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

func (r *Registrar) entry(by audit.Actor, what audit.Action, subject string, d audit.Detail) audit.Entry {
	return audit.Entry{Actor: by, At: r.engine.Now(), Action: what, Subject: subject, Detail: d.String()}
}

// Subscribers lists all subscribers.
func (r *Registrar) Subscribers(ctx context.Context) ([]Subscriber, error) {
	return r.book.Subscribers(ctx)
}

// Subscriber finds one, with its subscriptions.
func (r *Registrar) Subscriber(ctx context.Context, id string) (Subscriber, error) {
	g, err := guid(id, "subscriber")
	if err != nil {
		return Subscriber{}, err
	}
	return r.book.Subscriber(ctx, g)
}

// Known gives the id of a subscriber in the form in which it is stored, and is
// NotFound where there is none.
func (r *Registrar) Known(ctx context.Context, id string) (string, error) {
	g, err := guid(id, "subscriber")
	if err == nil {
		err = r.book.HasSubscriber(ctx, g)
	}
	return g, err
}

// AddSubscriber adds a subscriber.
func (r *Registrar) AddSubscriber(ctx context.Context, s Subscriber, by audit.Actor) (Subscriber, error) {
	var d audit.Detail
	d.Set("IsEnabled", strconv.FormatBool(s.Enabled))
	return r.book.AddSubscriber(ctx, s, r.entry(by, addSubscriber, s.Name, d))
}

// ChangeSubscriber changes a subscriber.
func (r *Registrar) ChangeSubscriber(ctx context.Context, id string, c SubscriberChange, by audit.Actor) (Subscriber, error) {
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
	s, err := r.book.ChangeSubscriber(ctx, g, c, r.entry(by, changeSubscriber, g, d))
	if err == nil {
		r.engine.Reload(ctx)
	}
	return s, err
}

// RemoveSubscriber removes a subscriber with its subscriptions and messages.
func (r *Registrar) RemoveSubscriber(ctx context.Context, id string, by audit.Actor) error {
	g, err := guid(id, "subscriber")
	if err != nil {
		return err
	}
	removed, err := r.book.RemoveSubscriber(ctx, g, r.entry(by, removeSubscriber, g, nil))
	return r.removed(ctx, removed, err, "subscriber")
}

func (r *Registrar) removed(ctx context.Context, was bool, err error, thing string) error {
	switch {
	case err != nil:
		return err
	case !was:
		return fault.New(fault.NotFound, "There is no such %s", thing)
	}
	r.engine.Reload(ctx)
	return nil
}

// Registrations lists the subscriptions of a subscriber.
func (r *Registrar) Registrations(ctx context.Context, subscriber string) ([]Registration, error) {
	g, err := guid(subscriber, "subscriber")
	if err != nil {
		return nil, err
	}
	return r.book.Registrations(ctx, g)
}

// Registration finds a subscription.
func (r *Registrar) Registration(ctx context.Context, subscriber, id string) (Registration, error) {
	of, g, err := guids(subscriber, id)
	if err != nil {
		return Registration{}, err
	}
	return r.book.Registration(ctx, of, g)
}

func guids(subscriber, subscription string) (of, g string, err error) {
	if of, err = guid(subscriber, "subscriber"); err == nil {
		g, err = guid(subscription, "subscription")
	}
	return of, g, err
}

// AddRegistration adds a subscription. Its secret is made here and shown once.
func (r *Registrar) AddRegistration(ctx context.Context, n Registration) (Registration, error) {
	var err error
	if n.Subscriber, err = r.Known(ctx, n.Subscriber); err != nil {
		return n, err
	}
	if n.Pattern, err = r.Rules().Pattern(n.Pattern); err != nil {
		return n, err
	}
	if err := r.Rules().CheckURL(n.URL, n.Private); err != nil {
		return n, err
	}
	if err := CheckHeaders(n.Headers); err != nil {
		return n, err
	}
	n.Secret, n.SavedAt = NewSecret(), r.engine.Now()
	made, err := r.book.AddRegistration(ctx, n)
	if err == nil {
		r.engine.Reload(ctx)
	}
	return made, err
}

// ChangeRegistration changes a subscription. A new URL is checked by the rights
// of whoever changes it, not by those of whoever made it.
func (r *Registrar) ChangeRegistration(ctx context.Context, subscriber, id string, c RegistrationChange, admin bool) (Registration, error) {
	of, g, err := guids(subscriber, id)
	if err != nil {
		return Registration{}, err
	}
	if err := r.check(&c, admin); err != nil {
		return Registration{}, err
	}
	c.Bounded = !admin
	var is Registration
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
func (r *Registrar) change(ctx context.Context, of, g string, c RegistrationChange) (is Registration, again bool, err error) {
	if is, err = r.book.Registration(ctx, of, g); err != nil || c.keeps(&is) {
		return is, false, err
	}
	if c.Bounded && c.URL != nil && c.Headers == nil {
		if len(is.Headers) > 0 && !sameOrigin(*c.URL, is.URL) {
			return is, false, refused(MemberHeaders, "are stored for another origin; give the headers again when the origin changes (scheme, host or port of URL), or [] to remove them")
		}
		if c.RowHash == nil {
			c.RowHash, again = is.RowHash, true
		}
	}
	is, err = r.book.ChangeRegistration(ctx, of, g, c, r.engine.Now())
	if err == nil {
		r.engine.Reload(ctx)
	}
	return is, again && fault.Is(err, fault.Conflict), err
}

func (r *Registrar) check(c *RegistrationChange, admin bool) error {
	if c.Pattern != nil {
		pattern, err := r.Rules().Pattern(*c.Pattern)
		if err != nil {
			return err
		}
		c.Pattern = &pattern
	}
	if c.URL != nil {
		c.Private = &admin
		if err := r.Rules().CheckURL(*c.URL, admin); err != nil {
			return err
		}
	}
	if c.Headers != nil {
		return CheckHeaders(*c.Headers)
	}
	return nil
}

// RemoveRegistration removes a subscription and cancels what is pending.
func (r *Registrar) RemoveRegistration(ctx context.Context, subscriber, id string) error {
	of, g, err := guids(subscriber, id)
	if err != nil {
		return err
	}
	removed, err := r.book.RemoveRegistration(ctx, of, g, r.engine.Now())
	return r.removed(ctx, removed, err, "subscription")
}

// Trial is what a subscription is tried out with. Where it is zero the message
// says no more than that it is a test.
type Trial struct {
	Event string // that the message looks like, one that the subscription takes; empty for none
	Body  []byte // nil for a sample
}

// Try sends a message to a subscription, so that people can see whether it
// arrives. Receivers are told that it is a test.
func (r *Registrar) Try(ctx context.Context, subscriber, id string, t Trial) (*Message, error) {
	s, err := r.Registration(ctx, subscriber, id)
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
			return nil, refused(MemberEvent, "must be one that the subscription takes, which is for %s", s.Pattern)
		}
		if name = record.TestOf(event); body == nil {
			body = []byte(record.SampleBody(event))
		}
	}
	if body == nil {
		body = []byte(`{"Test":true,"SubscriptionID":"` + s.GUID + `"}`)
	}
	return r.engine.SendTest(ctx, s.ID, name, body)
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
func (r *Registrar) RemoveMessage(ctx context.Context, a Address) error {
	a, err := address(a)
	if err != nil {
		return err
	}
	if _, err := r.book.Registration(ctx, a.Subscriber, a.Subscription); err != nil {
		return err
	}
	m, err := r.book.RemoveMessage(ctx, a)
	if err == nil && m != nil {
		r.engine.Forget(m.Subscription)
		gone := r.changeOf(a, m)
		gone.Deleted, gone.Next = true, time.Time{}
		r.engine.Announce([]Change{gone})
	}
	return err
}

// RetryMessage makes a message that has failed due now.
func (r *Registrar) RetryMessage(ctx context.Context, a Address) (*Message, error) {
	a, err := address(a)
	if err != nil {
		return nil, err
	}
	m, err := r.book.RetryMessage(ctx, a, r.engine.Now())
	if err == nil {
		r.engine.Due(m.Subscription)
		r.engine.Announce([]Change{r.changeOf(a, m)})
	}
	return m, err
}

// changeOf is what a request has made of the message at an address.
func (r *Registrar) changeOf(a Address, m *Message) Change {
	c := NewChange(m, m.State, r.engine.Now())
	c.Subscriber, c.Subscription = a.Subscriber, a.Subscription
	return c
}
