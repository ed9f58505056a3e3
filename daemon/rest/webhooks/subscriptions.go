package webhooks

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/rest/accounts"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/rest/form"
	"github.com/bizhook/whd/daemon/rest/queries"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// Members of subscriptions that package webhook does not validate.
const (
	MemberOrdered = "Ordered"
	MemberOrderBy = "OrderBy"
)

// subscriptions has the handlers of a subscriber's subscriptions.
type subscriptions struct {
	admin    *admin.Service
	access   *accounts.Access
	accounts *account.Service
	engine   *delivery.Engine
	queries  *queries.Handler
	captures Captures      // nil if changes are not captured
	retries  *edge.Limiter // limits retries of messages, by subscription
	changes  *edge.Limiter // limits changes of subscriptions, by subscriber
}

// document returns a subscription without its secrets. A caller that has only the SubscriberID
// may not see the record kind of its events, nor conditions on them.
func (h *subscriptions) document(x *edge.Context, r webhook.Subscription) wire.Subscription {
	mayRead := r.Where.Text != "" && h.mayReadWhere(x, r)
	d := wire.Subscription{
		RecID:             r.GUID,
		SubscriberID:      r.Subscriber,
		EventName:         r.Pattern,
		URL:               r.URL,
		ItemNo:            r.ItemNo,
		LastSavedDateTime: wire.Timestamp(r.SavedAt),
		RowHash:           r.RowHash,
		IsEnabled:         r.Enabled,
		DisabledReason:    disabledReason(r, mayRead),
		FailingSince:      wire.Timestamp(r.FailingSince),
		Ordered:           r.Order.All,
		OrderedByKey:      r.Order.ByKey,
		OrderBy:           orderNames[r.Order],
		RetrySchedule:     webhook.FormatSchedule(r.Schedule),
		MaxPerMinute:      r.MaxPerMinute,
		Format:            r.Format,
	}
	for _, header := range r.Headers {
		d.Headers = append(d.Headers, wire.Header{
			Name:                        header.Name,
			Value:                       webhook.MaskedValue,
			SubscriptionRequestHeaderID: header.ID,
		})
	}
	replaced := h.admin.ReplacedSecrets(&r)
	d.SigningSecrets = 1 + len(replaced)
	d.OldSecretsUntil = lastEnd(replaced)
	if mayRead {
		d.Where = json.RawMessage(r.Where.Text)
	}
	if r.Where.Text != "" && !r.Where.Waits {
		d.CapturedFrom = wire.Timestamp(r.Where.From)
	}
	return d
}

// lastEnd returns when the last of some secrets ends, zero if there are none.
func lastEnd(secrets []webhook.ReplacedSecret) wire.Timestamp {
	var end time.Time
	for _, secret := range secrets {
		if secret.Until.After(end) {
			end = secret.Until
		}
	}
	return wire.Timestamp(end)
}

// mayReadWhere reports whether the caller may read the condition of a subscription.
func (h *subscriptions) mayReadWhere(x *edge.Context, r webhook.Subscription) bool {
	// Invalid credentials are no error here: they are as good as none. IsAdmin identifies the user
	// for MayQuery.
	isAdmin, _ := h.access.IsAdmin(x)
	if isAdmin {
		return true
	}
	if r.Where.Condition == nil {
		return false
	}
	_, err := h.admin.Rules().Pattern(r.Pattern)
	if err != nil {
		return false // the event is no longer published: its kind, and the role for it, are unknown
	}
	kind := r.Where.Condition.Kind()
	return kind == nil || queries.MayQuery(x, kind)
}

// disabledReason returns why no messages of a subscription are sent, as far as the caller may see
// its condition.
func disabledReason(r webhook.Subscription, mayRead bool) string {
	if r.DisabledReason != "" {
		return r.DisabledReason
	}
	if r.Owner.Held != "" {
		return "its owner may no longer read the records of this event"
	}
	if r.Where.Text == "" {
		return ""
	}
	if r.Where.Waits {
		return "the values before changes that its condition compares are not known yet"
	}
	if r.Where.Invalid == "" {
		return ""
	}
	if mayRead {
		return r.InactiveReason()
	}
	return "its condition is no longer valid"
}

