// Package webhooks has the commands about events, subscribers, subscriptions and messages.
package webhooks

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/command"
)

// Subscribers, subscriptions and messages can be named by ID, or by a shortened ID as
// printed on a terminal. Subscribers can also be named by name.

var (
	wholeID = regexp.MustCompile(`^[0-9A-Fa-f]{8}(-?[0-9A-Fa-f]{4}){3}-?[0-9A-Fa-f]{12}$`)
	idStart = regexp.MustCompile(`^([0-9A-Fa-f]{4}[0-9A-Fa-f-]*)[~…]?$`)
	idEnds  = regexp.MustCompile(`^([0-9A-Fa-f]{4,8})(?:\.\.|…)([0-9A-Fa-f]{4})$`)
)

// byID returns the conditions that a field has an ID or a shortened ID; false if the
// text is neither.
func byID(field, text string) ([]client.Filter, bool) {
	if wholeID.MatchString(text) {
		return []client.Filter{{Field: field, Operator: record.Equal, Values: []string{text}}}, true
	}
	if start := idStart.FindStringSubmatch(text); start != nil {
		return []client.Filter{{
			Field:    field,
			Operator: record.StartsWith,
			Values:   start[1:2],
		}}, true
	}
	ends := idEnds.FindStringSubmatch(text)
	if ends == nil {
		return nil, false
	}
	return []client.Filter{
		{Field: field, Operator: record.StartsWith, Values: ends[1:2]},
		{Field: field, Operator: record.EndsWith, Values: ends[2:3]},
	}, true
}

// findOne returns the only record of a query. noun and text are for errors.
func findOne(ctx context.Context, service *client.Client, q client.Query, noun, text string) (client.Row, error) {
	q.Take, q.Strict = new(int64(2)), true
	page, err := service.Page(ctx, q)
	switch {
	case err != nil:
		return client.Row{}, err
	case len(page.Rows) == 0:
		return client.Row{}, &client.Error{
			Kind:    client.NotFound,
			Message: fmt.Sprintf("there is no %s %q; list them with whctl %ss list", noun, text, noun),
		}
	case len(page.Rows) > 1:
		return client.Row{}, cmdline.Usagef("%q matches more than one %s; give more of the ID", text, noun)
	}
	return page.Rows[0], nil
}

// minPrefix is the least length of a SubscriberID's start, because a name can look like a
// shorter one.
const minPrefix = 8

// findSubscriber returns the ID of a subscriber. A full ID is not looked up, because
// its use needs no permission to list subscribers.
func findSubscriber(ctx context.Context, service *client.Client, text string) (string, error) {
	if wholeID.MatchString(text) {
		return text, nil
	}
	where, isID := byID("RecID", text)
	if !isID || len(text) < minPrefix {
		where = []client.Filter{{Field: "Name", Operator: record.Equal, Values: []string{text}}}
	}
	row, err := findOne(ctx, service, client.Query{
		Kind:   command.SystemKind("Subscriber"),
		Where:  where,
		Fields: []string{"RecID", "Name"},
	}, "subscriber", text)
	return row.Text("RecID"), err
}

// subscriptionName has the IDs of a subscription and of its subscriber.
type subscriptionName struct{ subscriber, id string }

// findSubscription finds a subscription. With its full ID and a subscriber it sends
// no request for the subscription.
func findSubscription(
	ctx context.Context, service *client.Client, subscriber, text string,
) (n subscriptionName, err error) {
	where, isID := byID("RecID", text)
	if !isID {
		return n, cmdline.Usagef("%q is not the ID of a subscription; list them with whctl subscriptions list", text)
	}
	if subscriber != "" {
		if n.subscriber, err = findSubscriber(ctx, service, subscriber); err != nil {
			return n, err
		}
		n.id = text
		if wholeID.MatchString(text) {
			return n, nil
		}
		where = append(where, client.Filter{
			Field:    "SY_WebhookSubscriber_RecID",
			Operator: record.Equal,
			Values:   []string{n.subscriber},
		})
	}
	fields := []string{"RecID", "SY_WebhookSubscriber_RecID"}
	query := client.Query{Kind: command.SystemKind("Subscription"), Where: where, Fields: fields}
	row, err := findOne(ctx, service, query, "subscription", text)
	return subscriptionName{row.Text(fields[1]), row.Text(fields[0])}, err
}

// subscriptionOf returns the current state of a subscription. It needs no other
// permission than the SubscriberID.
func subscriptionOf(ctx context.Context, service *client.Client, n subscriptionName) (wire.Subscription, error) {
	subscriptions, err := service.Subscriptions(ctx, n.subscriber)
	if err != nil {
		return wire.Subscription{}, err
	}
	i := slices.IndexFunc(subscriptions, func(s wire.Subscription) bool { return strings.EqualFold(s.RecID, n.id) })
	if i < 0 {
		message := fmt.Sprintf("the subscriber has no subscription %q", n.id)
		return wire.Subscription{}, &client.Error{Kind: client.NotFound, Message: message}
	}
	return subscriptions[i], nil
}

// messageName has the IDs of a message, its subscription and its subscriber.
type messageName struct{ subscriber, subscription, id string }

// findMessage finds a message of any subscriber.
func findMessage(ctx context.Context, service *client.Client, text string) (messageName, error) {
	where, isID := byID("MessageID", text)
	if !isID {
		return messageName{}, cmdline.Usagef("%q is not the ID of a message; list them with whctl messages list", text)
	}
	fields := []string{"MessageID", "SubscriberID", "SubscriptionID"}
	row, err := findOne(ctx, service, client.Query{
		Kind:   command.SystemKind("Message"),
		Where:  where,
		Fields: fields,
	}, "message", text)
	return messageName{row.Text(fields[1]), row.Text(fields[2]), row.Text(fields[0])}, err
}
