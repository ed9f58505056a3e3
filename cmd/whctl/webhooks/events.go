package webhooks

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/command"
	"github.com/bizhook/whd/cmd/whctl/output"
)

// EventCommands returns the commands on events.
func EventCommands() []*cli.Command {
	return []*cli.Command{{
		Name:    "events",
		Aliases: []string{"event"},
		Usage:   "list and publish events",
		Subcommands: []*cli.Command{
			{
				Name:   "list",
				Usage:  "list the events that subscriptions can receive",
				Flags:  output.Flags(),
				Action: command.ShowsAll(output.Table{Columns: eventColumns}, (*client.Client).Events),
			},
			{
				Name:      "show",
				ArgsUsage: "EVENT",
				Usage:     "show the schema and a sample of the body of an event",
				Flags:     output.Flags(),
				Action:    command.Reads(showEvent),
				Description: `whctl events show debtor.updated
whctl events show debtor.updated --jq '.[].Schema'`,
			},
			{
				Name:      "publish",
				Aliases:   []string{"raise"},
				ArgsUsage: "EVENT [BODY]",
				Usage:     "publish an event to its subscriptions and print its ID",
				Action:    command.Changes(publishEvent),
				Flags: command.ResultFlags(
					"print the event's ID and number of messages as JSON; a body that starts like JSON must be JSON",
					&cli.StringFlag{
						Name:  "body",
						Usage: "the `TEXT` to deliver unchanged, instead of BODY; @FILE reads a file, - or @- standard input",
					},
					&cli.StringFlag{
						Name: "event-key",
						Usage: "the `KEY` (subject) of the event, such as an order number; " +
							"messages can be found by it",
					},
					&cli.StringFlag{
						Name:  idempotencyKeyFlag,
						Usage: "repeated calls with this `KEY` within a day publish the event once",
					},
					&cli.StringFlag{
						Name:   formerKeyFlag,
						Usage:  "refused: --event-key and --idempotency-key take a `KEY`",
						Hidden: true,
					},
				),
				Description: `whctl events publish salesorder.created --body @order.json
whctl events publish salesorder.created --body '{"InvoiceID":"D100512"}' --event-key D100512 --idempotency-key order-4711`,
			},
		},
	}}
}

// WhyCommands returns the command that explains a key.
func WhyCommands() []*cli.Command {
	return []*cli.Command{{
		Name:      "why",
		ArgsUsage: "KEY",
		Usage: "show the history of a key or message: its changes, events, messages and attempts, " +
			"and why any of them are missing",
		Flags:  output.Flags(),
		Action: command.Reads(showHistory),
		Description: `whctl why D100512
whctl why 01a1..7fa4
whctl why D100512 --jq '.[] | select(.Step == "failed") | .MessageID'`,
	}}
}

// showHistory runs whctl why.
func showHistory(c *cli.Context, out *output.Printer, service *client.Client) error {
	steps, err := historySteps(c, service)
	if err != nil {
		return err
	}
	err = output.Documents(out, output.Table{Columns: whyColumns, View: whyView}, steps...)
	isUnknown := func(s wire.WhyStep) bool { return s.Step == wire.WhyNoEvent }
	if err == nil && slices.ContainsFunc(steps, isUnknown) {
		out.Notice("events that were published without a key are not found by it; to search their bodies: "+
			"whctl messages list --where %q", "Body *= "+c.Args().First())
	}
	return err
}

// historySteps returns the history of the key or message that is the argument.
func historySteps(c *cli.Context, service *client.Client) ([]wire.WhyStep, error) {
	key := c.Args().First()
	why, err := service.WhyOf(c.Context, key)
	if err != nil {
		return nil, err
	}
	isUnknown := !slices.ContainsFunc(why.Steps, func(s wire.WhyStep) bool { return s.MessageID != "" })
	if !isUnknown {
		return why.Steps, nil
	}
	if event := eventNamed(c, service, key); event != "" {
		return nil, cmdline.Usagef("%s is an event, and why needs the key of a record, such as an order "+
			"number, or the ID of a message; list the messages of the event with "+
			"whctl messages list --event %s", event, event)
	}
	return why.Steps, nil
}

