// Package admin creates, changes and removes subscribers, subscriptions and
// messages: it validates, stores and notifies the delivery engine.
package admin

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/naming"
	"github.com/bizhook/whd/daemon/webhook"
)

// Store stores subscribers, subscriptions and messages. Methods return a fault of kind
// NotFound for objects that do not exist.
type Store interface {
	// HasSubscriber returns a NotFound fault if the subscriber does not exist.
	HasSubscriber(ctx context.Context, guid string) error
	Subscriber(ctx context.Context, guid string) (Subscriber, error)
	AddSubscriber(ctx context.Context, s Subscriber, e audit.Entry) (Subscriber, error)
	ChangeSubscriber(ctx context.Context, guid string, c SubscriberChange, e audit.Entry) (Subscriber, error)
	RemoveSubscriber(ctx context.Context, guid string, e audit.Entry) (bool, error)

	// Subscriptions returns those subscriptions of a subscriber that follow the first
	// skip ones, at most take or, if take is negative, all; and how many it has in all.
	Subscriptions(ctx context.Context, subscriber string, skip, take int64) ([]webhook.Subscription, int64, error)
	Subscription(ctx context.Context, subscriber, guid string) (webhook.Subscription, error)
	// AddSubscription enforces the limits per subscriber, nil for none.
	AddSubscription(ctx context.Context, r webhook.Subscription, l *webhook.Limits) (webhook.Subscription, error)
	ChangeSubscription(ctx context.Context, subscriber, guid string, c SubscriptionChange, at time.Time) (webhook.Subscription, error)
	RemoveSubscription(ctx context.Context, subscriber, guid string, at time.Time) (bool, error)

	RemoveMessage(ctx context.Context, a Address) (*webhook.Message, error)
	RetryMessage(ctx context.Context, a Address, at time.Time) (*webhook.Message, error)

	// LastMessage returns the highest message ID, 0 if there are no messages.
	LastMessage(ctx context.Context) (int64, error)
	// RetryMessages and RemoveMessages change, in one transaction, those messages that
	// still have the state of their candidate, and return them. RetryMessages leaves and returns
	// those that are due already: without an attempt, and replays.
	RetryMessages(ctx context.Context, picked []Candidate, at time.Time) ([]Changed, error)
	RemoveMessages(ctx context.Context, picked []Candidate, at time.Time) ([]Changed, error)
	// ReplayMessages does the same as RetryMessages with messages that were delivered.
	ReplayMessages(ctx context.Context, picked []Candidate, at time.Time) ([]Changed, error)
	// CountOrdered returns how many of the messages are sent in an order.
	CountOrdered(ctx context.Context, picked []Candidate) (int64, error)
	// Trace returns the stored facts about a key of events and records.
	Trace(ctx context.Context, key string) (*Trace, error)
	// TraceMessage returns those about a message. Only is the message.
	TraceMessage(ctx context.Context, guid string) (*Trace, error)
	// AddAuditEntry adds an entry to the audit trail.
	AddAuditEntry(ctx context.Context, e audit.Entry) error
}

// Notifier is notified of stored changes. The delivery engine implements it; it also
// sends test messages and knows the store's clock.
type Notifier interface {
	Now() time.Time
	// Reload reads changed subscriptions, if possible before it returns.
	Reload(ctx context.Context)
	// MarkDue reports that messages of a subscription are to be sent now.
	MarkDue(subscription int64, messages []int64)
	// PostponedRetries returns the numbers of retries of the messages of a subscription with a next
	// attempt that Retry-After has moved, by ID.
	PostponedRetries(ctx context.Context, subscription int64) (map[int64]int, error)
	// MarkReplays reports that delivered messages of a subscription are to be sent again.
	MarkReplays(subscription int64)
	// Hold makes a subscription with an order wait until release is called.
	Hold(subscription int64) (release func())
	// Invalidate reports that messages of a subscription were deleted.
	Invalidate(subscription int64)
	// Announce sends changes of messages to the live streams.
	Announce(changes []webhook.Change)
	// SendTest sends a message to one subscription regardless of its event pattern.
	SendTest(ctx context.Context, subscription int64, event string, body []byte) (*webhook.Message, error)
}

