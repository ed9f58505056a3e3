package pages

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/rest/edge"
)

// Paths of the pages of subscribers. They have the number of a subscriber instead of its ID, which
// is a credential: addresses are logged, stored in histories and shared.
const (
	pathSubscribers = Root + "/Subscribers"
	pathSubscriber  = pathSubscribers + "/{ItemNo}"
)

// subscribers has the pages of subscribers.
type subscribers struct{ client }

func (h subscribers) routes() []edge.Route {
	return webhooksAll(slices.Concat(
		[]edge.Route{route(account.Admin, pathSubscribers, h.list)},
		both(account.Admin, pathSubscribers+"/New", h.create, h.add),
		[]edge.Route{route(account.Admin, pathSubscriber, h.one)},
		both(account.Admin, pathSubscriber+"/Do/{Action}", h.confirm, h.act),
		both(account.Admin, pathSubscriber+"/Subscribe", h.subscribe, h.addSubscription),
	))
}

// subscribersLink leads to the list of subscribers.
var subscribersLink = encode.Link{Name: "Subscribers", URL: pathSubscribers}

// subscriberAddress returns the address of the page of a subscriber.
func subscriberAddress(number int) string { return pathSubscribers + "/" + strconv.Itoa(number) }

// text64 encodes the hash of a row.
func text64(hash []byte) string { return base64.StdEncoding.EncodeToString(hash) }

// subscriberRow is a subscriber in a list.
type subscriberRow struct {
	wire.Subscriber
	URL       string
	State     health
	Endpoints int64 // with traffic in the last hour
	Delivered string
	Failed    string
	Pending   string
}

// subscriberList is the page with subscribers.
type subscriberList struct {
	encode.Page
	Note    string
	Filters []encode.Condition
	Search  searchForm
	Rows    []subscriberRow
	MoreURL string
}

// list shows the subscribers, the worst first.
func (h subscribers) list(x *edge.Context) error {
	filters, err := filterSet{kind: kindOf("Subscriber"), members: []string{query.Skip}}.in(x)
	if err != nil {
		return err
	}
	selection := strictly(filters)
	skip := skipIn(x)
	selection.Set(query.Skip, strconv.Itoa(skip))
	selection.Set(query.Take, strconv.Itoa(maxSubscriptions+1))
	page := subscriberList{
		Page:    frame(x, "Subscribers", startLink),
		Note:    noteIn(x),
		Filters: conditionsOf(kindOf("Subscriber"), x.Base+pathSubscribers, filters, messageWords),
		Search:  newSearchForm("subscribers", filters, "NameContains"),
	}
	var found rows[wire.Subscriber]
	err = h.get(x, apiSubscribers, selection, &found)
	status, isRefused := page.Search.refused(err)
	if isRefused {
		return show(x, status, "subscribers", page)
	}
	if err != nil {
		return err
	}
	if len(found.Results) > maxSubscriptions {
		found.Results = found.Results[:maxSubscriptions]
		page.MoreURL = withFilter(x.Base+pathSubscribers, filters, query.Skip, strconv.Itoa(skip+maxSubscriptions))
	}
	_, stats, err := h.subscriptions().queues(x)
	if err != nil {
		return err
	}
	for _, s := range found.Results {
		page.Rows = append(page.Rows, subscriberRowOf(x, s, stats.Queues))
	}
	slices.SortStableFunc(page.Rows, func(a, b subscriberRow) int { return b.State.rank - a.State.rank })
	return show(x, http.StatusOK, "subscribers", page)
}

// subscriberRowOf returns a subscriber with the sums and the worst state of its queues.
func subscriberRowOf(x *edge.Context, s wire.Subscriber, queues []wire.Queue) subscriberRow {
	r := subscriberRow{Subscriber: s, URL: x.Base + subscriberAddress(s.ItemNo)}
	r.State = healthOf(x, s.IsEnabled, "", nil)
	var delivered, failed, pending int64
	for i := range queues {
		q := &queues[i]
		if !strings.EqualFold(q.SubscriberID, s.RecID) {
			continue
		}
		r.Endpoints++
		delivered += q.Delivered
		failed += q.Failed + q.GivenUp
		pending += q.Pending
		state := healthOf(x, s.IsEnabled && q.IsEnabled, q.DisabledReason, q)
		if r.Endpoints == 1 && s.IsEnabled || state.rank > r.State.rank {
			r.State = state
		}
	}
	r.Delivered = count(delivered)
	r.Failed = count(failed)
	r.Pending = count(pending)
	return r
}

