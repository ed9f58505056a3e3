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
		Name: "events", Aliases: []string{"event"}, Usage: "list and publish events",
		Subcommands: []*cli.Command{
			{Name: "list", Usage: "list the events that subscriptions can receive", Flags: output.Flags(), Action: shows(eventColumns, nil, func(c *cli.Context, service *client.Client) ([]wire.Event, error) {
				return service.Events(c.Context)
			})},
			{
				Name: "publish", Aliases: []string{"raise"}, ArgsUsage: "EVENT", Usage: "publish an event to its subscriptions and print its ID", Action: changes(publishEvent),
				Flags: resultFlags("print the event's ID and number of messages as JSON",
					&cli.StringFlag{Name: "body", Usage: "the `TEXT` to deliver unchanged; @FILE reads a file, - or @- standard input"},
					&cli.StringFlag{Name: "key", Usage: "idempotency `KEY`: repeated calls within a day publish the event once"},
				),
				Description: `whctl events publish salesorder.created --body @order.json
whctl events publish salesorder.created --body '{"InvoiceID":"D100512"}' --key order-4711`,
			},
		},
	}}
}

var eventColumns = []output.Column{{Name: "Name", Type: record.Text}, {Name: "Description", Type: record.Text}}

func publishEvent(c *cli.Context, _ *session) (change, error) {
	body, err := readBody(c)
	return publication(c, body, c.String("key")), err
}

// publication plans to publish an event to its subscriptions, once per key if the
// key is not empty.
func publication(c *cli.Context, body, key string) change {
	name := c.Args().First()
	return change{text: "publish " + name + " to its subscriptions", do: func(out *output.Printer, service *client.Client) (err error) {
		var receipt *wire.EventReceipt
		if key != "" {
			receipt, err = service.RaiseEventOnce(c.Context, key, name, body)
		} else {
			receipt, err = service.RaiseEvent(c.Context, name, body)
		}
		if err != nil {
			return err
		}
		out.Notice("%s published: %s", name, display.Count(int64(receipt.Messages), "message", "messages"))
		return out.Created(receipt.EventID, receipt)
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
		return "", cmdline.Usagef("--body: %s is larger than %d MiB, the limit of an event", text, maxArgument>>20)
	}
	return body, nil
}
