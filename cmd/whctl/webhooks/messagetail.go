package webhooks

import (
	"context"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/filter"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/command"
	"github.com/bizhook/whd/cmd/whctl/listen"
	"github.com/bizhook/whd/cmd/whctl/output"
	"github.com/bizhook/whd/cmd/whctl/records"
)

func messageTailFlags() []cli.Flag {
	return append([]cli.Flag{
		&cli.StringFlag{
			Name: "status",
			Usage: "only messages with one of the statuses `A,B`: " +
				"not-sent (0), delivered (1), retrying (2), failed (3)",
		},
		&cli.StringFlag{Name: "event", Usage: "only events that match `PATTERN`, such as salesorder.*"},
	}, endpointFlags()...)
}

// endpointFlags returns the flags that select the messages of a subscription or subscriber.
func endpointFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "subscription", Usage: "only messages of this `SUBSCRIPTION`, by ID"},
		&cli.StringFlag{Name: "subscriber", Usage: "only messages of this `SUBSCRIBER`, by ID or name"},
	}
}

var changeTable = output.Table{
	Columns: []output.Column{
		{Name: "At", Type: record.Epoch},
		{Name: "MessageID", Type: record.Text},
		{Name: "SubscriberID", Type: record.Text},
		{Name: "SubscriptionID", Type: record.Text},
		{Name: "EventName", Type: record.Text},
		{Name: "Status", Type: record.Int},
		{Name: "Retries", Type: record.Int},
		{Name: "HTTPCode", Type: record.Int},
		{Name: "Duration", Type: record.TimeSpan},
		{Name: "NextAttemptDateTime", Type: record.Epoch},
		{Name: "Deleted", Type: record.Bool},
	},
	View: []output.ViewColumn{
		{Title: "At", Fields: "At", As: output.Local},
		{Title: "Status", Fields: "Status", As: output.Status},
		{Title: "Event", Fields: "EventName", As: output.Event},
		{Title: "Response", Fields: "HTTPCode", As: output.HTTPStatus},
		{Title: "Took", Fields: "Duration", As: output.Duration},
		{Title: "Next attempt", Fields: "NextAttemptDateTime", As: output.Due},
		{Title: "Deleted", Fields: "Deleted", As: output.Yes},
		{Title: "Message ID", Fields: "MessageID", As: output.ID},
		{Title: "Subscription ID", Fields: "SubscriptionID", As: output.ID},
		{Title: "Subscriber ID", Fields: "SubscriberID", As: output.SecretID},
	},
}

func tailMessages(c *cli.Context, s *command.Session) error {
	return records.Tail(c, s, records.LiveStream{
		Topic: wire.TopicMessages,
		Table: changeTable,
		Open: func(service *client.Client) (records.FormatEvent, error) {
			filter, err := readFilter(c, s, service)
			if err != nil {
				return nil, err
			}
			return func(e client.StreamEvent) (document any, line string) {
				m, ok := e.(client.MessageEvent)
				if !ok || !filter.Matches(m.MessageChange) {
					return nil, ""
				}
				return m.MessageChange, changeLine(m.MessageChange, s.Zone())
			}, nil
		},
	})
}

// changeLine formats a change as a line of text.
func changeLine(m wire.MessageChange, zone *time.Location) string {
	line := fmt.Sprintf("%s  %-9s  %s  %s",
		listen.Clock(m.At, zone), statusWord(m), m.MessageID, m.EventName)
	if m.Duration != 0 {
		response := "no response"
		if m.HTTPCode != nil {
			response = fmt.Sprint(*m.HTTPCode)
		}
		duration := time.Duration(m.Duration).Round(time.Millisecond)
		line += fmt.Sprintf("  %s in %s", response, duration)
	}
	changedAt := time.Time(m.At)
	next := time.Time(m.NextAttemptDateTime) // zero if none is scheduled
	if m.Status != statusSuccessful && next.After(changedAt) {
		line += fmt.Sprintf("  retry in %s", next.Sub(changedAt).Round(time.Second))
	}
	return line
}

// statusWord returns the status of a message, as --status has it. A status of a later version of
// the service is a number.
func statusWord(m wire.MessageChange) string {
	if m.Deleted {
		return "deleted"
	}
	names := filter.StatusNames()
	if m.Status < 0 || m.Status >= len(names) {
		return fmt.Sprint(m.Status)
	}
	return names[m.Status]
}

// readFilter reads the flags that select the messages to follow.
func readFilter(
	c *cli.Context, s *command.Session, service *client.Client,
) (f listen.Filter, err error) {
	isSeparator := func(r rune) bool { return r == ',' || r == ' ' }
	for word := range strings.FieldsFuncSeq(c.String("status"), isSeparator) {
		n, err := filter.StatusNumber(word)
		if err != nil {
			return f, cmdline.Usagef("--status %s", err)
		}
		f.Statuses = append(f.Statuses, n)
	}
	f.Event = c.String("event")
	if _, err := path.Match(f.Event, ""); err != nil {
		return f, cmdline.Usagef("--event %q is not a valid pattern; a valid one is salesorder.*", f.Event)
	}
	f.Subscriber, f.Subscription, err = findEndpoint(c, service)
	if err != nil {
		return f, err
	}
	if hint := noEvent(c, service, f.Event); hint != "" {
		s.Notice(c, "%s", hint)
	}
	return f, nil
}

// eventsTimeout limits the look-up of events for a warning.
const eventsTimeout = 2 * time.Second

// noEvent returns a warning if no event of the service matches a pattern; empty if one does,
// or if the events are not known.
func noEvent(c *cli.Context, service *client.Client, pattern string) string {
	if pattern == "" {
		return ""
	}
	ctx, cancel := context.WithTimeout(c.Context, eventsTimeout)
	defer cancel()
	events, err := service.Events(ctx)
	if err != nil {
		return ""
	}
	selected := listen.Filter{Event: pattern}
	var names []string
	for _, e := range events {
		if selected.Matches(wire.MessageChange{EventName: e.Name}) {
			return ""
		}
		names = append(names, e.Name)
	}
	hint := record.DidYouMeanOr(record.Suggest(pattern, names), "list them with whctl events list")
	return fmt.Sprintf("no event matches %s yet%s", pattern, hint)
}

// findEndpoint returns the IDs of --subscriber and --subscription; empty for a flag that is
// not set.
func findEndpoint(
	c *cli.Context, service *client.Client,
) (subscriber, subscription string, err error) {
	if text := c.String("subscriber"); text != "" {
		subscriber, err = findSubscriber(c.Context, service, text)
	}
	text := c.String("subscription")
	if text == "" || err != nil {
		return subscriber, "", err
	}
	ref, err := findSubscription(c.Context, service, subscriber, text)
	return subscriber, ref.id, err
}