// List returns the subscriptions of a subscriber, or a page of them.
func (h *subscriptions) List(x *edge.Context) error {
	skip, take, err := form.ReadPage(x)
	if err != nil {
		return err
	}
	list, total, err := h.admin.Subscriptions(x.Request.Context(), x.Params.Get(InSubscriber), skip, take)
	if err != nil {
		return err
	}
	x.Response.Header().Set(wire.HeaderTotal, strconv.FormatInt(total, 10))
	return edge.List(x, "Subscriptions", list, nil, h.noticed(x).document)
}

// Show returns one subscription.
func (h *subscriptions) Show(x *edge.Context) error {
	r, err := h.admin.Subscription(x.Request.Context(), x.Params.Get(InSubscriber), x.Params.Get(inSubscription))
	if err != nil {
		return err
	}
	return x.Respond("Subscription", h.noticed(x).document(r), nil)
}

// Add creates a subscription. The SubscriberID is sufficient; admins, who may use
// addresses of private networks, must authenticate.
func (h *subscriptions) Add(x *edge.Context) error {
	caller, err := h.limitChanges(x)
	if err != nil {
		return err
	}

	f := form.Read(x)
	f.Knows(InSubscriber)
	ordered, byKey := orderOf(f)
	url := f.Required(webhook.MemberURL)
	pattern := f.Required(webhook.MemberEvent)
	headers := headersOf(f)
	enabled := form.Value(f, MemberEnabled, form.Bool)
	schedule := form.Value(f, webhook.MemberSchedule, parseSchedule)
	rate := form.Value(f, webhook.MemberRate, webhook.ParseRate)
	format := formatOf(x, f)
	where := whereOf(f)
	recID := form.Or(form.Value(f, webhook.MemberRecID, parseRecID), "")
	secret := form.Or(form.Value(f, webhook.MemberSecret, form.Text), "")
	added := webhook.Subscription{
		GUID:         recID,
		Subscriber:   x.Params.Get(InSubscriber),
		MadeByAdmin:  caller.Admin,
		Owner:        webhook.Owner{Name: caller.Owner},
		URL:          url,
		Pattern:      pattern,
		Headers:      form.Or(headers, nil),
		Enabled:      form.Or(enabled, true),
		Order:        webhook.Order{All: form.Or(ordered, false), ByKey: form.Or(byKey, false)},
		Schedule:     form.Or(schedule, nil),
		MaxPerMinute: form.Or(rate, 0),
		Format:       form.Or(format, ""),
		Where:        webhook.Where{Text: form.Or(where, "")},
		Secret:       secret,
	}
	f.Check(func() error { return h.admin.CheckAdded(added) })
	if err := f.Done(x); err != nil {
		return err
	}
	if !caller.Admin && recID != "" {
		return adminsOnly(webhook.MemberRecID)
	}
	if !caller.Admin && secret != "" {
		return adminsOnly(webhook.MemberSecret)
	}

	r, err := h.admin.AddSubscription(x.Request.Context(), added)
	if err != nil {
		return err
	}
	d := h.noticed(x).document(r)
	d.Secret = r.Secret // only here, and after RotateSecret
	return x.Created("/Webhooks/Subscribers/"+r.Subscriber+"/Subscriptions", r.GUID, "Subscription", d, nil)
}

// parseRecID parses the RecID of a new object. It returns an empty text for an empty or zero GUID,
// which typed clients send for a value that was not set.
func parseRecID(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	id, err := wire.ParseGuid(text)
	if err != nil {
		return id, err
	}
	isZero := strings.Trim(id, "0-") == ""
	if isZero {
		return "", nil
	}
	return id, nil
}

// adminsOnly returns the error for a member that only admins may set.
func adminsOnly(member string) error {
	const text = "requires the role admin"
	return &fault.Error{
		Kind:    fault.Forbidden,
		Message: member + " " + text,
		Fields:  []fault.Field{{Name: member, Message: text}},
	}
}

