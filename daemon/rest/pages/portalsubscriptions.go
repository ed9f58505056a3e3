package pages

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/webhook"
)

// portalSubscriptionsLink leads to the list of subscriptions.
var portalSubscriptionsLink = encode.Link{Name: "Subscriptions", URL: pathPortalSubscriptions}

// portalSubscriptionAddress returns the address of the page of a subscription.
func portalSubscriptionAddress(id string) string {
	return pathPortalSubscriptions + "/" + url.PathEscape(id)
}

// portalHealth returns the state of a subscription, as far as its subscriber may see it.
func portalHealth(x *edge.Context, s *wire.Subscription) health {
	if !s.IsEnabled || s.DisabledReason != "" {
		return healthOf(x, s.IsEnabled, s.DisabledReason, nil)
	}
	if since := time.Time(s.FailingSince); !since.IsZero() {
		return health{"failing for " + display.Age(x.Timing.Start.Sub(since)), "▲", "warn", 1}
	}
	return health{"not failing", "●", "good", 0}
}

// portalView returns a subscription for a page of its subscriber.
func portalView(x *edge.Context, v webhook.Visitor, s wire.Subscription) *subscriptionView {
	page := x.Base + portalSubscriptionAddress(s.RecID)
	view := newView(x, s, nil)
	view.Subscriber = v.Name
	view.State = portalHealth(x, &s)
	view.Failing = moment{} // the state has it
	view.URLs = subscriptionURLs{
		Page:     page,
		Edit:     page + "/Edit",
		Messages: x.Base + pathPortalMessages + "?SubscriptionID=" + url.QueryEscape(s.RecID),
		Test:     page + "/Do/Test",
		Toggle:   page + "/Do/Enable",
		Rotate:   page + "/Do/Rotate",
		Delete:   page + "/Do/Delete",
	}
	if s.IsEnabled {
		view.URLs.Toggle = page + "/Do/Disable"
	}
	return view
}

// portalList is the page with the subscriptions of a subscriber.
type portalList struct {
	encode.Page
	Note         string
	Rows         []*subscriptionView
	SubscribeURL string
	MoreURL      string
}

// subscriptions shows the subscriptions, the worst first.
func (h portal) subscriptions(x *edge.Context, v webhook.Visitor) error {
	members := x.Request.URL.Query()
	skip, _ := strconv.Atoi(members.Get(query.Skip))
	skip = max(0, skip)
	var found []wire.Subscription
	err := h.get(x, subscriberPath(v)+"/Subscriptions", url.Values{
		query.Skip: {strconv.Itoa(skip)},
		query.Take: {strconv.Itoa(maxSubscriptions + 1)},
	}, &found)
	if err != nil {
		return err
	}
	page := portalList{
		Page:         portalFrame(x, v, "Subscriptions"),
		Note:         noteOf(members.Get(memberNote)),
		SubscribeURL: x.Base + pathPortalSubscribe,
	}
	if len(found) > maxSubscriptions {
		found = found[:maxSubscriptions]
		page.MoreURL = x.Base + pathPortalSubscriptions + "?" + query.Skip + "=" + strconv.Itoa(skip+maxSubscriptions)
	}
	waiting, err := h.waiting(x, v)
	if err != nil {
		return err
	}
	for _, s := range found {
		view := portalView(x, v, s)
		view.State = view.State.waiting(waiting[strings.ToLower(s.RecID)], s.MaxPerMinute)
		page.Rows = append(page.Rows, view)
	}
	slices.SortStableFunc(page.Rows, func(a, b *subscriptionView) int { return b.State.rank - a.State.rank })
	return show(x, http.StatusOK, "portalSubscriptions", page)
}

// waiting returns the numbers of messages that wait, by SubscriptionID in lower case.
func (h portal) waiting(x *edge.Context, v webhook.Visitor) (map[string]int, error) {
	var found rows[struct {
		SubscriptionID string
		Count          int
	}]
	err := h.get(x, subscriberPath(v)+"/Messages", url.Values{
		"StatusIn":    {strconv.Itoa(int(webhook.NotSent)) + "," + strconv.Itoa(int(webhook.RetryPending))},
		query.GroupBy: {"SubscriptionID"},
		query.Include: {"COUNT(*)"},
	}, &found)
	counts := make(map[string]int)
	for _, group := range found.Results {
		counts[strings.ToLower(group.SubscriptionID)] = group.Count
	}
	return counts, err
}

