package webhooks

import (
	"context"
	"fmt"
	"net/url"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/command"
	"github.com/bizhook/whd/cmd/whctl/output"
	"github.com/bizhook/whd/cmd/whctl/profile"
	"github.com/bizhook/whd/cmd/whctl/records"
)

func MessageCommands() []*cli.Command {
	return []*cli.Command{{
		Name:    "messages",
		Aliases: []string{"message"},
		Usage:   "list, inspect and resend messages",
		Subcommands: []*cli.Command{
			{
				Name:  "list",
				Usage: "list messages",
				Flags: append(append(records.ListFlags(command.SystemKind("Message"), messageExamples),
					endpointFlags()...), command.KeyFlag()),
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
				Flags: append(output.Flags(), &cli.BoolFlag{
					Name:  "attempts",
					Usage: "list the delivery attempts",
				}, command.KeyFlag()),
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
				Name:   "tail",
				Usage:  "follow message status changes live",
				Flags:  append(append(records.TailFlags(), messageTailFlags()...), command.KeyFlag()),
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

// bulkFlags returns the flags of commands that change many messages. --where has the
// same meaning as for list.
func bulkFlags(verb string) []cli.Flag {
	flags := append(append(command.ChangeFlags(), records.ShorthandFlags(command.SystemKind("Message"))...),
		endpointFlags()...)
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

// messageBrief has the fields of messages that a table shows by default.
var messageBrief = []string{
	"MessageID", "Status", "EventName", "Key", "URL", "Retries", "AddedDateTime",
	"LastMessageResponseHTTPCode", "LastMessageResponseMessage", "NextAttemptDateTime",
}

// messageView has the columns of messages on a terminal, attemptView those of attempts.
var (
	messageView = []output.ViewColumn{
		{Title: "Status", Fields: "Status", As: output.Status},
		{Title: "Event", Fields: "EventName", As: output.Words},
		{Title: "Key", Fields: "Key", As: output.Words, Rank: 2},
		{Title: "Endpoint", Fields: "URL", As: output.Endpoint, Rank: 1},
		{Title: "Tries", Fields: "Status Retries MaxRetries", As: output.Tries, Rank: 3},
		{Title: "Last answer", Fields: "LastMessageResponseHTTPCode LastMessageResponseMessage", As: output.HTTPStatus},
		{Title: "Text", Fields: "AnswerText", As: output.Lines, Rank: output.DetailOnly},
		{Title: "Reason", Fields: "Detail", As: output.Lines, Rank: output.DetailOnly},
		{Title: "Took", Fields: "Duration", As: output.Duration, Rank: output.DetailOnly},
		{Title: "Age", Fields: "AddedDateTime", As: output.Age, Rank: 2},
		{Title: "Next try", Fields: "NextAttemptDateTime", As: output.Due, Rank: 4},
		{Title: "Last changed", Fields: "LastSavedDateTime", As: output.Age, Rank: output.DetailOnly},
		{Title: "Message ID", Fields: "MessageID", As: output.ID},
		{Title: "Subscription ID", Fields: "SubscriptionID", As: output.ID, Rank: output.DetailOnly},
		{Title: "Subscriber ID", Fields: "SubscriberID", As: output.SecretID, Rank: output.DetailOnly},
		{Title: "Number", Fields: "ItemNo", As: output.Whole, Rank: output.DetailOnly},
		{Title: "Body", Fields: "Body", As: output.Lines, Rank: output.DetailOnly},
	}
	attemptView = []output.ViewColumn{
		{Title: "Try", Fields: "ItemNo", As: output.Count},
		{Title: "Answer", Fields: "HTTPCode Message", As: output.HTTPStatus},
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
	return records.Listing{
		Kind:  command.SystemKind("Message"),
		Brief: messageBrief,
		View:  messageView,
		Where: where,
	}, err
}

// endpointConditions returns the conditions of --subscriber and --subscription.
func endpointConditions(c *cli.Context, s *command.Session) (where []client.Filter, err error) {
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
	if subscriber != "" {
		where = append(where, client.Filter{Field: "SubscriberID", Values: []string{subscriber}})
	}
	if subscription != "" {
		where = append(where, client.Filter{
			Field:  "SubscriptionID",
			Values: []string{subscription},
		})
	}
	return where, err
}

// showMessage runs whctl messages show.
func showMessage(c *cli.Context, out *output.Printer, service *client.Client) error {
	n, err := findMessage(c.Context, service, c.Args().First())
	if err != nil {
		return err
	}
	where := map[string][]string{"MessageID": {n.id}}
	if c.Bool("attempts") {
		page, err := service.Attempts(c.Context, where)
		if err != nil {
			return err
		}
		columns := output.ColumnsOf(command.SystemKind("Attempt"), attemptFields)
		return output.Documents(out, output.Table{
			Columns: columns,
			View:    attemptView,
		}, page.Results...)
	}
	page, err := service.AllMessages(c.Context, where)
	if err != nil {
		return err
	}
	table := output.Table{
		Columns: output.ColumnsOf(command.SystemKind("Message"), nil),
		View:    messageView,
	}
	format, err := out.Format()
	isForReading := err == nil && format.HumanReadable() && out.OnScreen()
	if !isForReading || len(page.Results) != 1 {
		return output.Documents(out, table, page.Results...)
	}

	out.One = true
	answered := answeredMessage{Message: page.Results[0]}
	lastAttempt := map[string][]string{
		"MessageID":   {n.id},
		"OrderByDesc": {"ItemNo"},
		"Take":        {"1"},
	}
	attempts, err := service.Attempts(c.Context, lastAttempt)
	if err == nil && len(attempts.Results) > 0 { // for admins only
		attempt := attempts.Results[0]
		answered.AnswerText = attempt.AnswerText
		answered.Detail = attempt.Detail
		answered.Duration = attempt.Duration
	}
	table.Columns = append(table.Columns, output.Column{Name: "Duration", Type: record.TimeSpan})
	return output.Documents(out, table, answered)
}

// answeredMessage is a message with its last attempt.
type answeredMessage struct {
	wire.Message
	AnswerText, Detail *string `json:",omitempty"`
	Duration           string  `json:",omitempty"`
}

// attemptFields has the fields of an attempt that its message does not have.
var attemptFields = []string{
	"ItemNo", "LastSavedDateTime", "HTTPCode", "Message", "Duration", "Status", "URL",
	"Detail", "AnswerText",
}

// bulk is a change that can be applied to many messages.
type bulk struct {
	verb, done string
	sweeping   bool // require confirmation even if a single message is named
	one        func(*cli.Context, *client.Client, messageName) (string, error)
	many       func(context.Context, *client.Client, url.Values) (tally, error)
}

// tally counts the messages that matched and those that were changed.
type tally struct {
	matched, done int64
	warning       string // empty for none
}

var (
	retrying = bulk{
		verb: "retry",
		done: "due now",
		one: func(c *cli.Context, service *client.Client, n messageName) (string, error) {
			_, err := service.RetryMessage(c.Context, n.subscriber, n.subscription, n.id)
			return fmt.Sprintf("message %s is due now", n.id), err
		},
		many: func(ctx context.Context, service *client.Client, members url.Values) (tally, error) {
			r, err := service.RetryMessages(ctx, members)
			if err != nil {
				return tally{}, err
			}
			return tally{matched: r.Matched, done: r.Retried, warning: r.Warning}, nil
		},
	}
	deleting = bulk{
		verb:     "delete",
		done:     "deleted",
		sweeping: true,
		one: func(c *cli.Context, service *client.Client, n messageName) (string, error) {
			return fmt.Sprintf("message %s deleted", n.id), service.RemoveMessage(c.Context,
				n.subscriber, n.subscription, n.id)
		},
		many: func(ctx context.Context, service *client.Client, members url.Values) (tally, error) {
			r, err := service.DeleteMessages(ctx, members)
			if err != nil {
				return tally{}, err
			}
			return tally{matched: r.Matched, done: r.Deleted}, nil
		},
	}
)

// run changes the messages named by the arguments, or all that match the flags.
func (b bulk) run(c *cli.Context, s *command.Session) error {
	if c.Args().Len() == 0 {
		return b.onMatching(c, s)
	}
	for _, f := range bulkFlags(b.verb)[len(command.ChangeFlags()):] {
		if name := f.Names()[0]; c.IsSet(name) {
			return cmdline.Usagef("name messages or use --%s, not both", name)
		}
	}
	return command.Each{
		Verb:     b.verb,
		One:      "the message",
		Many:     "messages",
		Sweeping: b.sweeping,
		Do: func(c *cli.Context, service *client.Client, name string) (string, error) {
			n, err := findMessage(c.Context, service, name)
			if err != nil {
				return "", err
			}
			return b.one(c, service, n)
		},
	}.Action()(c)
}

// onMatching changes all messages that match. It first lets the service count them
// for the confirmation prompt. It prints the number of messages changed.
func (b bulk) onMatching(c *cli.Context, s *command.Session) error {
	members, err := selected(c, s)
	if err != nil {
		return err
	}
	in, err := s.Settings(c)
	if err != nil {
		return err
	}
	s.DryRunReads, s.DryRunTo = true, s.Stderr        // standard output has the count
	service, err := s.Client(c, in.Bool("read_only")) // counts first; changes only after confirmation
	if err != nil {
		return err
	}
	defer service.Close()
	members.Set("DryRun", "true")
	would, err := b.many(c.Context, service, members)
	if err != nil {
		return err
	}
	if would.matched == 0 && b.verb == "retry" && c.String("status") == "failed" {
		s.Notice(c, "%s", records.NoneGivenUp)
	}
	if would.warning != "" {
		s.Notice(c, "%s", would.warning)
	}
	if c.Bool(profile.DryRunFlag) || would.done == 0 {
		s.Notice(c, "%s, of which %s would be %s",
			display.Count(would.matched, "message matches", "messages match"), display.Thousands(would.done), b.done)
		if _, err := fmt.Fprintln(s.Stdout, would.done); err != nil || would.done == 0 {
			return err
		}
		members.Del("DryRun")
		_, err := b.many(c.Context, service, members)
		return err
	}
	if !in.Bool("read_only") { // the read-only client refuses in any case
		planned := command.Change{
			Text:     b.verb + " " + display.Count(would.done, "message", "messages"),
			Sweeping: true,
		}
		if err := s.Confirm(c, in, planned); err != nil {
			return err
		}
	}
	members.Del("DryRun")
	if members.Get("Take") == "" { // messages that match by now are newer, and were not confirmed
		members.Set("Take", fmt.Sprint(would.matched))
	}
	did, err := b.many(c.Context, service, members)
	if err != nil {
		return err
	}
	others := ""
	if did.matched != did.done {
		others = fmt.Sprintf(", %s skipped: already received, or deleted", display.Thousands(did.matched-did.done))
	}
	s.Notice(c, "%s %s%s", display.Count(did.done, "message is", "messages are"), b.done, others)
	if _, err := fmt.Fprintln(s.Stdout, did.done); err != nil {
		return err
	}
	if did.done < would.done {
		return &command.PartialError{Message: fmt.Sprintf("%s of %s: the others were deleted or received in the meantime",
			display.Thousands(did.done), display.Count(would.done, "message", "messages"))}
	}
	return nil
}

// selected returns the conditions on messages as members of the request.
func selected(c *cli.Context, s *command.Session) (url.Values, error) {
	today, err := s.Today(c)
	if err != nil {
		return nil, err
	}
	q := client.Query{Kind: command.SystemKind("Message")}
	if q.Where, err = endpointConditions(c, s); err != nil {
		return nil, err
	}
	if err := records.ReadFilters(c, &q, today); err != nil {
		return nil, cmdline.Usagef("%s", err)
	}
	members := make(url.Values)
	for _, f := range q.Where {
		if f.Operator == record.In && len(f.Values) == 1 {
			f.Operator = record.Equal // a single value would be parsed as a list
		}
		members[f.Member()] = f.Values
	}
	isForAll := c.Bool("all-messages")
	switch {
	case len(members) == 0 && !isForAll:
		return nil, cmdline.Usagef("no messages selected; name them, or use --status, --event, --subscriber, --subscription, --endpoint, --since, --until, --where or --all-messages")
	case len(members) > 0 && isForAll:
		return nil, cmdline.Usagef("--all-messages cannot be combined with conditions")
	case isForAll:
		members.Set("All", "true")
	}
	if c.IsSet("take") {
		if n := c.Int64("take"); n < 0 || n > 1<<31-1 {
			return nil, cmdline.Usagef("--take must be from 0 to 2147483647")
		}
		members.Set("Take", fmt.Sprint(c.Int64("take")))
	}
	return members, nil
}
