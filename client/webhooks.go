package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"

	"github.com/bizhook/whd/client/wire"
)

// Events lists the events that subscriptions can be made for.
func (c *Client) Events(ctx context.Context) ([]wire.Event, error) {
	return fetch[[]wire.Event](ctx, c, http.MethodGet, "/Webhooks/Events", nil)
}

// RaiseEvent raises an event. The body is delivered byte for byte. When it
// returns without an error, the event's messages are durable.
func (c *Client) RaiseEvent(ctx context.Context, name string, body string) (*wire.EventReceipt, error) {
	return fetch[*wire.EventReceipt](ctx, c, http.MethodPost, "/Webhooks/Events", map[string]string{"EventName": name, "Body": body})
}

// RaiseEventOnce raises an event under a key. For a day the same event under the
// same key gives the receipt of the first and makes no other messages, so that it
// may be sent again where the answer was lost; another event is a Conflict.
func (c *Client) RaiseEventOnce(ctx context.Context, key, name string, body string) (*wire.EventReceipt, error) {
	what := call{method: http.MethodPost, path: "/Webhooks/Events", key: key}
	return answer[*wire.EventReceipt](ctx, c, what, map[string]string{"EventName": name, "Body": body})
}

const subscribersPath = "/Webhooks/Subscribers"

func subscriberPath(id string) string { return subscribersPath + "/" + url.PathEscape(id) }

func subscriptionsPath(subscriber string) string {
	return subscriberPath(subscriber) + "/Subscriptions"
}

func subscriptionPath(subscriber, id string) string {
	return subscriptionsPath(subscriber) + "/" + url.PathEscape(id)
}

func messagePath(subscriber, subscription, id string) string {
	return subscriptionPath(subscriber, subscription) + "/Messages/" + url.PathEscape(id)
}

// AddSubscriber adds a subscriber. Its RecID is the SubscriberID, which is all
// that it takes to manage its subscriptions.
func (c *Client) AddSubscriber(ctx context.Context, request wire.SubscriberRequest) (*wire.Subscriber, error) {
	return fetch[*wire.Subscriber](ctx, c, http.MethodPost, subscribersPath, request)
}

// Subscriber finds a subscriber, with its subscriptions.
func (c *Client) Subscriber(ctx context.Context, id string) (*wire.Subscriber, error) {
	return fetch[*wire.Subscriber](ctx, c, http.MethodGet, subscriberPath(id), nil)
}

// UpdateSubscriber changes what is not nil of a subscriber.
func (c *Client) UpdateSubscriber(ctx context.Context, id string, request wire.SubscriberRequest) (*wire.Subscriber, error) {
	return fetch[*wire.Subscriber](ctx, c, http.MethodPatch, subscriberPath(id), request)
}

// RemoveSubscriber removes a subscriber with its subscriptions and messages.
func (c *Client) RemoveSubscriber(ctx context.Context, id string) error {
	return c.confirm(ctx, call{method: http.MethodDelete, path: subscriberPath(id)})
}

// Subscriptions lists the subscriptions of a subscriber.
func (c *Client) Subscriptions(ctx context.Context, subscriber string) ([]wire.Subscription, error) {
	return fetch[[]wire.Subscription](ctx, c, http.MethodGet, subscriptionsPath(subscriber), nil)
}

// AddSubscription adds a subscription. Its Secret is never shown again.
func (c *Client) AddSubscription(ctx context.Context, subscriber string, request wire.SubscriptionRequest) (*wire.Subscription, error) {
	return fetch[*wire.Subscription](ctx, c, http.MethodPost, subscriptionsPath(subscriber), request)
}

// UpdateSubscription changes what is not nil of a subscription.
func (c *Client) UpdateSubscription(ctx context.Context, subscriber, id string, request wire.SubscriptionRequest) (*wire.Subscription, error) {
	return fetch[*wire.Subscription](ctx, c, http.MethodPatch, subscriptionPath(subscriber, id), request)
}

// RemoveSubscription removes a subscription and cancels what is pending.
func (c *Client) RemoveSubscription(ctx context.Context, subscriber, id string) error {
	return c.confirm(ctx, call{method: http.MethodDelete, path: subscriptionPath(subscriber, id)})
}

// TestSubscription sends a message to a subscription, to see whether it arrives.
func (c *Client) TestSubscription(ctx context.Context, subscriber, id string) (*wire.MessageState, error) {
	return c.TestSubscriptionWith(ctx, subscriber, id, wire.TestRequest{})
}

