package webhooks

import (
	"net/url"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/cmd/whctl/command"
	"github.com/bizhook/whd/cmd/whctl/output"
	"github.com/bizhook/whd/cmd/whctl/records"
)

// MessageCommands returns the commands on messages.
func MessageCommands() []*cli.Command {
	return []*cli.Command{{
		Name:    "messages",
		Aliases: []string{"message"},
		Usage:   "list, inspect and resend messages",
		Subcommands: []*cli.Command{
			{
				Name:  "list",
				Usage: "list messages",
				Flags: slices.Concat(
					records.ListFlags(command.SystemKind("Message"), messageExamples),
					endpointFlags(), []cli.Flag{command.KeyFlag()}),
				Action: records.Lists(listMessages),
				Description: `whctl messages list --status failed,retrying --since 2h
whctl messages list --where "EventName^=salesorder." --order-by -AddedDateTime --take 20
whctl messages list --subscriber "ACME shop" --status failed --since 2h
whctl messages list --key D100512`,
			},
			{
				Name:      "show",
				ArgsUsage: "MESSAGE",
				Usage:     "show a message or its delivery attempts",
				Action:    command.Reads(showMessage),
				Flags: append(output.Flags(),
					&cli.BoolFlag{Name: "attempts", Usage: "list the delivery attempts"},
					command.KeyFlag()),
			},
			{
				Name:      "retry",
				ArgsUsage: "[MESSAGE...]",
				Usage:     "send messages again, by ID or by condition",
				Flags:     bulkFlags("retry"),
				Action:    command.With(retrying.run),
				Description: `whctl messages retry 01a1..7fa4
whctl messages retry --status failed --since 2h --dry-run
whctl messages retry --status failed --event "salesorder.*" --since 2h --yes
whctl messages retry --status delivered --since 2h --dry-run`,
			},
			{
				Name:      "delete",
				Aliases:   []string{"remove", "rm"},
				ArgsUsage: "[MESSAGE...]",
				Usage:     "delete messages, by ID or by condition, and cancel their deliveries",
				Flags:     bulkFlags("delete"),
				Action:    command.With(deleting.run),
				Description: `whctl messages delete 01a1..7fa4 --yes
whctl messages delete --status delivered --until 2026-07-01 --dry-run`,
			},
			{
				Name:  "tail",
				Usage: "follow message status changes live",
				Flags: slices.Concat(
					records.TailFlags(), messageTailFlags(), []cli.Flag{command.KeyFlag()}),
				Action: command.With(tailMessages),
				Description: `whctl messages tail --status retrying,failed
whctl messages tail --event "salesorder.*" --ndjson`,
			},
		},
	}}
}

// messageExamples are the examples for messages.
var messageExamples = records.ConditionExamples{
	Where: "Status=failed and Retries>=2",
	Json:  `{"Status":3}`,
}

// bulkFlags returns the flags of commands that change many messages.
func bulkFlags(verb string) []cli.Flag {
	return append(command.ChangeFlags(), selectionFlags(verb)...)
}

// selectionFlags returns the flags that select the messages to change. --where has the same meaning
// as for list.
func selectionFlags(verb string) []cli.Flag {
	flags := append(records.ShorthandFlags(command.SystemKind("Message")), endpointFlags()...)
	for _, f := range records.QueryFlags(messageExamples) {
		if f.Names()[0] == "where" {
			flags = append(flags, f)
		}
	}
	return append(flags,
		&cli.Int64Flag{
			Name:    "take",
			Aliases: []string{"n"},
			Usage:   verb + " at most `N` messages, oldest first",
		},
		&cli.BoolFlag{Name: "all-messages", Usage: "all messages, without a condition"})
}

// messageBrief has the fields of messages that a table shows by default. If it is on a terminal, it
// has the columns of messageView instead.
var messageBrief = []string{
	"MessageID", "Status", "EventName", "Key", "URL", "Retries", "AddedDateTime",
	"LastMessageResponseHTTPCode", "LastMessageResponseMessage", "NextAttemptDateTime",
}

// Titles of columns that are replaced in a view.
const (
	messageStatus = "Status"
	nextTry       = "Next try"
)

// heldView replaces the next attempt of a message that is held.
var heldView = output.ViewColumn{Title: "Held", Fields: "Held", As: output.Lines, Rank: output.DetailOnly}

