package webhooks

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/filter"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/command"
	"github.com/bizhook/whd/cmd/whctl/output"
	"github.com/bizhook/whd/cmd/whctl/records"
)

func subscriberFlag() cli.Flag {
	return &cli.StringFlag{
		Name:  "subscriber",
		Usage: "the subscription's `SUBSCRIBER`, by ID or name; the full ID grants access without a role",
	}
}

func SubscriptionCommands() []*cli.Command {
	var states queues
	ofOne := append(command.ChangeFlags(), subscriberFlag())
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
				Action: command.ShowsOne(output.Table{
					Columns: append(output.ColumnsOf(command.SystemKind("Subscription"), nil), secretColumns...),
					View:    append(subscriptionView(&states), secretView),
				}, func(c *cli.Context, service *client.Client) (wire.Subscription, error) {
					states.from(c.Context, service)
					n, err := findSubscription(c.Context, service, c.String("subscriber"), c.Args().First())
					if err != nil {
						return wire.Subscription{}, err
					}
					return subscriptionOf(c.Context, service, n)
				}),
			},
			{
				Name:      "create",
				ArgsUsage: "SUBSCRIBER EVENT URL",
				Usage:     "create a subscription and print its ID",
				Action:    command.Changes(createSubscription),
				Flags: command.NewFlags(
					&cli.StringSliceFlag{
						Name:  "header",
						Usage: "send `\"NAME: VALUE\"` with each message, repeatable; VALUE can be @FILE, which keeps secrets off the command line",
					},
					&cli.BoolFlag{
						Name:  "ordered",
						Usage: "deliver messages strictly in order, one at a time",
					},
					orderFlag,
					&cli.StringFlag{
						Name:  "retry-schedule",
						Usage: "`DURATIONS` between attempts, such as 5s,30s,2m; default: the service's schedule",
					},
					whenFlag("send only events that meet `CONDITION`, such as \"Status: 1 -> 2\" or \"CreditLimit > 1000\", repeatable"),
					&cli.BoolFlag{
						Name:  "disabled",
						Usage: "start with delivery paused; messages are queued",
					},
					command.SecretFileFlag(),
				),
				Description: `whctl subscriptions create "ACME shop" salesorder.created https://hooks.acme.example/erp --secret-file acme.secret
whctl subscriptions create "ACME shop" "debtor.*" https://hooks.acme.example/erp --header "Authorization: @token.txt"
whctl subscriptions create "ACME shop" debtor.updated https://hooks.acme.example/erp --when "Status: 1 -> 2" --when "CreditLimit > 1000"`,
			},
			{
				Name:      "update",
				Aliases:   []string{"change"},
				ArgsUsage: "SUBSCRIPTION",
				Usage:     "change the URL, event or options of a subscription",
				Flags:     append(subscriptionUpdateFlags(), ofOne...),
				Action:    command.Changes(updateSubscription),
				Description: `whctl subscriptions update 1f0c..9ab2 --to https://hooks.acme.example/v2
whctl subscriptions update 1f0c..9ab2 --event "salesorder.*" --ordered=false
whctl subscriptions update 1f0c..9ab2 --header "Authorization: @token.txt" --header "X-Tenant: 7"`,
			},
			{
				Name:      "enable",
				ArgsUsage: "SUBSCRIPTION...",
				Usage:     "resume delivery, including queued messages",
				Flags:     ofOne,
				Action:    enableSubscriptions(true),
			},
			{
				Name:      "disable",
				ArgsUsage: "SUBSCRIPTION...",
				Usage:     "pause delivery; messages stay queued",
				Flags:     ofOne,
				Action:    enableSubscriptions(false),
			},
			{
				Name:      "delete",
				Aliases:   []string{"remove", "rm"},
				ArgsUsage: "SUBSCRIPTION...",
				Usage:     "delete subscriptions and their messages",
				Flags:     ofOne,
				Action: eachSubscription(command.Each{
					Verb:     "delete",
					Also:     " with all messages",
					Sweeping: true,
				}, func(c *cli.Context, service *client.Client, n subscriptionName) (string, error) {
					return fmt.Sprintf("subscription %s deleted", n.id), service.RemoveSubscription(c.Context,
						n.subscriber, n.id)
				}),
			},
			{
				Name:      "test",
				ArgsUsage: "SUBSCRIPTION",
				Usage:     "send a test message, print its ID and wait for the response",
				Action:    command.Changes(testSubscription),
				Flags: append(command.ResultFlags("print the result of the attempt as JSON instead of the message's ID",
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
						Name:  "keep-for",
						Usage: "also sign with the old secret for `DURATION`, such as 12h or 7d, at most 720h; 0: end all old ones at once (default 24h)",
					},
					command.SecretFileFlag(),
				), subscriberFlag()),
				Description: "whctl subscriptions rotate-secret 1f0c..9ab2 --keep-for 12h --secret-file acme-new.secret",
			},
		},
	}}
}

