package webhooks

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/rest/accounts"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/rest/form"
	"github.com/bizhook/whd/daemon/rest/queries"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
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
	retries  *edge.Limiter // of messages, by subscription
	changes  *edge.Limiter // of subscriptions, by subscriber
}

// document returns a subscription without its secrets. The SubscriberID does not allow to see
// the kind of its events, and conditions on them.
func (h *subscriptions) document(x *edge.Context, r webhook.Subscription) wire.Subscription {
	d := wire.Subscription{RecID: r.GUID, SubscriberID: r.Subscriber, EventName: r.Pattern, URL: r.URL, ItemNo: r.ItemNo,
		LastSavedDateTime: wire.Timestamp(r.SavedAt), RowHash: r.RowHash, IsEnabled: r.Enabled, DisabledReason: r.DisabledReason,
		FailingSince: wire.Timestamp(r.FailingSince), Ordered: r.Order.All, OrderedByKey: r.Order.ByKey, OrderBy: orderNames[r.Order], RetrySchedule: scheduleText(r.Schedule)}
	if r.Owner.Held != "" && d.DisabledReason == "" {
		d.DisabledReason = "its owner may no longer read the records of this event"
	}
	for _, h := range r.Headers {
		d.Headers = append(d.Headers, wire.Header{Name: h.Name, Value: webhook.MaskedValue, SubscriptionRequestHeaderID: h.ID})
	}
	if r.Where.Text == "" {
		return d
	}
	reads, _ := h.access.IsAdmin(x) // identifies the user
	if c := r.Where.Condition; c != nil && !reads {
		_, err := h.admin.Rules().Pattern(r.Pattern) // an event that is not published was perhaps one of a kind with a role
		reads = err == nil && (c.Kind() == nil || queries.MayQuery(x, c.Kind()))
	}
	if reads {
		d.Where = json.RawMessage(r.Where.Text)
	}
	switch {
	case r.Where.Waits && d.DisabledReason == "":
		d.DisabledReason = "the values before changes that its condition compares are not known yet"
	case r.Where.Invalid != "" && d.DisabledReason == "":
		d.DisabledReason = "its condition is no longer valid"
		if reads {
			d.DisabledReason = r.InactiveReason()
		}
	}
	if !r.Where.Waits {
		d.CapturedFrom = wire.Timestamp(r.Where.From)
	}
	return d
}

func scheduleText(waits []time.Duration) string {
	var texts []string
	for _, wait := range waits {
		texts = append(texts, wait.String())
	}
	return strings.Join(texts, ",")
}

// List returns the subscriptions of a subscriber, or a page of them.
func (h *subscriptions) List(x *edge.Context) error {
	skip, take, err := form.ReadPage(x)
	if err != nil {
		return err
	}
	all, total, err := h.admin.Subscriptions(x.Request.Context(), x.Params.Get(InSubscriber), skip, take)
	x.Response.Header().Set(wire.HeaderTotal, strconv.FormatInt(total, 10))
	return edge.List(x, "Subscriptions", all, err, func(r webhook.Subscription) wire.Subscription { return h.document(x, r) })
}

// Show returns one subscription.
func (h *subscriptions) Show(x *edge.Context) error {
	r, err := h.admin.Subscription(x.Request.Context(), x.Params.Get(InSubscriber), x.Params.Get(inSubscription))
	return x.Respond("Subscription", h.document(x, r), err)
}

// Add creates a subscription. The SubscriberID is sufficient; admins, who may use
// addresses of private networks, must authenticate.
func (h *subscriptions) Add(x *edge.Context) error {
	by, err := h.limitChanges(x)
	if err != nil {
		return err
	}
	f := form.Read(x)
	f.Knows(InSubscriber)
	ordered, byKey := orderOf(f)
	n := webhook.Subscription{Subscriber: x.Params.Get(InSubscriber), MadeByAdmin: by.Admin, Owner: webhook.Owner{Name: by.Owner},
		URL: f.Required(webhook.MemberURL), Pattern: f.Required(webhook.MemberEvent), Headers: form.Or(headersOf(f), nil),
		Enabled: form.Or(form.Value(f, MemberEnabled, form.Bool), true), Order: webhook.Order{All: form.Or(ordered, false), ByKey: form.Or(byKey, false)},
		Schedule: form.Or(form.Value(f, webhook.MemberSchedule, parseSchedule), nil),
		Where:    webhook.Where{Text: form.Or(whereOf(f), "")},
		GUID:     form.Or(form.Value(f, webhook.MemberRecID, parseRecID), ""), Secret: form.Or(form.Value(f, webhook.MemberSecret, form.Text), "")}
	if err := f.Done(x); err != nil {
		return err
	}
	switch {
	case by.Admin:
	case n.GUID != "":
		return adminsOnly(webhook.MemberRecID)
	case n.Secret != "":
		return adminsOnly(webhook.MemberSecret)
	}
	r, err := h.admin.AddSubscription(x.Request.Context(), n)
	d := h.document(x, r)
	d.Secret = r.Secret
	return x.Created("/Webhooks/Subscribers/"+r.Subscriber+"/Subscriptions", r.GUID, "Subscription", d, err)
}