// Service creates and changes subscribers and subscriptions. It validates, stores and
// notifies the engine.
type Service struct {
	store    Store
	notifier Notifier
	Rules    func() webhook.Rules // called for each request, since settings can be reloaded
	log      *slog.Logger
}

// New returns a Service.
func New(b Store, n Notifier, r func() webhook.Rules, log *slog.Logger) *Service {
	return &Service{b, n, r, log}
}

// guid returns an ID of a path in stored form. A malformed ID is reported as not found.
func guid(text, thing string) (string, error) {
	g, err := wire.ParseGuid(text)
	if err != nil {
		return "", fault.NoSuch(thing)
	}
	return g, nil
}

// Actions on subscribers, for the audit trail.
const (
	addSubscriber    audit.Action = "subscriber add"
	changeSubscriber audit.Action = "subscriber change"
	removeSubscriber audit.Action = "subscriber remove"
)

// entry returns an entry of the audit trail.
func (svc *Service) entry(by audit.Actor, action audit.Action, subject string, d audit.Detail) audit.Entry {
	return audit.Entry{Actor: by, At: svc.notifier.Now(), Action: action, Subject: subject, Detail: d.String()}
}

// Subscriber returns a subscriber with its subscriptions.
func (svc *Service) Subscriber(ctx context.Context, id string) (Subscriber, error) {
	g, err := guid(id, "subscriber")
	if err != nil {
		return Subscriber{}, err
	}
	s, err := svc.store.Subscriber(ctx, g)
	return s, svc.judge(s.Subscriptions, err)
}

// ResolveSubscriber returns the ID of an existing subscriber in stored form, or a
// NotFound fault.
func (svc *Service) ResolveSubscriber(ctx context.Context, id string) (string, error) {
	g, err := guid(id, "subscriber")
	if err == nil {
		err = svc.store.HasSubscriber(ctx, g)
	}
	return g, err
}

// AddSubscriber adds a subscriber.
func (svc *Service) AddSubscriber(ctx context.Context, s Subscriber, by audit.Actor) (Subscriber, error) {
	err := checkName(s.Name)
	if err != nil {
		return Subscriber{}, err
	}
	var d audit.Detail
	d.Set("IsEnabled", strconv.FormatBool(s.Enabled))
	return svc.store.AddSubscriber(ctx, s, svc.entry(by, addSubscriber, s.Name, d))
}

// checkName returns an error for the name of a subscriber that is not valid.
func checkName(name string) error {
	problem := naming.Problem(name)
	if problem == "" {
		return nil
	}
	return webhook.Invalid("Name", "%s", problem)
}

// checkRenamed is checkName for a change. A subscriber keeps a name that an earlier build has accepted:
// typed clients send all members.
func (svc *Service) checkRenamed(ctx context.Context, guid string, name *string) error {
	if name == nil {
		return nil
	}
	err := checkName(*name)
	if err == nil {
		return nil
	}
	stored, storeErr := svc.store.Subscriber(ctx, guid)
	if storeErr != nil {
		return storeErr
	}
	if stored.Name == *name {
		return nil
	}
	return err
}

// ChangeSubscriber changes a subscriber.
func (svc *Service) ChangeSubscriber(
	ctx context.Context, id string, c SubscriberChange, by audit.Actor,
) (Subscriber, error) {
	g, err := guid(id, "subscriber")
	if err != nil {
		return Subscriber{}, err
	}
	err = svc.checkRenamed(ctx, g, c.Name)
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
	s, err := svc.store.ChangeSubscriber(ctx, g, c, svc.entry(by, changeSubscriber, g, d))
	if err == nil {
		svc.notifier.Reload(ctx)
	}
	return s, svc.judge(s.Subscriptions, err)
}

// RemoveSubscriber removes a subscriber with its subscriptions and messages.
func (svc *Service) RemoveSubscriber(ctx context.Context, id string, by audit.Actor) error {
	g, err := guid(id, "subscriber")
	if err != nil {
		return err
	}
	removed, err := svc.store.RemoveSubscriber(ctx, g, svc.entry(by, removeSubscriber, g, nil))
	return svc.removed(ctx, removed, err, "subscriber")
}

