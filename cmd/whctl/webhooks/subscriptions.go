package webhooks

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/cmd/whctl/command"
	"github.com/bizhook/whd/cmd/whctl/output"
	"github.com/bizhook/whd/cmd/whctl/records"
)

// SubscriptionCommands returns the commands on subscriptions.
func SubscriptionCommands() []*cli.Command {
	changeFlags := append(command.ChangeFlags(), subscriberFlag())
	return []*cli.Command{{
		Name:    "subscriptions",
		Aliases: []string{"subscription"},
		Usage:   "manage subscriptions, which send events to URLs",
		Subcommands: []*cli.Command{
			{
				Name:  "list",
				Usage: "list subscriptions",
				Flags: append(records.ListFlags(command.SystemKind("Subscription"), enabledExamples),
					subscriberFlag(), command.KeyFlag()),
				Action: command.With(listSubscriptions),
				Description: `whctl subscriptions list
whctl subscriptions list --subscriber "ACME shop"
whctl subscriptions list --status disabled --event "salesorder.*"`,
			},
			{
				Name:      "show",
				ArgsUsage: "SUBSCRIPTION",
				Usage:     "show a subscription",
				Flags:     append(output.Flags(), subscriberFlag(), command.KeyFlag()),
				Action:    command.Reads(showSubscription),
			},
			{
				Name:      "create",
				ArgsUsage: "SUBSCRIBER EVENT URL",
				Usage:     "create a subscription and print its ID",
				Action:    command.Changes(createSubscription),
				Flags:     command.NewFlags(subscriptionCreateFlags()...),
				Description: `whctl subscriptions create "ACME shop" salesorder.created https://hooks.acme.example/erp --secret-file acme.secret
whctl subscriptions create "ACME shop" "debtor.*" https://hooks.acme.example/erp --header "Authorization: @token.txt"
whctl subscriptions create "ACME shop" debtor.updated https://hooks.acme.example/erp --when "Status: 1 -> 2" --when "CreditLimit > 1000"`,
			},
			{
				Name:      "update",
				Aliases:   []string{"change"},
				ArgsUsage: "SUBSCRIPTION",
				Usage:     "change the URL, event or options of a subscription",
				Flags:     append(subscriptionUpdateFlags(), changeFlags...),
				Action:    command.Changes(updateSubscription),
				Description: `whctl subscriptions update 1f0c..9ab2 --to https://hooks.acme.example/v2
whctl subscriptions update 1f0c..9ab2 --event "salesorder.*" --ordered=false
whctl subscriptions update 1f0c..9ab2 --header "Authorization: @token.txt" --header "X-Tenant: 7"`,
			},
			{
				Name:      "enable",
				ArgsUsage: "SUBSCRIPTION...",
				Usage:     "resume delivery, including queued messages",
				Flags:     changeFlags,
				Action:    enableSubscriptions(true),
			},
			{
				Name:      "disable",
				ArgsUsage: "SUBSCRIPTION...",
				Usage:     "pause delivery; messages stay queued",
				Flags:     changeFlags,
				Action:    enableSubscriptions(false),
			},
			{
				Name:      "delete",
				Aliases:   []string{"remove", "rm"},
				ArgsUsage: "SUBSCRIPTION...",
				Usage:     "delete subscriptions and their messages",
				Flags:     changeFlags,
				Action: eachSubscription(command.Each{
					Verb:     "delete",
					Also:     " with all messages",
					Sweeping: true,
				}, deleteSubscription),
			},
			{
				Name:      "test",
				ArgsUsage: "SUBSCRIPTION",
				Usage:     "send a test message, print its ID and wait for the response",
				Action:    command.Changes(testSubscription),
				Flags: append(command.ResultFlags(
					"print the result of the attempt as JSON instead of the message's ID",
					&cli.DurationFlag{
						Name:  "wait",
						Value: time.Minute,
						Usage: "wait at most `DURATION` for the response",
					},
					&cli.BoolFlag{Name: "no-wait", Usage: "do not wait for the response"},
				), subscriberFlag()),
				Description: `whctl subscriptions test 1f0c..9ab2
whctl subscriptions test 1f0c..9ab2 --no-wait`,
			},
			{
				Name:      "rotate-secret",
				ArgsUsage: "SUBSCRIPTION",
				Usage:     "replace the signing secret and print the new one",
				Action:    command.Changes(rotateSecret),
				Flags: append(command.ResultFlags("print the new secret as JSON",
					&cli.StringFlag{
						Name: "keep-for",
						Usage: "also sign with the old secret for `DURATION`, such as 12h or 7d, at most 720h; " +
							"0: end all old ones at once (default 24h)",
					},
					command.SecretFileFlag(),
				), subscriberFlag()),
				Description: "whctl subscriptions rotate-secret 1f0c..9ab2 --keep-for 12h --secret-file acme-new.secret",
			},
		},
	}}
}