// parseRecID parses the RecID of a new object. An empty one, which typed clients send
// for a value that was not set, is not given.
func parseRecID(text string) (string, error) {
	id, err := wire.ParseGuid(text)
	if text == "" || strings.Trim(id, "0-") == "" && err == nil {
		return "", nil
	}
	return id, err
}

// adminsOnly returns the error for a member that only admins may set.
func adminsOnly(member string) error {
	const text = "requires the role admin"
	return &fault.Error{Kind: fault.Forbidden, Message: member + " " + text, Fields: []fault.Field{{Name: member, Message: text}}}
}

// Change updates the subscription in the path or the body.
func (h *subscriptions) Change(x *edge.Context) error {
	by, err := h.limitChanges(x)
	if err != nil {
		return err
	}
	f := form.Read(x)
	f.Knows(InSubscriber, "ItemNo")
	id := x.Params.Get(inSubscription)
	if f.Knows(inSubscription); id == "" {
		id = f.Required(inSubscription)
	}
	ordered, byKey := orderOf(f)
	c := admin.SubscriptionChange{
		Pattern: form.Value(f, webhook.MemberEvent, form.Text), URL: form.Value(f, webhook.MemberURL, form.Text), Enabled: form.Value(f, MemberEnabled, form.Bool),
		Ordered: ordered, ByKey: byKey, Schedule: form.Value(f, webhook.MemberSchedule, parseSchedule), Headers: headersOf(f), Where: whereOf(f),
		RowHash: form.Or(form.Value(f, MemberRowHash, parseRowHash), nil),
	}
	if err := f.Done(x); err != nil {
		return err
	}
	r, err := h.admin.ChangeSubscription(x.Request.Context(), x.Params.Get(InSubscriber), id, c, by)
	return x.Respond("Subscription", h.document(x, r), err)
}

// orderNames are the values of OrderBy.
var orderNames = map[webhook.Order]string{{}: "none", {All: true}: "subscription", {ByKey: true}: "key"}

// orderOf reads OrderBy and Ordered, which is true for "subscription". Ordered without
// OrderBy leaves an order by key unless it is true.
func orderOf(f *form.Form) (ordered, byKey *bool) {
	ordered = form.Value(f, MemberOrdered, form.Bool)
	order := form.Value(f, MemberOrderBy, func(text string) (webhook.Order, error) {
		for order, name := range orderNames {
			if strings.EqualFold(name, text) {
				return order, nil
			}
		}
		return webhook.Order{}, errors.New("must be none, subscription or key")
	})
	switch {
	case order == nil && ordered != nil && *ordered:
		byKey = new(bool)
	case order == nil:
	case ordered != nil && *ordered != order.All:
		f.Refuse(MemberOrderBy, "contradicts Ordered, which is true for subscription only")
	default:
		ordered, byKey = &order.All, &order.ByKey
	}
	return ordered, byKey
}

// Remove removes a subscription and cancels pending messages.
func (h *subscriptions) Remove(x *edge.Context) error {
	if _, err := h.limitChanges(x); err != nil {
		return err
	}
	return x.NoContent(h.admin.RemoveSubscription(x.Request.Context(), x.Params.Get(InSubscriber), x.Params.Get(inSubscription)))
}

// limitChanges counts a change of a subscription, except those by admins, and returns the
// caller. Changes of unknown subscribers are not counted, so that they cannot evict other
// counters.
func (h *subscriptions) limitChanges(x *edge.Context) (by admin.Caller, err error) {
	by.Admin, err = h.access.IsAdmin(x)
	by.Owner = h.accounts.Owner(x.Request.Context(), x.Identity)
	if err != nil || by.Admin {
		return by, err
	}
	id, err := h.admin.ResolveSubscriber(x.Request.Context(), x.Params.Get(InSubscriber))
	if err != nil {
		return by, err
	}
	if err = h.changes.Take(id, x.Timing.Start); fault.Is(err, fault.TooMany) {
		fault.From(err).Message = "too many changes of this subscriber's subscriptions with the SubscriberID only: the limit is 60 per minute, with bursts of up to 1,000; " +
			"wait for the time in Retry-After, or log in as an administrator"
	}
	return by, err
}

// whereOf reads the condition of a subscription: an object, or its text. It returns nil if none
// is given. An empty text removes the condition.
func whereOf(f *form.Form) *string {
	f.Knows(webhook.MemberWhere)
	m, given := f.Members.Get(webhook.MemberWhere)
	if !given || m.Empty {
		return nil
	}
	text := strings.Join(m.Texts, ",")
	if m.Other {
		text = cmp.Or(m.Raw, text)
	}
	var compact bytes.Buffer
	if json.Compact(&compact, []byte(text)) == nil { // otherwise it is refused
		text = strings.TrimPrefix(compact.String(), "{}")
	}
	return &text
}