// eventNamed returns the event of the service with a name in any letter case, as the service spells it,
// and "" if there is none.
func eventNamed(c *cli.Context, service *client.Client, name string) string {
	if !strings.Contains(name, ".") {
		return ""
	}
	events, err := service.Events(c.Context)
	if err != nil {
		return "" // this is only a hint
	}
	isNamed := func(e wire.Event) bool { return strings.EqualFold(e.Name, name) }
	i := slices.IndexFunc(events, isNamed)
	if i < 0 {
		return ""
	}
	return events[i].Name
}

var (
	whyColumns = []output.Column{
		{Name: "At", Type: record.Epoch},
		{Name: "Step", Type: record.Text},
		{Name: "Text", Type: record.Text},
		{Name: "SubscriptionID", Type: record.Text},
		{Name: "MessageID", Type: record.Text},
	}
	whyView = []output.ViewColumn{
		{Title: "Time", Fields: "At", As: output.Local},
		{Title: "Step", Fields: "Step", As: output.Words},
		{Title: "Message ID", Fields: "MessageID", As: output.ID, Rank: 1},
		{Title: "Subscription ID", Fields: "SubscriptionID", As: output.ID, Rank: 2},
		{Title: "Text", Fields: "Text", As: output.Prose},
	}
)

var eventColumns = []output.Column{
	{Name: "Name", Type: record.Text},
	{Name: "Description", Type: record.Text},
}

var eventBodyColumns = []output.Column{
	{Name: "Name", Type: record.Text},
	{Name: "Description", Type: record.Text},
	{Name: "Schema", Type: record.Object},
	{Name: "Sample", Type: record.Object},
}

// showEvent prints the description of an event's body. For reading it is a text with the JSON on
// lines of its own, which can be copied.
func showEvent(c *cli.Context, out *output.Printer, service *client.Client) error {
	name := c.Args().First()
	bodies, err := service.EventBodies(c.Context)
	if err != nil {
		return err
	}
	isNamed := func(b wire.EventBody) bool { return strings.EqualFold(b.Name, name) }
	i := slices.IndexFunc(bodies, isNamed)
	if i < 0 {
		names := record.Texts(bodies, func(b wire.EventBody) string { return b.Name })
		return cmdline.Usagef("unknown event %s%s; whctl events list lists the events",
			name, record.DidYouMean(record.Suggest(name, names)))
	}
	event := bodies[i]
	format, err := out.Format()
	if err != nil {
		return err
	}
	out.One = true
	if !format.HumanReadable() {
		return output.Documents(out, output.Table{Columns: eventBodyColumns}, event)
	}
	sink, err := out.Create()
	if err != nil {
		return err
	}
	fmt.Fprintf(sink, "%s: %s\n", event.Name, display.Sanitize(event.Description))
	for _, part := range []struct {
		title string
		text  json.RawMessage
	}{{"Schema", event.Schema}, {"Sample", event.Sample}} {
		var indented bytes.Buffer
		err = json.Indent(&indented, part.text, "", "  ")
		if err != nil {
			return sink.Finish(err)
		}
		fmt.Fprintf(sink, "\n%s:\n%s\n", part.title, indented.Bytes())
	}
	return sink.Finish(nil)
}

func publishEvent(c *cli.Context, s *command.Session) (command.Change, error) {
	key, err := idempotencyKey(c)
	if err != nil {
		return command.Change{}, err
	}
	body, err := readBody(c, s)
	if err != nil {
		return command.Change{}, err
	}
	post := wire.EventPost{EventName: c.Args().First(), Key: c.String("event-key"), Body: body}
	planned := publication(c, post, key)
	if body == "" && s.HasInput() {
		s.Notice(c, "warning: standard input was not read: to publish it, add --body -")
	}
	return planned, nil
}

// The flags of the idempotency key. The former name is refused: in conditions of other commands,
// --key is the key of an event, which events published with it would lack.
const (
	idempotencyKeyFlag = "idempotency-key"
	formerKeyFlag      = "key"
)

// idempotencyKey returns the idempotency key, empty without one.
func idempotencyKey(c *cli.Context) (string, error) {
	if c.IsSet(formerKeyFlag) {
		return "", cmdline.Usagef("--key has two meanings: use --event-key for the key of the event, " +
			"by which its messages are found, or --idempotency-key to publish it once")
	}
	key := c.String(idempotencyKeyFlag)
	if c.IsSet(idempotencyKeyFlag) && key == "" {
		return "", cmdline.Usagef("--%s must have 1 to 255 characters; without the flag, "+
			"each call publishes an event", idempotencyKeyFlag)
	}
	return key, nil
}

