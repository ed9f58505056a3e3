package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/output"
)

func subscriberFlag() cli.Flag {
	return &cli.StringFlag{Name: "subscriber", Usage: "of the `SUBSCRIBER`, by id or name; who has the id needs no other permission"}
}

func secretFileFlag() cli.Flag {
	return &cli.StringFlag{Name: "secret-file", Usage: "write the new secret to `FILE`, which only you can read"}
}

func subscriptionCommands() []*cli.Command {
	ofOne := append(changeFlags(), subscriberFlag())
	return []*cli.Command{{
		Name: "subscriptions", Aliases: []string{"subscription"}, Usage: "manage which events go where",
		Subcommands: []*cli.Command{
			{
				Name: "list", Usage: "list the subscriptions", Flags: append(listFlags(), subscriberFlag(), keyFlag()), Action: with(listSubscriptions),
				Description: `whctl subscriptions list
whctl subscriptions list --subscriber "ACME shop"
whctl subscriptions list --where "IsEnabled=false"`,
			},
			{
				Name: "show", ArgsUsage: "SUBSCRIPTION", Usage: "show a subscription", Flags: append(output.Flags(), subscriberFlag(), keyFlag()),
				Action: showsOne(output.ColumnsOf(systemKind("Subscription"), nil), subscriptionKeys, func(c *cli.Context, service *client.Client) (wire.Subscription, error) {
					n, err := findSubscription(c.Context, service, c.String("subscriber"), c.Args().First())
					if err != nil {
						return wire.Subscription{}, err
					}
					return subscriptionOf(c.Context, service, n)
				}),
			},
			{
				Name: "create", ArgsUsage: "SUBSCRIBER EVENT URL", Usage: "send events to an address, and print the subscription's id", Action: changes(createSubscription),
				Flags: newFlags(
					&cli.StringSliceFlag{Name: "header", Usage: "send `\"NAME: VALUE\"` with each message, repeated; VALUE may be @FILE, so that no secret stands in a command line"},
					&cli.BoolFlag{Name: "ordered", Usage: "wait for each message to arrive before the next"},
					&cli.StringFlag{Name: "retry-schedule", Usage: "`WAITS` between attempts, such as 5s,30s,2m; default: the service's"},
					&cli.BoolFlag{Name: "disabled", Usage: "let its messages wait until it is enabled"},
					secretFileFlag(),
				),
				Description: `whctl subscriptions create "ACME shop" salesorder.created https://hooks.acme.example/erp --secret-file acme.secret
whctl subscriptions create "ACME shop" "debtor.*" https://hooks.acme.example/erp --header "Authorization: @token.txt"`,
			},
			{
				Name: "change", ArgsUsage: "SUBSCRIPTION", Usage: "change where events go, which, or how", Flags: append(subscriptionChangeFlags(), ofOne...), Action: changes(changeSubscription),
				Description: `whctl subscriptions change 1f0c..9ab2 --to https://hooks.acme.example/v2
whctl subscriptions change 1f0c..9ab2 --event "salesorder.*" --ordered=false
whctl subscriptions change 1f0c..9ab2 --header "Authorization: @token.txt" --header "X-Tenant: 7"`,
			},
			{Name: "enable", ArgsUsage: "SUBSCRIPTION...", Usage: "send what waits, and what comes", Flags: ofOne, Action: enableSubscriptions(true)},
			{Name: "disable", ArgsUsage: "SUBSCRIPTION...", Usage: "let messages wait", Flags: ofOne, Action: enableSubscriptions(false)},
			{
				Name: "delete", Aliases: []string{"remove", "rm"}, ArgsUsage: "SUBSCRIPTION...", Usage: "delete subscriptions with their messages", Flags: ofOne,
				Action: eachSubscription(each{verb: "delete", also: " with all messages", sweeping: true}, func(c *cli.Context, service *client.Client, n subscriptionName) (string, error) {
					return fmt.Sprintf("subscription %s is deleted", n.id), service.RemoveSubscription(c.Context, n.subscriber, n.id)
				}),
			},
			{
				Name: "test", ArgsUsage: "SUBSCRIPTION", Usage: "send a test message, print its id, and wait for what the receiver answers", Action: changes(testSubscription),
				Flags: append(newFlags(
					&cli.DurationFlag{Name: "wait", Value: time.Minute, Usage: "wait no longer than `DURATION` for the answer"},
					&cli.BoolFlag{Name: "no-wait", Usage: "do not wait for the answer"},
				), subscriberFlag()),
				Description: `whctl subscriptions test 1f0c..9ab2
whctl subscriptions test 1f0c..9ab2 --no-wait`,
			},
			{
				Name: "rotate-secret", ArgsUsage: "SUBSCRIPTION", Usage: "sign with a new secret, and print it", Action: changes(rotateSecret),
				Flags: append(newFlags(
					&cli.StringFlag{Name: "keep-for", Usage: "how long the old secret signs as well: 0, or a `DURATION` such as 12h; default: 24h"},
					secretFileFlag(),
				), subscriberFlag()),
				Description: "whctl subscriptions rotate-secret 1f0c..9ab2 --keep-for 12h --secret-file acme.secret",
			},
		},
	}}
}

