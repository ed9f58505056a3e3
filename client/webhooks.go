package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/wire"
)

// Events returns the events that subscriptions can receive.
func (c *Client) Events(ctx context.Context) ([]wire.Event, error) {
	return fetch[[]wire.Event](ctx, c, http.MethodGet, "/Webhooks/Events", nil)
}

// RaiseEvent publishes an event. The body is delivered unchanged. After a return without
// error, the messages of the event are durable.
func (c *Client) RaiseEvent(ctx context.Context, name string, body string) (*wire.EventReceipt, error) {
	return c.RaiseEventWith(ctx, wire.EventPost{EventName: name, Body: body}, "")
}

// RaiseEventOnce publishes an event with an idempotency key. For a day, the same event
// with the same key returns the first receipt and creates no messages, so a call without
// reply can be repeated. Another event with the same key is a Conflict.
func (c *Client) RaiseEventOnce(ctx context.Context, key, name string, body string) (*wire.EventReceipt, error) {
	return c.RaiseEventWith(ctx, wire.EventPost{EventName: name, Body: body}, key)
}

// RaiseEventWith publishes an event, with an idempotency key, see RaiseEventOnce, unless
// once is empty.
func (c *Client) RaiseEventWith(ctx context.Context, request wire.EventPost, once string) (*wire.EventReceipt, error) {
	req := call{method: http.MethodPost, path: "/Webhooks/Events", key: once}
	receipt, header, err := answerWithHeader[*wire.EventReceipt](ctx, c, req, request)
	if err != nil {
		return nil, err
	}
	receipt.Replayed = header.Get(wire.HeaderReplayed) == "true"
	return receipt, nil
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

// AddSubscriber creates a subscriber. Its RecID is the SubscriberID, which authorizes
// managing its subscriptions.
func (c *Client) AddSubscriber(ctx context.Context, request wire.SubscriberRequest) (*wire.Subscriber, error) {
	return fetch[*wire.Subscriber](ctx, c, http.MethodPost, subscribersPath, request)
}

// Subscriber returns a subscriber with its subscriptions.
func (c *Client) Subscriber(ctx context.Context, id string) (*wire.Subscriber, error) {
	return fetch[*wire.Subscriber](ctx, c, http.MethodGet, subscriberPath(id), nil)
}

// UpdateSubscriber updates the members of a subscriber that are not nil.
func (c *Client) UpdateSubscriber(ctx context.Context, id string, request wire.SubscriberRequest) (*wire.Subscriber, error) {
	return fetch[*wire.Subscriber](ctx, c, http.MethodPatch, subscriberPath(id), request)
}

// RemoveSubscriber deletes a subscriber, its subscriptions and messages.
func (c *Client) RemoveSubscriber(ctx context.Context, id string) error {
	return c.confirm(ctx, call{method: http.MethodDelete, path: subscriberPath(id)})
}

// Subscriptions returns the subscriptions of a subscriber.
func (c *Client) Subscriptions(ctx context.Context, subscriber string) ([]wire.Subscription, error) {
	return fetch[[]wire.Subscription](ctx, c, http.MethodGet, subscriptionsPath(subscriber), nil)
}

// AddSubscription creates a subscription. Only this reply has its Secret.
func (c *Client) AddSubscription(ctx context.Context, subscriber string, request wire.SubscriptionRequest) (*wire.Subscription, error) {
	return fetch[*wire.Subscription](ctx, c, http.MethodPost, subscriptionsPath(subscriber), request)
}

// UpdateSubscription updates the members of a subscription that are not nil.
func (c *Client) UpdateSubscription(ctx context.Context, subscriber, id string, request wire.SubscriptionRequest) (*wire.Subscription, error) {
	return fetch[*wire.Subscription](ctx, c, http.MethodPatch, subscriptionPath(subscriber, id), request)
}

// RemoveSubscription deletes a subscription and cancels its pending messages.
func (c *Client) RemoveSubscription(ctx context.Context, subscriber, id string) error {
	return c.confirm(ctx, call{method: http.MethodDelete, path: subscriptionPath(subscriber, id)})
}

// TestSubscription sends a test message to a subscription.
func (c *Client) TestSubscription(ctx context.Context, subscriber, id string) (*wire.MessageState, error) {
	return c.TestSubscriptionWith(ctx, subscriber, id, wire.TestRequest{})
}

// TestSubscriptionWith sends a test message with the event and the body of r. Receivers
// recognize it by the header Webhook-Test. It requires the role publisher.
func (c *Client) TestSubscriptionWith(ctx context.Context, subscriber, id string, request wire.TestRequest) (*wire.MessageState, error) {
	return fetch[*wire.MessageState](ctx, c, http.MethodPost, subscriptionPath(subscriber, id)+"/Test", request)
}

// Messages returns a page of a subscriber's messages. The members are those of a query:
// filters, Skip, Take, OrderBy etc.
func (c *Client) Messages(ctx context.Context, subscriber string, members url.Values) (*wire.Page[wire.Message], error) {
	return page[wire.Message](ctx, c, subscriberPath(subscriber)+"/Messages", members)
}

// MessageResponses returns a page of the delivery attempts of a subscriber's messages.
func (c *Client) MessageResponses(ctx context.Context, subscriber string, members url.Values) (*wire.Page[wire.MessageResponse], error) {
	return page[wire.MessageResponse](ctx, c, subscriberPath(subscriber)+"/Messages/Responses", members)
}

// Attempts returns a page of the delivery attempts of all messages, with the text of the
// responses. It requires the role admin.
func (c *Client) Attempts(ctx context.Context, members url.Values) (*wire.Page[wire.Attempt], error) {
	return page[wire.Attempt](ctx, c, messagesPath+"/Responses", members)
}

func page[T any](ctx context.Context, c *Client, path string, members url.Values) (*wire.Page[T], error) {
	if len(members) > 0 {
		path += "?" + members.Encode()
	}
	return fetch[*wire.Page[T]](ctx, c, http.MethodGet, path, nil)
}

// RetryMessage makes a failed message due immediately.
func (c *Client) RetryMessage(ctx context.Context, subscriber, subscription, id string) (*wire.MessageState, error) {
	return fetch[*wire.MessageState](ctx, c, http.MethodPost,
		messagePath(subscriber, subscription, id)+"/Retry", json.RawMessage("{}"))
}

// AllMessages returns a page of the messages of all subscribers.
func (c *Client) AllMessages(ctx context.Context, members url.Values) (*wire.Page[wire.Message], error) {
	return page[wire.Message](ctx, c, messagesPath, members)
}

// AllSubscriptions returns a page of the subscriptions of all subscribers.
func (c *Client) AllSubscriptions(ctx context.Context, members url.Values) (*wire.Page[wire.Subscription], error) {
	return page[wire.Subscription](ctx, c, "/Webhooks/Subscriptions", members)
}

// Why returns the history of a key: changes of records, events, messages and attempts, and the
// reasons for those that are missing. It requires the role admin.
func (c *Client) Why(ctx context.Context, key string) (*wire.Why, error) {
	return fetch[*wire.Why](ctx, c, http.MethodGet, "/Webhooks/Why?Key="+url.QueryEscape(key), nil)
}

// WhyOfMessage returns the history of a message: its event, attempts and result. It requires the
// role admin.
func (c *Client) WhyOfMessage(ctx context.Context, id string) (*wire.Why, error) {
	return fetch[*wire.Why](ctx, c, http.MethodGet, "/Webhooks/Why?MessageID="+url.QueryEscape(id), nil)
}

// WhyOf returns the history of a key, or of a message by its ID, which can be shortened, as in
// 01a1..7fa4. The text is a key if that has a history. Key of the result is the text.
func (c *Client) WhyOf(ctx context.Context, text string) (*wire.Why, error) {
	why, err := c.Why(ctx, text)
	members := messageByID(text)
	past := func(step wire.WhyStep) bool { return step.At != wire.Timestamp{} }
	if err != nil || members == nil || slices.ContainsFunc(why.Steps, past) {
		return why, err
	}
	messages, err := c.AllMessages(ctx, members)
	if err != nil || len(messages.Results) != 1 {
		return why, nil // the text is a key
	}

	why, err = c.WhyOfMessage(ctx, messages.Results[0].MessageID)
	if err != nil {
		return nil, err
	}
	why.Key = text
	return why, nil
}

// messageByID returns the filters of messages by ID; nil if the text is not like one.
func messageByID(text string) url.Values {
	start, end, isShort := strings.Cut(strings.Replace(text, "…", "..", 1), "..")
	if isShort && len(start) >= 4 && len(end) == 4 {
		return url.Values{
			"MessageIDStartsWith": {start},
			"MessageIDEndsWith":   {end},
			"Take":                {"2"}, // to see whether there is a second one
			"Fields":              {"MessageID"},
		}
	}
	isWhole := len(text) == 32 || len(text) == 36 // with hyphens
	if isWhole {
		return url.Values{"MessageID": {text}, "Fields": {"MessageID"}}
	}
	return nil
}

const messagesPath = "/Webhooks/Messages"

// RetryMessages makes all matching messages that have failed or are waiting for a retry
// due immediately. Delivered messages are sent again if Status or StatusIn names their status.
// The members are filters of messages, Since, Until, Take, DryRun and All.
func (c *Client) RetryMessages(ctx context.Context, members url.Values) (*wire.MessagesRetried, error) {
	return changeMessages[*wire.MessagesRetried](ctx, c, messagesPath+"/Retry", members)
}

// DeleteMessages deletes all matching messages and cancels pending ones. The members are
// those of RetryMessages.
func (c *Client) DeleteMessages(ctx context.Context, members url.Values) (*wire.MessagesDeleted, error) {
	return changeMessages[*wire.MessagesDeleted](ctx, c, messagesPath+"/Delete", members)
}

// changeMessages changes all matching messages. A dry run counts as a read, because the
// service rejects unknown members and so cannot ignore DryRun.
func changeMessages[T any](ctx context.Context, c *Client, path string, members url.Values) (document T, err error) {
	isDryRun := slices.Equal(members["DryRun"], []string{"true"})
	req := call{method: http.MethodPost, path: path, reads: isDryRun}
	return answer[T](ctx, c, req, requestBody(members))
}

// requestBody returns members as a JSON body, because filters can be too long for a URL.
func requestBody(members url.Values) map[string]any {
	body := make(map[string]any, len(members))
	for name, texts := range members {
		body[name] = texts
		if len(texts) == 1 {
			body[name] = texts[0]
		}
	}
	return body
}

// RotateSecret replaces the secret of a subscription. Only this reply has the new
// secret.
func (c *Client) RotateSecret(ctx context.Context, subscriber, id string, request wire.SecretRequest) (*wire.RotatedSecret, error) {
	return fetch[*wire.RotatedSecret](ctx, c, http.MethodPost, subscriptionPath(subscriber, id)+"/Secret", request)
}

// RemoveMessage deletes a message and cancels its delivery.
func (c *Client) RemoveMessage(ctx context.Context, subscriber, subscription, id string) error {
	return c.confirm(ctx, call{method: http.MethodDelete, path: messagePath(subscriber, subscription, id)})
}
