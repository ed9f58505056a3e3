package pages

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/rest/queries"
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

// messagesLink leads to the list of messages.
var messagesLink = encode.Link{Name: "Messages", URL: pathMessages}
