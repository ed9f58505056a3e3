package pages

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/rest/edge"
)

// Operations on subscriptions, and the paths of their pages.
const (
	apiSubscribers   = "/Webhooks/Subscribers"
	apiSubscriptions = "/Webhooks/Subscriptions"
	apiStats         = "/Webhooks/Stats"

	pathSubscriptions = Root + "/Subscriptions"
	pathSubscription  = pathSubscriptions + "/{SubscriptionID}"
)

// subscriptions has the pages of subscriptions.
type subscriptions struct{ scope }

func (h subscriptions) routes() []edge.Route {
	return webhooksAll(slices.Concat(
		[]edge.Route{
			route(account.Admin, pathSubscriptions, h.list),
			route(account.Admin, pathSubscription, h.one),
		},
		both(account.Admin, pathSubscription+"/Edit", h.edit, h.save),
		both(account.Admin, pathSubscription+"/Do/{Action}", h.confirm, h.act),
	))
}

// subscriptionView is a subscription on a page.
type subscriptionView struct {
	wire.Subscription
	Subscriber  string
	State       health
	URLs        subscriptionURLs
	Queue       *wire.Queue // nil without recent traffic
	Conditions  []conditionRow
	Condition   string // the condition as JSON, if it cannot be shown as rows
	Saved       moment
	Failing     moment
	LastFailure string
	LastFailed  moment
	Delivered   string
	Failed      string
	Pending     string
	Order       string
	FormatWords string // empty for the usual format
	IsPaused    bool   // nothing is sent at present
}

// subscriptionURLs are the addresses around a subscription.
type subscriptionURLs struct{ Page, Edit, Messages, Subscriber, Test, Toggle, Rotate, Delete string }

// health is the state of an endpoint in words, with a sign.
type health struct {
	Words, Sign, Class string
	rank               int // the worst is the highest
}

// Ranks of the states of endpoints. Those above rankFine are in trouble.
const (
	rankFine     = iota
	rankFailing  // some attempts, or all
	rankWaiting  // messages are held, or the endpoint requests a pause
	rankPaused   // after failures
	rankDisabled // nothing is sent
)

// healthOf returns the state of a subscription. queue is nil if it has no recent traffic.
func healthOf(x *edge.Context, isEnabled bool, reason string, queue *wire.Queue) health {
	if !isEnabled || reason != "" {
		return health{"disabled" + after(": ", reason), "■", "bad", rankDisabled}
	}
	if queue == nil {
		return health{"no traffic in the last hour", "○", "idle", rankFine}
	}
	switch {
	case queue.DisabledReason != "":
		return health{queue.DisabledReason, "■", "bad", rankDisabled}
	case queue.Breaker == wire.BreakerOpen:
		return health{"paused after failures, next try " + soon(x, queue.NextProbeDateTime), "■", "bad", rankPaused}
	case len(queue.HeldEvents) > 0:
		return health{"holds messages of " + strings.Join(queue.HeldEvents, ", "), "▲", "warn", rankWaiting}
	case !time.Time(queue.WaitUntilDateTime).IsZero():
		words := "waits as its endpoint requests, next try " + soon(x, queue.WaitUntilDateTime)
		return health{words, "▲", "warn", rankWaiting}
	}
	h := trafficHealth(queue)
	limited := rateWords(x, queue)
	if limited != "" && h.rank == rankFine {
		return health{limited, "○", "idle", rankFine}
	}
	h.Words += after("; ", limited) // otherwise the failures seem to be why messages wait
	return h
}

// visibleHealth returns the state of a subscription, as far as its subscriber may see it.
func visibleHealth(x *edge.Context, s *wire.Subscription) health {
	if !s.IsEnabled || s.DisabledReason != "" {
		return healthOf(x, s.IsEnabled, s.DisabledReason, nil)
	}
	if since := time.Time(s.FailingSince); !since.IsZero() {
		return health{"failing for " + display.Age(x.Timing.Start.Sub(since)), "▲", "warn", rankFailing}
	}
	return health{"not failing", "●", "good", rankFine}
}

// rateWords describes that messages wait for the rate limit of a subscription, empty if they do not.
func rateWords(x *edge.Context, queue *wire.Queue) string {
	if queue == nil || time.Time(queue.RateUntilDateTime).IsZero() {
		return ""
	}
	until := time.Time(queue.RateUntilDateTime).Sub(x.Timing.Start)
	return "rate limit, next " + display.Soon(max(time.Second, until))
}

// minShare is the share of successful attempts below which an endpoint is in trouble.
const minShare = 0.9