// subscriptionView returns the columns on a terminal. With full, the list has the SubscriberIDs.
func subscriptionView(q *queueStates, names *subscriberNames, full bool) []output.ViewColumn {
	rankOfID := output.DetailOnly
	if full {
		rankOfID = 1
	}
	return []output.ViewColumn{
		{
			Title:  "State",
			Fields: "IsEnabled DisabledReason FailingSince RecID",
			As:     output.Delivery(q.of),
		},
		{Title: "Event", Fields: "EventName", As: output.Event},
		{Title: "Endpoint", Fields: "URL", As: output.Endpoint},
		{Title: "Subscriber", Fields: "SY_WebhookSubscriber_RecID", As: output.Named(names.of)},
		{Title: "Ordered", Fields: "Ordered", As: output.Yes, Rank: 3},
		{Title: "When", Fields: "Where", As: output.Words, Rank: 2},
		{Title: "Retry schedule", Fields: "RetrySchedule", As: output.Words, Rank: output.DetailOnly},
		{Title: "Max/min", Fields: "MaxPerMinute", As: output.Words, Rank: 3},
		{Title: "Changed", Fields: "LastSavedDateTime", As: output.Age, Rank: 2},
		{Title: "Failing since", Fields: "FailingSince", As: output.Age, Rank: output.DetailOnly},
		{Title: "Subscription ID", Fields: "RecID", As: output.ID},
		{
			Title:  "Subscriber ID",
			Fields: "SY_WebhookSubscriber_RecID",
			As:     output.SecretID,
			Rank:   rankOfID,
		},
	}
}

// noticeColumns has the columns of a single subscription about events that it does not receive,
// messages that it does not send, and the format of messages, which lists do not have.
var noticeColumns = []output.Column{
	{Name: "Notice", Type: record.Text},
	{Name: "HeldMessages", Type: record.Int},
	{Name: "Format", Type: record.Text},
}

// noticeViews returns the columns on a terminal for those of noticeColumns that have a value.
func noticeViews(s wire.Subscription) []output.ViewColumn {
	var views []output.ViewColumn
	if s.HeldMessages > 0 {
		views = append(views, output.ViewColumn{
			Title:  "Messages held",
			Fields: "HeldMessages",
			As:     output.Count,
			Rank:   output.DetailOnly,
		})
	}
	if s.Notice != "" {
		views = append(views, output.ViewColumn{
			Title:  "Notice",
			Fields: "Notice",
			As:     output.Lines,
			Rank:   output.DetailOnly,
		})
	}
	if s.Format != "" {
		views = append(views, output.ViewColumn{
			Title:  "Format",
			Fields: "Format",
			As:     output.Words,
			Rank:   output.DetailOnly,
		})
	}
	return views
}

// listSubscriptions lists subscriptions. With a SubscriberID and no conditions it uses the route
// that needs no other permission than that ID.
func listSubscriptions(c *cli.Context, s *command.Session) error {
	var states queueStates
	var names subscriberNames
	listing := records.Listing{
		Kind: command.SystemKind("Subscription"),
		View: subscriptionView(&states, &names, c.Bool("full")),
		Opened: func(service *client.Client) {
			states.connect(c.Context, service)
			names.connect(c.Context, service)
		},
		Brief: []string{
			"RecID", "EventName", "URL", "IsEnabled", "SY_WebhookSubscriber_RecID", "DisabledReason",
		},
	}
	subscriber := c.String("subscriber")
	if subscriber == "" {
		return records.List(c, s, listing)
	}
	service, err := s.ReadClient(c)
	if err != nil {
		return err
	}
	defer service.Close()
	id, err := findSubscriber(c.Context, service, subscriber)
	if err != nil {
		return err
	}

	queryFlags := append(records.QueryFlags(enabledExamples), records.ShorthandFlags(listing.Kind)...)
	if wholeID.MatchString(subscriber) && !command.AnySet(c, queryFlags) {
		listing.Opened(service)
		return listOfSubscriber(c, s.Printer(c), service, id, listing)
	}
	listing.Where = []client.Filter{{
		Field:    "SY_WebhookSubscriber_RecID",
		Operator: record.Equal,
		Values:   []string{id},
	}}
	return records.List(c, s, listing)
}