// subscriptionUpdateFlags returns the flags of whctl subscriptions update. The target is
// --to, because --url is the address of the service in every command.
func subscriptionUpdateFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "to", Usage: "the new target `URL`"},
		&cli.StringFlag{Name: "event", Usage: "send events that match `PATTERN`, such as salesorder.*"},
		&cli.StringSliceFlag{
			Name:  "header",
			Usage: "send `\"NAME: VALUE\"` with each message, repeatable; replaces all present headers; VALUE can be @FILE",
		},
		&cli.BoolFlag{Name: "no-headers", Usage: "remove all custom headers"},
		&cli.BoolFlag{
			Name:  "ordered",
			Usage: "deliver messages strictly in order, one at a time; --ordered=false turns it off",
		},
		orderFlag,
		&cli.StringFlag{
			Name:  "retry-schedule",
			Usage: "`DURATIONS` between attempts, such as 5s,30s,2m; empty: the service's schedule",
		},
		whenFlag("send only events that meet `CONDITION`, such as \"Status: 1 -> 2\", repeatable; replaces all present conditions"),
		&cli.BoolFlag{Name: "no-conditions", Usage: "send all events, without conditions"},
	}
}

func whenFlag(usage string) cli.Flag { return &cli.StringSliceFlag{Name: "when", Usage: usage} }

// readWhen reads --when for events that match a pattern; nil if the flag is not set.
func readWhen(c *cli.Context, service *client.Client, pattern string) (json.RawMessage, error) {
	lines := c.StringSlice("when")
	if len(lines) == 0 {
		return nil, nil
	}
	reader, err := filter.NewWhereReader(c.Context, service, pattern)
	if err != nil {
		return nil, err
	}
	where, err := reader.Where(lines)
	if err != nil {
		return nil, cmdline.Usagef("--when %v", err)
	}
	return where, nil
}

// subscriptionView returns the columns on a terminal.
func subscriptionView(q *queues) []output.ViewColumn {
	state := output.ViewColumn{
		Title:  "State",
		Fields: "IsEnabled DisabledReason FailingSince RecID",
		As:     output.Delivery(q.of),
		Rank:   1,
	}
	return append([]output.ViewColumn{state}, subscriptionColumns...)
}

var subscriptionColumns = []output.ViewColumn{
	{Title: "Event", Fields: "EventName", As: output.Words},
	{Title: "Endpoint", Fields: "URL", As: output.Endpoint},
	{Title: "Ordered", Fields: "Ordered", As: output.Yes, Rank: 3},
	{Title: "When", Fields: "Where", As: output.Words, Rank: 2},
	{Title: "Retry schedule", Fields: "RetrySchedule", As: output.Words, Rank: output.DetailOnly},
	{Title: "Changed", Fields: "LastSavedDateTime", As: output.Age, Rank: 2},
	{Title: "Failing since", Fields: "FailingSince", As: output.Age, Rank: output.DetailOnly},
	{Title: "Subscription ID", Fields: "RecID", As: output.ID},
	{Title: "Subscriber ID", Fields: "SY_WebhookSubscriber_RecID", As: output.SecretID, Rank: 1},
}