// trafficHealth returns the state of a queue by its attempts of the last hour.
func trafficHealth(queue *wire.Queue) health {
	failed := queue.Failed + queue.GivenUp
	attempts := queue.Delivered + failed
	isFailing := !time.Time(queue.FailingSince).IsZero()
	if queue.Delivered == 0 && failed == 0 && !isFailing {
		return health{"waiting", "○", "idle", rankFine}
	}
	switch {
	case queue.Delivered == 0:
		return health{"failing", "▲", "warn", rankFailing}
	case isFailing || float64(queue.Delivered) < minShare*float64(attempts):
		return health{"failing in part", "▲", "warn", rankFailing}
	case failed > 0:
		return health{share(queue.Delivered, failed) + " of attempts delivered", "●", "good", rankFine}
	case queue.Pending > 0:
		return health{"all attempts delivered", "●", "good", rankFine}
	default:
		return health{"all delivered", "●", "good", rankFine}
	}
}

// after returns a text behind a separator, empty without a text.
func after(separator, text string) string {
	if text == "" {
		return ""
	}
	return separator + text
}

// soon describes a time in the future.
func soon(x *edge.Context, t wire.Timestamp) string {
	return display.Soon(time.Time(t).Sub(x.Timing.Start))
}

// queues returns the state of the queues with recent traffic, by SubscriptionID in lower case.
func (h subscriptions) queues(x *edge.Context) (map[string]*wire.Queue, *wire.Stats, error) {
	var stats wire.Stats
	if err := h.get(x, apiStats, nil, &stats); err != nil {
		return nil, nil, err
	}
	byID := make(map[string]*wire.Queue)
	for i := range stats.Queues {
		byID[strings.ToLower(stats.Queues[i].SubscriptionID)] = &stats.Queues[i]
	}
	return byID, &stats, nil
}

