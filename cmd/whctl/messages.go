package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/filter"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/output"
)

func (p *program) messageCommands() []*cli.Command {
	return []*cli.Command{{
		Name: "messages", Aliases: []string{"message"}, Usage: "see what was sent, and send it again",
		Subcommands: []*cli.Command{
			{
				Name: "list", Usage: "list messages", Flags: append(append(listFlags(), periodFlags()...), keyFlag()), Action: p.listMessages,
				Description: `whctl messages list --where "Status in 2,3" --since 2h
whctl messages list --where "EventName^=salesorder." --order-by -AddedDateTime --take 20`,
			},
			{
				Name: "show", ArgsUsage: "MESSAGE", Usage: "show a message, or with --attempts what was answered", Action: p.showMessage,
				Flags: append(output.Flags(), &cli.BoolFlag{Name: "attempts", Usage: "list the attempts to send it"}, keyFlag()),
			},
			{
				Name: "retry", ArgsUsage: "[MESSAGE...]", Usage: "send messages again that have failed: those named, or all that match", Flags: bulkFlags(), Action: p.retryMessages,
				Description: `whctl messages retry 01a1..7fa4
whctl messages retry --where "Status=3" --since 2h --dry-run
whctl messages retry --where "Status=3" --where "EventName^=salesorder." --since 2h --yes`,
			},
			{
				Name: "delete", Aliases: []string{"remove", "rm"}, ArgsUsage: "[MESSAGE...]", Usage: "delete messages, and cancel what is pending: those named, or all that match", Flags: bulkFlags(), Action: p.deleteMessages,
				Description: `whctl messages delete 01a1..7fa4 --yes
whctl messages delete --where "Status=1" --until 2026-07-01 --dry-run`,
			},
			{
				Name: "tail", Usage: "follow what becomes of messages, as it happens", Flags: append(append(tailFlags(), messageTailFlags()...), keyFlag()), Action: p.tailMessages,
				Description: `whctl messages tail --status failed,retry
whctl messages tail --event "salesorder.*" --ndjson`,
			},
		},
	}}
}

// periodFlags say when messages were added.
func periodFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "since", Usage: "added at `TIME` or later: 2h, 3d, today, 13:00, 2026-07-01, 2026-07-01T10:00"},
		&cli.StringFlag{Name: "until", Usage: "added before `TIME`"},
	}
}

// bulkFlags are those of what is done to many messages. --where and --take mean
// the same as in lists.
func bulkFlags() []cli.Flag {
	flags := append(changeFlags(), periodFlags()...)
	for _, f := range queryFlags() {
		switch f.Names()[0] {
		case "where", "take":
			flags = append(flags, f)
		}
	}
	return append(flags,
		&cli.BoolFlag{Name: "all-messages", Usage: "without a condition, every message there is"},
		&cli.BoolFlag{Name: ownDryRun, Usage: "only tell how many messages are meant"})
}

// messageBrief are the fields of messages that people see at first.
var messageBrief = []string{"MessageID", "Status", "EventName", "URL", "Retries", "AddedDateTime", "LastMessageResponseHTTPCode", "LastMessageResponseMessage", "NextAttemptDateTime"}

func (p *program) listMessages(c *cli.Context) error {
	where, err := p.period(c)
	if err != nil {
		return err
	}
	return p.list(c, listing{kind: systemKind("Message"), brief: messageBrief, keys: messageKeys, where: where})
}

// period reads --since and --until.
func (p *program) period(c *cli.Context) ([]client.Filter, error) {
	var filters []client.Filter
	for _, end := range []struct {
		flag     string
		operator record.Operator
	}{{"since", record.GreaterThanOrEqualTo}, {"until", record.LessThan}} {
		if !c.IsSet(end.flag) {
			continue
		}
		s, err := p.settings(c)
		if err != nil {
			return nil, err
		}
		at, err := filter.Time(c.String(end.flag), p.now().In(s.Zone()))
		if err != nil {
			return nil, cmdline.Usagef("--%s %s", end.flag, err)
		}
		filters = append(filters, client.Filter{Field: "AddedDateTime", Operator: end.operator, Values: []string{at.UTC().Format(wire.DateLayout)}})
	}
	return filters, nil
}

// showMessage is whctl messages show.
func (p *program) showMessage(c *cli.Context) error {
	service, err := p.connect(c)
	if err != nil {
		return err
	}
	defer service.Close()
	n, err := findMessage(c.Context, service, c.Args().First())
	if err != nil {
		return err
	}
	kind := systemKind("Message")
	if c.Bool("attempts") {
		kind = systemKind("Attempt")
	}
	where := map[string][]string{"MessageID": {n.id}}
	if c.Bool("attempts") {
		page, err := service.Attempts(c.Context, where)
		if err != nil {
			return err
		}
		return output.Documents(p.printer(c), output.ColumnsOf(kind, attemptFields), messageKeys, page.Results...)
	}
	page, err := service.AllMessages(c.Context, where)
	if err != nil {
		return err
	}
	return output.Documents(p.printer(c), output.ColumnsOf(kind, nil), messageKeys, page.Results...)
}

// attemptFields are those of an attempt that its message does not show.
var attemptFields = []string{"ItemNo", "LastSavedDateTime", "HTTPCode", "Message", "Duration", "Status", "URL", "Detail", "AnswerText"}

func (p *program) retryMessages(c *cli.Context) error { return p.onMessages(c, retrying) }

func (p *program) deleteMessages(c *cli.Context) error { return p.onMessages(c, deleting) }

// onMessages does something to the messages that are named, or to all that
// match.
func (p *program) onMessages(c *cli.Context, what bulk) error {
	if c.Args().Len() == 0 {
		return p.onMatching(c, what)
	}
	for _, name := range []string{"where", "since", "until", "take", "all-messages", ownDryRun} {
		if c.IsSet(name) {
			return cmdline.Usagef("either messages or --%s say which are meant", name)
		}
	}
	names := c.Args().Slice()
	service, err := p.connectToChange(c, change{what: what.verb + " " + several(names, "the message", "messages"), sweeping: what.sweeping})
	if err != nil {
		return err
	}
	defer service.Close()
	return p.forEach(c, names, func(name string) (string, error) {
		n, err := findMessage(c.Context, service, name)
		if err != nil {
			return "", err
		}
		return what.one(c, service, n)
	})
}

func retryOne(c *cli.Context, service *client.Client, n messageName) (string, error) {
	_, err := service.RetryMessage(c.Context, n.subscriber, n.subscription, n.id)
	return fmt.Sprintf("message %s is due now", n.id), err
}

func deleteOne(c *cli.Context, service *client.Client, n messageName) (string, error) {
	return fmt.Sprintf("message %s is deleted", n.id), service.RemoveMessage(c.Context, n.subscriber, n.subscription, n.id)
}