// listOfSubscriber lists the subscriptions of a subscriber without a query.
func listOfSubscriber(
	c *cli.Context, out *output.Printer, service *client.Client, subscriberID string, l records.Listing,
) error {
	format, err := out.Format()
	if err != nil {
		return err
	}
	subscriptions, err := service.Subscriptions(c.Context, subscriberID)
	if err != nil {
		return err
	}
	if !format.HumanReadable() {
		l.Brief = nil
	}
	table := output.Table{Columns: output.ColumnsOf(l.Kind, l.Brief), View: l.View}
	return output.Documents(out, table, subscriptions...)
}

// showSubscription runs whctl subscriptions show.
func showSubscription(c *cli.Context, out *output.Printer, service *client.Client) error {
	ref, err := findSubscription(c.Context, service, c.String("subscriber"), c.Args().First())
	if err != nil {
		return err
	}
	subscription, err := subscriptionOf(c.Context, service, ref)
	if err != nil {
		return err
	}
	var states queueStates
	var names subscriberNames
	states.connect(c.Context, service)
	names.connect(c.Context, service)
	columns := output.ColumnsOf(command.SystemKind("Subscription"), nil)
	out.One = true
	return output.Documents(out, output.Table{
		Columns: slices.Concat(columns, secretColumns, noticeColumns),
		View:    slices.Concat(subscriptionView(&states, &names, true), []output.ViewColumn{secretView}, noticeViews(subscription)),
	}, subscription)
}

// createSubscription runs whctl subscriptions create.
func createSubscription(c *cli.Context, s *command.Session) (command.Change, error) {
	if err := command.CheckSecretFile(c); err != nil {
		return command.Change{}, err
	}
	request, err := newSubscription(c)
	if err != nil {
		return command.Change{}, err
	}
	event := *request.EventName
	create := func(out *output.Printer, service *client.Client) error {
		subscriberID, err := findSubscriber(c.Context, service, c.Args().First())
		if err != nil {
			return err
		}
		request.Where, err = readWhen(c, service, event)
		if err != nil {
			return err
		}
		created, err := service.AddSubscription(c.Context, subscriberID, request)
		if err != nil {
			return withEventHint(c, service, event, withFlags(err))
		}
		if c.Bool("disabled") {
			created, err = disableCreated(c, service, subscriberID, created)
			if err != nil {
				return err
			}
		}
		out.Notice("subscription created: %s to %s%s",
			created.EventName, created.URL, command.UnlessEnabled(created.IsEnabled))
		printNotice(out, created)
		if err := passSecret(c, out, created.Secret, s.Prompter.Watches); err != nil {
			return err
		}
		return out.Created(created.RecID, created)
	}
	return command.Change{Text: fmt.Sprintf("send %s to %s", event, *request.URL), Do: create}, nil
}

// printNotice prints the notice about changes that a saved subscription does not receive, if any.
func printNotice(out *output.Printer, s *wire.Subscription) {
	if s.Notice != "" {
		out.Notice("notice: %s", s.Notice)
	}
}

// newSubscription reads the arguments and flags of whctl subscriptions create except --when, which
// needs the service.
func newSubscription(c *cli.Context) (wire.SubscriptionRequest, error) {
	request := wire.SubscriptionRequest{
		EventName: new(c.Args().Get(1)),
		URL:       new(c.Args().Get(2)),
		IsEnabled: new(!c.Bool("disabled")),
		Ordered:   new(c.Bool("ordered")),
	}
	readOrder(c, &request)
	if request.OrderBy != nil && !c.IsSet("ordered") {
		request.Ordered = nil
	}
	if c.IsSet("retry-schedule") {
		request.RetrySchedule = new(c.String("retry-schedule"))
	}
	readRate(c, &request)
	readCloudEvents(c, &request)
	var err error
	request.Headers, err = readHeaders(c)
	return request, err
}