// removed completes a removal, which has failed with err or found the thing or not.
func (svc *Service) removed(ctx context.Context, found bool, err error, thing string) error {
	if err != nil {
		return err
	}
	if !found {
		return fault.NoSuch(thing)
	}
	svc.notifier.Reload(ctx)
	return nil
}

// Subscriptions lists the subscriptions of a subscriber, see Store.Subscriptions.
func (svc *Service) Subscriptions(
	ctx context.Context, subscriber string, skip, take int64,
) ([]webhook.Subscription, int64, error) {
	g, err := guid(subscriber, "subscriber")
	if err != nil {
		return nil, 0, err
	}
	subs, total, err := svc.store.Subscriptions(ctx, g, skip, take)
	return subs, total, svc.judge(subs, err)
}

// judge completes subscriptions that were read, unless reading has failed with err.
func (svc *Service) judge(subs []webhook.Subscription, err error) error {
	if err != nil {
		return err
	}
	rules := svc.Rules()
	for i := range subs {
		rules.Judge(&subs[i])
	}
	return rules.Known(subs)
}

// judged is judge for one subscription.
func (svc *Service) judged(s webhook.Subscription, err error) (webhook.Subscription, error) {
	subs := []webhook.Subscription{s}
	err = svc.judge(subs, err)
	return subs[0], err
}

// Subscription finds a subscription.
func (svc *Service) Subscription(ctx context.Context, subscriber, id string) (webhook.Subscription, error) {
	subscriberGUID, g, err := guids(subscriber, id)
	if err != nil {
		return webhook.Subscription{}, err
	}
	return svc.judged(svc.store.Subscription(ctx, subscriberGUID, g))
}

// guids returns the IDs of a path in stored form, like guid.
func guids(subscriber, subscription string) (subscriberGUID, subscriptionGUID string, err error) {
	subscriberGUID, err = guid(subscriber, "subscriber")
	if err != nil {
		return "", "", err
	}
	subscriptionGUID, err = guid(subscription, "subscription")
	return subscriberGUID, subscriptionGUID, err
}

// AddSubscription adds a subscription. A missing GUID or secret is generated. The
// caller must show the secret now; it is never returned again.
func (svc *Service) AddSubscription(ctx context.Context, n webhook.Subscription) (webhook.Subscription, error) {
	subscriber, err := svc.ResolveSubscriber(ctx, n.Subscriber)
	if err != nil {
		return n, err
	}
	n.Subscriber = subscriber
	err = svc.checkAdded(&n)
	if err != nil {
		return n, err
	}
	n.SavedAt = svc.notifier.Now()
	made, err := svc.store.AddSubscription(ctx, n, svc.limitsOf(n.MadeByAdmin))
	if err == nil {
		svc.notifier.Reload(ctx)
	}
	return svc.judged(made, err)
}

// limitsOf returns the limits for a caller, nil for administrators.
func (svc *Service) limitsOf(isAdmin bool) *webhook.Limits {
	if isAdmin {
		return nil
	}
	return svc.Rules().Limits()
}

// CheckAdded returns the errors of all members of a new subscription.
func (svc *Service) CheckAdded(n webhook.Subscription) error { return svc.checkAdded(&n) }

// checkAdded is CheckAdded, and sets the pattern in canonical letter case and the secret.
func (svc *Service) checkAdded(n *webhook.Subscription) error {
	rules := svc.Rules()
	pattern, patternErr := rules.Pattern(n.Pattern)
	var whereErr error
	if patternErr == nil { // the members of a condition depend on the event
		n.Pattern = pattern
		whereErr = rules.Check(n, false)
	}
	secret, secretErr := nextSecret("", n.Secret)
	n.Secret = secret
	var rateErr error
	if limits := svc.limitsOf(n.MadeByAdmin); limits != nil {
		rateErr = limits.CheckRate(n.MaxPerMinute)
	}
	return fault.Join(
		rules.CheckURL(n.URL, n.MadeByAdmin),
		patternErr,
		whereErr,
		webhook.CheckHeaders(n.Headers),
		rateErr,
		secretErr,
	)
}