// messageView has the columns of messages on a terminal, attemptView those of attempts. The next try is
// hidden last: without messages that wait, its column is empty and left out.
var (
	messageView = []output.ViewColumn{
		{Title: messageStatus, Fields: "Status", As: output.Status},
		{Title: "Event", Fields: "EventName", As: output.Event},
		{Title: "Key", Fields: "Key", As: output.Words, Rank: 3},
		{Title: "Endpoint", Fields: "URL", As: output.NarrowEndpoint, Rank: 2},
		{Title: "Tries", Fields: "Status Retries MaxRetries", As: output.Tries, Rank: 4},
		{
			Title:  "Response",
			Fields: "LastMessageResponseHTTPCode LastMessageResponseMessage",
			As:     output.HTTPStatus,
		},
		{Title: "Text", Fields: "AnswerText", As: output.Lines, Rank: output.DetailOnly},
		{Title: "Reason", Fields: "Detail", As: output.Lines, Rank: output.DetailOnly},
		{Title: "Took", Fields: "Duration", As: output.Duration, Rank: output.DetailOnly},
		{Title: "Age", Fields: "AddedDateTime", As: output.Age, Rank: 3},
		{Title: nextTry, Fields: "NextAttemptDateTime", As: output.Due, Rank: 1},
		{Title: "Last changed", Fields: "LastSavedDateTime", As: output.Age, Rank: output.DetailOnly},
		{Title: "Message ID", Fields: "MessageID", As: output.ID},
		{Title: "Subscription ID", Fields: "SubscriptionID", As: output.ID, Rank: output.DetailOnly},
		{Title: "Subscriber ID", Fields: "SubscriberID", As: output.SecretID, Rank: output.DetailOnly},
		{Title: "Number", Fields: "ItemNo", As: output.Whole, Rank: output.DetailOnly},
		{Title: "Body", Fields: "Body", As: output.Lines, Rank: output.DetailOnly},
	}
	attemptView = []output.ViewColumn{
		{Title: "Try", Fields: "ItemNo", As: output.Count},
		{Title: "Response", Fields: "HTTPCode Message", As: output.HTTPStatus},
		{Title: "Text", Fields: "AnswerText", As: output.Lines, Rank: 1},
		{Title: "Reason", Fields: "Detail", As: output.Lines, Rank: 3},
		{Title: "Took", Fields: "Duration", As: output.Duration, Rank: 2},
		{Title: "Time", Fields: "LastSavedDateTime", As: output.Local},
		{Title: "Endpoint", Fields: "URL", As: output.Endpoint, Rank: 4},
		{Title: "Status", Fields: "Status", As: output.Status, Rank: 5},
	}
)

func listMessages(c *cli.Context, s *command.Session) (records.Listing, error) {
	where, err := endpointConditions(c, s)
	if err != nil {
		return records.Listing{}, err
	}
	var states queueStates
	return records.Listing{
		Kind:   command.SystemKind("Message"),
		Brief:  messageBrief,
		View:   messageListView(&states),
		Where:  where,
		Opened: func(service *client.Client) { states.connect(c.Context, service) },
	}, nil
}

// messageListView returns the columns of messages, with the states of their queues.
func messageListView(q *queueStates) []output.ViewColumn {
	view := slices.Clone(messageView)
	for i := range view {
		switch view[i].Title {
		case messageStatus:
			view[i].Fields = "Status SubscriptionID EventName"
			view[i].As = output.MessageStatus(q.of)
		case nextTry:
			view[i].Fields = "NextAttemptDateTime Status SubscriptionID EventName"
			view[i].As = output.NextTry(q.of)
		}
	}
	return view
}

// endpointConditions returns the conditions of --subscriber and --subscription.
func endpointConditions(c *cli.Context, s *command.Session) ([]client.Filter, error) {
	if !command.AnySet(c, endpointFlags()) {
		return nil, nil
	}
	defer func(reads bool) { s.DryRunReads = reads }(s.DryRunReads)
	s.DryRunReads = true // to look up the IDs
	service, err := s.ReadClient(c)
	if err != nil {
		return nil, err
	}
	defer service.Close()
	subscriber, subscription, err := findEndpoint(c, service)
	if err != nil {
		return nil, err
	}
	var where []client.Filter
	if subscriber != "" {
		where = append(where, client.Filter{Field: "SubscriberID", Values: []string{subscriber}})
	}
	if subscription != "" {
		where = append(where, client.Filter{Field: "SubscriptionID", Values: []string{subscription}})
	}
	return where, nil
}

