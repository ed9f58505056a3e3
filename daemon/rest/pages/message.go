package pages

import (
	"net/http"
	"net/url"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/rest/edge"
)

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
	Attempts     []attemptRow
	Latest       int // the number of Attempts if there are earlier ones, else 0
	Subscription *subscriptionView
	Actions      []encode.Link
	RefreshURL   string // loads the page again, to see the delivery; empty if none is awaited

	// Of the page of an administrator.
	RawURL  string // the whole message for programs
	WhyURL  string
	KeyURL  string
	MoreURL string // all attempts

	SubscriptionURL string // of the page of a subscriber
}

// find returns the message in the address, and why it is held.
func (h messages) find(x *edge.Context) (wire.Message, string, error) {
	var found rows[wire.Message]
	id := x.Params.Get("MessageID")
	err := h.get(x, h.messagesPath(), url.Values{"MessageID": {id}}, &found)
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
		Page:    h.frame(x, "Message "+shortID(m.MessageID), h.messagesLink()),
		Message: m,
		Note:    messageNote(x, &m),
		State:   statusOf(m.Status),
		Answer:  answer(m.LastMessageResponseHTTPCode, m.LastMessageResponseMessage),
		Held:    held,
		Next:    next(x, &m),
		Added:   ago(x, m.AddedDateTime),
		Tries:   tries(&m),
		Pretty:  pretty(m.Body),
		Actions: h.actionLinks(x, &m),
	}
	h.link(x, &page)
	page.Attempts, page.Latest, err = h.attempts(x, m.MessageID)
	if err != nil {
		return err
	}
	if h.visitor == nil || isDue(x, &m) {
		page.Subscription, err = subscriptions(h).view(x, m.SubscriberID, m.SubscriptionID)
		if err != nil {
			return err
		}
	}
	if isDue(x, &m) {
		page.Next = page.Subscription.dueWords(x, m.EventName)
	}
	if page.Next != "" && x.Refresh == 0 {
		page.RefreshURL = refreshed(x.Base+h.messageAddress(m.MessageID), nil)
	}
	return show(x, http.StatusOK, "message", page)
}

// link sets the links of a page that only administrators or subscribers have.
func (h messages) link(x *edge.Context, page *messagePage) {
	if h.visitor != nil {
		page.SubscriptionURL = x.Base + h.subscriptionAddress(page.SubscriptionID)
		return
	}
	selection := url.Values{"MessageID": {page.MessageID}}
	page.RawURL = withFilter(x.Base+apiMessages, selection, query.Format, "json")
	page.WhyURL = with(x.Base+pathWhy, selection)
	page.MoreURL = with(x.Base+apiAttempts, selection)
	if page.Key != "" {
		page.KeyURL = with(x.Base+pathWhy, url.Values{"Key": {page.Key}})
	}
}

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
