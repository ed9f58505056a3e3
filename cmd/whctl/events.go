package main

import (
	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/output"
)

func eventCommands() []*cli.Command {
	return []*cli.Command{{
		Name: "events", Aliases: []string{"event"}, Usage: "list and raise events",
		Subcommands: []*cli.Command{
			{Name: "list", Usage: "list the events that subscriptions can be made for", Flags: output.Flags(), Action: shows(eventColumns, nil, func(c *cli.Context, service *client.Client) ([]wire.Event, error) {
				return service.Events(c.Context)
			})},
			{
				Name: "raise", ArgsUsage: "EVENT", Usage: "raise an event for all its subscriptions, and print its id", Action: changes(raiseEvent),
				Flags: newFlags(
					&cli.StringFlag{Name: "body", Usage: "the `TEXT` that is delivered, byte for byte; @FILE reads a file, - or @- standard input"},
					&cli.StringFlag{Name: "key", Usage: "`KEY` under which the event is raised once only within a day, however often it is asked for"},
				),
				Description: `whctl events raise salesorder.created --body @order.json
whctl events raise salesorder.created --body '{"InvoiceID":"D100512"}' --key order-4711`,
			},
		},
	}}
}

var eventColumns = []output.Column{{Name: "Name", Type: record.Text}, {Name: "Description", Type: record.Text}}

func raiseEvent(c *cli.Context, _ *session) (change, error) {
	body, err := readBody(c)
	return raising(c, body, c.String("key")), err
}

// raising raises an event for all its subscriptions; under a key, if it is not
// empty, once only.
func raising(c *cli.Context, body, key string) change {
	name := c.Args().First()
	return change{what: "raise " + name + " for all its subscriptions", do: func(out *output.Printer, service *client.Client) (err error) {
		var receipt *wire.EventReceipt
		if key != "" {
			receipt, err = service.RaiseEventOnce(c.Context, key, name, body)
		} else {
			receipt, err = service.RaiseEvent(c.Context, name, body)
		}
		if err != nil {
			return err
		}
		out.Notice("%s is raised: %s", name, display.Count(int64(receipt.Messages), "message", "messages"))
		return out.Made(receipt.EventID, receipt)
	}}
}

// readBody reads --body.
func readBody(c *cli.Context) (string, error) {
	text := c.String("body")
	if text == "-" {
		text = "@-"
	}
	body, err := argument(c, text)
	if err != nil {
		return "", cmdline.Usagef("--body: %s", err)
	}
	if len(body) >= maxArgument {
		return "", cmdline.Usagef("--body: %s has more than %d MiB, which no event may have", text, maxArgument>>20)
	}
	return body, nil
}