// Change updates the subscription in the path or the body.
func (h *subscriptions) Change(x *edge.Context) error {
	caller, err := h.limitChanges(x)
	if err != nil {
		return err
	}

	f := form.Read(x)
	f.Knows(InSubscriber, inSubscription, "ItemNo")
	id := x.Params.Get(inSubscription)
	if id == "" {
		id = f.Required(inSubscription)
	}
	ordered, byKey := orderOf(f)
	pattern := form.Value(f, webhook.MemberEvent, form.Text)
	url := form.Value(f, webhook.MemberURL, form.Text)
	enabled := form.Value(f, MemberEnabled, form.Bool)
	schedule := form.Value(f, webhook.MemberSchedule, parseSchedule)
	rate := form.Value(f, webhook.MemberRate, webhook.ParseRate)
	format := formatOf(x, f)
	headers := headersOf(f)
	where := whereOf(f)
	rowHash := form.Value(f, MemberRowHash, parseRowHash)
	change := admin.SubscriptionChange{
		Pattern:      pattern,
		URL:          url,
		Enabled:      enabled,
		Ordered:      ordered,
		ByKey:        byKey,
		Schedule:     schedule,
		MaxPerMinute: rate,
		Format:       format,
		Headers:      headers,
		Where:        where,
		RowHash:      form.Or(rowHash, nil),
	}
	subscriber := x.Params.Get(InSubscriber)
	f.Check(func() error {
		return h.admin.CheckChange(x.Request.Context(), subscriber, id, change, caller)
	})
	if err := f.Done(x); err != nil {
		return err
	}
	r, err := h.admin.ChangeSubscription(x.Request.Context(), subscriber, id, change, caller)
	if err != nil {
		return err
	}
	return x.Respond("Subscription", h.noticed(x).document(r), nil)
}

// formatOf reads the format of messages. It reads the body only: in the query string and in paths,
// the member of this name selects the format of the response.
func formatOf(x *edge.Context, f *form.Form) *string {
	body := &form.Form{Members: x.Logged.InBody}
	format := form.Value(body, webhook.MemberFormat, webhook.ParseFormat)
	f.Wrong = append(f.Wrong, body.Wrong...)
	return format
}

// orderNames are the values of OrderBy.
var orderNames = map[webhook.Order]string{
	{}:            "none",
	{All: true}:   "subscription",
	{ByKey: true}: "key",
}

// orderOf reads OrderBy and Ordered, which is true for "subscription". Ordered without
// OrderBy leaves an order by key unless it is true.
func orderOf(f *form.Form) (ordered, byKey *bool) {
	ordered = form.Value(f, MemberOrdered, form.Bool)
	order := form.Value(f, MemberOrderBy, parseOrder)
	if order == nil {
		if ordered != nil && *ordered {
			byKey = new(bool) // false
		}
		return ordered, byKey
	}
	if ordered != nil && *ordered != order.All {
		f.Refuse(MemberOrderBy, "contradicts Ordered, which is true for subscription only")
		return ordered, nil
	}
	return &order.All, &order.ByKey
}

// parseOrder parses a value of OrderBy.
func parseOrder(text string) (webhook.Order, error) {
	for order, name := range orderNames {
		if strings.EqualFold(name, text) {
			return order, nil
		}
	}
	return webhook.Order{}, errors.New("must be none, subscription or key")
}

// Remove removes a subscription and cancels pending messages.
func (h *subscriptions) Remove(x *edge.Context) error {
	if _, err := h.limitChanges(x); err != nil {
		return err
	}
	return x.NoContent(h.admin.RemoveSubscription(x.Request.Context(), x.Params.Get(InSubscriber),
		x.Params.Get(inSubscription)))
}

// limitChanges counts a change of a subscription, except those by admins, and returns the
// caller. Changes of unknown subscribers are not counted, so that they cannot evict other
// counters.
func (h *subscriptions) limitChanges(x *edge.Context) (admin.Caller, error) {
	isAdmin, err := h.access.IsAdmin(x)
	if err != nil {
		return admin.Caller{}, err
	}
	caller := admin.Caller{
		Admin: isAdmin,
		Owner: h.accounts.Owner(x.Request.Context(), x.Identity),
	}
	if caller.Admin {
		return caller, nil
	}
	id, err := h.admin.ResolveSubscriber(x.Request.Context(), x.Params.Get(InSubscriber))
	if err != nil {
		return caller, err
	}
	err = h.changes.Take(id, x.Timing.Start)
	if fault.Is(err, fault.TooMany) {
		fault.From(err).Message = "too many changes of this subscriber's subscriptions with the SubscriberID only: " +
			"the limit is 60 per minute, with bursts of up to 1,000; " +
			"wait for the time in Retry-After, or log in as an administrator"
	}
	return caller, err
}