// waiting adds the number of messages that wait to the state of an endpoint without trouble. The
// limit of attempts a minute is 0 for the one of the settings, which the subscriber does not see.
func (s health) waiting(n, limit int) health {
	if n == 0 || s.rank > 0 {
		return s
	}
	words := display.Count(n, "message waits", "messages wait")
	if limit > 0 {
		words += ", rate limit " + strconv.Itoa(limit) + " a minute"
	}
	return health{words, "○", "idle", 0}
}

// findSubscription returns the subscription in the address.
func (h portal) findSubscription(x *edge.Context, v webhook.Visitor) (wire.Subscription, error) {
	var s wire.Subscription
	err := h.get(x, subscriptionPath(v.Subscriber, x.Params.Get("SubscriptionID")), nil, &s)
	return s, err
}

// subscription shows a subscription.
func (h portal) subscription(x *edge.Context, v webhook.Visitor) error {
	s, err := h.findSubscription(x, v)
	if err != nil {
		return err
	}
	note := noteOf(x.Request.URL.Query().Get(memberNote))
	return h.showSubscription(x, v, s, http.StatusOK, subscriptionPage{Note: note})
}

// showSubscription shows a subscription with the last failure of its messages. With a secret, it reads
// nothing that could fail: the secret would be lost.
func (h portal) showSubscription(
	x *edge.Context, v webhook.Visitor, s wire.Subscription, status int, page subscriptionPage,
) error {
	view := portalView(x, v, s)
	if page.Secret == "" {
		waiting, err := h.waiting(x, v)
		if err != nil {
			return err
		}
		view.State = view.State.waiting(waiting[strings.ToLower(s.RecID)], s.MaxPerMinute)
	}
	if !time.Time(s.FailingSince).IsZero() && page.Secret == "" {
		last, err := h.lastFailure(x, v, s.RecID)
		if err != nil {
			return err
		}
		view.LastFailure = answer(last.LastMessageResponseHTTPCode, last.LastMessageResponseMessage)
		view.LastFailed = ago(x, last.LastSavedDateTime)
	}
	page.Page = portalFrame(x, v, s.EventName+" to "+display.ShortURL(s.URL), portalSubscriptionsLink)
	page.subscriptionView = view
	return show(x, status, "subscription", page)
}

// lastFailure returns the newest message of a subscription that is not delivered after an attempt.
func (h portal) lastFailure(x *edge.Context, v webhook.Visitor, subscription string) (wire.Message, error) {
	var found rows[wire.Message]
	err := h.get(x, subscriberPath(v)+"/Messages", url.Values{
		"SubscriptionID": {subscription},
		"StatusIn":       {strconv.Itoa(int(webhook.RetryPending)) + "," + strconv.Itoa(int(webhook.Failed))},
		query.Take:       {"1"},
		query.Fields:     {"LastMessageResponseHTTPCode,LastMessageResponseMessage,LastSavedDateTime"},
	}, &found)
	if err != nil || len(found.Results) == 0 {
		return wire.Message{}, err
	}
	return found.Results[0], nil
}

// newSubscription shows the form of a new subscription.
func (h portal) newSubscription(x *edge.Context, v webhook.Visitor) error {
	state, err := h.subscribeState(x, v)
	if err != nil {
		return err
	}
	f := portalNewForm(x, v)
	f.Enabled = true
	f.Orders = selecting(orders, "none")
	f.Formats = selecting(formats, "")
	f.State = state
	return subscriptions{h.client}.showForm(x, http.StatusOK, f)
}

// subscribeState returns the state that the form of a new subscription is based on.
func (h portal) subscribeState(x *edge.Context, v webhook.Visitor) (string, error) {
	var s wire.Subscriber
	err := h.get(x, subscriberPath(v)+"/Subscriptions", nil, &s.Subscriptions)
	return subscribeState(&s), err
}

