package pages

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/fault"
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
type messages struct{ scope }

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
	Search     searchForm
	Rows       []messageRow
	Total      string // how many match, empty if it was not requested
	CountURL   string
	OlderURL   string
	NewestURL  string
	RefreshURL string

	// Of the page of an administrator.
	Bulk   []encode.Link
	RawURL string
}

// messageRow is a message in a list.
type messageRow struct {
	wire.Message
	State    status
	Answer   string
	Next     string
	Age      moment
	URL      string // of its page
	EventURL string // the messages of the same event
	AimURL   string // those of the same subscription
	CodeURL  string // those with the same response
}

// list shows the messages that match the filters of the address.
func (h messages) list(x *edge.Context) error {
	accepted := listFilters(memberBefore, memberTotal)
	if h.visitor != nil {
		accepted.hidden = memberSubscriberID // no address of a page has it
	}
	filters, err := accepted.in(x)
	if err != nil {
		return err
	}
	before := x.URLMembers.Text(memberBefore)
	err = checkBefore(before)
	if err != nil {
		return err
	}
	isCounted := x.URLMembers.Text(memberTotal) != "" && before == "" // otherwise only the older are counted
	var matching rows[wire.Message]
	selection, err := withStart(x, filters)
	if err == nil {
		matching, err = h.page(x, selection, before, isCounted)
	}
	search := newSearchForm("messages", filters, searched(filters)...)
	status, isRefused := search.refused(err)
	if isRefused {
		return show(x, status, "messages", h.newList(x, filters, search))
	}
	if err != nil {
		return err
	}

	base := x.Base + h.messageList
	page := h.newList(x, filters, search)
	if h.visitor == nil {
		page.Bulk = bulkLinks(x.Base, filters)
		page.RawURL = withFilter(x.Base+apiMessages, selection, query.Format, "html")
	}
	if isCounted {
		page.Total = count(matching.Total)
	}
	page.paginate(base, filters, &matching, before != "")
	for i := range matching.Results {
		page.Rows = append(page.Rows, h.row(x, base, filters, &matching.Results[i]))
	}
	h.explainDue(x, page.Rows)
	return show(x, http.StatusOK, "messages", page)
}

// checkBefore checks the number in the address of a page of older messages.
func checkBefore(text string) error {
	if text == "" {
		return nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err == nil && n > 0 {
		return nil
	}
	return invalid([]fault.Field{{Name: memberBefore, Message: "must be the ItemNo of a message"}})
}

// newList returns the page without its rows.
func (h messages) newList(x *edge.Context, filters url.Values, search searchForm) messageList {
	base := x.Base + h.messageList
	return messageList{
		Page:       h.listFrame(x),
		Note:       noteIn(x),
		Conditions: conditionsOf(messageKind(), base, filters, messageWords),
		ClearURL:   base,
		Statuses:   statusTabs(base, filters),
		Periods:    periodTabs(base, filters),
		Search:     search,
		RefreshURL: refreshed(base, filters),
	}
}

// searched returns the filters that the form of a list has. A period replaces both times.
func searched(filters url.Values) []string {
	inputs := []string{"EventName", memberKey, "URLContains"}
	if filters.Has(memberPeriod) {
		return inputs
	}
	return append(inputs, queries.MemberSince, queries.MemberUntil)
}

// listFrame returns the data of the layout around a list.
func (h messages) listFrame(x *edge.Context) encode.Page {
	if h.visitor != nil {
		return h.frame(x, "Messages") // which the bar links to
	}
	return h.frame(x, "Messages", startLink)
}

// page returns the messages of a page, and one more if there are more.
func (h messages) page(
	x *edge.Context, selection url.Values, before string, isCounted bool,
) (rows[wire.Message], error) {
	selection = strictly(selection)
	selection.Set(query.Fields, listed)
	selection.Set(query.Take, strconv.Itoa(pageSize+1))
	if before != "" {
		selection.Set("ItemNo"+record.LessThan.Suffix(), before)
	}
	if isCounted {
		selection.Set(query.Include, "Total")
	}
	var matching rows[wire.Message]
	err := h.get(x, h.messagesPath(), selection, &matching)
	return matching, err
}

// paginate leaves out the row that only shows that there are more, and sets the links to other pages.
func (p *messageList) paginate(
	base string, filters url.Values, matching *rows[wire.Message], isLater bool,
) {
	if isLater {
		p.NewestURL = with(base, filters)
	}
	if len(matching.Results) <= pageSize {
		return
	}
	matching.Results = matching.Results[:pageSize]
	last := matching.Results[pageSize-1].ItemNo
	p.OlderURL = withFilter(base, filters, memberBefore, strconv.FormatInt(last, 10))
	if p.Total == "" && !isLater {
		p.CountURL = withFilter(base, filters, memberTotal, "true")
	}
}

// row returns a message for a list.
func (h messages) row(x *edge.Context, base string, filters url.Values, m *wire.Message) messageRow {
	r := messageRow{
		Message:  *m,
		State:    statusOf(m.Status),
		Answer:   answer(m.LastMessageResponseHTTPCode, m.LastMessageResponseMessage),
		Next:     next(x, m),
		Age:      ago(x, m.AddedDateTime),
		URL:      x.Base + h.messageAddress(m.MessageID),
		EventURL: withFilter(base, filters, "EventName", m.EventName),
		AimURL:   withFilter(base, filters, "SubscriptionID", m.SubscriptionID),
	}
	if code := m.LastMessageResponseHTTPCode; code != nil && *code != 0 {
		r.CodeURL = withFilter(base, filters, "LastMessageResponseHTTPCode", strconv.Itoa(*code))
	}
	return r
}

// addressOf returns the address of an administrator's page of a message.
func addressOf(message string) string { return pathMessages + "/" + url.PathEscape(message) }

// messageKind returns the kind of messages.
func messageKind() *record.Kind { return kindOf(queries.MessageKind) }

// kindOf returns a kind of the service's own.
func kindOf(name string) *record.Kind {
	kind, _ := record.System().Lookup(name) // the tests follow the links of every page
	return kind
}

// messageWords describes an operand of a filter.
func messageWords(field, text string) string {
	switch field {
	case fieldStatus:
		status, ok := parseStatus(text)
		if ok {
			return statusOf(int(status)).Words
		}
	case "SubscriptionID", "SubscriberID", "MessageID":
		return shortID(text)
	}
	return text
}

// messagesLink leads to an administrator's list of messages.
var messagesLink = encode.Link{Name: "Messages", URL: pathMessages}