// whereOf reads the condition of a subscription: an object, or its text. It returns nil if the
// request has none. An empty text removes the condition.
func whereOf(f *form.Form) *string {
	f.Knows(webhook.MemberWhere)
	m, ok := f.Members.Get(webhook.MemberWhere)
	if m.List && m.Empty {
		f.Ignore(webhook.MemberWhere) // like every empty list; the client may have intended {}
	}
	if !ok || m.Empty {
		return nil
	}
	text := strings.Join(m.Texts, ",")
	if m.Other {
		text = cmp.Or(m.Raw, text)
	}
	var compact bytes.Buffer
	err := json.Compact(&compact, []byte(text))
	if err != nil {
		return &text // the validation of the subscription refuses it
	}
	text = compact.String()
	if text == "{}" {
		text = "" // an object without conditions is no condition
	}
	return &text
}

// parseSchedule parses the retry schedule of a subscription. An empty text restores
// the default of the settings.
func parseSchedule(text string) ([]time.Duration, error) {
	if text == "" {
		return nil, nil
	}
	return webhook.ParseSchedule(text)
}

// RotateSecret replaces the secret of a subscription. Only this response contains
// the new secret.
func (h *subscriptions) RotateSecret(x *edge.Context) error {
	caller, err := h.limitChanges(x)
	if err != nil {
		return err
	}

	f := form.Read(x)
	f.Knows(InSubscriber, inSubscription)
	secret := form.Or(form.Value(f, webhook.MemberSecret, form.Text), "")
	keep := form.Or(form.Value(f, webhook.MemberKeepFor, parseKeepFor), webhook.DefaultKeepFor)
	if err := f.Done(x); err != nil {
		return err
	}

	// A client that has rotated too often can still end a secret that became known: with KeepFor=0.
	if !caller.Admin && keep > 0 {
		if err := h.countRetry(x); err != nil {
			return err
		}
	}

	rotation := admin.NewSecret{Secret: secret, KeepFor: keep}
	r, err := h.admin.RotateSecret(x.Request.Context(), x.Params.Get(InSubscriber),
		x.Params.Get(inSubscription), rotation, caller)
	if err != nil {
		return err
	}
	replaced := h.admin.ReplacedSecrets(&r)
	return x.Respond("RotatedSecret", wire.RotatedSecret{
		Secret:          r.Secret,
		OldSecretUntil:  wire.Timestamp(r.Replaced.Until),
		SigningSecrets:  1 + len(replaced),
		OldSecretsUntil: lastEnd(replaced),
	}, nil)
}

// parseKeepFor parses how long the replaced secret continues to sign.
func parseKeepFor(text string) (time.Duration, error) {
	keep, err := parseDuration(text)
	if err != nil || webhook.CheckKeepFor(keep) != nil {
		return 0, fmt.Errorf("must be 0 or a duration of at most %.0fh, such as 12h, 7d or PT12H",
			webhook.MaxKeepFor.Hours())
	}
	return keep, nil
}

// parseDuration parses a duration: 12h, 7d, or in ISO 8601, as TimeSpans are sent.
func parseDuration(text string) (time.Duration, error) {
	if number, isDays := strings.CutSuffix(text, "d"); isDays {
		days, err := strconv.ParseUint(number, 10, 8)
		return time.Duration(days) * 24 * time.Hour, err
	}
	ticks, err := wire.ParseTimeSpan(text)
	if err == nil && strings.HasPrefix(strings.ToUpper(text), "P") {
		return time.Duration(ticks) * tick, nil
	}
	return time.ParseDuration(text)
}

// tick is the unit of the values that wire.ParseTimeSpan returns.
const tick = 100 * time.Nanosecond

// retryRate limits retries and tests of a subscription by clients with the
// SubscriberID only.
var retryRate = edge.Rate{PerSecond: 10.0 / 60, Burst: 10}

// limitRetries counts a retry, except those by admins.
func (h *subscriptions) limitRetries(x *edge.Context) error {
	isAdmin, err := h.access.IsAdmin(x)
	if err != nil || isAdmin {
		return err
	}
	return h.countRetry(x)
}

// countRetry counts a retry of an existing subscription. Unknown ids are not
// counted, so that they cannot evict other counters.
func (h *subscriptions) countRetry(x *edge.Context) error {
	r, err := h.admin.Subscription(x.Request.Context(), x.Params.Get(InSubscriber), x.Params.Get(inSubscription))
	if err != nil {
		return err
	}
	return h.retries.Take(r.GUID, x.Timing.Start)
}
