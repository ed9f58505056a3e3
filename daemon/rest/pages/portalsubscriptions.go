package pages

import (
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

// portalList is the page with the subscriptions of a subscriber.
type portalList struct {
	encode.Page
	Note         string
	Rows         []*subscriptionView
	SubscribeURL string
	MoreURL      string
}

// list shows the subscriptions, the worst first.
func (h portal) list(x *edge.Context, v webhook.Visitor) error {
	theirs := h.subscriptionsOf(v)
	skip := skipIn(x)
	var found []wire.Subscription
	err := h.get(x, subscriberPath(v)+"/Subscriptions", url.Values{
		query.Skip: {strconv.Itoa(skip)},
		query.Take: {strconv.Itoa(maxSubscriptions + 1)},
	}, &found)
	if err != nil {
		return err
	}
	page := portalList{
		Page:         theirs.frame(x, "Subscriptions"),
		Note:         noteIn(x),
		SubscribeURL: x.Base + pathPortalSubscribe,
	}
	if len(found) > maxSubscriptions {
		found = found[:maxSubscriptions]
		page.MoreURL = x.Base + pathPortalSubscriptions + "?" + query.Skip + "=" + strconv.Itoa(skip+maxSubscriptions)
	}
	waiting, err := theirs.waiting(x)
	if err != nil {
		return err
	}
	for _, s := range found {
		view := theirs.newView(x, s, nil)
		view.State = view.State.waiting(waiting[strings.ToLower(s.RecID)], s.MaxPerMinute)
		page.Rows = append(page.Rows, view)
	}
	slices.SortStableFunc(page.Rows, func(a, b *subscriptionView) int { return b.State.rank - a.State.rank })
	return show(x, http.StatusOK, "portalSubscriptions", page)
}

// waiting returns the numbers of messages that wait, by SubscriptionID in lower case.
func (h subscriptions) waiting(x *edge.Context) (map[string]int, error) {
	var found rows[struct {
		SubscriptionID string
		Count          int
	}]
	err := h.get(x, h.messagesPath(), url.Values{
		statusIn:      {strconv.Itoa(int(webhook.NotSent)) + "," + strconv.Itoa(int(webhook.RetryPending))},
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
	if n == 0 || s.rank > rankFine {
		return s
	}
	words := display.Count(n, "message waits", "messages wait")
	if limit > 0 {
		words += ", rate limit " + strconv.Itoa(limit) + " a minute"
	}
	return health{words, "○", "idle", rankFine}
}

// addMessages adds the numbers of the messages that wait, and the last failure of one, to a subscription
// on a page of its subscriber.
func (h subscriptions) addMessages(x *edge.Context, v *subscriptionView) error {
	waiting, err := h.waiting(x)
	if err != nil {
		return err
	}
	v.State = v.State.waiting(waiting[strings.ToLower(v.RecID)], v.MaxPerMinute)
	if time.Time(v.FailingSince).IsZero() {
		return nil
	}
	last, err := h.lastFailure(x, v.RecID)
	if err != nil {
		return err
	}
	v.LastFailure = answer(last.LastMessageResponseHTTPCode, last.LastMessageResponseMessage)
	v.LastFailed = ago(x, last.LastSavedDateTime)
	return nil
}

// lastFailure returns the newest message of a subscription that is not delivered after an attempt.
func (h subscriptions) lastFailure(x *edge.Context, subscription string) (wire.Message, error) {
	var found rows[wire.Message]
	err := h.get(x, h.messagesPath(), url.Values{
		"SubscriptionID": {subscription},
		statusIn:         {strconv.Itoa(int(webhook.RetryPending)) + "," + strconv.Itoa(int(webhook.Failed))},
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
	s, err := h.subscriber(x, v)
	if err != nil {
		return err
	}
	return h.subscriptionsOf(v).openNew(x, h.newForm(x, v), &s)
}

// subscriber returns a visitor with its subscriptions.
func (h portal) subscriber(x *edge.Context, v webhook.Visitor) (wire.Subscriber, error) {
	s := wire.Subscriber{RecID: v.Subscriber, Name: v.Name, IsEnabled: true}
	err := h.get(x, subscriberPath(v)+"/Subscriptions", nil, &s.Subscriptions)
	return s, err
}

// newForm returns the form of a new subscription without its values.
func (h portal) newForm(x *edge.Context, v webhook.Visitor) subscriptionForm {
	theirs := h.subscriptionsOf(v)
	return subscriptionForm{
		Page:   theirs.frame(x, "New subscription for "+v.Name, theirs.subscriptionsLink()),
		Action: pathPortalSubscribe,
		Back:   pathPortalSubscriptions,
		Button: "Add the subscription",
	}
}

// addSubscription adds a subscription.
func (h portal) addSubscription(x *edge.Context, v webhook.Visitor) error {
	s, err := h.subscriber(x, v)
	if err != nil {
		return err
	}
	return h.subscriptionsOf(v).add(x, h.newForm(x, v), &s)
}