// find returns the subscriber in the address, with its subscriptions.
func (h subscribers) find(x *edge.Context) (wire.Subscriber, error) {
	number, err := strconv.Atoi(x.Params.Get("ItemNo"))
	if err != nil {
		return wire.Subscriber{}, fault.New(fault.NotFound, "There is no such subscriber")
	}
	var found rows[wire.Subscriber]
	err = h.get(x, apiSubscribers, url.Values{"ItemNo": {strconv.Itoa(number)}}, &found)
	s, err := only(found, err, "subscriber")
	if err != nil {
		return s, err
	}
	err = h.get(x, apiSubscribers+"/"+url.PathEscape(s.RecID), nil, &s)
	return s, err
}

// subscriberPage is the page of a subscriber.
type subscriberPage struct {
	encode.Page
	wire.Subscriber
	Note         string
	Views        []*subscriptionView
	SubscribeURL string
	ToggleURL    string
	RenameURL    string
	DeleteURL    string
	PortalURL    string // the link for the subscriber; empty if its pages are not served, or it is disabled
}

// one shows a subscriber.
func (h subscribers) one(x *edge.Context) error {
	s, err := h.find(x)
	if err != nil {
		return err
	}
	address := x.Base + subscriberAddress(s.ItemNo)
	page := subscriberPage{
		Page:         frame(x, s.Name, subscribersLink),
		Subscriber:   s,
		Note:         noteIn(x),
		SubscribeURL: address + "/Subscribe",
		ToggleURL:    address + "/Do/Enable",
		RenameURL:    address + "/Do/Rename",
		DeleteURL:    address + "/Do/Delete",
	}
	if s.IsEnabled {
		page.ToggleURL = address + "/Do/Disable"
		page.PortalURL = portalLink(x, s.RecID)
	}
	page.Views, err = h.subscriptions().views(x, s.Subscriptions)
	if err != nil {
		return err
	}
	return show(x, http.StatusOK, "subscriber", page)
}

// create shows the form of a new subscriber.
func (h subscribers) create(x *edge.Context) error {
	state, err := h.newest(x)
	if err != nil {
		return err
	}
	return newSubscriber(x, "", state).open(x)
}

// newest returns the state that the form of a new subscriber is based on: the newest subscriber.
func (h subscribers) newest(x *edge.Context) (string, error) {
	var found rows[wire.Subscriber]
	err := h.get(x, apiSubscribers, url.Values{
		query.OrderByDesc: {"ItemNo"},
		query.Take:        {"1"},
		query.Fields:      {"RecID"},
	}, &found)
	var ids []string
	for _, s := range found.Results {
		ids = append(ids, s.RecID)
	}
	return stateOf(ids...), err
}

// newSubscriber returns the form of a new subscriber. state is the one that the form is based on.
func newSubscriber(x *edge.Context, name, state string) confirmation {
	return confirmation{
		Page: frame(x, "New subscriber", subscribersLink),
		Effects: []string{
			"A subscriber receives events at the endpoints of its subscriptions. Its SubscriberID, which the " +
				"page that follows shows, lets it manage these by itself.",
		},
		Fields: []field{{
			Name:     "Name",
			Value:    name,
			Help:     "For example the name of the company or of its shop",
			Required: true,
		}},
		Action: pathSubscribers + "/New",
		Hidden: []encode.Pair{{Name: memberState, Value: state}},
		Button: "Add the subscriber",
		Back:   pathSubscribers,
	}
}

// add adds a subscriber.
func (h subscribers) add(x *edge.Context) error {
	values, err := formOf(x)
	if err != nil {
		return err
	}
	state, err := h.newest(x)
	if err != nil {
		return err
	}
	form := newSubscriber(x, values.Get("Name"), state)
	if values.Get(memberState) != state {
		return form.outdated(x, "A subscriber has been added or deleted")
	}
	var added wire.Subscriber
	err = h.send(x, http.MethodPost, apiSubscribers, map[string]any{"Name": values.Get("Name")}, &added)
	if err != nil {
		return form.retry(x, err)
	}
	return goTo(x, subscriberAddress(added.ItemNo)+"?"+memberNote+"=Added")
}

