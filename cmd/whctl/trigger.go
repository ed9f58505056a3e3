package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
)

func (p *program) triggerCommands() []*cli.Command {
	return []*cli.Command{{
		Name: "trigger", ArgsUsage: "[EVENT]", Usage: "raise an event to try out a subscription, and print its id", Action: p.trigger,
		Flags: append(newFlags(
			&cli.StringFlag{Name: "body", Usage: "the `TEXT` that is delivered, byte for byte; @FILE reads a file, - or @- standard input"},
			&cli.StringSliceFlag{Name: "set", Usage: "change a member of the body: `NAME=VALUE`, repeated; VALUE is JSON where it can be, else a text"},
			&cli.StringFlag{Name: "subscription", Usage: "only of the `SUBSCRIPTION`, by id"},
			&cli.BoolFlag{Name: "all-subscribers", Usage: "send it to all subscriptions that take the event"},
		), &cli.BoolFlag{Name: "list", Usage: "list the events, and how many subscriptions take each"}),
		Description: `whctl trigger --list
whctl trigger salesorder.created --subscription 1f0c..9ab2 --body @order.json --set InvoiceID=D1
whctl trigger salesorder.created --all-subscribers --yes`,
	}}
}

// taker is a subscription, and what it takes.
type taker struct{ id, event string }

func (t taker) takes(event string) bool {
	family, wild := strings.CutSuffix(t.event, "*")
	return strings.EqualFold(t.event, event) || wild && strings.HasPrefix(strings.ToLower(event), strings.ToLower(family))
}

// takers are all subscriptions. Those that are disabled take events too, which
// wait.
func takers(ctx context.Context, service *client.Client) ([]taker, error) {
	rows, err := service.Rows(ctx, client.Query{Kind: systemKind("Subscription"), Fields: []string{"RecID", "EventName"}, Strict: true})
	if err != nil {
		return nil, err
	}
	var all []taker
	for row, err := range rows.All() {
		if err != nil {
			return nil, err
		}
		all = append(all, taker{row.Text("RecID"), row.Text("EventName")})
	}
	return all, nil
}

// trigger is whctl trigger. The service sends an event to all subscriptions that
// take it, so for one it is raised only where no other does.
func (p *program) trigger(c *cli.Context) error {
	event := c.Args().First()
	if c.Bool("list") {
		return p.listTriggers(c)
	}
	switch one, all := c.String("subscription"), c.Bool("all-subscribers"); {
	case event == "":
		return usagef("trigger needs EVENT; whctl trigger --list shows them")
	case one == "" && !all:
		return usagef("trigger needs --subscription, or --all-subscribers to send it to all that take %s", event)
	case one != "" && all:
		return usagef("--subscription and --all-subscribers exclude each other")
	}
	body, err := p.triggerBody(c, event)
	if err != nil {
		return err
	}
	if !c.Bool("dry-run") {
		if err := p.checkTakers(c, event); err != nil {
			return err
		}
	}
	service, err := p.connectToChange(c, change{what: "raise " + event + " for " + triggerTarget(c), sweeping: c.Bool("all-subscribers")})
	if err != nil {
		return err
	}
	defer service.Close()
	receipt, err := service.RaiseEvent(c.Context, event, body)
	if err != nil {
		return err
	}
	p.notice(c, "%s is raised: %s", event, countOf(int64(receipt.Messages), "message", "messages"))
	return p.tellNew(c, receipt.EventID, receipt)
}

func triggerTarget(c *cli.Context) string {
	if one := c.String("subscription"); one != "" {
		return "the subscription " + one
	}
	return "all its subscriptions"
}

// checkTakers makes sure that an event for one subscription goes to no other.
func (p *program) checkTakers(c *cli.Context, event string) error {
	one := c.String("subscription")
	if one == "" {
		return nil
	}
	service, err := p.connect(c)
	if err != nil {
		return err
	}
	defer service.Close()
	n, err := findSubscription(c.Context, service, "", one)
	if err != nil {
		return err
	}
	all, err := takers(c.Context, service)
	if err != nil {
		return err
	}
	others, takes := 0, false
	for _, t := range all {
		switch {
		case !t.takes(event):
		case t.id == n.id:
			takes = true
		default:
			others++
		}
	}
	switch {
	case !takes:
		return usagef("the subscription does not take %s; whctl subscriptions test %s sends it a test message", event, shortID(n.id))
	case others > 0:
		return &unconfirmedError{fmt.Sprintf("%s would go to %s too: --all-subscribers --yes sends it to all, whctl subscriptions test %s a test message to the one",
			event, countOf(int64(others), "other subscription", "other subscriptions"), shortID(n.id))}
	}
	return nil
}

// triggerBody is what is sent: that of --body, or else a document that says what
// it is, with the changes of --set.
func (p *program) triggerBody(c *cli.Context, event string) (string, error) {
	body, err := p.body(c)
	if err != nil {
		return "", err
	}
	if !c.IsSet("body") {
		text, err := documentText(map[string]any{"EventName": event, "Test": true})
		if err != nil {
			return "", err
		}
		body = string(text)
	}
	sets := c.StringSlice("set")
	if len(sets) == 0 {
		return body, nil
	}
	return setMembers(body, sets)
}

// setMembers changes members of a JSON object. The others keep their digits, and
// all keep their order; new ones come last.
func setMembers(body string, sets []string) (string, error) {
	object, err := client.ParseRow([]byte(body))
	if err != nil {
		return "", usagef("--set needs a body that is a JSON object")
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
			return "", usagef("--set %q must be like InvoiceID=D1", set)
		}
		text := []byte(value)
		if !json.Valid(text) {
			text, _ = documentText(value) // a text can always be encoded
		}
		at := slices.IndexFunc(members, func(m member) bool { return m.name == name })
		if at < 0 {
			at, members = len(members), append(members, member{name: name})
		}
		members[at].value = text
	}
	var out bytes.Buffer
	for i, m := range members {
		name, _ := documentText(m.name) // the same
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

// separators stand before the first member of an object, and before the others.
var separators = [2]string{"{", ","}

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
	all, err := takers(c.Context, service)
	if err != nil {
		return err
	}
	var lines [][]any
	for _, e := range events {
		n := 0
		for _, t := range all {
			if t.takes(e.Name) {
				n++
			}
		}
		lines = append(lines, []any{e.Name, n, e.Description})
	}
	_, err = p.show(c, triggerColumns, lines)
	return err
}

var triggerColumns = []column{{"Event", record.Text}, {"Subscriptions", record.Int}, {"Description", record.Text}}
