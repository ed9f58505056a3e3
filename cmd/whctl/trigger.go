package main

import (
	"context"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/output"
)

func (p *program) triggerCommands() []*cli.Command {
	return []*cli.Command{{
		Name: "trigger", ArgsUsage: "[EVENT]", Usage: "try an event out on one subscription, or raise it for all, and print the id", Action: p.trigger,
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "body", Usage: "the `TEXT` that is delivered, byte for byte; @FILE reads a file, - or @- standard input; default: a sample"},
			&cli.StringSliceFlag{Name: "set", Usage: "change a member of the body: `NAME=VALUE`, repeated; VALUE is JSON where it can be, else a text"},
			&cli.StringFlag{Name: "subscription", Usage: "to the `SUBSCRIPTION` only, by id, as a test"},
			&cli.BoolFlag{Name: "all-subscribers", Usage: "to all subscriptions that take the event, as if it had happened"},
			&cli.BoolFlag{Name: "list", Usage: "list the events, how many subscriptions take each, and a sample of its body"},
			subscriberFlag(),
		}, output.Flags(), changeFlags()),
		Description: `whctl trigger --list
whctl trigger salesorder.created --subscription 1f0c..9ab2
whctl trigger salesorder.created --subscription 1f0c..9ab2 --body @order.json --set InvoiceID=D1
whctl trigger salesorder.created --all-subscribers --yes`,
	}}
}

// patterns are the events of all subscriptions. Those that are disabled take
// events too, which wait.
func patterns(ctx context.Context, service *client.Client) ([]string, error) {
	rows, err := service.Rows(ctx, client.Query{Kind: systemKind("Subscription"), Fields: []string{"EventName"}, Strict: true})
	if err != nil {
		return nil, err
	}
	var all []string
	for row, err := range rows.All() {
		if err != nil {
			return nil, err
		}
		all = append(all, row.Text("EventName"))
	}
	return all, nil
}

// trigger is whctl trigger. One subscription gets a message that is marked as a
// test; all of them get the event itself.
func (p *program) trigger(c *cli.Context) error {
	event := c.Args().First()
	if c.Bool("list") {
		return p.listTriggers(c)
	}
	switch one, all := c.String("subscription"), c.Bool("all-subscribers"); {
	case event == "":
		return cmdline.Usagef("trigger needs EVENT; whctl trigger --list shows them")
	case one == "" && !all:
		return cmdline.Usagef("trigger needs --subscription, or --all-subscribers to send it to all that take %s", event)
	case one != "" && all:
		return cmdline.Usagef("--subscription and --all-subscribers exclude each other")
	}
	for _, f := range output.Flags() {
		if name := f.Names()[0]; c.IsSet(name) && name != "json" {
			return cmdline.Usagef("--%s goes with --list only", name)
		}
	}
	body, err := p.triggerBody(c, event)
	if err != nil {
		return err
	}
	if c.Bool("all-subscribers") {
		return p.triggerAll(c, event, body)
	}
	return p.triggerOne(c, event, body)
}

func (p *program) triggerOne(c *cli.Context, event, body string) error {
	service, n, err := p.subscriptionToChange(c, c.String("subscription"), "send a test of "+event+" to")
	if err != nil {
		return err
	}
	defer service.Close()
	state, err := service.TestSubscriptionWith(c.Context, n.subscriber, n.id, wire.TestRequest{EventName: event, Body: body})
	if err != nil {
		return err
	}
	p.notice(c, "a test of %s is on its way; whctl messages show %s tells what became of it", event, state.MessageID)
	return p.tellNew(c, state.MessageID, state)
}

func (p *program) triggerAll(c *cli.Context, event, body string) error {
	service, err := p.connectToChange(c, change{what: "raise " + event + " for all its subscriptions", sweeping: true})
	if err != nil {
		return err
	}
	defer service.Close()
	receipt, err := service.RaiseEvent(c.Context, event, body)
	if err != nil {
		return err
	}
	p.notice(c, "%s is raised: %s", event, display.Count(int64(receipt.Messages), "message", "messages"))
	return p.tellNew(c, receipt.EventID, receipt)
}

func (p *program) listTriggers(c *cli.Context) error {
	service, err := p.connect(c)
	if err != nil {
		return err
	}
	defer service.Close()
	events, err := service.Events(c.Context)
	if err != nil {
		return err
	}
	all, err := patterns(c.Context, service)
	if err != nil {
		return err
	}
	var lines [][]any
	for _, e := range events {
		n := 0
		for _, pattern := range all {
			if record.TakesEvent(pattern, e.Name) {
				n++
			}
		}
		lines = append(lines, []any{e.Name, n, e.Description, record.SampleBody(e.Name)})
	}
	_, err = p.printer(c).Lines(triggerColumns, lines)
	return err
}

var triggerColumns = []output.Column{{Name: "Event", Type: record.Text}, {Name: "Subscriptions", Type: record.Int}, {Name: "Description", Type: record.Text}, {Name: "Sample", Type: record.Text}}
