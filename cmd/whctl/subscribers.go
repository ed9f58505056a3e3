package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/output"
)

func subscriberCommands() []*cli.Command {
	return []*cli.Command{{
		Name: "subscribers", Aliases: []string{"subscriber"}, Usage: "manage who receives events",
		Subcommands: []*cli.Command{
			{
				Name: "list", Usage: "list the subscribers", Flags: append(listFlags(), keyFlag()),
				Action: lists(func(*cli.Context, *session) (listing, error) {
					return listing{kind: systemKind("Subscriber"), brief: []string{"RecID", "Name", "IsEnabled", "LastSavedDateTime"}, keys: subscriberKeys}, nil
				}),
				Description: `whctl subscribers list
whctl subscribers list --where "IsEnabled=false"`,
			},
			{
				Name: "show", ArgsUsage: "SUBSCRIBER", Usage: "show a subscriber, with --json its subscriptions too", Flags: append(output.Flags(), keyFlag()),
				Action: showsOne(output.ColumnsOf(systemKind("Subscriber"), nil), subscriberKeys, func(c *cli.Context, service *client.Client) (*wire.Subscriber, error) {
					id, err := findSubscriber(c.Context, service, c.Args().First())
					if err != nil {
						return nil, err
					}
					return service.Subscriber(c.Context, id)
				}),
			},
			{
				Name: "create", ArgsUsage: "NAME", Usage: "add a subscriber and print its id", Action: changes(createSubscriber),
				Flags:       newFlags(&cli.BoolFlag{Name: "disabled", Usage: "let its messages wait until it is enabled"}),
				Description: `id=$(whctl subscribers create "ACME shop")`,
			},
			{
				Name: "change", ArgsUsage: "SUBSCRIBER", Usage: "give a subscriber another name; its id stays", Action: changes(changeSubscriber),
				Flags:       append([]cli.Flag{&cli.StringFlag{Name: "name", Usage: "call it `NAME`"}}, changeFlags()...),
				Description: `whctl subscribers change "ACME shop" --name "ACME online shop"`,
			},
			{Name: "enable", ArgsUsage: "SUBSCRIBER...", Usage: "send what waits, and what comes", Flags: changeFlags(), Action: enableSubscribers(true)},
			{Name: "disable", ArgsUsage: "SUBSCRIBER...", Usage: "let messages wait", Flags: changeFlags(), Action: enableSubscribers(false)},
			{
				Name: "delete", Aliases: []string{"remove", "rm"}, ArgsUsage: "SUBSCRIBER...", Usage: "delete subscribers with their subscriptions and messages", Flags: changeFlags(),
				Action: each{verb: "delete", one: "the subscriber", many: "subscribers", also: " with all subscriptions and messages", sweeping: true, do: deleteSubscriber}.action(),
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

func createSubscriber(c *cli.Context, _ *session) (change, error) {
	name := c.Args().First()
	return change{what: fmt.Sprintf("add the subscriber %q", name), do: func(out *output.Printer, service *client.Client) error {
		made, err := service.AddSubscriber(c.Context, wire.SubscriberRequest{Name: &name, IsEnabled: new(!c.Bool("disabled"))})
		if err != nil {
			return err
		}
		out.Notice("subscriber %s is added%s", quoted(made.Name), unlessEnabled(made.IsEnabled))
		return out.Made(made.RecID, made)
	}}, nil
}

func changeSubscriber(c *cli.Context, _ *session) (change, error) {
	old, name := c.Args().First(), c.String("name")
	if name == "" {
		return change{}, cmdline.Usagef("what is to be changed? Give --name")
	}
	return change{what: "change the subscriber " + subscriberTitle(old), do: func(out *output.Printer, service *client.Client) error {
		changed, err := updateSubscriber(c, service, old, wire.SubscriberRequest{Name: &name})
		if err == nil {
			out.Notice("subscriber %s is called %s", subscriberTitle(old), quoted(changed.Name))
		}
		return err
	}}, nil
}

// updateSubscriber changes the subscriber that a name of the command line means.
func updateSubscriber(c *cli.Context, service *client.Client, name string, request wire.SubscriberRequest) (*wire.Subscriber, error) {
	id, err := findSubscriber(c.Context, service, name)
	if err != nil {
		return nil, err
	}
	return service.UpdateSubscriber(c.Context, id, request)
}

// enableSubscribers is whctl subscribers enable and disable.
func enableSubscribers(enabled bool) cli.ActionFunc {
	return each{verb: enabling(enabled), one: "the subscriber", many: "subscribers", do: func(c *cli.Context, service *client.Client, name string) (string, error) {
		changed, err := updateSubscriber(c, service, name, wire.SubscriberRequest{IsEnabled: &enabled})
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("subscriber %s is %sd", quoted(changed.Name), enabling(enabled)), nil
	}}.action()
}

func deleteSubscriber(c *cli.Context, service *client.Client, name string) (string, error) {
	id, err := findSubscriber(c.Context, service, name)
	if err == nil {
		err = service.RemoveSubscriber(c.Context, id)
	}
	return fmt.Sprintf("subscriber %s is deleted", subscriberTitle(name)), err
}

// subscriberTitle is how a subscriber is called that was named on the command
// line.
func subscriberTitle(name string) string {
	if wholeID.MatchString(name) {
		return client.Redact(name)
	}
	return quoted(name)
}
