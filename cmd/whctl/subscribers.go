package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/cmd/whctl/output"
)

func (p *program) subscriberCommands() []*cli.Command {
	return []*cli.Command{{
		Name: "subscribers", Aliases: []string{"subscriber"}, Usage: "manage who receives events",
		Subcommands: []*cli.Command{
			{
				Name: "list", Usage: "list the subscribers", Flags: append(listFlags(), keyFlag()), Action: p.listSubscribers,
				Description: `whctl subscribers list
whctl subscribers list --where "IsEnabled=false"`,
			},
			{Name: "show", ArgsUsage: "SUBSCRIBER", Usage: "show a subscriber, with --json its subscriptions too", Flags: append(output.Flags(), keyFlag()), Action: p.showSubscriber},
			{
				Name: "create", ArgsUsage: "NAME", Usage: "add a subscriber and print its id", Action: p.createSubscriber,
				Flags:       newFlags(&cli.BoolFlag{Name: "disabled", Usage: "let its messages wait until it is enabled"}),
				Description: `id=$(whctl subscribers create "ACME shop")`,
			},
			{
				Name: "change", ArgsUsage: "SUBSCRIBER", Usage: "give a subscriber another name; its id stays", Action: p.changeSubscriber,
				Flags:       append([]cli.Flag{&cli.StringFlag{Name: "name", Usage: "call it `NAME`"}}, changeFlags()...),
				Description: `whctl subscribers change "ACME shop" --name "ACME online shop"`,
			},
			{Name: "enable", ArgsUsage: "SUBSCRIBER...", Usage: "send what waits, and what comes", Flags: changeFlags(), Action: p.enableSubscribers(true)},
			{Name: "disable", ArgsUsage: "SUBSCRIBER...", Usage: "let messages wait", Flags: changeFlags(), Action: p.enableSubscribers(false)},
			{
				Name: "delete", Aliases: []string{"remove", "rm"}, ArgsUsage: "SUBSCRIBER...", Usage: "delete subscribers with their subscriptions and messages",
				Flags: changeFlags(), Action: p.deleteSubscribers,
			},
		},
	}}
}

// subscriberKeys are the fields that hold a SubscriberID, by kind.
var (
	subscriberKeys   = []string{"RecID"}
	subscriptionKeys = []string{"SY_WebhookSubscriber_RecID"}
	messageKeys      = []string{"SubscriberID"}
)

func (p *program) listSubscribers(c *cli.Context) error {
	return p.list(c, listing{
		kind: systemKind("Subscriber"), brief: []string{"RecID", "Name", "IsEnabled", "LastSavedDateTime"}, keys: subscriberKeys,
	})
}

func (p *program) showSubscriber(c *cli.Context) error {
	service, err := p.connect(c)
	if err != nil {
		return err
	}
	defer service.Close()
	id, err := findSubscriber(c.Context, service, c.Args().First())
	if err != nil {
		return err
	}
	found, err := service.Subscriber(c.Context, id)
	if err != nil {
		return err
	}
	return output.Documents(p.printer(c), output.ColumnsOf(systemKind("Subscriber"), nil), subscriberKeys, found)
}

func (p *program) createSubscriber(c *cli.Context) error {
	name := c.Args().First()
	service, err := p.connectToChange(c, change{what: fmt.Sprintf("add the subscriber %q", name)})
	if err != nil {
		return err
	}
	defer service.Close()
	made, err := service.AddSubscriber(c.Context, wire.SubscriberRequest{Name: &name, IsEnabled: new(!c.Bool("disabled"))})
	if err != nil {
		return err
	}
	p.notice(c, "subscriber %s is added%s", quoted(made.Name), unlessEnabled(made.IsEnabled))
	return p.tellNew(c, made.RecID, made)
}

func unlessEnabled(enabled bool) string {
	if enabled {
		return ""
	}
	return ", disabled"
}

// enableSubscribers is whctl subscribers enable and disable.
func (p *program) enableSubscribers(enabled bool) cli.ActionFunc {
	return func(c *cli.Context) error {
		names := c.Args().Slice()
		service, err := p.connectToChange(c, change{what: enabling(enabled) + " " + several(names, "the subscriber", "subscribers")})
		if err != nil {
			return err
		}
		defer service.Close()
		return p.forEach(c, names, func(name string) (string, error) {
			id, err := findSubscriber(c.Context, service, name)
			if err != nil {
				return "", err
			}
			changed, err := service.UpdateSubscriber(c.Context, id, wire.SubscriberRequest{IsEnabled: &enabled})
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("subscriber %s is %sd", quoted(changed.Name), enabling(enabled)), nil
		})
	}
}

func enabling(enabled bool) string {
	if enabled {
		return "enable"
	}
	return "disable"
}

func (p *program) deleteSubscribers(c *cli.Context) error {
	names := c.Args().Slice()
	what := "delete " + several(names, "the subscriber", "subscribers") + " with all subscriptions and messages"
	service, err := p.connectToChange(c, change{what: what, sweeping: true})
	if err != nil {
		return err
	}
	defer service.Close()
	return p.forEach(c, names, func(name string) (string, error) {
		id, err := findSubscriber(c.Context, service, name)
		if err == nil {
			err = service.RemoveSubscriber(c.Context, id)
		}
		return fmt.Sprintf("subscriber %s is deleted", subscriberTitle(name)), err
	})
}

// subscriberTitle is how a subscriber is called that was named on the command
// line.
func subscriberTitle(name string) string {
	if wholeID.MatchString(name) {
		return client.Redact(name)
	}
	return quoted(name)
}
