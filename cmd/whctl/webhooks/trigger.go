package webhooks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/command"
	"github.com/bizhook/whd/cmd/whctl/output"
)

func TriggerCommands() []*cli.Command {
	return []*cli.Command{{
		Name:      "trigger",
		ArgsUsage: "[EVENT]",
		Usage:     "send a test message to a subscription or publish an event to all, and print its ID",
		Action:    trigger,
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{
				Name:  "body",
				Usage: "the `TEXT` to deliver unchanged; @FILE reads a file, - or @- standard input; default: a sample",
			},
			&cli.StringSliceFlag{
				Name:  "set",
				Usage: "set a member of the body: `NAME=VALUE`, repeatable; VALUE is parsed as JSON if it is valid JSON",
			},
			&cli.StringFlag{Name: "subscription", Usage: "send a test message to this `SUBSCRIPTION`, by ID"},
			&cli.BoolFlag{Name: "all-subscribers", Usage: "publish the event to all matching subscriptions"},
			&cli.BoolFlag{Name: "list", Usage: "list the events with their number of subscriptions and a sample body"},
			subscriberFlag(),
		}, output.Flags(), command.ChangeFlags()),
		Description: `whctl trigger --list
whctl trigger salesorder.created --subscription 1f0c..9ab2
whctl trigger salesorder.created --subscription 1f0c..9ab2 --body @order.json --set InvoiceID=D1
whctl trigger salesorder.created --all-subscribers --yes`,
	}}
}

// trigger runs whctl trigger. A single subscription receives a message marked
// as a test; --all-subscribers publishes the event itself.
func trigger(c *cli.Context) error {
	if c.Bool("list") {
		return command.Reads(listTriggers)(c)
	}
	return command.Changes(planTrigger)(c)
}

func planTrigger(c *cli.Context, _ *command.Session) (command.Change, error) {
	event := c.Args().First()
	subscription := c.String("subscription")
	isForAll := c.Bool("all-subscribers")
	switch {
	case event == "":
		return command.Change{}, cmdline.Usagef("trigger needs EVENT; list the events with whctl trigger --list")
	case subscription == "" && !isForAll:
		return command.Change{}, cmdline.Usagef("trigger needs --subscription, or --all-subscribers to publish %s to all its subscriptions", event)
	case subscription != "" && isForAll:
		return command.Change{}, cmdline.Usagef("--subscription and --all-subscribers cannot be combined")
	}
	for _, f := range output.Flags() {
		if name := f.Names()[0]; c.IsSet(name) && name != "json" {
			return command.Change{}, cmdline.Usagef("--%s requires --list", name)
		}
	}
	body, err := triggerBody(c, event)
	if err != nil {
		return command.Change{}, err
	}
	if isForAll {
		planned := publication(c, wire.EventPost{EventName: event, Body: body}, "")
		planned.Sweeping = true
		return planned, nil
	}
	sendTest := func(out *output.Printer, service *client.Client, n subscriptionName) error {
		test := wire.TestRequest{EventName: event, Body: body}
		state, err := service.TestSubscriptionWith(c.Context, n.subscriber, n.id, test)
		if err != nil {
			return withEventHint(c, service, event, err)
		}
		out.Notice("test of %s queued; show its state with whctl messages show %s", event, state.MessageID)
		return out.Created(state.MessageID, state)
	}
	return onSubscription(c, "send a test of "+event+" to", subscription, sendTest), nil
}

var triggerColumns = []output.Column{
	{Name: "Event", Type: record.Text},
	{Name: "Subscriptions", Type: record.Int},
	{Name: "Description", Type: record.Text},
	{Name: "Sample", Type: record.Text},
}

// listTriggers lists the events with the number of their subscriptions. Disabled
// subscriptions count, because their messages are queued.
func listTriggers(c *cli.Context, out *output.Printer, service *client.Client) error {
	events, err := service.Events(c.Context)
	if err != nil {
		return err
	}
	rows, err := service.Rows(c.Context, client.Query{
		Kind:   command.SystemKind("Subscription"),
		Fields: []string{"EventName"},
		Strict: true,
	})
	if err != nil {
		return err
	}
	subscribed := make([]int, len(events))
	for row, err := range rows.All() {
		if err != nil {
			return err
		}
		for i, e := range events {
			if record.MatchesEvent(row.Text("EventName"), e.Name) {
				subscribed[i]++
			}
		}
	}
	var lines [][]any
	for i, e := range events {
		lines = append(lines, []any{e.Name, subscribed[i], e.Description, record.SampleBody(e.Name)})
	}
	_, err = out.Lines(triggerColumns, lines)
	return err
}

// triggerBody returns --body, or a sample of the event, with the members of --set.
func triggerBody(c *cli.Context, event string) (string, error) {
	body, err := readBody(c)
	if err != nil {
		return "", err
	}
	if !c.IsSet("body") {
		body = record.SampleBody(event)
	} else if body == "" { // the service would replace it with a sample
		return "", cmdline.Usagef("--body is empty; leave it out to send a sample")
	}
	if sets := c.StringSlice("set"); len(sets) > 0 {
		if body, err = setMembers(body, sets); err != nil {
			return "", err
		}
	}
	return body, nil
}

// setMembers sets members of a JSON object. The other members keep their exact
// text, all keep their order, and new ones are appended.
func setMembers(body string, sets []string) (string, error) {
	object, err := client.ParseRow([]byte(body))
	if err != nil {
		return "", cmdline.Usagef("--set requires a body that is a JSON object")
	}
	type member struct {
		name  string
		value []byte
	}
	var members []member
	for name, value := range object.All() {
		members = append(members, member{name, value})
	}
	for _, set := range sets {
		name, value, ok := strings.Cut(set, "=")
		if !ok || name == "" {
			return "", cmdline.Usagef("--set %q must have the form NAME=VALUE", set)
		}
		text := []byte(value)
		if !json.Valid(text) {
			text, _ = output.DocumentText(value) // strings can always be encoded
		}
		index := slices.IndexFunc(members, func(m member) bool { return m.name == name })
		if index < 0 {
			index, members = len(members), append(members, member{name: name})
		}
		members[index].value = text
	}
	var out bytes.Buffer
	for i, m := range members {
		name, _ := output.DocumentText(m.name) // strings can always be encoded
		if m.value == nil {
			m.value = []byte("null")
		}
		fmt.Fprintf(&out, "%s%s:%s", separators[min(i, 1)], name, m.value)
	}
	if len(members) == 0 {
		out.WriteByte('{')
	}
	return out.String() + "}", nil
}

// separators precede the first member of an object and the others.
var separators = [2]string{"{", ","}
