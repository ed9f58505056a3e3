package pages

import (
	"net/url"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/webhook"
)

// scope decides which messages and subscriptions pages show and change: those of all subscribers, for
// an administrator, or only its own, for a subscriber that has entered.
type scope struct {
	client
	visitor          *webhook.Visitor // nil for an administrator
	messageList      string           // the address of the list; those of messages are below it
	verbs            string           // between the address of a message and the name of an action
	subscriptionList string           // the address of the list; those of subscriptions are below it
}

// everyone returns the scope of an administrator.
func everyone(c client) scope {
	return scope{client: c, messageList: pathMessages, verbs: "/", subscriptionList: pathSubscriptions}
}

// visiting returns the scope of a subscriber.
func visiting(c client, v webhook.Visitor) scope {
	return scope{
		client:           c,
		visitor:          &v,
		messageList:      pathPortalMessages,
		verbs:            "/Do/",
		subscriptionList: pathPortalSubscriptions,
	}
}

// frame returns the data of the layout around a page.
func (s scope) frame(x *edge.Context, title string, path ...encode.Link) encode.Page {
	if s.visitor == nil {
		return frame(x, title, path...)
	}
	return portalFrame(x, *s.visitor, title, path...)
}

// owner returns the SubscriberID with which pages call operations on the things of a subscriber.
func (s scope) owner(subscriber string) string {
	if s.visitor == nil {
		return subscriber
	}
	return s.visitor.Subscriber
}

// messagesPath returns the path of the operation that selects messages.
func (s scope) messagesPath() string {
	if s.visitor == nil {
		return apiMessages
	}
	return subscriberPath(*s.visitor) + "/Messages"
}

// messagesLink leads to the list of messages.
func (s scope) messagesLink() encode.Link { return encode.Link{Name: "Messages", URL: s.messageList} }

// messageAddress returns the address of the page of a message.
func (s scope) messageAddress(id string) string { return s.messageList + "/" + url.PathEscape(id) }

// subscriptionsLink leads to the list of subscriptions.
func (s scope) subscriptionsLink() encode.Link {
	return encode.Link{Name: "Subscriptions", URL: s.subscriptionList}
}

// subscriptionAddress returns the address of the page of a subscription.
func (s scope) subscriptionAddress(id string) string {
	return s.subscriptionList + "/" + url.PathEscape(id)
}

// urls returns the addresses around a subscription.
func (s scope) urls(x *edge.Context, sub *wire.Subscription) subscriptionURLs {
	page := x.Base + s.subscriptionAddress(sub.RecID)
	urls := subscriptionURLs{
		Page:     page,
		Edit:     page + "/Edit",
		Messages: x.Base + s.messageList + "?SubscriptionID=" + url.QueryEscape(sub.RecID),
		Test:     page + "/Do/Test",
		Toggle:   page + "/Do/Enable",
		Rotate:   page + "/Do/Rotate",
		Delete:   page + "/Do/Delete",
	}
	if sub.IsEnabled {
		urls.Toggle = page + "/Do/Disable"
	}
	return urls
}
