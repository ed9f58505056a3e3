package webhooks

import (
	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/command"
	"github.com/bizhook/whd/cmd/whctl/output"
)

func EventCommands() []*cli.Command {
	return []*cli.Command{{
		Name: "events", Aliases: []string{"event"}, Usage: "list and publish events",
		Subcommands: []*cli.Command{
			{Name: "list", Usage: "list the events that subscriptions can receive", Flags: output.Flags(), Action: command.Shows(eventColumns, nil, func(c *cli.Context, service *client.Client) ([]wire.Event, error) {
				return service.Events(c.Context)
			})},
			{
				Name: "publish", Aliases: []string{"raise"}, ArgsUsage: "EVENT", Usage: "publish an event to its subscriptions and print its ID", Action: command.Changes(publishEvent),
				Flags: command.ResultFlags("print the event's ID and number of messages as JSON",
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

func publishEvent(c *cli.Context, _ *command.Session) (command.Change, error) {
	body, err := readBody(c)
	return publication(c, body, c.String("key")), err
}

// publication plans to publish an event to its subscriptions, once per key if the
// key is not empty.
func publication(c *cli.Context, body, key string) command.Change {
	name := c.Args().First()
	return command.Change{Text: "publish " + name + " to its subscriptions", Do: func(out *output.Printer, service *client.Client) (err error) {
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
	body, err := command.Argument(c, text)
	if err != nil {
		return "", cmdline.Usagef("--body: %s", err)
	}
	if len(body) >= command.MaxArgument {
		return "", cmdline.Usagef("--body: %s is larger than %d MiB, the limit of an event", text, command.MaxArgument>>20)
	}
	return body, nil
}