// subscriptionChangeFlags are what can be changed of a subscription. Its address
// is not called url, which is that of the service in every command.
func subscriptionChangeFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "to", Usage: "send to the address `URL`"},
		&cli.StringFlag{Name: "event", Usage: "send events like `PATTERN`, such as salesorder.*"},
		&cli.StringSliceFlag{Name: "header", Usage: "send `\"NAME: VALUE\"` with each message, repeated, in place of all headers that it has; VALUE may be @FILE"},
		&cli.BoolFlag{Name: "no-headers", Usage: "send no headers of its own any more"},
		&cli.BoolFlag{Name: "ordered", Usage: "wait for each message to arrive before the next; --ordered=false does not"},
		&cli.StringFlag{Name: "retry-schedule", Usage: "`WAITS` between attempts, such as 5s,30s,2m; empty for the service's"},
	}
}

// listSubscriptions lists those of one subscriber, whose id is known, in the way
// that is open to all who know it.
func listSubscriptions(c *cli.Context, s *session) error {
	l := listing{
		kind: systemKind("Subscription"), keys: subscriptionKeys,
		brief: []string{"RecID", "EventName", "URL", "IsEnabled", "SY_WebhookSubscriber_RecID", "DisabledReason"},
	}
	subscriber := c.String("subscriber")
	if subscriber == "" {
		return list(c, s, l)
	}
	service, err := s.Reader(c)
	if err != nil {
		return err
	}
	defer service.Close()
	id, err := findSubscriber(c.Context, service, subscriber)
	if err != nil {
		return err
	}
	if !wholeID.MatchString(subscriber) || anySet(c, queryFlags()) {
		l.where = []client.Filter{{Field: "SY_WebhookSubscriber_RecID", Operator: record.Equal, Values: []string{id}}}
		return list(c, s, l)
	}
	f, err := s.printer(c).Format()
	if err != nil {
		return err
	}
	all, err := service.Subscriptions(c.Context, id)
	if err != nil {
		return err
	}
	if !f.ForPeople() {
		l.brief = nil
	}
	return output.Documents(s.printer(c), output.ColumnsOf(l.kind, l.brief), l.keys, all...)
}

func createSubscription(c *cli.Context, s *session) (change, error) {
	event, url := c.Args().Get(1), c.Args().Get(2)
	request := wire.SubscriptionRequest{EventName: &event, URL: &url, IsEnabled: new(!c.Bool("disabled")), Ordered: new(c.Bool("ordered"))}
	if c.IsSet("retry-schedule") {
		request.RetrySchedule = new(c.String("retry-schedule"))
	}
	var err error
	request.Headers, err = readHeaders(c)
	return change{what: fmt.Sprintf("send %s to %s", event, url), do: func(out *output.Printer, service *client.Client) error {
		subscriber, err := findSubscriber(c.Context, service, c.Args().First())
		if err != nil {
			return err
		}
		made, err := service.AddSubscription(c.Context, subscriber, request)
		if err != nil {
			return err
		}
		if made.IsEnabled && c.Bool("disabled") { // a service that knows no disabled ones at first
			secret := made.Secret
			if made, err = service.UpdateSubscription(c.Context, subscriber, made.RecID, wire.SubscriptionRequest{IsEnabled: new(false)}); err != nil {
				return fmt.Errorf("the subscription is added, but enabled: %w", err)
			}
			made.Secret = secret
		}
		out.Notice("%s goes to %s%s", made.EventName, made.URL, unlessEnabled(made.IsEnabled))
		if err := hideSecret(c, out, made.Secret, s.prompter.Watches); err != nil {
			return err
		}
		return out.Made(made.RecID, made)
	}}, err
}

// onSubscription plans a change of the subscription that an argument or a flag
// names.
func onSubscription(c *cli.Context, verb, name string, do func(out *output.Printer, service *client.Client, n subscriptionName) error) change {
	return change{what: verb + " the subscription " + name, do: func(out *output.Printer, service *client.Client) error {
		n, err := findSubscription(c.Context, service, c.String("subscriber"), name)
		if err != nil {
			return err
		}
		return do(out, service, n)
	}}
}

