package pages

import (
	"cmp"
	"net/http"
	"net/url"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/encode"
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
	RawURL       string // the whole message for programs
	WhyURL       string
	KeyURL       string
	Attempts     []attemptRow
	MoreURL      string // all attempts
	Subscription *subscriptionView
	Actions      []encode.Link
}

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
