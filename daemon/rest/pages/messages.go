package pages

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/rest/queries"
	"github.com/bizhook/whd/daemon/webhook"
)

// Operations on messages.
const (
	apiMessages = "/Webhooks/Messages"
	apiAttempts = "/Webhooks/Messages/Responses"
)

// messages has the pages of messages.
type messages struct{ client }

func (h messages) routes() []edge.Route {
	return slices.Concat(
		[]edge.Route{
			webhooks(route(account.Admin, pathMessages, h.list)),
			webhooks(route(account.Admin, pathMessage, h.one)),
		},
		webhooksAll(both(account.Admin, pathMessage+"/{Action}", h.confirm, h.act)),
	)
}

// webhooks marks a route as one that is missing if webhooks are disabled.
func webhooks(r edge.Route) edge.Route {
	r.Webhooks = true
	return r
}

func webhooksAll(routes []edge.Route) []edge.Route {
	for i := range routes {
		routes[i].Webhooks = true
	}
	return routes
}

// pageSize is the number of rows of a list.
const pageSize = 100

// listed are the fields of messages in lists.
var listed = strings.Join([]string{
	"MessageID", "SubscriptionID", "EventName", "URL", "ItemNo", "Status", "Retries", "MaxRetries",
	"AddedDateTime", "NextAttemptDateTime", "LastMessageResponseHTTPCode", "LastMessageResponseMessage", "Key",
}, ",")

// messageList is the page with messages.
type messageList struct {
	encode.Page
	Note       string
	Conditions []encode.Condition
	ClearURL   string
	Statuses   []tab
	Periods    []tab
	Search     []encode.Pair // the conditions that the form does not show
	Form       map[string]string
	Events     []string
	Rows       []messageRow
	Total      string // how many match, empty if it was not requested
	CountURL   string
	OlderURL   string
	NewestURL  string
	Bulk       []encode.Link
	RefreshURL string
	RawURL     string
}

// tab is one of several views, of which one is shown.
type tab struct {
	Name, URL, Sign, Class string
	Selected               bool
}

// messageRow is a message in a list.
type messageRow struct {
	wire.Message
	State    status
	Answer   string
	Next     string
	Age      moment
	URL      string // of its page
	Endpoint string
	EventURL string // the messages of the same event
	AimURL   string // those of the same subscription
	CodeURL  string // those with the same response
}

// list shows the messages that match the filters of the address.
func (h messages) list(x *edge.Context) error {
	filters, err := messageFilters(memberBefore, memberTotal).in(x)
	if err != nil {
		return err
	}
	members := x.Request.URL.Query()
	selection := strictly(filters)
	selection.Set(query.Fields, listed)
	selection.Set(query.Take, strconv.Itoa(pageSize+1))
	if before := members.Get(memberBefore); before != "" {
		selection.Set("ItemNo"+record.LessThan.Suffix(), before)
	}
	if members.Get(memberTotal) != "" {
		selection.Set(query.Include, "Total")
	}
	var found rows[wire.Message]
	if err := h.get(x, apiMessages, selection, &found); err != nil {
		return err
	}

	base := x.Base + pathMessages
	page := messageList{
		Page:       frame(x, "Messages", startLink),
		Note:       noteOf(members.Get(memberNote)),
		Conditions: conditionsOf(messageKind(), base, filters, messageWords),
		Statuses:   statusTabs(base, filters),
		Periods:    periodTabs(x, base, filters),
		Search:     pairsOf(without(filters, "EventName", "Key", "URLContains")),
		Form:       map[string]string{},
		Bulk:       bulkLinks(x.Base, filters),
		RawURL:     with(x.Base+apiMessages, filters, query.Format, "html"),
		RefreshURL: with(base, filters, edge.MemberRefresh, "10"),
	}
	for _, name := range []string{"EventName", "Key", "URLContains"} {
		page.Form[name] = filters.Get(name)
	}
	if len(page.Conditions) > 1 {
		page.ClearURL = base
	}
	if members.Get(memberTotal) != "" {
		page.Total = count(found.Total)
	}
	page.paginate(base, filters, &found, members.Get(memberBefore) != "")
	for i := range found.Results {
		page.Rows = append(page.Rows, rowOf(x, base, filters, &found.Results[i]))
	}
	if err := h.addRates(x, page.Rows); err != nil {
		return err
	}
	return show(x, http.StatusOK, "messages", page)
}