// disableCreated disables a new subscription if it is enabled, because the reference service ignores
// IsEnabled of new subscriptions. It keeps the secret, which only the creation returns.
func disableCreated(
	c *cli.Context, service *client.Client, subscriberID string, created *wire.Subscription,
) (*wire.Subscription, error) {
	if !created.IsEnabled {
		return created, nil
	}
	request := wire.SubscriptionRequest{IsEnabled: new(false)}
	updated, err := service.UpdateSubscription(c.Context, subscriberID, created.RecID, request)
	if err != nil {
		return created, fmt.Errorf("the subscription was created, but is enabled: %w", err)
	}
	updated.Secret = created.Secret
	return updated, nil
}

// onSubscription plans a change of the subscription with an ID or a part of it.
func onSubscription(
	c *cli.Context, verb, name string,
	do func(out *output.Printer, service *client.Client, ref subscriptionRef) error,
) command.Change {
	return command.Change{
		Text: verb + " the subscription " + name,
		Do: func(out *output.Printer, service *client.Client) error {
			ref, err := findSubscription(c.Context, service, c.String("subscriber"), name)
			if err != nil {
				return err
			}
			return do(out, service, ref)
		},
	}
}

// updateSubscription runs whctl subscriptions update. Members without a flag keep their values.
func updateSubscription(c *cli.Context, _ *command.Session) (command.Change, error) {
	request, err := changedMembers(c)
	if err != nil {
		return command.Change{}, err
	}
	if err := checkUpdate(c); err != nil {
		return command.Change{}, err
	}
	update := func(out *output.Printer, service *client.Client, ref subscriptionRef) error {
		if c.IsSet("when") {
			where, err := whenOf(c, service, ref, request.EventName)
			if err != nil {
				return err
			}
			request.Where = where
		}
		updated, err := service.UpdateSubscription(c.Context, ref.subscriber, ref.id, request)
		if err != nil {
			return withEventHint(c, service, c.String("event"), withFlags(err))
		}
		out.Notice("subscription updated: %s to %s%s",
			updated.EventName, updated.URL, command.UnlessEnabled(updated.IsEnabled))
		printNotice(out, updated)
		return nil
	}
	return onSubscription(c, "update", c.Args().First(), update), nil
}

// changedMembers reads the flags of whctl subscriptions update except --when, which needs the
// service.
func changedMembers(c *cli.Context) (wire.SubscriptionRequest, error) {
	var request wire.SubscriptionRequest
	members := map[string]**string{
		"to":             &request.URL,
		"event":          &request.EventName,
		"retry-schedule": &request.RetrySchedule,
	}
	for flag, member := range members {
		if c.IsSet(flag) {
			*member = new(c.String(flag))
		}
	}
	readOrder(c, &request)
	readRate(c, &request)
	readCloudEvents(c, &request)
	headers, err := readHeaders(c)
	if err != nil {
		return request, err
	}
	request.Headers = headers
	if c.Bool("no-headers") {
		request.Headers = new([]wire.Header{})
	}
	if c.Bool("no-conditions") {
		request.Where = json.RawMessage("{}")
	}
	return request, nil
}

// enableSubscriptions returns the action of whctl subscriptions enable and disable.
func enableSubscriptions(enabled bool) cli.ActionFunc {
	verb := command.Enabling(enabled)
	enable := func(c *cli.Context, service *client.Client, ref subscriptionRef) (string, error) {
		request := wire.SubscriptionRequest{IsEnabled: &enabled}
		updated, err := service.UpdateSubscription(c.Context, ref.subscriber, ref.id, request)
		if err != nil {
			return "", err
		}
		text := fmt.Sprintf("subscription %sd: %s to %s", verb, updated.EventName, updated.URL)
		if updated.Notice != "" {
			text += "\nnotice: " + updated.Notice
		}
		return text, nil
	}
	return eachSubscription(command.Each{Verb: verb}, enable)
}

// deleteSubscription runs whctl subscriptions delete for one of them.
func deleteSubscription(c *cli.Context, service *client.Client, ref subscriptionRef) (string, error) {
	err := service.RemoveSubscription(c.Context, ref.subscriber, ref.id)
	return fmt.Sprintf("subscription %s deleted", ref.id), err
}

// eachSubscription returns the action that changes each subscription named by the arguments.
func eachSubscription(
	e command.Each, do func(*cli.Context, *client.Client, subscriptionRef) (string, error),
) cli.ActionFunc {
	e.One = "the subscription"
	e.Many = "subscriptions"
	e.Do = func(c *cli.Context, service *client.Client, name string) (string, error) {
		ref, err := findSubscription(c.Context, service, c.String("subscriber"), name)
		if err != nil {
			return "", err
		}
		return do(c, service, ref)
	}
	return e.Action()
}
