package webhooks

import (
	"context"
	"fmt"
	"math"
	"net/url"
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/command"
	"github.com/bizhook/whd/cmd/whctl/profile"
	"github.com/bizhook/whd/cmd/whctl/records"
)

// bulk is a change that can be applied to many messages.
type bulk struct {
	verb     string // such as "retry"
	done     string // state of a changed message, such as "deleted"
	skipped  string // why a matching message was not changed
	sweeping bool   // requires confirmation even if a single message is named

	one  func(*cli.Context, *client.Client, messageRef) (string, error)
	many func(context.Context, *client.Client, url.Values) (tally, error)

	// hintForNone returns a notice for the case that no message matches the flags, empty for none.
	// It can be nil.
	hintForNone func(*cli.Context) string
}

// tally counts the messages that matched and those that were changed.
type tally struct {
	matched, done int64
	warning       string // empty for none
	extent        string // bounds a change to the messages of a count; empty if it cannot be bounded
}

var (
	retrying = bulk{
		verb:    "retry",
		done:    "due now",
		skipped: "already received, or deleted",
		one:     retryOne,
		many: func(ctx context.Context, service *client.Client, members url.Values) (tally, error) {
			r, err := service.RetryMessages(ctx, members)
			if err != nil {
				return tally{}, err
			}
			return tally{
				matched: r.Matched,
				done:    r.Retried,
				warning: r.Warning,
				extent:  r.Counted,
			}, nil
		},
		hintForNone: func(c *cli.Context) string {
			if c.String("status") != "failed" {
				return ""
			}
			return records.NoneGivenUp
		},
	}
	deleting = bulk{
		verb:     "delete",
		done:     "deleted",
		skipped:  "deleted by another request, or changed while they were deleted",
		sweeping: true,
		one: func(c *cli.Context, service *client.Client, ref messageRef) (string, error) {
			err := service.RemoveMessage(c.Context, ref.subscriber, ref.subscription, ref.id)
			return fmt.Sprintf("message %s deleted", ref.id), err
		},
		many: func(ctx context.Context, service *client.Client, members url.Values) (tally, error) {
			r, err := service.DeleteMessages(ctx, members)
			if err != nil {
				return tally{}, err
			}
			return tally{matched: r.Matched, done: r.Deleted, extent: r.Counted}, nil
		},
	}
)

// retryOne retries a message, or sends it again if it was delivered.
func retryOne(c *cli.Context, service *client.Client, ref messageRef) (string, error) {
	if ref.delivered {
		return sendAgain(c, service, ref)
	}
	state, err := service.RetryMessage(c.Context, ref.subscriber, ref.subscription, ref.id)
	if err != nil {
		return "", err
	}
	if state.Held != "" {
		return fmt.Sprintf("message %s remains held: %s", ref.id, state.Held), nil
	}
	return fmt.Sprintf("message %s is due now", ref.id), nil
}

// sendAgain sends a delivered message again.
func sendAgain(c *cli.Context, service *client.Client, ref messageRef) (string, error) {
	retried, err := service.RetryMessages(c.Context, url.Values{
		"MessageID": {ref.id},
		"Status":    {strconv.Itoa(statusSuccessful)},
	})
	if err != nil {
		return "", err
	}
	if retried.Retried == 0 {
		const text = "message %[1]s no longer has the status delivered; " +
			"show its state with whctl messages show %[1]s"
		return "", &client.Error{Kind: client.Failed, Message: fmt.Sprintf(text, ref.id)}
	}
	text := fmt.Sprintf("message %s was delivered before and is sent again", ref.id)
	if retried.Warning != "" {
		text += "; " + retried.Warning
	}
	return text, nil
}

// run changes the messages named by the arguments, or all that match the flags.
func (b bulk) run(c *cli.Context, s *command.Session) error {
	if c.Args().Len() == 0 {
		return b.changeMatching(c, s)
	}
	for _, f := range selectionFlags(b.verb) {
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
			ref, err := findMessage(c.Context, service, name)
			if err != nil {
				return "", err
			}
			return b.one(c, service, ref)
		},
	}.Action()(c)
}

// changeMatching changes all messages that match the flags, after the service has counted them for
// the confirmation. It prints the number of changed messages.
func (b bulk) changeMatching(c *cli.Context, s *command.Session) error {
	members, err := selectedMembers(c, s)
	if err != nil {
		return err
	}
	settings, err := s.Settings(c)
	if err != nil {
		return err
	}
	readOnly := settings.Bool("read_only")

	// The count is sent in a dry run, too: it changes nothing, although it is a POST like the change.
	s.DryRunReads = true
	// Standard output has nothing but the count, so that a script can read it.
	s.DryRunTo = s.Stderr
	service, err := s.Client(c, readOnly)
	if err != nil {
		return err
	}
	defer service.Close()
	expected, err := b.count(c, s, service, members)
	if err != nil {
		return err
	}
	if c.Bool(profile.DryRunFlag) {
		return b.printExpected(c, s, service, members, expected)
	}
	if expected.done == 0 {
		return b.printNone(c, s, expected)
	}

	if !readOnly { // the read-only client refuses in any case
		planned := command.Change{
			Text:     b.verb + " " + display.Count(expected.done, "message", "messages"),
			Sweeping: true,
		}
		if err := s.Confirm(c, settings, planned); err != nil {
			return err
		}
	}
	return b.change(c, s, service, members, expected)
}