// TestSubscriptionWith sends a message to a subscription that looks like one of
// an event, or has a certain body. Receivers recognize it by the header Webhook-Test.
// It takes the role publisher.
func (c *Client) TestSubscriptionWith(ctx context.Context, subscriber, id string, request wire.TestRequest) (*wire.MessageState, error) {
	return fetch[*wire.MessageState](ctx, c, http.MethodPost, subscriptionPath(subscriber, id)+"/Test", request)
}

// Messages is a page of a subscriber's messages. The members are those of a
// query: filters, Skip, Take, OrderBy and the rest.
func (c *Client) Messages(ctx context.Context, subscriber string, members url.Values) (*wire.Page[wire.Message], error) {
	return page[wire.Message](ctx, c, subscriberPath(subscriber)+"/Messages", members)
}

// MessageResponses is a page of the attempts to send a subscriber's messages.
func (c *Client) MessageResponses(ctx context.Context, subscriber string, members url.Values) (*wire.Page[wire.MessageResponse], error) {
	return page[wire.MessageResponse](ctx, c, subscriberPath(subscriber)+"/Messages/Responses", members)
}

// Attempts is a page of the attempts to send the messages of all subscribers,
// with the text of answers. It takes the role admin.
func (c *Client) Attempts(ctx context.Context, members url.Values) (*wire.Page[wire.Attempt], error) {
	return page[wire.Attempt](ctx, c, messagesPath+"/Responses", members)
}

func page[T any](ctx context.Context, c *Client, path string, members url.Values) (*wire.Page[T], error) {
	if len(members) > 0 {
		path += "?" + members.Encode()
	}
	return fetch[*wire.Page[T]](ctx, c, http.MethodGet, path, nil)
}

// RetryMessage makes a message that has failed due now.
func (c *Client) RetryMessage(ctx context.Context, subscriber, subscription, id string) (*wire.MessageState, error) {
	return fetch[*wire.MessageState](ctx, c, http.MethodPost, messagePath(subscriber, subscription, id)+"/Retry", json.RawMessage("{}"))
}

// AllMessages is a page of the messages of all subscribers.
func (c *Client) AllMessages(ctx context.Context, members url.Values) (*wire.Page[wire.Message], error) {
	return page[wire.Message](ctx, c, messagesPath, members)
}

// AllSubscriptions is a page of the subscriptions of all subscribers.
func (c *Client) AllSubscriptions(ctx context.Context, members url.Values) (*wire.Page[wire.Subscription], error) {
	return page[wire.Subscription](ctx, c, "/Webhooks/Subscriptions", members)
}

const messagesPath = "/Webhooks/Messages"

// RetryMessages makes all messages due now that match a filter and have failed
// or wait for another attempt. The members are filters of a query of messages,
// and Since, Until, Take, DryRun and All.
func (c *Client) RetryMessages(ctx context.Context, members url.Values) (*wire.MessagesRetried, error) {
	return toMessages[*wire.MessagesRetried](ctx, c, messagesPath+"/Retry", members)
}

// DeleteMessages deletes all messages that match a filter, with members as those
// of RetryMessages, and cancels what is pending of them.
func (c *Client) DeleteMessages(ctx context.Context, members url.Values) (*wire.MessagesDeleted, error) {
	return toMessages[*wire.MessagesDeleted](ctx, c, messagesPath+"/Delete", members)
}

// toMessages does something to all messages that match. A dry run changes
// nothing: the service refuses members that it does not know.
func toMessages[T any](ctx context.Context, c *Client, path string, members url.Values) (document T, err error) {
	what := call{method: http.MethodPost, path: path, reads: slices.Equal(members["DryRun"], []string{"true"})}
	return answer[T](ctx, c, what, inBody(members))
}

// inBody is members as a JSON body, where a filter may be longer than an address.
func inBody(members url.Values) map[string]any {
	body := make(map[string]any, len(members))
	for name, texts := range members {
		if body[name] = texts; len(texts) == 1 {
			body[name] = texts[0]
		}
	}
	return body
}

// RotateSecret replaces the secret of a subscription. The new one is never shown
// again.
func (c *Client) RotateSecret(ctx context.Context, subscriber, id string, request wire.SecretRequest) (*wire.RotatedSecret, error) {
	return fetch[*wire.RotatedSecret](ctx, c, http.MethodPost, subscriptionPath(subscriber, id)+"/Secret", request)
}

// RemoveMessage removes a message and cancels what is pending of it.
func (c *Client) RemoveMessage(ctx context.Context, subscriber, subscription, id string) error {
	return c.confirm(ctx, call{method: http.MethodDelete, path: messagePath(subscriber, subscription, id)})
}