// due is when a message is sent that waits only for its turn.
const due = "due"

// addRates marks the due messages that wait for the rate limit of their subscription.
func (h messages) addRates(x *edge.Context, list []messageRow) error {
	if !slices.ContainsFunc(list, func(r messageRow) bool { return r.Next == due }) {
		return nil
	}
	queues, _, err := subscriptions(h).queues(x)
	for i := range list {
		r := &list[i]
		if r.Next == due {
			r.Next = cmp.Or(rateWords(x, queues[strings.ToLower(r.SubscriptionID)]), due)
		}
	}
	return err
}

// paginate leaves out the row that only shows that there are more, and sets the links to other pages.
func (p *messageList) paginate(base string, filters url.Values, found *rows[wire.Message], isLater bool) {
	if isLater {
		p.NewestURL = with(base, filters)
	}
	if len(found.Results) <= pageSize {
		return
	}
	found.Results = found.Results[:pageSize]
	last := found.Results[pageSize-1].ItemNo
	p.OlderURL = with(base, filters, memberBefore, strconv.FormatInt(last, 10))
	if p.Total == "" && !isLater {
		p.CountURL = with(base, filters, memberTotal, "true")
	}
}

// rowOf returns a message for a list.
func rowOf(x *edge.Context, base string, filters url.Values, m *wire.Message) messageRow {
	r := messageRow{
		Message:  *m,
		State:    statusOf(m.Status),
		Answer:   answer(m.LastMessageResponseHTTPCode, m.LastMessageResponseMessage),
		Next:     next(x, m),
		Age:      ago(x, m.AddedDateTime),
		URL:      x.Base + addressOf(m.MessageID),
		EventURL: with(base, filters, "EventName", m.EventName),
		AimURL:   with(base, filters, "SubscriptionID", m.SubscriptionID),
	}
	if code := m.LastMessageResponseHTTPCode; code != nil && *code != 0 {
		r.CodeURL = with(base, filters, "LastMessageResponseHTTPCode", strconv.Itoa(*code))
	}
	return r
}

// addressOf returns the address of the page of a message.
func addressOf(message string) string { return pathMessages + "/" + url.PathEscape(message) }

// messageKind returns the kind of messages.
func messageKind() *record.Kind { return kindOf(queries.MessageKind) }

// kindOf returns a kind of the service's own.
func kindOf(name string) *record.Kind {
	kind, _ := record.System().Lookup(name) // the tests follow the links of every page
	return kind
}

// messageWords describes the value of a filter.
func messageWords(field, text string) string {
	switch field {
	case "Status":
		n, err := strconv.Atoi(text)
		if err == nil {
			return statusOf(n).Words
		}
	case "SubscriptionID", "SubscriberID", "MessageID":
		return shortID(text)
	}
	return text
}

// without returns filters except some.
func without(filters url.Values, names ...string) url.Values {
	kept := make(url.Values)
	for name, texts := range filters {
		if !hasName(names, name) {
			kept[name] = texts
		}
	}
	return kept
}

// statusTabs returns links to the messages of each status.
func statusTabs(base string, filters url.Values) []tab {
	selected := filters.Get("Status")
	tabs := []tab{{Name: "all", URL: with(base, filters, "Status", ""), Selected: selected == ""}}
	for _, s := range []webhook.Status{webhook.Failed, webhook.RetryPending, webhook.NotSent, webhook.Successful} {
		number := strconv.Itoa(int(s))
		status := statuses[s]
		tabs = append(tabs, tab{
			Name:     status.Words,
			Sign:     status.Sign,
			Class:    status.Class,
			URL:      with(base, filters, "Status", number),
			Selected: selected == number,
		})
	}
	return tabs
}