// showMessage runs whctl messages show.
func showMessage(c *cli.Context, out *output.Printer, service *client.Client) error {
	ref, err := findMessage(c.Context, service, c.Args().First())
	if err != nil {
		return err
	}
	where := url.Values{"MessageID": {ref.id}}
	if c.Bool("attempts") {
		return showAttempts(c, out, service, where)
	}
	page, err := service.AllMessages(c.Context, where)
	if err != nil {
		return err
	}
	table := output.Table{
		Columns: output.ColumnsOf(command.SystemKind("Message"), nil),
		View:    messageView,
	}
	if len(page.Results) != 1 {
		return output.Documents(out, table, page.Results...)
	}
	shown := answeredMessage{Message: page.Results[0], Held: page.Meta[wire.MetaHeld]}
	format, err := out.Format()
	isForReading := err == nil && format.HumanReadable() && out.OnScreen()
	if !isForReading {
		err = output.Documents(out, table, shown)
		if !c.IsSet("format") && format.Name != "json" && format.Name != "ndjson" {
			noteAttempts(c, service, out, shown.MessageID)
		}
		return err
	}

	out.One = true
	table.Columns = append(table.Columns, output.Column{Name: "Duration", Type: record.TimeSpan})
	var states queueStates
	states.connect(c.Context, service)
	table.View = messageListView(&states)
	if shown.Held != "" {
		isNext := func(c output.ViewColumn) bool { return c.Title == nextTry }
		table.View[slices.IndexFunc(table.View, isNext)] = heldView
	}
	addLastAttempt(c, service, &shown)
	err = output.Documents(out, table, shown)
	noteAttempts(c, service, out, shown.MessageID)
	return err
}

// noteAttempts prints a notice with the number of attempts of a message and how to list them. There
// is none without attempts, or without the permission to read them.
func noteAttempts(c *cli.Context, service *client.Client, out *output.Printer, id string) {
	attempts, err := service.Attempts(c.Context, url.Values{"MessageID": {id}, "Fields": {"ItemNo"}})
	if err != nil || len(attempts.Results) == 0 {
		return
	}
	n := len(attempts.Results)
	out.Notice("%s: whctl messages show %s --attempts", display.Count(n, "attempt", "attempts"), id)
}

// showAttempts prints the delivery attempts of a message.
func showAttempts(
	c *cli.Context, out *output.Printer, service *client.Client, where url.Values,
) error {
	page, err := service.Attempts(c.Context, where)
	if err != nil {
		return err
	}
	table := output.Table{
		Columns: output.ColumnsOf(command.SystemKind("Attempt"), attemptFields),
		View:    attemptView,
	}
	err = output.Documents(out, table, page.Results...)
	noteOtherEndpoint(c, service, out, page.Results)
	return err
}

// noteOtherEndpoint prints a notice if attempts were made before and after a change of the
// subscription: all of them show the URL of the last one, since no other is stored.
func noteOtherEndpoint(
	c *cli.Context, service *client.Client, out *output.Printer, attempts []wire.Attempt,
) {
	if len(attempts) < 2 {
		return
	}
	subscription := url.Values{"RecID": {attempts[0].SubscriptionID}}
	page, err := service.AllSubscriptions(c.Context, subscription)
	if err != nil || len(page.Results) == 0 {
		return
	}
	changed := time.Time(page.Results[0].LastSavedDateTime)
	before := 0
	for _, attempt := range attempts {
		if time.Time(attempt.LastSavedDateTime).Before(changed) {
			before++
		}
	}
	if before == 0 || before == len(attempts) {
		return
	}
	out.Notice("%s before the subscription was last changed, perhaps to another URL: "+
		"only the URL of the last attempt is stored",
		display.Count(before, "attempt was made", "attempts were made"))
}

// addLastAttempt adds the last attempt to a message. Without the role admin, which the attempts
// require, the message has none.
func addLastAttempt(c *cli.Context, service *client.Client, message *answeredMessage) {
	attempts, err := service.Attempts(c.Context, url.Values{
		"MessageID":   {message.MessageID},
		"OrderByDesc": {"ItemNo"},
		"Take":        {"1"},
	})
	if err != nil || len(attempts.Results) == 0 {
		return
	}
	attempt := attempts.Results[0]
	message.AnswerText = attempt.AnswerText
	message.Detail = attempt.Detail
	message.Duration = attempt.Duration
}

// answeredMessage is a message with its last attempt, and with the reason if it is held.
type answeredMessage struct {
	wire.Message
	AnswerText, Detail *string `json:",omitempty"`
	Duration           string  `json:",omitempty"`
	Held               string  `json:",omitempty"`
}

// attemptFields has the fields of an attempt that its message does not have.
var attemptFields = []string{
	"ItemNo", "LastSavedDateTime", "HTTPCode", "Message", "Duration", "Status", "URL",
	"Detail", "AnswerText",
}
