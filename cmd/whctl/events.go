package main

import (
	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/output"
)

func (p *program) eventCommands() []*cli.Command {
	return []*cli.Command{{
		Name: "events", Aliases: []string{"event"}, Usage: "list and raise events",
		Subcommands: []*cli.Command{
			{Name: "list", Usage: "list the events that subscriptions can be made for", Flags: output.Flags(), Action: p.listEvents},
			{
				Name: "raise", ArgsUsage: "EVENT", Usage: "raise an event for all its subscriptions, and print its id", Action: p.raiseEvent,
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

func (p *program) listEvents(c *cli.Context) error {
	service, err := p.connect(c)
	if err != nil {
		return err
	}
	defer service.Close()
	events, err := service.Events(c.Context)
	if err != nil {
		return err
	}
	return output.Documents(p.printer(c), eventColumns, nil, events...)
}

func (p *program) raiseEvent(c *cli.Context) error {
	name := c.Args().First()
	body, err := p.body(c)
	if err != nil {
		return err
	}
	service, err := p.connectToChange(c, change{what: "raise " + name + " for all its subscriptions"})
	if err != nil {
		return err
	}
	defer service.Close()
	var receipt *wire.EventReceipt
	if key := c.String("key"); key != "" {
		receipt, err = service.RaiseEventOnce(c.Context, key, name, body)
	} else {
		receipt, err = service.RaiseEvent(c.Context, name, body)
	}
	if err != nil {
		return err
	}
	p.notice(c, "%s is raised: %s", name, display.Count(int64(receipt.Messages), "message", "messages"))
	return p.tellNew(c, receipt.EventID, receipt)
}

// body is the text of --body.
func (p *program) body(c *cli.Context) (string, error) {
	text := c.String("body")
	if text == "-" {
		text = "@-"
	}
	body, err := p.argument(text)
	if err != nil {
		return "", cmdline.Usagef("--body: %s", err)
	}
	if len(body) >= maxArgument {
		return "", cmdline.Usagef("--body: %s has more than %d MiB, which no event may have", text, maxArgument>>20)
	}
	return body, nil
}
