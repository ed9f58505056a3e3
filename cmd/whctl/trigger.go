package main

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
	"github.com/bizhook/whd/cmd/whctl/output"
)

func triggerCommands() []*cli.Command {
	return []*cli.Command{{
		Name: "trigger", ArgsUsage: "[EVENT]", Usage: "try an event out on one subscription, or raise it for all, and print the id", Action: trigger,
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

// trigger is whctl trigger. One subscription gets a message that is marked as a
// test; all of them get the event itself.
func trigger(c *cli.Context) error {
	if c.Bool("list") {
		return reads(listTriggers)(c)
	}
	return changes(planTrigger)(c)
}

func planTrigger(c *cli.Context, _ *session) (change, error) {
	event := c.Args().First()
	switch one, all := c.String("subscription"), c.Bool("all-subscribers"); {
	case event == "":
		return change{}, cmdline.Usagef("trigger needs EVENT; whctl trigger --list shows them")
	case one == "" && !all:
		return change{}, cmdline.Usagef("trigger needs --subscription, or --all-subscribers to send it to all that take %s", event)
	case one != "" && all:
		return change{}, cmdline.Usagef("--subscription and --all-subscribers exclude each other")
	}
	for _, f := range output.Flags() {
		if name := f.Names()[0]; c.IsSet(name) && name != "json" {
			return change{}, cmdline.Usagef("--%s goes with --list only", name)
		}
	}
	body, err := triggerBody(c, event)
	if c.Bool("all-subscribers") {
		what := raising(c, body, "")
		what.sweeping = true
		return what, err
	}
	return onSubscription(c, "send a test of "+event+" to", c.String("subscription"), func(out *output.Printer, service *client.Client, n subscriptionName) error {
		state, err := service.TestSubscriptionWith(c.Context, n.subscriber, n.id, wire.TestRequest{EventName: event, Body: body})
		if err != nil {
			return err
		}
		out.Notice("a test of %s is on its way; whctl messages show %s tells what became of it", event, state.MessageID)
		return out.Made(state.MessageID, state)
	}), err
}

var triggerColumns = []output.Column{{Name: "Event", Type: record.Text}, {Name: "Subscriptions", Type: record.Int}, {Name: "Description", Type: record.Text}, {Name: "Sample", Type: record.Text}}

// listTriggers lists the events with the number of subscriptions that take each.
// Those that are disabled take events too, which wait.
func listTriggers(c *cli.Context, out *output.Printer, service *client.Client) error {
	events, err := service.Events(c.Context)
	if err != nil {
		return err
	}
	rows, err := service.Rows(c.Context, client.Query{Kind: systemKind("Subscription"), Fields: []string{"EventName"}, Strict: true})
	if err != nil {
		return err
	}
	taken := make([]int, len(events))
	for row, err := range rows.All() {
		if err != nil {
			return err
		}
		for i, e := range events {
			if record.TakesEvent(row.Text("EventName"), e.Name) {
				taken[i]++
			}
		}
	}
	var lines [][]any
	for i, e := range events {
		lines = append(lines, []any{e.Name, taken[i], e.Description, record.SampleBody(e.Name)})
	}
	_, err = out.Lines(triggerColumns, lines)
	return err
}

// triggerBody is what is sent: that of --body, or else a sample, with the
// changes of --set.
func triggerBody(c *cli.Context, event string) (string, error) {
	body, err := readBody(c)
	if err != nil {
		return "", err
	}
	switch {
	case !c.IsSet("body"):
		body = record.SampleBody(event)
	case body == "": // in whose place the service would send a sample
		return "", cmdline.Usagef("the --body is empty; without --body a sample is sent")
	}
	if sets := c.StringSlice("set"); len(sets) > 0 {
		if body, err = setMembers(body, sets); err != nil {
			return "", err
		}
	}
	return body, nil
}

// setMembers changes members of a JSON object. The others keep their digits, and
// all keep their order; new ones come last.
func setMembers(body string, sets []string) (string, error) {
	object, err := client.ParseRow([]byte(body))
	if err != nil {
		return "", cmdline.Usagef("--set needs a body that is a JSON object")
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
			return "", cmdline.Usagef("--set %q must be like InvoiceID=D1", set)
		}
		text := []byte(value)
		if !json.Valid(text) {
			text, _ = output.DocumentText(value) // a text can always be encoded
		}
		at := slices.IndexFunc(members, func(m member) bool { return m.name == name })
		if at < 0 {
			at, members = len(members), append(members, member{name: name})
		}
		members[at].value = text
	}
	var out bytes.Buffer
	for i, m := range members {
		name, _ := output.DocumentText(m.name) // the same
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

// separators go before the first member of an object, and before the others.
var separators = [2]string{"{", ","}
