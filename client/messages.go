package client

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/wire"
)

const messagesPath = "/Webhooks/Messages"

func messagePath(subscriber, subscription, id string) string {
	return subscriptionPath(subscriber, subscription) + "/Messages/" + url.PathEscape(id)
}

// Messages returns a page of a subscriber's messages. The members are the same as in a query:
// filters, Skip, Take, OrderBy etc.
func (c *Client) Messages(ctx context.Context, subscriber string, members url.Values) (*wire.Page[wire.Message], error) {
	return get[*wire.Page[wire.Message]](ctx, c, withQuery(subscriberPath(subscriber)+"/Messages", members))
}

// MessageResponses returns a page of the delivery attempts of a subscriber's messages.
func (c *Client) MessageResponses(ctx context.Context, subscriber string, members url.Values) (*wire.Page[wire.MessageResponse], error) {
	return get[*wire.Page[wire.MessageResponse]](ctx, c, withQuery(subscriberPath(subscriber)+"/Messages/Responses", members))
}

// Attempts returns a page of the delivery attempts of all messages, with the text of the
// responses. It requires the role admin.
func (c *Client) Attempts(ctx context.Context, members url.Values) (*wire.Page[wire.Attempt], error) {
	return get[*wire.Page[wire.Attempt]](ctx, c, withQuery(messagesPath+"/Responses", members))
}

// AllMessages returns a page of the messages of all subscribers.
func (c *Client) AllMessages(ctx context.Context, members url.Values) (*wire.Page[wire.Message], error) {
	return get[*wire.Page[wire.Message]](ctx, c, withQuery(messagesPath, members))
}

// RetryMessage makes a failed message due immediately.
func (c *Client) RetryMessage(ctx context.Context, subscriber, subscription, id string) (*wire.MessageState, error) {
	path := messagePath(subscriber, subscription, id) + "/Retry"
	return post[*wire.MessageState](ctx, c, path, struct{}{})
}

// RemoveMessage deletes a message and cancels its delivery.
func (c *Client) RemoveMessage(ctx context.Context, subscriber, subscription, id string) error {
	return c.delete(ctx, messagePath(subscriber, subscription, id))
}

// RetryMessages makes all matching messages that have failed or are waiting for a retry
// due immediately. Delivered messages are sent again if Status or StatusIn names their status.
// The members are filters of messages, Since, Until, Take, DryRun, Counted and All. Counted of an
// earlier dry run restricts the request to messages that were counted and have not changed since.
func (c *Client) RetryMessages(ctx context.Context, members url.Values) (*wire.MessagesRetried, error) {
	var retried *wire.MessagesRetried
	err := c.do(ctx, bulkChange(messagesPath+"/Retry", members), &retried)
	return retried, err
}

// DeleteMessages deletes all matching messages and cancels pending ones. The members are the same
// as for RetryMessages.
func (c *Client) DeleteMessages(ctx context.Context, members url.Values) (*wire.MessagesDeleted, error) {
	var deleted *wire.MessagesDeleted
	err := c.do(ctx, bulkChange(messagesPath+"/Delete", members), &deleted)
	return deleted, err
}

// bulkChange returns the request that changes all matching messages. A dry run counts as a read,
// because the service rejects unknown members and so cannot ignore DryRun.
func bulkChange(path string, members url.Values) call {
	isDryRun := slices.Equal(members["DryRun"], []string{"true"})
	return call{method: http.MethodPost, path: path, body: requestBody(members), reads: isDryRun}
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

// Why returns the history of a key: changes of records, events, messages and attempts, and the
// reasons for those that are missing. It requires the role admin.
func (c *Client) Why(ctx context.Context, key string) (*wire.Why, error) {
	return get[*wire.Why](ctx, c, withQuery("/Webhooks/Why", url.Values{"Key": {key}}))
}

// WhyOfMessage returns the history of a message: its event, attempts and result. It requires the
// role admin.
func (c *Client) WhyOfMessage(ctx context.Context, id string) (*wire.Why, error) {
	return get[*wire.Why](ctx, c, withQuery("/Webhooks/Why", url.Values{"MessageID": {id}}))
}

// WhyOf returns the history of a key, or of a message by its ID, which can be shortened, as in
// 01a1..7fa4. The text is a key if that has a history. Key of the result is the text.
func (c *Client) WhyOf(ctx context.Context, text string) (*wire.Why, error) {
	why, err := c.Why(ctx, text)
	if err != nil {
		return nil, err
	}
	isPast := func(step wire.WhyStep) bool { return step.At != wire.Timestamp{} }
	if slices.ContainsFunc(why.Steps, isPast) {
		return why, nil
	}
	id, ok := c.findMessage(ctx, text)
	if !ok {
		return why, nil // the text is a key
	}

	why, err = c.WhyOfMessage(ctx, id)
	if err != nil {
		return nil, err
	}
	why.Key = text
	return why, nil
}

// findMessage returns the ID of the only message that a text can be the ID of, possibly a
// shortened one.
func (c *Client) findMessage(ctx context.Context, text string) (id string, ok bool) {
	members := messageByID(text)
	if members == nil {
		return "", false
	}
	messages, err := c.AllMessages(ctx, members)
	if err != nil || len(messages.Results) != 1 {
		return "", false
	}
	return messages.Results[0].MessageID, true
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
	isWhole := len(text) == 32 || len(text) == 36 // without or with hyphens
	if isWhole {
		return url.Values{"MessageID": {text}, "Fields": {"MessageID"}}
	}
	return nil
}