// aboutMembers returns an error if it is about members of a request, and nil for others, such as rights,
// which are checked when the members are valid.
func aboutMembers(err error) error {
	if fault.Is(err, fault.Invalid) {
		return err
	}
	return nil
}

// Caller is the caller of a change.
type Caller struct {
	Owner string // owner of the subscriptions that it changes; empty with only a SubscriberID
	Admin bool
}

// ChangeSubscription changes a subscription. A new URL is checked with the permissions
// of the caller, not of the subscription's creator. The caller becomes the owner: otherwise
// one with only a SubscriberID could direct the events that the owner may read to its own
// URL.
func (svc *Service) ChangeSubscription(
	ctx context.Context, subscriber, id string, c SubscriptionChange, by Caller,
) (webhook.Subscription, error) {
	subscriberGUID, g, err := guids(subscriber, id)
	if err != nil {
		return webhook.Subscription{}, err
	}
	c.Owner = &by.Owner
	c.Limits = svc.limitsOf(by.Admin)
	requested := c
	if err := svc.check(&c, by.Admin); err != nil {
		return webhook.Subscription{}, fault.Join(err, svc.checkStored(ctx, subscriberGUID, g, requested))
	}
	var sub webhook.Subscription
	for range maxChangeTries {
		var retry bool
		sub, retry, err = svc.change(ctx, subscriberGUID, g, c)
		if !retry {
			break
		}
	}
	return sub, err
}

// CheckChange returns the errors of all members of a change.
func (svc *Service) CheckChange(
	ctx context.Context, subscriber, id string, c SubscriptionChange, by Caller,
) error {
	subscriberGUID, g, err := guids(subscriber, id)
	if err != nil {
		return err
	}
	c.Owner = &by.Owner
	c.Limits = svc.limitsOf(by.Admin)
	requested := c
	return fault.Join(svc.check(&c, by.Admin), svc.checkStored(ctx, subscriberGUID, g, requested))
}

// checkStored returns the errors of those members of a change that depend on the subscription. With
// an invalid event, a condition could only fail for it.
func (svc *Service) checkStored(ctx context.Context, subscriber, g string, c SubscriptionChange) error {
	stored, err := svc.store.Subscription(ctx, subscriber, g)
	if err != nil {
		return aboutMembers(err)
	}
	if c.Pattern != nil {
		_, err := svc.Rules().Pattern(*c.Pattern)
		if err != nil {
			return c.checkRate(stored)
		}
	}
	return aboutMembers(svc.checkChanged(stored, &c))
}

// maxChangeTries is how often a change is tried when it conflicts with concurrent
// changes.
const maxChangeTries = 10

// change changes a subscription unless the change has no effect. Stored headers are
// only valid for the origin they were set for: a change of the URL that keeps them is
// bound to the row version that was checked, and retried after a conflict.
func (svc *Service) change(
	ctx context.Context, subscriber, g string, c SubscriptionChange,
) (sub webhook.Subscription, retry bool, err error) {
	sub, err = svc.store.Subscription(ctx, subscriber, g)
	if err != nil || c.isNoop(&sub) {
		return sub, false, err
	}
	err = svc.checkChanged(sub, &c)
	if err != nil {
		return sub, false, err
	}
	keepsHeaders := c.Limits != nil && c.URL != nil && c.Headers == nil
	if keepsHeaders && len(sub.Headers) > 0 && !webhook.SameOrigin(*c.URL, sub.URL) {
		return sub, false, webhook.Invalid(webhook.MemberHeaders,
			"are stored for another origin; give the headers again when the origin changes (scheme, host or port of URL), or [] to remove them")
	}
	bindsRow := keepsHeaders && c.RowHash == nil
	if bindsRow {
		c.RowHash = sub.RowHash
	}
	sub, err = svc.store.ChangeSubscription(ctx, subscriber, g, c, svc.notifier.Now())
	if err == nil {
		svc.notifier.Reload(ctx)
	}
	retry = bindsRow && fault.Is(err, fault.Conflict)
	sub, err = svc.judged(sub, err)
	return sub, retry, err
}