// headersOf reads the member Headers, or RequestHeaders, as other generations of clients
// call it. It returns nil if none is given. An empty list removes all headers.
func headersOf(f *form.Form) (all *[]webhook.Header) {
	for _, name := range []string{webhook.MemberHeaders, webhook.MemberRequestHeaders} {
		f.Knows(name)
		m, _ := f.Members.Get(name)
		text := cmp.Or(m.Raw, strings.Join(m.Texts, ","))
		if text == "" || text == "null" {
			continue
		}
		headers, err := parseHeaders(text)
		switch {
		case err != nil:
			f.Refuse(name, err.Error())
		case all != nil:
			f.Refuse(name, "is another name of Headers; give only one of them")
		}
		all = &headers
	}
	return all
}

var errHeaders = errors.New(`must be a list of headers, such as [{"Name": "X-Token", "Value": "secret"}]`)

// parseHeaders parses a list of headers or a single one, as JSON or in the form that
// clients of the existing service write into a query string: [{Name:X,Value:Y}]. IDs,
// which typed clients send, are ignored: the store assigns them.
func parseHeaders(text string) ([]webhook.Header, error) {
	objects, err := query.ReadObjects(text)
	if err != nil {
		return nil, errHeaders
	}
	var headers []webhook.Header
	for _, o := range objects {
		headers = append(headers, webhook.Header{Name: o.Text("Name"), Value: o.Text("Value")})
		if slices.ContainsFunc(o, func(m query.Member) bool {
			return m.List || m.Other || !form.HasName([]string{"Name", "Value", inHeader}, m.Name)
		}) {
			return nil, errHeaders
		}
	}
	return headers, nil
}

// ReplaceHeaders replaces the headers of a subscription. The response contains the values
// of the request, as clients of the existing service expect; no other response does.
func (h *subscriptions) ReplaceHeaders(x *edge.Context) error {
	by, err := h.limitChanges(x)
	if err != nil {
		return err
	}
	f := form.Read(x)
	f.Knows(InSubscriber, inSubscription)
	headers := headersOf(f)
	if headers == nil {
		f.Missing = append(f.Missing, fault.Field{Name: webhook.MemberRequestHeaders, Message: "must be a list; [] removes all headers"})
	}
	if err := f.Done(x); err != nil {
		return err
	}
	r, err := h.admin.ChangeSubscription(x.Request.Context(), x.Params.Get(InSubscriber), x.Params.Get(inSubscription), admin.SubscriptionChange{Headers: headers}, by)
	d := h.document(x, r)
	if headers := *headers; webhook.SameHeaders(r.Headers, headers) { // not replaced again by another request
		for i := range headers {
			d.Headers[i].Value = headers[i].Value
		}
	}
	return edge.List(x, "RequestHeaders", d.Headers, err, func(h wire.Header) wire.Header { return h })
}

// RemoveHeaders removes one header, or all if the path contains no ID.
func (h *subscriptions) RemoveHeaders(x *edge.Context) error {
	by, err := h.limitChanges(x)
	if err != nil {
		return err
	}
	subscriber, id, header := x.Params.Get(InSubscriber), x.Params.Get(inSubscription), x.Params.Get(inHeader)
	if header != "" {
		return x.NoContent(h.admin.RemoveHeader(x.Request.Context(), subscriber, id, header, by))
	}
	_, err = h.admin.ChangeSubscription(x.Request.Context(), subscriber, id, admin.SubscriptionChange{Headers: &[]webhook.Header{}}, by)
	return x.NoContent(err)
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
	by, err := h.limitChanges(x)
	if err == nil && !by.Admin {
		err = h.countRetry(x)
	}
	if err != nil {
		return err
	}
	f := form.Read(x)
	f.Knows(InSubscriber, inSubscription)
	secret, keep := form.Or(form.Value(f, webhook.MemberSecret, form.Text), ""), form.Or(form.Value(f, webhook.MemberKeepFor, parseKeepFor), webhook.DefaultKeepFor)
	if err := f.Done(x); err != nil {
		return err
	}
	r, err := h.admin.RotateSecret(x.Request.Context(), x.Params.Get(InSubscriber), x.Params.Get(inSubscription), admin.NewSecret{Secret: secret, KeepFor: keep}, by)
	return x.Respond("RotatedSecret", wire.RotatedSecret{Secret: r.Secret, OldSecretUntil: wire.Timestamp(r.Replaced.Until)}, err)
}

// parseKeepFor parses how long the replaced secret continues to sign.
func parseKeepFor(text string) (time.Duration, error) {
	keep, err := time.ParseDuration(text)
	if err != nil || webhook.CheckKeepFor(keep) != nil {
		return 0, errors.New("must be a duration such as 12h, from 0 to 720h")
	}
	return keep, nil
}

// retryRate limits retries and tests of a subscription by clients with the
// SubscriberID only.
var retryRate = edge.Rate{PerSecond: 10.0 / 60, Burst: 10}

// limitRetries counts a retry, except those by admins.
func (h *subscriptions) limitRetries(x *edge.Context) error {
	admin, err := h.access.IsAdmin(x)
	if err != nil || admin {
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