// count lets the service count the messages, and prints notices about the count.
func (b bulk) count(
	c *cli.Context, s *command.Session, service *client.Client, members url.Values,
) (tally, error) {
	members.Set("DryRun", "true")
	defer members.Del("DryRun")
	expected, err := b.many(c.Context, service, members)
	if err != nil {
		return tally{}, err
	}
	if expected.matched == 0 && b.hintForNone != nil {
		if hint := b.hintForNone(c); hint != "" {
			s.Notice(c, "%s", hint)
		}
	}
	if expected.warning != "" {
		s.Notice(c, "%s", expected.warning)
	}
	return expected, nil
}

// printExpected prints the number of messages that a change would affect, and its request. It is
// for dry runs.
func (b bulk) printExpected(
	c *cli.Context, s *command.Session, service *client.Client, members url.Values, expected tally,
) error {
	s.Notice(c, "%s, of which %s would be %s",
		matches(expected), display.Thousands(expected.done), b.done)
	_, err := fmt.Fprintln(s.Stdout, expected.done)
	if err != nil || expected.done == 0 {
		return err
	}
	_, err = b.many(c.Context, service, members)
	return err
}

// printNone prints that there is no message to change.
func (b bulk) printNone(c *cli.Context, s *command.Session, expected tally) error {
	s.Notice(c, "nothing to %s: %s", b.verb, matches(expected))
	_, err := fmt.Fprintln(s.Stdout, 0)
	return err
}

// matches describes how many messages match.
func matches(t tally) string {
	return display.Count(t.matched, "message matches", "messages match")
}

// change changes the messages. It returns a PartialError if they are fewer than expected.
func (b bulk) change(
	c *cli.Context, s *command.Session, service *client.Client, members url.Values, expected tally,
) error {
	if !b.sweeping && c.Bool("yes") {
		expected.extent = "" // no number was confirmed, and an attempt since then changes nothing
	}
	bound(members, expected)
	changed, err := b.many(c.Context, service, members)
	if err != nil {
		return err
	}
	skipped := ""
	if n := changed.matched - changed.done; n > 0 {
		skipped = fmt.Sprintf(", %s skipped: %s", display.Thousands(n), b.skipped)
	}
	s.Notice(c, "%s %s%s", display.Count(changed.done, "message is", "messages are"), b.done, skipped)
	if _, err := fmt.Fprintln(s.Stdout, changed.done); err != nil {
		return err
	}
	if changed.done < expected.done {
		return &command.PartialError{Message: fmt.Sprintf(
			"%s of %s: the others have changed or were deleted since the count",
			display.Thousands(changed.done), display.Count(expected.done, "message", "messages"))}
	}
	return nil
}

// bound restricts a change to the messages that were counted, which the user has confirmed. While
// the prompt waited, others may have begun to match: new messages, and older ones with a new status.
func bound(members url.Values, expected tally) {
	if expected.extent != "" {
		members.Set("Counted", expected.extent)
	}
	// The number is a bound as well. It is the only one with a service that is older than Counted.
	if members.Get("Take") == "" {
		members.Set("Take", fmt.Sprint(expected.matched))
	}
}

// selectedMembers returns the conditions on messages as members of the request.
func selectedMembers(c *cli.Context, s *command.Session) (url.Values, error) {
	today, err := s.Today(c)
	if err != nil {
		return nil, err
	}
	q := client.Query{Kind: command.SystemKind("Message")}
	q.Where, err = endpointConditions(c, s)
	if err != nil {
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
	if len(members) == 0 && !isForAll {
		return nil, cmdline.Usagef("no messages selected; name them, or use --status, --event, " +
			"--subscriber, --subscription, --endpoint, --since, --until, --where or --all-messages")
	}
	if len(members) > 0 && isForAll {
		return nil, cmdline.Usagef("--all-messages cannot be combined with conditions")
	}
	if isForAll {
		members.Set("All", "true")
	}
	if c.IsSet("take") {
		n := c.Int64("take")
		if n < 0 || n > math.MaxInt32 {
			return nil, cmdline.Usagef("--take must be from 0 to %d", math.MaxInt32)
		}
		members.Set("Take", fmt.Sprint(n))
	}
	return members, nil
}