// checkChanged validates the rate limit, the owner, the pattern and the condition that a subscription
// would have after a change. A new condition is set in canonical form.
func (svc *Service) checkChanged(sub webhook.Subscription, c *SubscriptionChange) error {
	rateErr := c.checkRate(sub)
	sub.Owner.Name = *c.Owner
	if c.Pattern != nil {
		sub.Pattern = *c.Pattern
	}
	if c.Where != nil {
		sub.Where.Text = *c.Where
	}
	isStored := c.Pattern == nil && c.Where == nil
	err := svc.Rules().Check(&sub, isStored)
	if err == nil && c.Where != nil {
		c.Where = &sub.Where.Text
	}
	return fault.Join(rateErr, err)
}

// checkRate validates the rate limit that a subscription would have after a change.
func (c *SubscriptionChange) checkRate(sub webhook.Subscription) error {
	if c.Limits == nil || unchanged(c.MaxPerMinute, sub.MaxPerMinute) {
		return nil
	}
	return c.Limits.CheckRate(*c.MaxPerMinute)
}

// check validates the members of a change that do not depend on the subscription, and sets the
// pattern in canonical letter case.
func (svc *Service) check(c *SubscriptionChange, admin bool) error {
	var urlErr, patternErr, headersErr error
	if c.URL != nil {
		c.MadeByAdmin = &admin
		urlErr = svc.Rules().CheckURL(*c.URL, admin)
	}
	if c.Pattern != nil {
		var pattern string
		pattern, patternErr = svc.Rules().Pattern(*c.Pattern)
		c.Pattern = &pattern
	}
	if c.Headers != nil {
		headersErr = webhook.CheckHeaders(*c.Headers)
	}
	return fault.Join(urlErr, patternErr, headersErr)
}

// RemoveHeader removes one header of a subscription. The change is bound to the row
// version that was read, and retried after a conflict.
func (svc *Service) RemoveHeader(ctx context.Context, subscriber, id, header string, by Caller) error {
	g, err := guid(header, "request header")
	if err != nil {
		return err
	}
	for range maxChangeTries {
		sub, err := svc.Subscription(ctx, subscriber, id)
		if err != nil {
			return err
		}
		kept := slices.DeleteFunc(slices.Clone(sub.Headers), func(h webhook.Header) bool { return h.ID == g })
		if len(kept) == len(sub.Headers) {
			return fault.NoSuch("request header")
		}
		_, err = svc.ChangeSubscription(ctx, subscriber, id, SubscriptionChange{
			Headers: &kept,
			RowHash: sub.RowHash,
		}, by)
		if !fault.Is(err, fault.Conflict) {
			return err
		}
	}
	return fault.New(fault.Conflict, "The subscription is being changed by other requests; try again")
}

// RemoveSubscription removes a subscription and cancels its pending attempts.
func (svc *Service) RemoveSubscription(ctx context.Context, subscriber, id string) error {
	subscriberGUID, g, err := guids(subscriber, id)
	if err != nil {
		return err
	}
	removed, err := svc.store.RemoveSubscription(ctx, subscriberGUID, g, svc.notifier.Now())
	return svc.removed(ctx, removed, err, "subscription")
}

// ReplacedSecrets returns the secrets of a subscription that sign now besides the current one.
func (svc *Service) ReplacedSecrets(sub *webhook.Subscription) []webhook.ReplacedSecret {
	return sub.ReplacedAt(svc.notifier.Now())
}

// NewSecret replaces a secret.
type NewSecret struct {
	Secret  string        // empty to generate one
	KeepFor time.Duration // how long the current one also signs; 0 ends all earlier ones at once
}