// periods are the periods that a list offers.
var periods = []struct {
	name   string
	length time.Duration
}{
	{"last hour", time.Hour},
	{"last 24 hours", 24 * time.Hour},
	{"last 7 days", 7 * 24 * time.Hour},
}

// periodTabs returns links to the messages of recent periods. Their addresses have a fixed start, in
// whole minutes, so that they select the same messages when they are opened later.
func periodTabs(x *edge.Context, base string, filters url.Values) []tab {
	selected := filters.Get(queries.MemberSince)
	any := tab{Name: "any time", URL: with(base, filters, queries.MemberSince, "")}
	any.Selected = selected == ""
	tabs := []tab{any}
	for _, period := range periods {
		start := x.Timing.Start.Add(-period.length).UTC().Truncate(time.Minute).Format("2006-01-02T15:04:05Z")
		tabs = append(tabs, tab{
			Name:     period.name,
			URL:      with(base, filters, queries.MemberSince, start),
			Selected: selected == start,
		})
	}
	return tabs
}

// messagePage is the page of a message.
type messagePage struct {
	encode.Page
	wire.Message
	Note         string
	State        status
	Answer       string
	Held         string
	Next         string
	Added        moment
	Tries        string
	Pretty       string // the body, indented if it is JSON
	RawURL       string // the whole message for programs
	WhyURL       string
	KeyURL       string
	Attempts     []attemptRow
	MoreURL      string // all attempts
	Subscription *subscriptionView
	Actions      []encode.Link
}

// attemptRow is an attempt on the page of a message.
type attemptRow struct {
	wire.Attempt
	When   moment
	Result string
	Class  string
	Took   string
	Text   string // the text of the response, or details of the error
}

// maxShown limits the texts on the page of a message, in bytes. The rest is behind a link.
const maxShown = 64 << 10

// find returns the message in the address.
func (h messages) find(x *edge.Context) (wire.Message, string, error) {
	var found rows[wire.Message]
	id := x.Params.Get("MessageID")
	err := h.get(x, apiMessages, url.Values{"MessageID": {id}}, &found)
	m, err := only(found, err, "message")
	return m, found.Meta[wire.MetaHeld], err
}

// one shows a message.
func (h messages) one(x *edge.Context) error {
	m, held, err := h.find(x)
	if err != nil {
		return err
	}
	page := messagePage{
		Page:    frame(x, "Message "+shortID(m.MessageID), messagesLink),
		Message: m,
		Note:    messageNote(x, &m),
		State:   statusOf(m.Status),
		Answer:  answer(m.LastMessageResponseHTTPCode, m.LastMessageResponseMessage),
		Held:    held,
		Next:    next(x, &m),
		Added:   ago(x, m.AddedDateTime),
		Tries:   tries(&m),
		Pretty:  pretty(m.Body),
		RawURL:  x.Base + apiMessages + "?MessageID=" + url.QueryEscape(m.MessageID) + "&format=json",
		WhyURL:  x.Base + pathWhy + "?MessageID=" + url.QueryEscape(m.MessageID),
		Actions: actionLinks(x, &m),
	}
	if m.Key != "" {
		page.KeyURL = x.Base + pathWhy + "?Key=" + url.QueryEscape(m.Key)
	}
	page.Attempts, page.MoreURL, err = h.attempts(x, m.MessageID)
	if err != nil {
		return err
	}
	page.Subscription, err = subscriptions(h).view(x, m.SubscriberID, m.SubscriptionID)
	if err != nil {
		return err
	}
	if page.Next == due && page.Subscription != nil {
		page.Next = cmp.Or(rateWords(x, page.Subscription.Queue), due)
	}
	return show(x, http.StatusOK, "message", page)
}

// messagesLink leads to the list of messages.
var messagesLink = encode.Link{Name: "Messages", URL: pathMessages}

