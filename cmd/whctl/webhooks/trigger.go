package webhooks

import (
	"bytes"
	"encoding/json"
	"errors"
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
		Flags: slices.Concat(sendingFlags(), []cli.Flag{
			&cli.BoolFlag{Name: "list", Usage: "list the events with their number of subscriptions and a sample body"},
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
	if !c.Bool("list") {
		return command.Changes(planTrigger)(c)
	}
	if err := checkTriggerList(c); err != nil {
		return err
	}
	return command.Reads(listTriggers)(c)
}

// checkTriggerList checks the arguments and flags of whctl trigger --list. A list does not send
// anything, so that a command which looks as if it did is a mistake.
func checkTriggerList(c *cli.Context) error {
	if c.Args().Len() > 0 {
		return cmdline.Usagef("--list lists all events and sends none; leave out %s or --list",
			c.Args().First())
	}
	for _, f := range append(sendingFlags(), command.ChangeFlags()...) {
		if name := f.Names()[0]; c.IsSet(name) {
			return cmdline.Usagef("--list cannot be combined with --%s: it sends nothing", name)
		}
	}
	return nil
}

// sendingFlags are the flags of whctl trigger without --list, apart from those of every change.
func sendingFlags() []cli.Flag {
	return []cli.Flag{
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
		subscriberFlag(),
	}
}

// planTrigger plans the change of whctl trigger without --list.
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
	sets := c.StringSlice("set")
	if c.IsSet("body") {
		return setMembers("--body", body, sets)
	}
	return setMembers("the sample of "+event, record.SampleBody(event), sets)
}

// bodyMember is a member of a JSON object.
type bodyMember struct {
	name  string
	value []byte // JSON
}

// setMembers sets members of a JSON object, which an error calls name. The values of the other
// members keep their exact text, all members keep their order, and new ones are appended. Without
// any to set, it returns the body unchanged, which then need not be an object.
func setMembers(name, body string, sets []string) (string, error) {
	if len(sets) == 0 {
		return body, nil
	}
	members, err := membersOf(body)
	if err != nil {
		return "", cmdline.Usagef("--set requires a body that is a JSON object, and %s is none", name)
	}
	for _, set := range sets {
		member, text, ok := strings.Cut(set, "=")
		if !ok || member == "" {
			return "", cmdline.Usagef("--set %q must have the form NAME=VALUE", set)
		}
		value := []byte(text)
		if !json.Valid(value) {
			value = encodeString(text)
		}
		members, err = setMember(members, member, value)
		if err != nil {
			return "", cmdline.Usagef("--set %s: %s has %s", member, name, err)
		}
	}
	return encodeMembers(members), nil
}

// membersOf returns the members of a JSON object.
func membersOf(body string) ([]bodyMember, error) {
	object, err := client.ParseRow([]byte(body))
	if err != nil {
		return nil, err
	}
	var members []bodyMember
	for name, value := range object.All() {
		if value.Null() {
			value = client.Value("null")
		}
		members = append(members, bodyMember{name, value})
	}
	return members, nil
}

// setMember replaces the value of the member with a name, or appends one.
func setMember(members []bodyMember, name string, value []byte) ([]bodyMember, error) {
	hasName := func(m bodyMember) bool { return m.name == name }
	i := slices.IndexFunc(members, hasName)
	if i < 0 {
		return append(members, bodyMember{name, value}), nil
	}
	// Some parsers take the first of several members, others the last one.
	if slices.ContainsFunc(members[i+1:], hasName) {
		return nil, errors.New("several members with this name; remove all but one")
	}
	members[i].value = value
	return members, nil
}

// encodeMembers returns a JSON object with the text of its values unchanged.
func encodeMembers(members []bodyMember) string {
	var texts []string
	for _, m := range members {
		texts = append(texts, fmt.Sprintf("%s:%s", encodeString(m.name), m.value))
	}
	return "{" + strings.Join(texts, ",") + "}"
}

// encodeString returns a text as a JSON string, without escapes for HTML.
func encodeString(text string) []byte {
	var encoded bytes.Buffer
	encoder := json.NewEncoder(&encoded)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // fails for no string
	return bytes.TrimSuffix(encoded.Bytes(), []byte("\n"))
}
