package main

import (
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/cmd/whctl/output"
)

func subscriberFlag() cli.Flag {
	return &cli.StringFlag{Name: "subscriber", Usage: "of the `SUBSCRIBER`, by id or name; who has the id needs no other permission"}
}

func (p *program) subscriptionCommands() []*cli.Command {
	ofOne := append(changeFlags(), subscriberFlag())
	return []*cli.Command{{
		Name: "subscriptions", Aliases: []string{"subscription"}, Usage: "manage which events go where",
		Subcommands: []*cli.Command{
			{
				Name: "list", Usage: "list the subscriptions", Flags: append(listFlags(), subscriberFlag(), keyFlag()), Action: p.listSubscriptions,
				Description: `whctl subscriptions list
whctl subscriptions list --subscriber "ACME shop"
whctl subscriptions list --where "IsEnabled=false"`,
			},
			{Name: "show", ArgsUsage: "SUBSCRIPTION", Usage: "show a subscription", Flags: append(output.Flags(), subscriberFlag(), keyFlag()), Action: p.showSubscription},
			{
				Name: "create", ArgsUsage: "SUBSCRIBER EVENT URL", Usage: "send events to an address, and print the subscription's id", Flags: newFlags(subscriptionFlags()...), Action: p.createSubscription,
				Description: `whctl subscriptions create "ACME shop" salesorder.created https://hooks.acme.example/erp --secret-file acme.secret
whctl subscriptions create "ACME shop" "debtor.*" https://hooks.acme.example/erp --header "Authorization: @token.txt"`,
			},
			{
				Name: "change", ArgsUsage: "SUBSCRIPTION", Usage: "change where events go, which, or how", Flags: append(subscriptionChangeFlags(), ofOne...), Action: p.changeSubscription,
				Description: `whctl subscriptions change 1f0c..9ab2 --to https://hooks.acme.example/v2
whctl subscriptions change 1f0c..9ab2 --event "salesorder.*" --ordered=false
whctl subscriptions change 1f0c..9ab2 --header "Authorization: @token.txt" --header "X-Tenant: 7"`,
			},
			{Name: "enable", ArgsUsage: "SUBSCRIPTION...", Usage: "send what waits, and what comes", Flags: ofOne, Action: p.enableSubscriptions(true)},
			{Name: "disable", ArgsUsage: "SUBSCRIPTION...", Usage: "let messages wait", Flags: ofOne, Action: p.enableSubscriptions(false)},
			{
				Name: "delete", Aliases: []string{"remove", "rm"}, ArgsUsage: "SUBSCRIPTION...", Usage: "delete subscriptions with their messages",
				Flags: ofOne, Action: p.deleteSubscriptions,
			},
			{
				Name: "test", ArgsUsage: "SUBSCRIPTION", Usage: "send a test message, print its id, and wait for what the receiver answers", Flags: append(newFlags(trialFlags()...), subscriberFlag()), Action: p.testSubscription,
				Description: `whctl subscriptions test 1f0c..9ab2
whctl subscriptions test 1f0c..9ab2 --no-wait`,
			},
			{
				Name: "rotate-secret", ArgsUsage: "SUBSCRIPTION", Usage: "sign with a new secret, and print it", Action: p.rotateSecret,
				Flags: append(newFlags(
					&cli.StringFlag{Name: "keep-for", Usage: "how long the old secret signs as well: 0, or a `DURATION` such as 12h; default: 24h"},
					secretFileFlag(),
				), subscriberFlag()),
				Description: "whctl subscriptions rotate-secret 1f0c..9ab2 --keep-for 12h --secret-file acme.secret",
			},
		},
	}}
}

func secretFileFlag() cli.Flag {
	return &cli.StringFlag{Name: "secret-file", Usage: "write the new secret to `FILE`, which only you can read"}
}

func subscriptionFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "header", Usage: "send `\"NAME: VALUE\"` with each message, repeated; VALUE may be @FILE, so that no secret stands in a command line"},
		&cli.BoolFlag{Name: "ordered", Usage: "wait for each message to arrive before the next"},
		&cli.StringFlag{Name: "retry-schedule", Usage: "`WAITS` between attempts, such as 5s,30s,2m; default: the service's"},
		&cli.BoolFlag{Name: "disabled", Usage: "let its messages wait until it is enabled"},
		secretFileFlag(),
	}
}

func (p *program) listSubscriptions(c *cli.Context) error {
	l := listing{
		kind: systemKind("Subscription"), keys: subscriptionKeys,
		brief: []string{"RecID", "EventName", "URL", "IsEnabled", "SY_WebhookSubscriber_RecID", "DisabledReason"},
	}
	subscriber := c.String("subscriber")
	if subscriber == "" {
		return p.list(c, l)
	}
	service, err := p.connect(c)
	if err != nil {
		return err
	}
	defer service.Close()
	id, err := findSubscriber(c.Context, service, subscriber)
	if err != nil {
		return err
	}
	if wholeID.MatchString(subscriber) && !anySet(c, queryFlags()) {
		return p.listOwnSubscriptions(c, service, l, id)
	}
	l.where = []client.Filter{{Field: "SY_WebhookSubscriber_RecID", Operator: record.Equal, Values: []string{id}}}
	return p.list(c, l)
}