// Columns of whctl subscriptions show that lists do not have.
var (
	secretColumns = []output.Column{
		{Name: "SigningSecrets", Type: record.Int},
		{Name: "OldSecretsUntil", Type: record.Epoch},
	}
	secretView = output.ViewColumn{
		Title:  "Signing secrets",
		Fields: "SigningSecrets OldSecretsUntil",
		As:     output.Secrets,
		Rank:   output.DetailOnly,
	}
)

// listSubscriptions lists subscriptions. With a SubscriberID and no conditions it
// uses the route that needs no other permission than that ID.
func listSubscriptions(c *cli.Context, s *command.Session) error {
	var states queues
	l := records.Listing{
		Kind: command.SystemKind("Subscription"),
		View: subscriptionView(&states),
		Opened: func(service *client.Client) {
			states.from(c.Context, service)
		},
		Brief: []string{"RecID", "EventName", "URL", "IsEnabled", "SY_WebhookSubscriber_RecID", "DisabledReason"},
	}
	subscriber := c.String("subscriber")
	if subscriber == "" {
		return records.List(c, s, l)
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
	queryFlags := append(records.QueryFlags(enabledExamples), records.ShorthandFlags(l.Kind)...)
	if !wholeID.MatchString(subscriber) || command.AnySet(c, queryFlags) {
		l.Where = []client.Filter{{
			Field:    "SY_WebhookSubscriber_RecID",
			Operator: record.Equal,
			Values:   []string{id},
		}}
		return records.List(c, s, l)
	}
	f, err := s.Printer(c).Format()
	if err != nil {
		return err
	}
	states.from(c.Context, service)
	all, err := service.Subscriptions(c.Context, id)
	if err != nil {
		return err
	}
	if !f.HumanReadable() {
		l.Brief = nil
	}
	return output.Documents(s.Printer(c), output.Table{
		Columns: output.ColumnsOf(l.Kind, l.Brief),
		View:    l.View,
	}, all...)
}

func createSubscription(c *cli.Context, s *command.Session) (command.Change, error) {
	event, url := c.Args().Get(1), c.Args().Get(2)
	request := wire.SubscriptionRequest{
		EventName: &event,
		URL:       &url,
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
	err := command.CheckSecretFile(c)
	if err != nil {
		return command.Change{}, err
	}
	request.Headers, err = readHeaders(c)
	if err != nil {
		return command.Change{}, err
	}
	return command.Change{
		Text: fmt.Sprintf("send %s to %s", event, url),
		Do: func(out *output.Printer, service *client.Client) error {
			subscriber, err := findSubscriber(c.Context, service, c.Args().First())
			if err != nil {
				return err
			}
			if request.Where, err = readWhen(c, service, event); err != nil {
				return err
			}
			made, err := service.AddSubscription(c.Context, subscriber, request)
			if err != nil {
				return withEventHint(c, service, event, withFlags(err))
			}
			if made.IsEnabled && c.Bool("disabled") { // the reference service ignores IsEnabled here
				secret := made.Secret
				disabling := wire.SubscriptionRequest{IsEnabled: new(false)}
				made, err = service.UpdateSubscription(c.Context, subscriber, made.RecID, disabling)
				if err != nil {
					return fmt.Errorf("the subscription was created, but is enabled: %w", err)
				}
				made.Secret = secret
			}
			out.Notice("subscription created: %s to %s%s",
				made.EventName, made.URL, command.UnlessEnabled(made.IsEnabled))
			if err := hideSecret(c, out, made.Secret, s.Prompter.Watches); err != nil {
				return err
			}
			return out.Created(made.RecID, made)
		},
	}, nil
}

// onSubscription plans a change of the subscription with an ID or a part of it.
func onSubscription(
	c *cli.Context, verb, name string,
	do func(out *output.Printer, service *client.Client, n subscriptionName) error,
) command.Change {
	return command.Change{
		Text: verb + " the subscription " + name,
		Do: func(out *output.Printer, service *client.Client) error {
			n, err := findSubscription(c.Context, service, c.String("subscriber"), name)
			if err != nil {
				return err
			}
			return do(out, service, n)
		},
	}
}

// updateSubscription runs whctl subscriptions update. Members without a
// flag keep their values.
func updateSubscription(c *cli.Context, _ *command.Session) (command.Change, error) {
	var request wire.SubscriptionRequest
	members := map[string]**string{
		"to":             &request.URL,
		"event":          &request.EventName,
		"retry-schedule": &request.RetrySchedule,
	}
	for name, member := range members {
		if c.IsSet(name) {
			*member = new(c.String(name))
		}
	}
	readOrder(c, &request)
	headers, err := readHeaders(c)
	if err != nil {
		return command.Change{}, err
	}
	request.Headers = headers
	if err := checkUpdate(c); err != nil {
		return command.Change{}, err
	}
	if c.Bool("no-headers") {
		request.Headers = new([]wire.Header{})
	}
	if c.Bool("no-conditions") {
		request.Where = json.RawMessage("{}")
	}

	update := func(out *output.Printer, service *client.Client, n subscriptionName) error {
		if c.IsSet("when") {
			where, err := whenOf(c, service, n, request.EventName)
			if err != nil {
				return err
			}
			request.Where = where
		}
		changed, err := service.UpdateSubscription(c.Context, n.subscriber, n.id, request)
		if err != nil {
			return withEventHint(c, service, c.String("event"), withFlags(err))
		}
		out.Notice("subscription updated: %s to %s%s",
			changed.EventName, changed.URL, command.UnlessEnabled(changed.IsEnabled))
		return nil
	}
	return onSubscription(c, "update", c.Args().First(), update), nil
}

// checkUpdate returns an error if the flags of whctl subscriptions update contradict each other, or
// change nothing.
func checkUpdate(c *cli.Context) error {
	if c.Bool("no-headers") && len(c.StringSlice("header")) > 0 {
		return cmdline.Usagef("--header and --no-headers cannot be combined")
	}
	if c.Bool("no-conditions") && c.IsSet("when") {
		return cmdline.Usagef("--when and --no-conditions cannot be combined")
	}
	if command.AnySet(c, subscriptionUpdateFlags()) {
		return nil
	}
	if c.IsSet("url") {
		return cmdline.Usagef("nothing to update; --url is the address of the service, --to that of the subscription")
	}
	return cmdline.Usagef("nothing to update; give --to, --event, --header, --no-headers, --ordered, --order, " +
		"--retry-schedule, --when or --no-conditions")
}

// whenOf reads --when for the new or the present event of a subscription.
func whenOf(c *cli.Context, service *client.Client, n subscriptionName, event *string) (json.RawMessage, error) {
	if event == nil {
		present, err := subscriptionOf(c.Context, service, n)
		if err != nil {
			return nil, err
		}
		event = &present.EventName
	}
	return readWhen(c, service, *event)
}

// orderFlag is the order of a subscription's messages, of which --ordered is one.
var orderFlag = &cli.StringFlag{
	Name:  "order",
	Usage: "`ORDER` of delivery: none, subscription (the same as --ordered), or key: in order for each key of events",
}

// readOrder reads --ordered and --order.
func readOrder(c *cli.Context, request *wire.SubscriptionRequest) {
	if c.IsSet("ordered") {
		request.Ordered = new(c.Bool("ordered"))
	}
	if c.IsSet(orderFlag.Name) {
		request.OrderBy = new(c.String(orderFlag.Name))
	}
}

// readHeaders reads --header; nil if the flag is not set.
func readHeaders(c *cli.Context) (*[]wire.Header, error) {
	var headers []wire.Header
	for _, text := range c.StringSlice("header") {
		name, value, ok := strings.Cut(text, ":")
		if !ok {
			return nil, cmdline.Usagef(`--header must be like "X-Tenant: 7"`) // the text is not repeated: it may be a secret
		}
		value, err := command.Argument(c, strings.TrimSpace(value))
		if err != nil {
			return nil, cmdline.Usagef("--header %s: %s", name, err)
		}
		headers = append(headers, wire.Header{
			Name:  strings.TrimSpace(name),
			Value: strings.TrimRight(value, "\r\n"),
		})
	}
	if headers == nil {
		return nil, nil
	}
	return &headers, nil
}

// enableSubscriptions runs whctl subscriptions enable and disable.
func enableSubscriptions(enabled bool) cli.ActionFunc {
	return eachSubscription(command.Each{Verb: command.Enabling(enabled)}, func(c *cli.Context, service *client.Client, n subscriptionName) (string, error) {
		changed, err := service.UpdateSubscription(c.Context, n.subscriber, n.id,
			wire.SubscriptionRequest{IsEnabled: &enabled})
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("subscription %sd: %s to %s", command.Enabling(enabled), changed.EventName, changed.URL), nil
	})
}

// eachSubscription changes each subscription named by the arguments.
func eachSubscription(
	e command.Each, do func(*cli.Context, *client.Client, subscriptionName) (string, error),
) cli.ActionFunc {
	e.One, e.Many = "the subscription", "subscriptions"
	e.Do = func(c *cli.Context, service *client.Client, name string) (string, error) {
		n, err := findSubscription(c.Context, service, c.String("subscriber"), name)
		if err != nil {
			return "", err
		}
		return do(c, service, n)
	}
	return e.Action()
}

func rotateSecret(c *cli.Context, s *command.Session) (command.Change, error) {
	err := command.CheckSecretFile(c)
	if err != nil {
		return command.Change{}, err
	}
	return onSubscription(c, "replace the secret of", c.Args().First(), func(out *output.Printer, service *client.Client, n subscriptionName) error {
		made, err := service.RotateSecret(c.Context, n.subscriber, n.id,
			wire.SecretRequest{KeepFor: c.String("keep-for")})
		if err != nil {
			return withFlags(err)
		}
		out.Notice("messages are now signed with the new secret%s", oldSecrets(made))
		if c.IsSet("secret-file") {
			return hideSecret(c, out, made.Secret, s.Prompter.Watches)
		}
		return out.Created(made.Secret, made)
	}), nil
}

// oldSecrets returns until when a subscription is signed with replaced secrets, too.
func oldSecrets(made *wire.RotatedSecret) string {
	until := time.Time(made.OldSecretUntil)
	last := time.Time(made.OldSecretsUntil)
	switch old := made.SigningSecrets - 1; {
	case until.IsZero():
		return ""
	case old > 1:
		return fmt.Sprintf(", and with %d old ones, the last of them until %s", old, last.UTC().Format(time.RFC3339))
	default:
		return " and until " + until.UTC().Format(time.RFC3339) + " with the old one"
	}
}

// memberFlags are the flags for members of subscriptions and secrets in errors of the service.
var memberFlags = map[string]string{
	"KeepFor":       "--keep-for",
	"RetrySchedule": "--retry-schedule",
	"OrderBy":       "--order",
}

// withFlags names the flags instead of the members in an error of the service.
func withFlags(err error) error {
	reply, ok := errors.AsType[*client.Error](err)
	if !ok {
		return err
	}
	for member, flag := range memberFlags {
		reply.Message = strings.ReplaceAll(reply.Message, member+"=", flag+" ")
		if strings.HasPrefix(reply.Message, member+" ") {
			reply.Message = flag + reply.Message[len(member):]
		}
		for i := range reply.Fields {
			if reply.Fields[i].FieldName == member {
				reply.Fields[i].FieldName = flag
			}
		}
	}
	return err
}

// hideSecret writes a new secret to --secret-file, or to standard error if that is
// a terminal.
func hideSecret(c *cli.Context, out *output.Printer, secret string, watched bool) error {
	switch path := c.String("secret-file"); {
	case path != "":
		if err := output.ReplaceFile(path, []byte(secret+"\n"), output.PrivateFile); err != nil {
			return fmt.Errorf("cannot write the secret: %w; create another with whctl subscriptions rotate-secret", err)
		}
		out.Notice("signing secret written to %s", path)
	case c.Bool("json"):
	case watched:
		out.Notice("signing secret (not shown again): %s", secret)
	default:
		out.Notice("signing secret not shown; use --secret-file or --json, or create another with whctl subscriptions rotate-secret")
	}
	return nil
}