func portalNewForm(x *edge.Context, v webhook.Visitor) subscriptionForm {
	return subscriptionForm{
		Page:       portalFrame(x, v, "New subscription", portalSubscriptionsLink),
		Action:     pathPortalSubscribe,
		Back:       pathPortalSubscriptions,
		Button:     "Add the subscription",
		Subscriber: v.Name,
		IsNew:      true,
	}
}

// addSubscription adds a subscription and shows its secret, which is never shown again.
func (h portal) addSubscription(x *edge.Context, v webhook.Visitor) error {
	values, err := formOf(x)
	if err != nil {
		return err
	}
	f := portalNewForm(x, v)
	f.sent(values)
	if requestsRows(values) {
		f.Free += moreRows
		return subscriptions{h.client}.showForm(x, http.StatusOK, f)
	}
	state, err := h.subscribeState(x, v)
	if err != nil {
		return err
	}
	if state != f.State {
		return subscriptions{h.client}.outdated(x, f, state)
	}
	body, err := members(values, true)
	var added wire.Subscription
	if err == nil {
		err = h.send(x, http.MethodPost, subscriberPath(v)+"/Subscriptions", body, &added)
	}
	if err != nil {
		return subscriptions{h.client}.again(x, f, err)
	}
	return h.showSubscription(x, v, added, http.StatusCreated, subscriptionPage{
		Note:   noteOf("Added"),
		Secret: added.Secret,
	})
}

// editSubscription shows the form of a subscription with its values.
func (h portal) editSubscription(x *edge.Context, v webhook.Visitor) error {
	s, err := h.findSubscription(x, v)
	if err != nil {
		return err
	}
	view := portalView(x, v, s)
	f := portalForm(x, v, &s)
	f.fill(view)
	return subscriptions{h.client}.showForm(x, http.StatusOK, f)
}

// portalForm returns the form of a subscription without its values.
func portalForm(x *edge.Context, v webhook.Visitor, s *wire.Subscription) subscriptionForm {
	address := portalSubscriptionAddress(s.RecID)
	return subscriptionForm{
		Page: portalFrame(x, v, "Edit subscription", portalSubscriptionsLink,
			encode.Link{Name: s.EventName, URL: address}),
		Action:     address + "/Edit",
		Back:       address,
		Button:     "Save",
		Subscriber: v.Name,
		HasHeaders: len(s.Headers) > 0,
	}
}

// saveSubscription changes a subscription.
func (h portal) saveSubscription(x *edge.Context, v webhook.Visitor) error {
	s, err := h.findSubscription(x, v)
	if err != nil {
		return err
	}
	values, err := formOf(x)
	if err != nil {
		return err
	}
	f := portalForm(x, v, &s)
	f.sent(values)
	if requestsRows(values) {
		f.Free += moreRows
		return subscriptions{h.client}.showForm(x, http.StatusOK, f)
	}
	body, err := members(values, f.Replace || !f.HasHeaders && len(headersOf(values)) > 0)
	if err == nil {
		removeUnchanged(body, &s)
		err = h.send(x, http.MethodPatch, subscriptionPath(v.Subscriber, s.RecID), body, nil)
	}
	if err != nil {
		return subscriptions{h.client}.again(x, f, err)
	}
	return goTo(x, portalSubscriptionAddress(s.RecID)+"?"+memberNote+"=Saved")
}

// removeUnchanged removes the members from a change that a subscription has already. The form of a
// subscriber lacks conditions that it may not see: they must not be replaced by none.
func removeUnchanged(body map[string]any, s *wire.Subscription) {
	for name, stored := range map[string]any{
		"URL":           s.URL,
		"EventName":     s.EventName,
		"IsEnabled":     s.IsEnabled,
		"OrderBy":       orderOf(s),
		"RetrySchedule": s.RetrySchedule,
		"MaxPerMinute":  rateOf(s),
		"Format":        s.Format,
	} {
		if body[name] == stored {
			delete(body, name)
		}
	}
	if equalConditions(body["Where"], s.Where) {
		delete(body, "Where")
	}
}

