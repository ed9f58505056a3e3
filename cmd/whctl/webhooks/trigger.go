package webhooks

import (
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

// TriggerCommands returns the command that sends test messages or publishes an event.
func TriggerCommands() []*cli.Command {
	return []*cli.Command{{
		Name:      "trigger",
		ArgsUsage: "[EVENT]",
		Usage:     "send a test message to one subscription or publish an event to all, and print its ID",
		Action:    trigger,
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{
				Name: "body",
				Usage: "the `TEXT` to deliver unchanged; @FILE reads a file, - or @- standard input; " +
					"default: a sample",
			},
			&cli.StringSliceFlag{
				Name: "set",
				Usage: "set a member of the body: `NAME=VALUE`, repeatable; " +
					"VALUE is parsed as JSON if it is valid JSON",
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

func planTrigger(c *cli.Context, s *command.Session) (command.Change, error) {
	if err := checkTrigger(c); err != nil {
		return command.Change{}, err
	}
	event := c.Args().First()
	body, err := triggerBody(c, s, event)
	if err != nil {
		return command.Change{}, err
	}
	if c.Bool("all-subscribers") {
		planned := publication(c, wire.EventPost{EventName: event, Body: body}, "")
		planned.Sweeping = true
		return planned, nil
	}
	sendTest := func(out *output.Printer, service *client.Client, ref subscriptionRef) error {
		request := wire.TestRequest{EventName: event, Body: body}
		state, err := service.TestSubscriptionWith(c.Context, ref.subscriber, ref.id, request)
		if err != nil {
			return withEventHint(c, service, event, err)
		}
		out.Notice("test of %s queued; show its state with whctl messages show %s",
			event, state.MessageID)
		return out.Created(state.MessageID, state)
	}
	return onSubscription(c, "send a test of "+event+" to", c.String("subscription"), sendTest), nil
}

// checkTrigger checks the arguments and flags of whctl trigger without --list.
func checkTrigger(c *cli.Context) error {
	event := c.Args().First()
	hasSubscription := c.String("subscription") != ""
	isForAll := c.Bool("all-subscribers")
	if event == "" {
		return cmdline.Usagef("trigger needs EVENT; list the events with whctl trigger --list")
	}
	if !hasSubscription && !isForAll {
		return cmdline.Usagef("trigger needs --subscription, "+
			"or --all-subscribers to publish %s to all its subscriptions", event)
	}
	if hasSubscription && isForAll {
		return cmdline.Usagef("--subscription and --all-subscribers cannot be combined")
	}
	for _, f := range output.Flags() {
		if name := f.Names()[0]; c.IsSet(name) && name != "json" {
			return cmdline.Usagef("--%s requires --list", name)
		}
	}
	return nil
}

var triggerColumns = []output.Column{
	{Name: "Event", Type: record.Text},
	{Name: "Subscriptions", Type: record.Int},
	{Name: "Description", Type: record.Text},
	{Name: "Sample", Type: record.Text},
}

// listTriggers lists the events with the number of their subscriptions. It includes disabled
// subscriptions, because their messages are queued.
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
func triggerBody(c *cli.Context, s *command.Session, event string) (string, error) {
	body, err := readBody(c, s)
	if err != nil {
		return "", err
	}
	if c.IsSet("body") && body == "" { // the service would replace it with a sample
		return "", cmdline.Usagef("--body is empty; leave it out to send a sample")
	}
	if !c.IsSet("body") {
		body = record.SampleBody(event)
	}
	sets := c.StringSlice("set")
	if len(sets) == 0 {
		return body, nil
	}
	return setMembers(body, sets)
}

// bodyMember is a member of a JSON object. The value is nil for null.
type bodyMember struct {
	name  string
	value []byte
}

// setMembers sets members of a JSON object. The other members keep their exact
// text, all keep their order, and new ones are appended.
func setMembers(body string, sets []string) (string, error) {
	object, err := client.ParseRow([]byte(body))
	if err != nil {
		return "", cmdline.Usagef("--set requires a body that is a JSON object")
	}
	var members []bodyMember
	for name, value := range object.All() {
		members = append(members, bodyMember{name, value})
	}
	for _, set := range sets {
		name, text, ok := strings.Cut(set, "=")
		if !ok || name == "" {
			return "", cmdline.Usagef("--set %q must have the form NAME=VALUE", set)
		}
		value := []byte(text)
		if !json.Valid(value) {
			value, _ = output.DocumentText(text) // strings can always be encoded
		}
		i := slices.IndexFunc(members, func(m bodyMember) bool { return m.name == name })
		if i < 0 {
			members = append(members, bodyMember{name, value})
		} else {
			members[i].value = value
		}
	}
	return encodeMembers(members), nil
}

// encodeMembers returns a JSON object with the text of its members unchanged.
func encodeMembers(members []bodyMember) string {
	var texts []string
	for _, m := range members {
		name, _ := output.DocumentText(m.name) // strings can always be encoded
		value := m.value
		if value == nil {
			value = []byte("null")
		}
		texts = append(texts, fmt.Sprintf("%s:%s", name, value))
	}
	return "{" + strings.Join(texts, ",") + "}"
}