// publication plans to publish an event to its subscriptions, only once for calls with the same
// idempotency key. The key can be empty.
func publication(c *cli.Context, e wire.EventPost, key string) command.Change {
	return command.Change{
		Text: "publish " + e.EventName + " to its subscriptions",
		Do: func(out *output.Printer, service *client.Client) error {
			receipt, err := service.PublishEventWith(c.Context, e, key)
			if err != nil {
				return withEventHint(c, service, e.EventName, err)
			}
			published := "published"
			if e.Body == "" {
				published = "published without a body"
			}
			if receipt.Replayed {
				published = "was already published with this idempotency key"
			}
			messages := display.Count(int64(receipt.Messages), "message", "messages")
			out.Notice("%s %s: %s", e.EventName, published, messages)
			return out.Created(receipt.EventID, receipt)
		},
	}
}

// withEventHint adds the published events that are similar to an unknown one to the error
// of the service.
func withEventHint(c *cli.Context, service *client.Client, name string, err error) error {
	isUnknownEvent := func(f wire.FieldError) bool {
		return f.FieldName == "EventName" && strings.Contains(f.Message, "GET /Webhooks/Events")
	}
	reply, ok := errors.AsType[*client.Error](err)
	if !ok || !slices.ContainsFunc(reply.Fields, isUnknownEvent) {
		return err
	}
	events, eventsErr := service.Events(c.Context)
	if eventsErr != nil {
		return err
	}
	names := record.Texts(events, func(e wire.Event) string { return e.Name })
	hint := record.DidYouMean(record.Suggest(name, names))
	if len(reply.Fields) == 1 {
		field := &reply.Fields[0]
		if reply.Message == field.FieldName+" "+field.Message {
			field.Message += hint // keeps them equal, so that the error is printed once
		}
	}
	reply.Message += hint
	return reply
}

// readBody reads --body. A text that is probably meant to be JSON is checked.
func readBody(c *cli.Context, s *command.Session) (string, error) {
	text := c.String("body")
	if c.Command.Name == "publish" && c.Args().Len() > 1 {
		if c.IsSet("body") {
			return "", cmdline.Usagef("events publish has two bodies, BODY and --body; use one")
		}
		text = c.Args().Get(1)
	}
	if text == "-" {
		text = "@-"
	}
	body, err := command.Argument(c, text)
	if err != nil {
		return "", cmdline.Usagef("--body: %s", err)
	}
	return body, checkJSON(c, s, body)
}

// checkJSON prompts for a confirmation on a terminal, or else prints a warning, if a body starts
// like JSON but is none. With --json it is an error.
func checkJSON(c *cli.Context, s *command.Session, body string) error {
	start := strings.TrimSpace(body)
	looksLikeJSON := strings.HasPrefix(start, "{") || strings.HasPrefix(start, "[")
	if !looksLikeJSON || json.Valid([]byte(body)) {
		return nil
	}
	mistake := "the body starts with " + start[:1] + " but is not JSON: " + jsonMistake(body)
	if c.Bool("json") {
		return cmdline.Usagef("%s", mistake)
	}
	if s.MayPrompt(c) && !c.Bool("yes") {
		return s.PromptYes(c, mistake+"; send it as it is")
	}
	s.Notice(c, "warning: %s; it is sent as it is (--json makes this an error)", mistake)
	return nil
}

// jsonMistake describes the first mistake of a text that is not JSON, with its line and column.
func jsonMistake(text string) string {
	var value any
	err := json.Unmarshal([]byte(text), &value)
	mistake, ok := errors.AsType[*json.SyntaxError](err)
	if !ok {
		return fmt.Sprint(err)
	}
	// A decoder distinguishes the end of the text from a wrong last character.
	last := int(mistake.Offset) - 1
	err = json.NewDecoder(strings.NewReader(text)).Decode(&value)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		last = len(strings.TrimRight(text, " \t\r\n")) - 1
	}
	before := text[:last]
	line := strings.Count(before, "\n") + 1
	column := utf8.RuneCountInString(before[strings.LastIndex(before, "\n")+1:]) + 1
	return fmt.Sprintf("%s at line %d, column %d", mistake, line, column)
}