// confirm shows the confirmation of an action on a subscriber.
func (h subscribers) confirm(x *edge.Context) error {
	s, err := h.find(x)
	if err != nil {
		return err
	}
	c, err := subscriberConfirmation(x, &s)
	if err != nil {
		return err
	}
	return c.open(x)
}

// subscriberConfirmation returns the confirmation before the action in the address.
func subscriberConfirmation(x *edge.Context, s *wire.Subscriber) (confirmation, error) {
	address := subscriberAddress(s.ItemNo)
	name := x.Params.Get("Action")
	c := confirmation{
		Facts: []encode.Pair{
			{Name: "Subscriber", Value: s.Name},
			{Name: "Subscriptions", Value: count(int64(len(s.Subscriptions)))},
		},
		Action: address + "/Do/" + url.PathEscape(name),
		Back:   address,
	}
	title := ""
	switch name {
	case "Enable":
		title, c.Button = "Enable "+s.Name, "Enable the subscriber"
		c.Effects = []string{"Messages of its enabled subscriptions that wait are sent, and new ones as they come."}
	case "Disable":
		title, c.Button = "Disable "+s.Name, "Disable the subscriber"
		c.Effects = []string{
			"No messages are sent to any of its endpoints until it is enabled again. Messages that wait are kept.",
		}
	case "Rename":
		title, c.Button = "Rename "+s.Name, "Rename the subscriber"
		c.Fields = []field{{Name: "Name", Value: s.Name, Required: true}}
	case "Delete":
		title, c.Button = "Delete "+s.Name, "Delete the subscriber"
		c.Danger = true
		c.Effects = []string{"The subscriber is deleted with its " +
			display.Count(len(s.Subscriptions), "subscription", "subscriptions") +
			" and all messages. This cannot be undone."}
	default:
		return c, edge.NotFound()
	}
	c.Page = frame(x, title, subscribersLink, encode.Link{Name: s.Name, URL: address})
	return c, nil
}

// act carries out an action on a subscriber.
func (h subscribers) act(x *edge.Context) error {
	s, err := h.find(x)
	if err != nil {
		return err
	}
	c, err := subscriberConfirmation(x, &s)
	if err != nil {
		return err
	}
	values, err := formOf(x)
	if err != nil {
		return err
	}
	path := apiSubscribers + "/" + url.PathEscape(s.RecID)
	page, note := subscriberAddress(s.ItemNo), "Saved"
	switch x.Params.Get("Action") {
	case "Enable":
		err = h.send(x, http.MethodPatch, path, map[string]any{"IsEnabled": true}, nil)
		note = "Enabled"
	case "Disable":
		err = h.send(x, http.MethodPatch, path, map[string]any{"IsEnabled": false}, nil)
		note = "Disabled"
	case "Rename":
		c.Fields[0].Value = values.Get("Name")
		err = h.send(x, http.MethodPatch, path, map[string]any{"Name": values.Get("Name")}, nil)
	case "Delete":
		err = h.send(x, http.MethodDelete, path, nil, nil)
		page, note = pathSubscribers, "Removed"
	}
	if err != nil {
		return c.retry(x, err)
	}
	return goTo(x, page+"?"+memberNote+"="+note)
}

// subscribe shows the form of a new subscription.
func (h subscribers) subscribe(x *edge.Context) error {
	s, err := h.find(x)
	if err != nil {
		return err
	}
	return h.subscriptions().openNew(x, newSubscription(x, &s), &s)
}

// subscriptions returns the pages of subscriptions.
func (h subscribers) subscriptions() subscriptions { return subscriptions{everyone(h.client)} }

// newSubscription returns the form of a new subscription without its values.
func newSubscription(x *edge.Context, s *wire.Subscriber) subscriptionForm {
	address := subscriberAddress(s.ItemNo)
	return subscriptionForm{
		Page:   frame(x, "New subscription for "+s.Name, subscribersLink, encode.Link{Name: s.Name, URL: address}),
		Action: address + "/Subscribe",
		Back:   address,
		Button: "Add the subscription",
	}
}

// addSubscription adds a subscription.
func (h subscribers) addSubscription(x *edge.Context) error {
	s, err := h.find(x)
	if err != nil {
		return err
	}
	return h.subscriptions().add(x, newSubscription(x, &s), &s)
}