// tries describes how often a message was retried.
func tries(m *wire.Message) string {
	if m.Retries == 0 {
		return ""
	}
	if m.Retries > m.MaxRetries { // retried by hand
		return display.Count(m.Retries, "retry", "retries")
	}
	return count(int64(m.Retries)) + " of " + count(int64(m.MaxRetries)) + " retries"
}

// maxIndented is the number of levels of a JSON text that is indented: with thousands of levels, the
// indentation takes a thousand times the memory of the text.
const maxIndented = 32

// pretty returns a body for display. A long or deeply nested one is not indented.
func pretty(body string) string {
	if len(body) > maxShown || levels(body) > maxIndented || !json.Valid([]byte(body)) {
		return shortened(body)
	}
	var indented strings.Builder
	encoder := json.NewEncoder(&indented)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(json.RawMessage(body))
	if err != nil {
		return shortened(body)
	}
	return shortened(strings.TrimSuffix(indented.String(), "\n"))
}

// levels returns the greatest number of brackets that are open at the same time in a JSON text. Those
// in strings count, too.
func levels(text string) int {
	open, most := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '[', '{':
			open++
			most = max(most, open)
		case ']', '}':
			open--
		}
	}
	return most
}

// shortened limits a text.
func shortened(text string) string {
	if len(text) <= maxShown {
		return text
	}
	return strings.ToValidUTF8(text[:maxShown], "") + "\n…"
}

// maxAttempts is the maximum number of attempts on the page of a message.
const maxAttempts = 50

// attempts returns the attempts of a message, the newest first, and the address of all of them if
// there are more.
func (h messages) attempts(x *edge.Context, message string) ([]attemptRow, string, error) {
	var found rows[wire.Attempt]
	err := h.get(x, apiAttempts, url.Values{
		"MessageID":       {message},
		query.OrderByDesc: {"ItemNo"},
		query.Take:        {strconv.Itoa(maxAttempts + 1)},
		query.Fields:      {"ItemNo,LastSavedDateTime,HTTPCode,Message,Duration,Detail,AnswerText,URL,Status"},
	}, &found)
	if err != nil {
		return nil, "", err
	}
	allURL := ""
	if len(found.Results) > maxAttempts {
		found.Results = found.Results[:maxAttempts]
		allURL = x.Base + apiAttempts + "?MessageID=" + url.QueryEscape(message)
	}
	return attemptRows(x, found.Results), allURL, nil
}

// attemptRows returns attempts for a page.
func attemptRows(x *edge.Context, attempts []wire.Attempt) []attemptRow {
	var list []attemptRow
	for i := range attempts {
		a := &attempts[i]
		r := attemptRow{
			Attempt: *a,
			When:    ago(x, a.LastSavedDateTime),
			Result:  answer(a.HTTPCode, a.Message),
			Class:   "bad",
		}
		if a.HTTPCode != nil && *a.HTTPCode/100 == 2 {
			r.Class = "good"
		}
		ticks, err := wire.ParseTimeSpan(a.Duration)
		if err == nil {
			r.Took = took(time.Duration(ticks) * 100)
		}
		r.Text = shortened(cmp.Or(textOf(a.AnswerText), textOf(a.Detail)))
		list = append(list, r)
	}
	return list
}

