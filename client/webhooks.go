package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/bizhook/whd/client/wire"
)

// Events returns the events that subscriptions can receive.
func (c *Client) Events(ctx context.Context) ([]wire.Event, error) {
	return get[[]wire.Event](ctx, c, "/Webhooks/Events")
}

// PublishEvent publishes an event. The body is delivered unchanged. After a return without
// error, the messages of the event are durable.
func (c *Client) PublishEvent(ctx context.Context, name string, body string) (*wire.EventReceipt, error) {
	return c.PublishEventWith(ctx, wire.EventPost{EventName: name, Body: body}, "")
}

// PublishEventOnce publishes an event with an idempotency key. For a day, the same event
// with the same key returns the first receipt and creates no messages, so a call without
// reply can be repeated. Another event with the same key is a Conflict.
func (c *Client) PublishEventOnce(ctx context.Context, key, name string, body string) (*wire.EventReceipt, error) {
	return c.PublishEventWith(ctx, wire.EventPost{EventName: name, Body: body}, key)
}

// PublishEventWith publishes an event, with an idempotency key, see PublishEventOnce, unless
// once is empty.
func (c *Client) PublishEventWith(ctx context.Context, request wire.EventPost, once string) (*wire.EventReceipt, error) {
	req := call{
		method: http.MethodPost,
		path:   "/Webhooks/Events",
		body:   request,
		header: headerField{wire.HeaderIdempotencyKey, once},
	}
	reply, err := c.send(ctx, req)
	if err != nil {
		return nil, err
	}
	defer reply.Body.Close()

	receipt := new(wire.EventReceipt)
	if err := c.decode(reply, receipt); err != nil {
		return nil, err
	}
	receipt.Replayed = reply.Header.Get(wire.HeaderReplayed) == "true"
	return receipt, nil
}

// RaiseEvent publishes an event.
//
// Deprecated: use PublishEvent.
func (c *Client) RaiseEvent(ctx context.Context, name string, body string) (*wire.EventReceipt, error) {
	return c.PublishEvent(ctx, name, body)
}

// RaiseEventOnce publishes an event with an idempotency key.
//
// Deprecated: use PublishEventOnce.
func (c *Client) RaiseEventOnce(ctx context.Context, key, name string, body string) (*wire.EventReceipt, error) {
	return c.PublishEventOnce(ctx, key, name, body)
}

// RaiseEventWith publishes an event.
//
// Deprecated: use PublishEventWith.
func (c *Client) RaiseEventWith(ctx context.Context, request wire.EventPost, once string) (*wire.EventReceipt, error) {
	return c.PublishEventWith(ctx, request, once)
}

const subscribersPath = "/Webhooks/Subscribers"

func subscriberPath(id string) string { return subscribersPath + "/" + url.PathEscape(id) }

func subscriptionsPath(subscriber string) string {
	return subscriberPath(subscriber) + "/Subscriptions"
}

func subscriptionPath(subscriber, id string) string {
	return subscriptionsPath(subscriber) + "/" + url.PathEscape(id)
}

// AddSubscriber creates a subscriber. Its RecID is the SubscriberID, which authorizes
// managing its subscriptions.
func (c *Client) AddSubscriber(ctx context.Context, request wire.SubscriberRequest) (*wire.Subscriber, error) {
	return post[*wire.Subscriber](ctx, c, subscribersPath, request)
}

// Subscriber returns a subscriber with its subscriptions.
func (c *Client) Subscriber(ctx context.Context, id string) (*wire.Subscriber, error) {
	return get[*wire.Subscriber](ctx, c, subscriberPath(id))
}

// UpdateSubscriber updates the members of a subscriber that are not nil.
func (c *Client) UpdateSubscriber(ctx context.Context, id string, request wire.SubscriberRequest) (*wire.Subscriber, error) {
	return patch[*wire.Subscriber](ctx, c, subscriberPath(id), request)
}

// RemoveSubscriber deletes a subscriber, its subscriptions and messages.
func (c *Client) RemoveSubscriber(ctx context.Context, id string) error {
	return c.delete(ctx, subscriberPath(id))
}

// Subscriptions returns the subscriptions of a subscriber.
func (c *Client) Subscriptions(ctx context.Context, subscriber string) ([]wire.Subscription, error) {
	return get[[]wire.Subscription](ctx, c, subscriptionsPath(subscriber))
}

// AddSubscription creates a subscription. Only this reply has its Secret.
func (c *Client) AddSubscription(ctx context.Context, subscriber string, request wire.SubscriptionRequest) (*wire.Subscription, error) {
	return post[*wire.Subscription](ctx, c, subscriptionsPath(subscriber), request)
}

// UpdateSubscription updates the members of a subscription that are not nil.
func (c *Client) UpdateSubscription(ctx context.Context, subscriber, id string, request wire.SubscriptionRequest) (*wire.Subscription, error) {
	return patch[*wire.Subscription](ctx, c, subscriptionPath(subscriber, id), request)
}

// RemoveSubscription deletes a subscription and cancels its pending messages.
func (c *Client) RemoveSubscription(ctx context.Context, subscriber, id string) error {
	return c.delete(ctx, subscriptionPath(subscriber, id))
}

// TestSubscription sends a test message to a subscription.
func (c *Client) TestSubscription(ctx context.Context, subscriber, id string) (*wire.MessageState, error) {
	return c.TestSubscriptionWith(ctx, subscriber, id, wire.TestRequest{})
}

// TestSubscriptionWith sends a test message with the event and the body of r. Receivers
// recognize it by the header Webhook-Test. It requires the role publisher.
func (c *Client) TestSubscriptionWith(ctx context.Context, subscriber, id string, request wire.TestRequest) (*wire.MessageState, error) {
	return post[*wire.MessageState](ctx, c, subscriptionPath(subscriber, id)+"/Test", request)
}

// AllSubscriptions returns a page of the subscriptions of all subscribers.
func (c *Client) AllSubscriptions(ctx context.Context, members url.Values) (*wire.Page[wire.Subscription], error) {
	return get[*wire.Page[wire.Subscription]](ctx, c, withQuery("/Webhooks/Subscriptions", members))
}

// RotateSecret replaces the secret of a subscription. Only this reply has the new
// secret.
func (c *Client) RotateSecret(ctx context.Context, subscriber, id string, request wire.SecretRequest) (*wire.RotatedSecret, error) {
	return post[*wire.RotatedSecret](ctx, c, subscriptionPath(subscriber, id)+"/Secret", request)
}