// view returns a subscription for a page, nil if it has been removed.
func (h subscriptions) view(x *edge.Context, subscriber, subscription string) (*subscriptionView, error) {
	var s wire.Subscription
	err := h.get(x, subscriptionPath(h.owner(subscriber), subscription), nil, &s)
	if fault.Is(err, fault.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if h.visitor != nil {
		return h.newView(x, s, nil), nil
	}
	owners, err := h.subscribersOf(x, []wire.Subscription{s})
	if err != nil {
		return nil, err
	}
	queues, stats, err := h.queues(x)
	if err != nil {
		return nil, err
	}
	v := h.newView(x, s, queues[strings.ToLower(s.RecID)])
	v.IsPaused = stats.InHand.Paused != ""
	owner := owners[strings.ToLower(s.SubscriberID)]
	v.name(x, &owner)
	return v, nil
}

// newView returns a subscription for a page, for administrators without the name of its subscriber.
func (h subscriptions) newView(x *edge.Context, s wire.Subscription, queue *wire.Queue) *subscriptionView {
	v := &subscriptionView{
		Subscription: s,
		State:        healthOf(x, s.IsEnabled, s.DisabledReason, queue),
		Queue:        queue,
		Saved:        ago(x, s.LastSavedDateTime),
		Failing:      ago(x, s.FailingSince),
		Order:        orderWords(&s),
		FormatWords:  formatWords(s.Format),
		URLs:         h.urls(x, &s),
	}
	if h.visitor != nil {
		v.Subscriber = h.visitor.Name
		v.State = visibleHealth(x, &s)
		v.Failing = moment{} // the state has it
	}
	var whole bool
	v.Conditions, whole = conditionRows(s.Where)
	if !whole {
		v.Conditions = nil
		v.Condition = pretty(string(s.Where))
	}
	if queue != nil {
		v.Delivered = count(queue.Delivered)
		v.Failed = count(queue.Failed + queue.GivenUp)
		v.Pending = count(queue.Pending)
		if last := queue.LastFailure; last != nil {
			v.LastFailure = answer(&last.HTTPCode, last.Message)
			v.LastFailed = ago(x, last.At)
		}
	}
	return v
}

// name adds the subscriber of a subscription.
func (v *subscriptionView) name(x *edge.Context, s *wire.Subscriber) {
	v.Subscriber = cmp.Or(s.Name, "a removed subscriber")
	if s.ItemNo != 0 {
		v.URLs.Subscriber = x.Base + subscriberAddress(s.ItemNo)
	}
	if v.State.rank < rankDisabled && s.Name != "" && !s.IsEnabled {
		v.State = health{"its subscriber is disabled", "■", "bad", rankDisabled}
	}
}

// orderWords describes the order of deliveries.
func orderWords(s *wire.Subscription) string {
	switch {
	case s.Ordered:
		return "in order: each message waits for the one before it"
	case s.OrderedByKey:
		return "in order by key: each message waits for the one before it with the same key"
	default:
		return "as quickly as possible, in any order"
	}
}

// formatWords describes the format of messages, empty for the usual one.
func formatWords(format string) string {
	if format == "" {
		return ""
	}
	i := slices.IndexFunc(formats, func(c encode.Choice) bool { return c.Value == format })
	if i < 0 {
		return format
	}
	return formats[i].Text
}

// subscriptionPath returns the path of the operations on a subscription.
func subscriptionPath(subscriber, subscription string) string {
	return apiSubscribers + "/" + url.PathEscape(subscriber) + "/Subscriptions/" + url.PathEscape(subscription)
}

// subscriptionList is the page with subscriptions.
type subscriptionList struct {
	encode.Page
	Note    string
	Rows    []*subscriptionView
	Filters []encode.Condition
	Search  searchForm
	MoreURL string
}

// maxSubscriptions is the number of subscriptions on a page.
const maxSubscriptions = 500

// list shows the subscriptions, the worst first.
func (h subscriptions) list(x *edge.Context) error {
	filters, err := filterSet{kind: kindOf("Subscription"), members: []string{query.Skip}}.in(x)
	if err != nil {
		return err
	}
	selection := strictly(filters)
	skip := skipIn(x)
	selection.Set(query.Skip, strconv.Itoa(skip))
	selection.Set(query.Take, strconv.Itoa(maxSubscriptions+1))
	page := subscriptionList{
		Page:    frame(x, "Subscriptions", startLink),
		Note:    noteIn(x),
		Filters: conditionsOf(kindOf("Subscription"), x.Base+pathSubscriptions, filters, messageWords),
		Search:  newSearchForm("subscriptions", filters, "EventName", "URLContains"),
	}
	var found rows[wire.Subscription]
	err = h.get(x, apiSubscriptions, selection, &found)
	status, isRefused := page.Search.refused(err)
	if isRefused {
		return show(x, status, "subscriptions", page)
	}
	if err != nil {
		return err
	}
	if len(found.Results) > maxSubscriptions {
		found.Results = found.Results[:maxSubscriptions]
		page.MoreURL = withFilter(x.Base+pathSubscriptions, filters, query.Skip, strconv.Itoa(skip+maxSubscriptions))
	}
	page.Rows, err = h.views(x, found.Results)
	if err != nil {
		return err
	}
	return show(x, http.StatusOK, "subscriptions", page)
}

// views returns subscriptions for a page, the worst first.
func (h subscriptions) views(x *edge.Context, list []wire.Subscription) ([]*subscriptionView, error) {
	queues, _, err := h.queues(x)
	if err != nil {
		return nil, err
	}
	byID, err := h.subscribersOf(x, list)
	if err != nil {
		return nil, err
	}
	var views []*subscriptionView
	for _, s := range list {
		v := h.newView(x, s, queues[strings.ToLower(s.RecID)])
		owner := byID[strings.ToLower(s.SubscriberID)]
		v.name(x, &owner)
		views = append(views, v)
	}
	slices.SortStableFunc(views, func(a, b *subscriptionView) int { return b.State.rank - a.State.rank })
	return views, nil
}

// subscribersOf returns the subscribers of subscriptions by ID in lower case.
func (h subscriptions) subscribersOf(x *edge.Context, list []wire.Subscription) (map[string]wire.Subscriber, error) {
	byID := make(map[string]wire.Subscriber)
	var ids []string
	for _, s := range list {
		if !slices.Contains(ids, s.SubscriberID) {
			ids = append(ids, s.SubscriberID)
		}
	}
	if len(ids) == 0 {
		return byID, nil
	}
	var found rows[wire.Subscriber]
	err := h.get(x, apiSubscribers, url.Values{"RecIDIn": {strings.Join(ids, ",")}}, &found)
	for _, s := range found.Results {
		byID[strings.ToLower(s.RecID)] = s
	}
	return byID, err
}

// find returns the subscription in the address.
func (h subscriptions) find(x *edge.Context) (*subscriptionView, error) {
	id := x.Params.Get("SubscriptionID")
	subscriber, err := h.subscriberOf(x, id)
	if err != nil {
		return nil, err
	}
	v, err := h.view(x, subscriber, id)
	if err == nil && v == nil {
		err = fault.New(fault.NotFound, "There is no such subscription")
	}
	return v, err
}

// subscriberOf returns the SubscriberID of a subscription.
func (h subscriptions) subscriberOf(x *edge.Context, subscription string) (string, error) {
	if h.visitor != nil {
		return h.visitor.Subscriber, nil
	}
	var found rows[wire.Subscription]
	err := h.get(x, apiSubscriptions, url.Values{"RecID": {subscription}}, &found)
	s, err := only(found, err, "subscription")
	return s.SubscriberID, err
}

// subscriptionPage is the page of a subscription.
type subscriptionPage struct {
	encode.Page
	*subscriptionView
	Note   string
	Secret string // a new secret, shown only once
	Until  moment // the end of the replaced secret
}

// one shows a subscription.
func (h subscriptions) one(x *edge.Context) error {
	v, err := h.find(x)
	if err != nil {
		return err
	}
	if h.visitor != nil {
		err = h.addMessages(x, v)
	}
	if err != nil {
		return err
	}
	return h.show(x, http.StatusOK, v, subscriptionPage{Note: noteIn(x)})
}

// show shows a subscription. It reads nothing, which could fail: a secret on the page would be lost.
func (h subscriptions) show(x *edge.Context, status int, v *subscriptionView, page subscriptionPage) error {
	page.Page = h.frame(x, v.EventName+" to "+display.ShortURL(v.URL), h.subscriptionsLink())
	page.subscriptionView = v
	return show(x, status, "subscription", page)
}

// subscriptionAction is something that can be done with a subscription.
type subscriptionAction struct {
	name    string
	button  string
	title   string // with %s for the event
	note    string // after it has been carried out
	danger  bool
	effects []string

	// do carries out the action and returns the page that follows. It is nil if there is a secret to
	// show.
	do func(h subscriptions, x *edge.Context, v *subscriptionView) (address string, err error)
}

var subscriptionActions = []subscriptionAction{
	{
		name:   "Test",
		note:   "Test",
		button: "Send a test",
		title:  "Send a test of %s",
		effects: []string{
			"A message with a sample body is sent to the endpoint now, signed like all others. Its event name " +
				"ends with .test, so that the receiver can recognize it.",
		},
		do: subscriptions.test,
	},
	{
		name:    "Enable",
		note:    "Enabled",
		button:  "Enable the subscription",
		title:   "Enable the subscription to %s",
		effects: []string{"Messages that wait are sent, the oldest first, and new ones as they come."},
		do: func(h subscriptions, x *edge.Context, v *subscriptionView) (string, error) {
			return h.setEnabled(x, v, true)
		},
	},
	{
		name:   "Disable",
		note:   "Disabled",
		button: "Disable the subscription",
		title:  "Disable the subscription to %s",
		effects: []string{
			"No message is sent until the subscription is enabled again. Messages that wait are kept; events " +
				"that are published until then create none.",
		},
		do: func(h subscriptions, x *edge.Context, v *subscriptionView) (string, error) {
			return h.setEnabled(x, v, false)
		},
	},
	{
		name:   actionRotate,
		button: "Replace the secret",
		title:  "Replace the secret of %s",
		effects: []string{
			"A new secret signs from now on. The page that follows shows it once.",
			"The present secret can sign as well for the next 24 hours, so that the receiver can change over without a gap.",
		},
	},
	{
		name:    "Delete",
		note:    "Removed",
		button:  "Delete the subscription",
		title:   "Delete the subscription to %s",
		danger:  true,
		effects: []string{"The subscription is deleted and messages that wait are never sent. This cannot be undone."},
		do:      subscriptions.remove,
	},
}

// test sends a test message.
func (h subscriptions) test(x *edge.Context, v *subscriptionView) (string, error) {
	var sent wire.MessageState
	err := h.send(x, http.MethodPost, h.path(v)+"/Test", nil, &sent)
	return h.messageAddress(sent.MessageID), err
}

// setEnabled enables or disables a subscription.
func (h subscriptions) setEnabled(x *edge.Context, v *subscriptionView, isEnabled bool) (string, error) {
	err := h.send(x, http.MethodPatch, h.path(v), map[string]any{"IsEnabled": isEnabled}, nil)
	return h.subscriptionAddress(v.RecID), err
}

// remove deletes a subscription.
func (h subscriptions) remove(x *edge.Context, v *subscriptionView) (string, error) {
	return h.subscriptionList, h.send(x, http.MethodDelete, h.path(v), nil, nil)
}

// path returns the path of the operations on a subscription.
func (h subscriptions) path(v *subscriptionView) string {
	return subscriptionPath(h.owner(v.SubscriberID), v.RecID)
}

// actionOf returns the action in the address, and its subscription.
func (h subscriptions) actionOf(x *edge.Context) (subscriptionAction, *subscriptionView, error) {
	name := x.Params.Get("Action")
	hasName := func(a subscriptionAction) bool { return strings.EqualFold(a.name, name) }
	i := slices.IndexFunc(subscriptionActions, hasName)
	if i < 0 {
		return subscriptionAction{}, nil, edge.NotFound()
	}
	v, err := h.find(x)
	return subscriptionActions[i], v, err
}

// confirm shows the confirmation of an action.
func (h subscriptions) confirm(x *edge.Context) error {
	a, v, err := h.actionOf(x)
	if err != nil {
		return err
	}
	return h.confirmation(x, a, v).open(x)
}

// confirmation returns the confirmation before an action.
func (h subscriptions) confirmation(x *edge.Context, a subscriptionAction, v *subscriptionView) confirmation {
	address := h.subscriptionAddress(v.RecID)
	title := fmt.Sprintf(a.title, v.EventName)
	c := confirmation{
		Page:    h.frame(x, title, h.subscriptionsLink(), encode.Link{Name: v.EventName, URL: address}),
		Effects: a.effects,
		Facts: []encode.Pair{
			{Name: "Subscriber", Value: v.Subscriber},
			{Name: "Event", Value: v.EventName},
			{Name: "Endpoint", Value: v.URL},
			{Name: "State", Value: v.State.Words},
		},
		Action: address + "/Do/" + a.name,
		Hidden: a.hidden(&v.Subscription),
		Fields: a.fields(""),
		Button: a.button,
		Danger: a.danger,
		Back:   address,
	}
	if h.visitor == nil {
		waiting := cmp.Or(v.Pending, "none in the last hour")
		c.Facts = append(c.Facts, encode.Pair{Name: "Waiting messages", Value: waiting})
	}
	return c
}

// actionRotate replaces the secret. Its response is no redirect: the secret is never shown again.
const actionRotate = "Rotate"

// hidden returns the hidden inputs of the confirmation.
func (a subscriptionAction) hidden(s *wire.Subscription) []encode.Pair {
	if a.name != actionRotate {
		return nil
	}
	return []encode.Pair{{Name: memberState, Value: secretState(s)}}
}

// memberKeepFor is how long the replaced secret signs.
const memberKeepFor = "KeepFor"

// keepFors are the values of KeepFor, in words.
var keepFors = []encode.Choice{
	{Value: "24h", Text: "it signs as well for 24 hours"},
	{Value: "0", Text: "it ends at once, with all earlier ones"},
}

// fields returns the inputs of the confirmation.
func (a subscriptionAction) fields(keepFor string) []field {
	if a.name != actionRotate {
		return nil
	}
	return []field{{
		Name:    memberKeepFor,
		Choices: selecting(keepFors, cmp.Or(keepFor, "24h")),
	}}
}

// rotation returns the members of the operation that replaces the secret, as the form has them.
func rotation(values url.Values) map[string]any {
	return map[string]any{memberKeepFor: cmp.Or(values.Get(memberKeepFor), "24h")}
}

// secretState returns the state that the form that replaces the secret is based on.
func secretState(s *wire.Subscription) string {
	return stateOf(strconv.Itoa(s.SigningSecrets), time.Time(s.OldSecretsUntil).String())
}

// secretReplaced is why a form that replaces the secret is out of date.
const secretReplaced = "The secret has been replaced"

// rotate replaces the secret of a subscription and shows the new one.
func (h subscriptions) rotate(x *edge.Context, a subscriptionAction, v *subscriptionView) error {
	values, err := formOf(x)
	if err != nil {
		return err
	}
	if values.Get(memberState) != secretState(&v.Subscription) {
		return h.confirmation(x, a, v).outdated(x, secretReplaced)
	}
	var rotated wire.RotatedSecret
	err = h.send(x, http.MethodPost, h.path(v)+"/Secret", rotation(values), &rotated)
	if err != nil {
		c := h.confirmation(x, a, v)
		c.Fields = a.fields(values.Get(memberKeepFor))
		return c.retry(x, err)
	}
	v.SigningSecrets = rotated.SigningSecrets
	return h.show(x, http.StatusOK, v, subscriptionPage{
		Secret: rotated.Secret,
		Until:  ago(x, rotated.OldSecretUntil),
	})
}

// act carries out an action.
func (h subscriptions) act(x *edge.Context) error {
	a, v, err := h.actionOf(x)
	if err != nil {
		return err
	}
	if a.do == nil {
		return h.rotate(x, a, v)
	}
	target, err := a.do(h, x, v)
	if err != nil {
		return h.confirmation(x, a, v).retry(x, err)
	}
	return goTo(x, target+"?"+memberNote+"="+a.note)
}