// anySet reports whether one of the flags is given.
func anySet(c *cli.Context, flags []cli.Flag) bool {
	for _, f := range flags {
		if c.IsSet(f.Names()[0]) {
			return true
		}
	}
	return false
}

// listOwnSubscriptions lists those of one subscriber in the way that is open to
// all who know its id.
func (p *program) listOwnSubscriptions(c *cli.Context, service *client.Client, l listing, subscriber string) error {
	f, err := p.printer(c).Format()
	if err != nil {
		return err
	}
	all, err := service.Subscriptions(c.Context, subscriber)
	if err != nil {
		return err
	}
	var fields []string
	if f.ForPeople() {
		fields = l.brief
	}
	return output.Documents(p.printer(c), output.ColumnsOf(l.kind, fields), l.keys, all...)
}

func (p *program) showSubscription(c *cli.Context) error {
	service, err := p.connect(c)
	if err != nil {
		return err
	}
	defer service.Close()
	n, err := findSubscription(c.Context, service, c.String("subscriber"), c.Args().First())
	if err != nil {
		return err
	}
	one, err := subscriptionOf(c.Context, service, n)
	if err != nil {
		return err
	}
	return output.Documents(p.printer(c), output.ColumnsOf(systemKind("Subscription"), nil), subscriptionKeys, one)
}

func (p *program) createSubscription(c *cli.Context) error {
	event, url := c.Args().Get(1), c.Args().Get(2)
	request := wire.SubscriptionRequest{EventName: &event, URL: &url, IsEnabled: new(!c.Bool("disabled")), Ordered: new(c.Bool("ordered"))}
	if c.IsSet("retry-schedule") {
		request.RetrySchedule = new(c.String("retry-schedule"))
	}
	var err error
	if request.Headers, err = p.headers(c.StringSlice("header")); err != nil {
		return err
	}
	service, err := p.connectToChange(c, change{what: fmt.Sprintf("send %s to %s", event, url)})
	if err != nil {
		return err
	}
	defer service.Close()
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
	p.notice(c, "%s goes to %s%s", made.EventName, made.URL, unlessEnabled(made.IsEnabled))
	if err := p.hideSecret(c, made.Secret); err != nil {
		return err
	}
	return p.tellNew(c, made.RecID, made)
}

// enableSubscriptions is whctl subscriptions enable and disable.
func (p *program) enableSubscriptions(enabled bool) cli.ActionFunc {
	return func(c *cli.Context) error {
		what := change{what: enabling(enabled) + " " + several(c.Args().Slice(), "the subscription", "subscriptions")}
		return p.eachSubscription(c, what, func(service *client.Client, n subscriptionName) (string, error) {
			changed, err := service.UpdateSubscription(c.Context, n.subscriber, n.id, wire.SubscriptionRequest{IsEnabled: &enabled})
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("%s to %s is %sd", changed.EventName, changed.URL, enabling(enabled)), nil
		})
	}
}

func (p *program) deleteSubscriptions(c *cli.Context) error {
	what := change{what: "delete " + several(c.Args().Slice(), "the subscription", "subscriptions") + " with all messages", sweeping: true}
	return p.eachSubscription(c, what, func(service *client.Client, n subscriptionName) (string, error) {
		return fmt.Sprintf("subscription %s is deleted", n.id), service.RemoveSubscription(c.Context, n.subscriber, n.id)
	})
}

// eachSubscription changes those that are named.
func (p *program) eachSubscription(c *cli.Context, what change, do func(*client.Client, subscriptionName) (string, error)) error {
	service, err := p.connectToChange(c, what)
	if err != nil {
		return err
	}
	defer service.Close()
	return p.forEach(c, c.Args().Slice(), func(name string) (string, error) {
		n, err := findSubscription(c.Context, service, c.String("subscriber"), name)
		if err != nil {
			return "", err
		}
		return do(service, n)
	})
}

// subscriptionToChange connects for a change of one subscription, and finds it.
func (p *program) subscriptionToChange(c *cli.Context, name, what string) (*client.Client, subscriptionName, error) {
	service, err := p.connectToChange(c, change{what: what + " the subscription " + name})
	if err != nil {
		return nil, subscriptionName{}, err
	}
	n, err := findSubscription(c.Context, service, c.String("subscriber"), name)
	if err != nil {
		service.Close()
		return nil, n, err
	}
	return service, n, nil
}

func (p *program) rotateSecret(c *cli.Context) error {
	service, n, err := p.subscriptionToChange(c, c.Args().First(), "replace the secret of")
	if err != nil {
		return err
	}
	defer service.Close()
	made, err := service.RotateSecret(c.Context, n.subscriber, n.id, wire.SecretRequest{KeepFor: c.String("keep-for")})
	if err != nil {
		return err
	}
	p.notice(c, "messages are signed with a new secret%s", alsoOld(made.OldSecretUntil))
	if c.IsSet("secret-file") {
		return p.hideSecret(c, made.Secret)
	}
	return p.tellNew(c, made.Secret, made)
}

// alsoOld says how long a secret goes on that was replaced.
func alsoOld(until wire.Moment) string {
	if time := momentText(until); time != "" {
		return ", and with the old one until " + time
	}
	return ""
}

// momentText is a time of the service, empty where there is none.
func momentText(m wire.Moment) string {
	if time.Time(m).IsZero() {
		return ""
	}
	return time.Time(m).UTC().Format(time.RFC3339)
}