// equalConditions reports whether a condition of a form, as JSON or its text, is the stored one.
func equalConditions(sent any, stored json.RawMessage) bool {
	var text []byte
	switch sent := sent.(type) {
	case json.RawMessage:
		text = sent
	case string:
		text = []byte(sent)
	}
	if len(stored) == 0 {
		stored = json.RawMessage("{}")
	}
	var a, b bytes.Buffer
	if json.Compact(&a, text) != nil || json.Compact(&b, stored) != nil {
		return false
	}
	return bytes.Equal(a.Bytes(), b.Bytes())
}

// confirmSubscription shows the confirmation of an action.
func (h portal) confirmSubscription(x *edge.Context, v webhook.Visitor) error {
	a, s, err := h.subscriptionAction(x, v)
	if err != nil {
		return err
	}
	return a.portalConfirmation(x, v, &s).open(x)
}

// subscriptionAction returns the action in the address, and its subscription.
func (h portal) subscriptionAction(
	x *edge.Context, v webhook.Visitor,
) (subscriptionAction, wire.Subscription, error) {
	nameOf := func(a subscriptionAction) string { return a.name }
	a, err := portalActionOf(x, subscriptionActions, nameOf)
	if err != nil {
		return a, wire.Subscription{}, err
	}
	s, err := h.findSubscription(x, v)
	return a, s, err
}

// portalConfirmation returns the confirmation before an action.
func (a subscriptionAction) portalConfirmation(
	x *edge.Context, v webhook.Visitor, s *wire.Subscription,
) confirmation {
	address := portalSubscriptionAddress(s.RecID)
	return confirmation{
		Page: portalFrame(x, v, a.title, portalSubscriptionsLink,
			encode.Link{Name: s.EventName, URL: address}),
		Effects: a.effects,
		Facts: []encode.Pair{
			{Name: "Event", Value: s.EventName},
			{Name: "Endpoint", Value: s.URL},
			{Name: "State", Value: portalHealth(x, s).Words},
		},
		Action: address + "/Do/" + a.name,
		Hidden: a.hidden(s),
		Fields: a.fields(""),
		Button: a.button,
		Danger: a.danger,
		Back:   address,
	}
}

// rotate replaces the secret of a subscription and shows the new one.
func (h portal) rotate(
	x *edge.Context, v webhook.Visitor, a subscriptionAction, s wire.Subscription,
) error {
	values, err := formOf(x)
	if err != nil {
		return err
	}
	if values.Get(memberState) != secretState(&s) {
		return a.portalConfirmation(x, v, &s).outdated(x, secretReplaced)
	}
	var rotated wire.RotatedSecret
	err = h.send(x, http.MethodPost, subscriptionPath(v.Subscriber, s.RecID)+"/Secret", rotation(values), &rotated)
	if err != nil {
		c := a.portalConfirmation(x, v, &s)
		c.Fields = a.fields(values.Get(memberKeepFor))
		return c.retry(x, err)
	}
	s.SigningSecrets = rotated.SigningSecrets
	return h.showSubscription(x, v, s, http.StatusOK, subscriptionPage{
		Secret: rotated.Secret,
		Until:  ago(x, rotated.OldSecretUntil),
	})
}

// changeSubscription carries out an action.
func (h portal) changeSubscription(x *edge.Context, v webhook.Visitor) error {
	a, s, err := h.subscriptionAction(x, v)
	if err != nil {
		return err
	}
	if a.name == actionRotate {
		return h.rotate(x, v, a, s)
	}
	path := subscriptionPath(v.Subscriber, s.RecID)
	target := portalSubscriptionAddress(s.RecID)
	switch a.name {
	case "Test":
		var sent wire.MessageState
		err = h.send(x, http.MethodPost, path+"/Test", nil, &sent)
		target = portalMessageAddress(sent.MessageID)
	case "Enable", "Disable":
		err = h.send(x, http.MethodPatch, path, map[string]any{"IsEnabled": a.name == "Enable"}, nil)
	case "Delete":
		err = h.send(x, http.MethodDelete, path, nil, nil)
		target = pathPortalSubscriptions
	}
	if err != nil {
		return a.portalConfirmation(x, v, &s).retry(x, err)
	}
	return goTo(x, target+"?"+memberNote+"="+a.note)
}