// RotateSecret replaces the secret of a subscription. Messages are signed with the replaced
// secrets as well, each until the time that its own rotation announced, so that the receiver can
// switch. The change is bound to the row version that was read, and retried after a conflict.
func (svc *Service) RotateSecret(
	ctx context.Context, subscriber, id string, n NewSecret, by Caller,
) (webhook.Subscription, error) {
	if err := webhook.CheckKeepFor(n.KeepFor); err != nil {
		return webhook.Subscription{}, err
	}
	for range maxChangeTries {
		sub, err := svc.Subscription(ctx, subscriber, id)
		if err != nil {
			return sub, err
		}
		now := svc.notifier.Now()
		change, err := n.rotation(&sub, now, by)
		if err != nil {
			return sub, err
		}
		sub, err = svc.store.ChangeSubscription(ctx, sub.Subscriber, sub.GUID, SubscriptionChange{
			Secret:  &change,
			RowHash: sub.RowHash,
		}, now)
		if err == nil {
			svc.notifier.Reload(ctx)
			svc.log.Info("the secret of a subscription was replaced",
				"subscription", sub.GUID, "old until", sub.Replaced.Until)
		}
		if !fault.Is(err, fault.Conflict) {
			return sub, err
		}
	}
	return webhook.Subscription{}, fault.New(fault.Conflict,
		"The subscription is being changed by other requests; try again")
}

// rotation returns the rotation of a subscription. It is refused if too many secrets would sign.
func (n NewSecret) rotation(sub *webhook.Subscription, now time.Time, by Caller) (Rotation, error) {
	secret, err := nextSecret(sub.Secret, n.Secret)
	r := Rotation{Secret: secret}
	if err != nil || n.KeepFor == 0 {
		return r, err
	}
	// A secret that becomes the current one again needs no other place.
	valid := slices.DeleteFunc(sub.ReplacedAt(now), func(old webhook.ReplacedSecret) bool {
		return old.Secret == secret
	})
	limit := webhook.MaxSubscriberSecrets
	if by.Admin {
		limit = webhook.MaxSecrets
	}
	if len(valid)+2 > limit {
		return r, tooManySecrets(valid, limit, by)
	}
	current := webhook.ReplacedSecret{Secret: sub.Secret, Until: now.Add(n.KeepFor)}
	r.Old = append([]webhook.ReplacedSecret{current}, valid...)
	return r, nil
}

// tooManySecrets returns the error of a rotation beyond a limit. It has the time when enough of the
// replaced secrets have ended: with the SubscriberID alone more may sign than it allows.
func tooManySecrets(valid []webhook.ReplacedSecret, limit int, by Caller) error {
	ends := possibleFrom(valid, limit)
	bound := "At most"
	if !by.Admin {
		bound = "With a SubscriberID alone at most"
	}
	return &fault.Error{
		Kind: fault.Conflict,
		Message: fmt.Sprintf("%s %d secrets may sign at a time, and a rotation is possible from %s on: try again then, or use KeepFor=0, which ends all earlier ones at once",
			bound, limit, ends),
		Fields: []fault.Field{{Name: webhook.MemberKeepFor, Message: "is possible from " + ends + " on"}},
	}
}

// possibleFrom returns when so few of the replaced secrets are valid that a rotation keeps to the
// limit, in whole seconds, rounded up.
func possibleFrom(valid []webhook.ReplacedSecret, limit int) string {
	sorted := slices.SortedFunc(slices.Values(valid), func(a, b webhook.ReplacedSecret) int {
		return a.Until.Compare(b.Until)
	})
	mustEnd := len(valid) + 2 - limit // the current secret and the new one sign, too
	until := sorted[mustEnd-1].Until.UTC()
	return until.Add(time.Second - time.Nanosecond).Truncate(time.Second).Format(time.RFC3339)
}

// nextSecret returns the secret that follows the current one. A secret must not replace
// itself, for example in a repeated request: the previous secret would stop signing.
func nextSecret(current, requested string) (string, error) {
	if requested == "" {
		return webhook.NewSecret(), nil
	}
	if _, err := webhook.ParseSecret(requested); err != nil {
		return "", webhook.Invalid(webhook.MemberSecret, "%s", err)
	}
	if requested == current {
		return "", webhook.Invalid(webhook.MemberSecret, "is already the current secret")
	}
	return requested, nil
}
