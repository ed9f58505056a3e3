package main

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
)

// Things of webhooks are named by their ids, by the ends of an id or its
// beginning as screens show them, and subscribers by their names too.

var (
	wholeID = regexp.MustCompile(`^[0-9A-Fa-f]{8}(-?[0-9A-Fa-f]{4}){3}-?[0-9A-Fa-f]{12}$`)
	idStart = regexp.MustCompile(`^([0-9A-Fa-f]{8}[0-9A-Fa-f-]*)~?$`)
	idEnds  = regexp.MustCompile(`^([0-9A-Fa-f]{4})(?:\.\.|…)([0-9A-Fa-f]{4})$`)
)

// byID is the condition that a field is the id that a text stands for.
func byID(field, text string) ([]client.Filter, bool) {
	if wholeID.MatchString(text) {
		return []client.Filter{{Field: field, Operator: record.Equal, Values: []string{text}}}, true
	}
	if start := idStart.FindStringSubmatch(text); start != nil {
		return []client.Filter{{Field: field, Operator: record.StartsWith, Values: start[1:2]}}, true
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

// findOne is the only record that meets conditions.
func findOne(ctx context.Context, service *client.Client, q client.Query, what, text string) (client.Row, error) {
	q.Take, q.Strict = new(int64(2)), true
	page, err := service.Page(ctx, q)
	switch {
	case err != nil:
		return client.Row{}, err
	case len(page.Rows) == 0:
		return client.Row{}, &client.Error{Kind: client.NotFound, Message: fmt.Sprintf("there is no %s %q", what, text)}
	case len(page.Rows) > 1:
		return client.Row{}, cmdline.Usagef("%q means more than one %s: give the whole id", text, what)
	}
	return page.Rows[0], nil
}

// findSubscriber gives the id of a subscriber. A whole id is believed, since who
// knows it need not be allowed to list subscribers.
func findSubscriber(ctx context.Context, service *client.Client, text string) (string, error) {
	if wholeID.MatchString(text) {
		return text, nil
	}
	where, isID := byID("RecID", text)
	if !isID {
		where = []client.Filter{{Field: "Name", Operator: record.Equal, Values: []string{text}}}
	}
	row, err := findOne(ctx, service, client.Query{Kind: systemKind("Subscriber"), Where: where, Fields: []string{"RecID", "Name"}}, "subscriber", text)
	return row.Text("RecID"), err
}

// subscriptionName is a subscription and whose it is.
type subscriptionName struct{ subscriber, id string }

// findSubscription finds a subscription. With a whole id and the subscriber
// nothing need be asked.
func findSubscription(ctx context.Context, service *client.Client, subscriber, text string) (n subscriptionName, err error) {
	where, isID := byID("RecID", text)
	if !isID {
		return n, cmdline.Usagef("%q is no id of a subscription; whctl subscriptions list shows them", text)
	}
	if subscriber != "" {
		if n.subscriber, err = findSubscriber(ctx, service, subscriber); err != nil {
			return n, err
		}
		if n.id = text; wholeID.MatchString(text) {
			return n, nil
		}
		where = append(where, client.Filter{Field: "SY_WebhookSubscriber_RecID", Operator: record.Equal, Values: []string{n.subscriber}})
	}
	fields := []string{"RecID", "SY_WebhookSubscriber_RecID"}
	row, err := findOne(ctx, service, client.Query{Kind: systemKind("Subscription"), Where: where, Fields: fields}, "subscription", text)
	return subscriptionName{row.Text(fields[1]), row.Text(fields[0])}, err
}

// subscriptionOf is the present state of a subscription, which takes no more than the
// SubscriberID.
func subscriptionOf(ctx context.Context, service *client.Client, n subscriptionName) (one wire.Subscription, err error) {
	all, err := service.Subscriptions(ctx, n.subscriber)
	if err != nil {
		return one, err
	}
	i := slices.IndexFunc(all, func(one wire.Subscription) bool { return strings.EqualFold(one.RecID, n.id) })
	if i < 0 {
		return one, &client.Error{Kind: client.NotFound, Message: fmt.Sprintf("the subscriber has no subscription %q", n.id)}
	}
	return all[i], nil
}

// messageName is a message, and whose it is.
type messageName struct{ subscriber, subscription, id string }

// findMessage finds a message among those of all subscribers.
func findMessage(ctx context.Context, service *client.Client, text string) (messageName, error) {
	where, isID := byID("MessageID", text)
	if !isID {
		return messageName{}, cmdline.Usagef("%q is no id of a message; whctl messages list shows them", text)
	}
	fields := []string{"MessageID", "SubscriberID", "SubscriptionID"}
	row, err := findOne(ctx, service, client.Query{Kind: systemKind("Message"), Where: where, Fields: fields}, "message", text)
	return messageName{row.Text(fields[1]), row.Text(fields[2]), row.Text(fields[0])}, err
}
