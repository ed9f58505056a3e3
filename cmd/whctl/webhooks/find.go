// Package webhooks has the commands about events, subscribers, subscriptions and messages.
package webhooks

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
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
func findOne(
	ctx context.Context, service *client.Client, q client.Query, noun, text string,
) (client.Row, error) {
	q.Take = new(int64(2)) // enough to detect that it is not the only one
	q.Strict = true
	page, err := service.Page(ctx, q)
	if err != nil {
		return client.Row{}, err
	}
	switch len(page.Rows) {
	case 0:
		return client.Row{}, &client.Error{
			Kind:    client.NotFound,
			Message: fmt.Sprintf("there is no %s %q; list them with whctl %ss list", noun, text, noun),
		}
	case 1:
		return page.Rows[0], nil
	default:
		return client.Row{}, cmdline.Usagef("%q matches more than one %s; give more of the ID", text, noun)
	}
}

// minPrefix is the minimum length of a shortened SubscriberID in characters. A shorter text is a
// name, since names such as "beef" look like the start of an ID.
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

// subscriptionRef identifies a subscription by its ID and that of its subscriber.
type subscriptionRef struct{ subscriber, id string }

// findSubscription finds a subscription by its ID or a shortened one; subscriber can be empty. With
// both full IDs it sends no request, because their use needs no permission to list subscriptions.
func findSubscription(
	ctx context.Context, service *client.Client, subscriber, text string,
) (subscriptionRef, error) {
	where, isID := byID("RecID", text)
	if !isID {
		return subscriptionRef{}, cmdline.Usagef(
			"%q is not the ID of a subscription; list them with whctl subscriptions list", text)
	}
	if subscriber != "" {
		subscriberID, err := findSubscriber(ctx, service, subscriber)
		if err != nil || wholeID.MatchString(text) {
			return subscriptionRef{subscriber: subscriberID, id: text}, err
		}
		where = append(where, client.Filter{
			Field:    "SY_WebhookSubscriber_RecID",
			Operator: record.Equal,
			Values:   []string{subscriberID},
		})
	}
	row, err := findOne(ctx, service, client.Query{
		Kind:   command.SystemKind("Subscription"),
		Where:  where,
		Fields: []string{"RecID", "SY_WebhookSubscriber_RecID"},
	}, "subscription", text)
	return subscriptionRef{
		subscriber: row.Text("SY_WebhookSubscriber_RecID"),
		id:         row.Text("RecID"),
	}, err
}

// subscriptionOf returns the current state of a subscription. It needs no other
// permission than the SubscriberID.
func subscriptionOf(
	ctx context.Context, service *client.Client, ref subscriptionRef,
) (wire.Subscription, error) {
	subscriptions, err := service.Subscriptions(ctx, ref.subscriber)
	if err != nil {
		return wire.Subscription{}, err
	}
	hasID := func(s wire.Subscription) bool { return strings.EqualFold(s.RecID, ref.id) }
	i := slices.IndexFunc(subscriptions, hasID)
	if i < 0 {
		message := fmt.Sprintf("the subscriber has no subscription %q", ref.id)
		return wire.Subscription{}, &client.Error{Kind: client.NotFound, Message: message}
	}
	return subscriptions[i], nil
}

// messageRef identifies a message by its ID and those of its subscriber and subscription.
type messageRef struct {
	subscriber, subscription, id string
	delivered                    bool
}

// findMessage finds a message of any subscriber by its ID or a shortened one.
func findMessage(ctx context.Context, service *client.Client, text string) (messageRef, error) {
	where, isID := byID("MessageID", text)
	if !isID {
		return messageRef{}, cmdline.Usagef(
			"%q is not the ID of a message; list them with whctl messages list", text)
	}
	row, err := findOne(ctx, service, client.Query{
		Kind:   command.SystemKind("Message"),
		Where:  where,
		Fields: []string{"MessageID", "SubscriberID", "SubscriptionID", "Status"},
	}, "message", text)
	return messageRef{
		subscriber:   row.Text("SubscriberID"),
		subscription: row.Text("SubscriptionID"),
		id:           row.Text("MessageID"),
		delivered:    row.Text("Status") == strconv.Itoa(statusSuccessful),
	}, err
}
