package rest

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
)

// memberOrdered is a member of subscriptions that package webhook does not validate.
const memberOrdered = "Ordered"

// subscriptions has the handlers of a subscriber's subscriptions.
type subscriptions struct {
	admin   *admin.Service
	access  *accessControl
	retries *edge.Limiter // of messages, by subscription
	changes *edge.Limiter // of subscriptions, by subscriber
}

// subscriptionDocument returns a subscription without its secrets.
func subscriptionDocument(r webhook.Subscription) wire.Subscription {
	d := wire.Subscription{RecID: r.GUID, SubscriberID: r.Subscriber, EventName: r.Pattern, URL: r.URL, ItemNo: r.ItemNo,
		LastSavedDateTime: wire.Timestamp(r.SavedAt), RowHash: r.RowHash, IsEnabled: r.Enabled, DisabledReason: r.DisabledReason,
		FailingSince: wire.Timestamp(r.FailingSince), Ordered: r.Ordered, RetrySchedule: scheduleText(r.Schedule)}
	for _, h := range r.Headers {
		d.Headers = append(d.Headers, wire.Header{Name: h.Name, Value: webhook.MaskedValue, SubscriptionRequestHeaderID: h.ID})
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

// list returns the subscriptions of a subscriber, or a page of them.
func (h *subscriptions) list(x *edge.Context) error {
	skip, take, err := readPage(x)
	if err != nil {
		return err
	}
	all, total, err := h.admin.Subscriptions(x.Request.Context(), x.Params.Get(inSubscriber), skip, take)
	x.Response.Header().Set(wire.HeaderTotal, strconv.FormatInt(total, 10))
	return edge.List(x, "Subscriptions", all, err, subscriptionDocument)
}

// show returns one subscription.
func (h *subscriptions) show(x *edge.Context) error {
	r, err := h.admin.Subscription(x.Request.Context(), x.Params.Get(inSubscriber), x.Params.Get(inSubscription))
	return x.Respond("Subscription", subscriptionDocument(r), err)
}

// add creates a subscription. The SubscriberID is sufficient; admins, who may use
// addresses of private networks, must authenticate.
func (h *subscriptions) add(x *edge.Context) error {
	byAdmin, err := h.limitChanges(x)
	if err != nil {
		return err
	}
	f := readForm(x)
	f.knows(inSubscriber)
	n := webhook.Subscription{Subscriber: x.Params.Get(inSubscriber), MadeByAdmin: byAdmin,
		URL: f.required(webhook.MemberURL), Pattern: f.required(webhook.MemberEvent), Headers: or(headersOf(f), nil),
		Enabled: or(read(f, memberEnabled, asBool), true), Ordered: or(read(f, memberOrdered, asBool), false),
		Schedule: or(read(f, webhook.MemberSchedule, parseSchedule), nil),
		GUID:     or(read(f, webhook.MemberRecID, parseRecID), ""), Secret: or(read(f, webhook.MemberSecret, asText), "")}
	if err := f.done(x); err != nil {
		return err
	}
	switch {
	case byAdmin:
	case n.GUID != "":
		return adminsOnly(webhook.MemberRecID)
	case n.Secret != "":
		return adminsOnly(webhook.MemberSecret)
	}
	r, err := h.admin.AddSubscription(x.Request.Context(), n)
	d := subscriptionDocument(r)
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

// change updates the subscription in the path or the body.
func (h *subscriptions) change(x *edge.Context) error {
	byAdmin, err := h.limitChanges(x)
	if err != nil {
		return err
	}
	f := readForm(x)
	f.knows(inSubscriber, "ItemNo")
	id := x.Params.Get(inSubscription)
	if f.knows(inSubscription); id == "" {
		id = f.required(inSubscription)
	}
	c := admin.SubscriptionChange{
		Pattern: read(f, webhook.MemberEvent, asText), URL: read(f, webhook.MemberURL, asText), Enabled: read(f, memberEnabled, asBool),
		Ordered: read(f, memberOrdered, asBool), Schedule: read(f, webhook.MemberSchedule, parseSchedule), Headers: headersOf(f),
		RowHash: or(read(f, memberRowHash, parseRowHash), nil),
	}
	if err := f.done(x); err != nil {
		return err
	}
	r, err := h.admin.ChangeSubscription(x.Request.Context(), x.Params.Get(inSubscriber), id, c, byAdmin)
	return x.Respond("Subscription", subscriptionDocument(r), err)
}

// remove removes a subscription and cancels pending messages.
func (h *subscriptions) remove(x *edge.Context) error {
	if _, err := h.limitChanges(x); err != nil {
		return err
	}
	return x.NoContent(h.admin.RemoveSubscription(x.Request.Context(), x.Params.Get(inSubscriber), x.Params.Get(inSubscription)))
}

// changeRate limits changes of a subscriber's subscriptions by clients with the
// SubscriberID only: one per second on average, and a burst that allows creating the
// maximum number of subscriptions.
var changeRate = edge.Rate{PerSecond: 1, Burst: webhook.MaxSubscriptions}

// limitChanges counts a change of a subscription, except those by admins. Changes of
// unknown subscribers are not counted, so that they cannot evict other counters.
func (h *subscriptions) limitChanges(x *edge.Context) (admin bool, err error) {
	if admin, err = h.access.isAdmin(x); err != nil || admin {
		return admin, err
	}
	id, err := h.admin.ResolveSubscriber(x.Request.Context(), x.Params.Get(inSubscriber))
	if err != nil {
		return false, err
	}
	if err = h.changes.Take(id, x.Timing.Start); fault.Is(err, fault.TooMany) {
		fault.From(err).Message = "too many changes of this subscriber's subscriptions with the SubscriberID only: the limit is 60 per minute, with bursts of up to 1,000; " +
			"wait for the time in Retry-After, or log in as an administrator"
	}
	return false, err
}

// headersOf reads the member Headers, or RequestHeaders, as other generations of clients
// call it. It returns nil if none is given. An empty list removes all headers.
func headersOf(f *form) (all *[]webhook.Header) {
	for _, name := range []string{webhook.MemberHeaders, webhook.MemberRequestHeaders} {
		f.knows(name)
		m, _ := f.members.Get(name)
		text := cmp.Or(m.Raw, strings.Join(m.Texts, ","))
		if text == "" || text == "null" {
			continue
		}
		headers, err := parseHeaders(text)
		switch {
		case err != nil:
			f.refuse(name, err.Error())
		case all != nil:
			f.refuse(name, "is another name of Headers; give only one of them")
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
			return m.List || m.Other || !hasName([]string{"Name", "Value", inHeader}, m.Name)
		}) {
			return nil, errHeaders
		}
	}
	return headers, nil
}

// replaceHeaders replaces the headers of a subscription. The response contains the values
// of the request, as clients of the existing service expect; no other response does.
func (h *subscriptions) replaceHeaders(x *edge.Context) error {
	byAdmin, err := h.limitChanges(x)
	if err != nil {
		return err
	}
	f := readForm(x)
	f.knows(inSubscriber, inSubscription)
	headers := headersOf(f)
	if headers == nil {
		f.missing = append(f.missing, fault.Field{Name: webhook.MemberRequestHeaders, Message: "must be a list; [] removes all headers"})
	}
	if err := f.done(x); err != nil {
		return err
	}
	r, err := h.admin.ChangeSubscription(x.Request.Context(), x.Params.Get(inSubscriber), x.Params.Get(inSubscription), admin.SubscriptionChange{Headers: headers}, byAdmin)
	d := subscriptionDocument(r)
	if headers := *headers; webhook.SameHeaders(r.Headers, headers) { // not replaced again by another request
		for i := range headers {
			d.Headers[i].Value = headers[i].Value
		}
	}
	return edge.List(x, "RequestHeaders", d.Headers, err, func(h wire.Header) wire.Header { return h })
}

// removeHeaders removes one header, or all if the path contains no ID.
func (h *subscriptions) removeHeaders(x *edge.Context) error {
	byAdmin, err := h.limitChanges(x)
	if err != nil {
		return err
	}
	subscriber, id, header := x.Params.Get(inSubscriber), x.Params.Get(inSubscription), x.Params.Get(inHeader)
	if header != "" {
		return x.NoContent(h.admin.RemoveHeader(x.Request.Context(), subscriber, id, header, byAdmin))
	}
	_, err = h.admin.ChangeSubscription(x.Request.Context(), subscriber, id, admin.SubscriptionChange{Headers: &[]webhook.Header{}}, byAdmin)
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

// rotateSecret replaces the secret of a subscription. Only this response contains
// the new secret.
func (h *subscriptions) rotateSecret(x *edge.Context) error {
	admin, err := h.limitChanges(x)
	if err == nil && !admin {
		err = h.countRetry(x)
	}
	if err != nil {
		return err
	}
	f := readForm(x)
	f.knows(inSubscriber, inSubscription)
	secret, keep := or(read(f, webhook.MemberSecret, asText), ""), or(read(f, webhook.MemberKeepFor, parseKeepFor), webhook.DefaultKeepFor)
	if err := f.done(x); err != nil {
		return err
	}
	r, err := h.admin.RotateSecret(x.Request.Context(), x.Params.Get(inSubscriber), x.Params.Get(inSubscription), secret, keep)
	return x.Respond("RotatedSecret", wire.RotatedSecret{Secret: r.Secret, OldSecretUntil: wire.Timestamp(r.OldSecretUntil)}, err)
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
	admin, err := h.access.isAdmin(x)
	if err != nil || admin {
		return err
	}
	return h.countRetry(x)
}

// countRetry counts a retry of an existing subscription. Unknown ids are not
// counted, so that they cannot evict other counters.
func (h *subscriptions) countRetry(x *edge.Context) error {
	r, err := h.admin.Subscription(x.Request.Context(), x.Params.Get(inSubscriber), x.Params.Get(inSubscription))
	if err != nil {
		return err
	}
	return h.retries.Take(r.GUID, x.Timing.Start)
}