// changeSubscription is whctl subscriptions change. What no flag names stays as
// it is.
func changeSubscription(c *cli.Context, _ *session) (change, error) {
	var request wire.SubscriptionRequest
	for name, member := range map[string]**string{"to": &request.URL, "event": &request.EventName, "retry-schedule": &request.RetrySchedule} {
		if c.IsSet(name) {
			*member = new(c.String(name))
		}
	}
	if c.IsSet("ordered") {
		request.Ordered = new(c.Bool("ordered"))
	}
	var err error
	request.Headers, err = readHeaders(c)
	switch {
	case err != nil:
	case c.Bool("no-headers") && request.Headers != nil:
		err = cmdline.Usagef("--header and --no-headers exclude each other")
	case c.Bool("no-headers"):
		request.Headers = new([]wire.Header{})
	case !anySet(c, subscriptionChangeFlags()):
		err = cmdline.Usagef("what is to be changed? Give --to, --event, --header, --no-headers, --ordered or --retry-schedule")
	}
	return onSubscription(c, "change", c.Args().First(), func(out *output.Printer, service *client.Client, n subscriptionName) error {
		changed, err := service.UpdateSubscription(c.Context, n.subscriber, n.id, request)
		if err == nil {
			out.Notice("%s goes to %s%s", changed.EventName, changed.URL, unlessEnabled(changed.IsEnabled))
		}
		return err
	}), err
}

// readHeaders reads --header; nil where there is none.
func readHeaders(c *cli.Context) (*[]wire.Header, error) {
	var all []wire.Header
	for _, text := range c.StringSlice("header") {
		name, value, ok := strings.Cut(text, ":")
		if !ok {
			return nil, cmdline.Usagef(`--header must be like "X-Tenant: 7"`) // the text may be a secret
		}
		value, err := argument(c, strings.TrimSpace(value))
		if err != nil {
			return nil, cmdline.Usagef("--header %s: %s", name, err)
		}
		all = append(all, wire.Header{Name: strings.TrimSpace(name), Value: strings.TrimRight(value, "\r\n")})
	}
	if all == nil {
		return nil, nil
	}
	return &all, nil
}

// enableSubscriptions is whctl subscriptions enable and disable.
func enableSubscriptions(enabled bool) cli.ActionFunc {
	return eachSubscription(each{verb: enabling(enabled)}, func(c *cli.Context, service *client.Client, n subscriptionName) (string, error) {
		changed, err := service.UpdateSubscription(c.Context, n.subscriber, n.id, wire.SubscriptionRequest{IsEnabled: &enabled})
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%s to %s is %sd", changed.EventName, changed.URL, enabling(enabled)), nil
	})
}

// eachSubscription changes those that are named.
func eachSubscription(e each, do func(*cli.Context, *client.Client, subscriptionName) (string, error)) cli.ActionFunc {
	e.one, e.many = "the subscription", "subscriptions"
	e.do = func(c *cli.Context, service *client.Client, name string) (string, error) {
		n, err := findSubscription(c.Context, service, c.String("subscriber"), name)
		if err != nil {
			return "", err
		}
		return do(c, service, n)
	}
	return e.action()
}

func rotateSecret(c *cli.Context, s *session) (change, error) {
	return onSubscription(c, "replace the secret of", c.Args().First(), func(out *output.Printer, service *client.Client, n subscriptionName) error {
		made, err := service.RotateSecret(c.Context, n.subscriber, n.id, wire.SecretRequest{KeepFor: c.String("keep-for")})
		if err != nil {
			return err
		}
		old := ""
		if until := time.Time(made.OldSecretUntil); !until.IsZero() {
			old = ", and with the old one until " + until.UTC().Format(time.RFC3339)
		}
		out.Notice("messages are signed with a new secret%s", old)
		if c.IsSet("secret-file") {
			return hideSecret(c, out, made.Secret, s.prompter.Watches)
		}
		return out.Made(made.Secret, made)
	}), nil
}

// hideSecret puts a new secret where it was asked for. Standard error is no
// place for it, unless a person looks at it.
func hideSecret(c *cli.Context, out *output.Printer, secret string, watched bool) error {
	switch path := c.String("secret-file"); {
	case path != "":
		if err := output.ReplaceFile(path, []byte(secret+"\n"), output.PrivateFile); err != nil {
			return fmt.Errorf("the secret is not written: %w; whctl subscriptions rotate-secret makes another", err)
		}
		out.Notice("its secret is in %s", path)
	case c.Bool("json"):
	case watched:
		out.Notice("its secret, which is not shown again: %s", secret)
	default:
		out.Notice("its secret is not shown: --secret-file or --json would have; whctl subscriptions rotate-secret makes another")
	}
	return nil
}