// textOf returns a text that may be missing.
func textOf(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// action is something that can be done with a message.
type action struct {
	name    string // in addresses
	button  string
	danger  bool
	fits    func(s webhook.Status) bool
	effects []string
}

// actions are those of a message.
var actions = []action{
	{
		name:   "Retry",
		button: "Retry",
		fits:   func(s webhook.Status) bool { return s != webhook.Successful },
		effects: []string{
			"The message becomes due now, and is sent as soon as its subscription allows it.",
			"It keeps its ID and its body. The attempts so far stay in its history.",
		},
	},
	{
		name:   "SendAgain",
		button: "Send again",
		fits:   func(s webhook.Status) bool { return s == webhook.Successful },
		effects: []string{
			"The endpoint has received this message. It is sent once more, with the same webhook-id and the " +
				"header webhook-replay.",
			"A receiver that has kept the webhook-id will ignore it.",
			"In a subscription with an order, newer messages wait until this one has been sent.",
		},
	},
	{
		name:   "Delete",
		button: "Delete",
		danger: true,
		fits:   func(webhook.Status) bool { return true },
		effects: []string{
			"The message and its attempts are deleted, and no further attempt is made. This cannot be undone.",
		},
	},
}

// actionLinks returns the links to the pages of the actions that fit the state of a message.
func actionLinks(x *edge.Context, m *wire.Message) []encode.Link {
	var links []encode.Link
	for _, a := range actions {
		if a.fits(webhook.Status(m.Status)) {
			links = append(links, encode.Link{Name: a.button, URL: x.Base + addressOf(m.MessageID) + "/" + a.name})
		}
	}
	return links
}

// actionOf returns the action in the address, and its message.
func (h messages) actionOf(x *edge.Context) (action, wire.Message, error) {
	name := x.Params.Get("Action")
	i := slices.IndexFunc(actions, func(a action) bool { return strings.EqualFold(a.name, name) })
	if i < 0 {
		return action{}, wire.Message{}, edge.NotFound()
	}
	m, _, err := h.find(x)
	return actions[i], m, err
}

// confirm shows the confirmation of an action.
func (h messages) confirm(x *edge.Context) error {
	a, m, err := h.actionOf(x)
	if err != nil {
		return err
	}
	return a.confirmation(x, &m).open(x)
}

// confirmation returns the confirmation before an action.
func (a action) confirmation(x *edge.Context, m *wire.Message) confirmation {
	title := a.button + " message " + shortID(m.MessageID)
	if a.name == "SendAgain" {
		title = "Send message " + shortID(m.MessageID) + " again"
	}
	last := answer(m.LastMessageResponseHTTPCode, m.LastMessageResponseMessage)
	return confirmation{
		Page: frame(x, title, messagesLink,
			encode.Link{Name: "Message " + shortID(m.MessageID), URL: addressOf(m.MessageID)}),
		Effects: a.effects,
		Facts: []encode.Pair{
			{Name: "Event", Value: m.EventName},
			{Name: "Endpoint", Value: m.URL},
			{Name: "Status", Value: statusOf(m.Status).Words},
			{Name: "Last response", Value: cmp.Or(last, "none")},
		},
		Action: addressOf(m.MessageID) + "/" + a.name,
		Button: a.button,
		Danger: a.danger,
		Back:   addressOf(m.MessageID),
	}
}

// act carries out an action.
func (h messages) act(x *edge.Context) error {
	a, m, err := h.actionOf(x)
	if err != nil {
		return err
	}
	path := "/Webhooks/Subscribers/" + url.PathEscape(m.SubscriberID) + "/Subscriptions/" +
		url.PathEscape(m.SubscriptionID) + "/Messages/" + url.PathEscape(m.MessageID)
	target := addressOf(m.MessageID)
	switch a.name {
	case "Retry":
		err = h.send(x, http.MethodPost, path+"/Retry", nil, nil)
	case "SendAgain":
		err = h.sendAgain(x, m.MessageID)
	case "Delete":
		err = h.send(x, http.MethodDelete, path, nil, nil)
		target = pathMessages
	}
	if err != nil {
		return a.confirmation(x, &m).retry(x, err)
	}
	return goTo(x, target+"?"+memberNote+"="+a.name)
}

// sendAgain sends a delivered message once more.
func (h messages) sendAgain(x *edge.Context, message string) error {
	var done wire.MessagesRetried
	members := map[string]any{"MessageID": message, "Status": int(webhook.Successful)}
	err := h.send(x, http.MethodPost, apiMessages+"/Retry", members, &done)
	if err == nil && done.Retried == 0 {
		return fault.New(fault.Conflict, "the message was not sent again: it is being sent, or its body has been removed")
	}
	return err
}
