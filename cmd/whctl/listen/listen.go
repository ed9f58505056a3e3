// Package listen follows the messages that the service sends, and passes them on to
// a receiver on this machine.
package listen

import (
	"context"
	"fmt"
	"io"
	"iter"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/cmd/whctl/output"
)

// Stream follows a topic and says by notice how the connection is. A connection
// that is lost is made again, but one that could not even be made once is an error.
func Stream(ctx context.Context, service *client.Client, topic string, notice func(format string, args ...any)) iter.Seq2[client.StreamEvent, error] {
	return func(yield func(client.StreamEvent, error) bool) {
		connected := false
		for e, err := range service.Stream(ctx, client.StreamOptions{Topics: []string{topic}}) {
			switch e := e.(type) {
			case client.Connected:
				connected = true
				notice("connected to %s", service.URL())
			case client.Disconnected:
				if !connected {
					yield(nil, e.Err)
					return
				}
				notice("disconnected: %s; trying again in %s", e.Err, e.Retry.Round(100*time.Millisecond))
			case client.ResetEvent:
				notice("some changes were left out: %s", e.Reason)
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// Filter says which changes of messages are shown or passed on. What is empty
// takes all.
type Filter struct {
	Statuses                 []int
	Event                    string // a pattern for path.Match
	Subscriber, Subscription string // ids
}

// Takes reports whether a change is one of them.
func (f Filter) Takes(m wire.MessageChange) bool {
	sent, _ := record.SentEvent(m.EventName)
	event, _ := path.Match(strings.ToLower(f.Event), strings.ToLower(sent)) // the pattern was checked
	return (len(f.Statuses) == 0 || slices.Contains(f.Statuses, m.Status)) &&
		(f.Event == "" || event) &&
		(f.Subscriber == "" || strings.EqualFold(f.Subscriber, m.SubscriberID)) &&
		(f.Subscription == "" || strings.EqualFold(f.Subscription, m.SubscriptionID))
}

// Clock is the time of day in a zone.
func Clock(at wire.Moment, zone *time.Location) string {
	return time.Time(at).In(zone).Format(time.TimeOnly)
}

// Listener passes messages on, and prints what becomes of each.
type Listener struct {
	Service      *client.Client
	Forwarder    *Forwarder
	Filter       Filter
	Max          int64          // messages; 0 for no end
	Zone         *time.Location // of the times that are printed
	Out          io.Writer
	Notice       func(format string, args ...any)
	NDJSON       bool // print an object for each message
	ShowResponse bool // also of a message that was received
}

// Run repeats what the service sends to others, once they have answered. It counts
// the messages.
func (l *Listener) Run(ctx context.Context) (count int64, err error) {
	for e, err := range Stream(ctx, l.Service, wire.TopicMessages, l.Notice) {
		if err != nil {
			return count, err
		}
		if _, ok := e.(client.Connected); ok {
			l.Notice("mirroring to %s; real subscribers are unaffected", l.Forwarder.to.Redacted())
		}
		m, ok := e.(client.MessageEvent)
		if !ok || m.Duration == 0 || m.Deleted || !l.Filter.Takes(m.MessageChange) {
			continue // no attempt
		}
		if err := l.repeat(ctx, m.MessageChange); err != nil {
			return count, err
		}
		if count++; count == l.Max {
			return count, nil
		}
	}
	return count, nil
}

// repeat fetches a message and sends it to the receiver here.
func (l *Listener) repeat(ctx context.Context, m wire.MessageChange) error {
	page, err := l.Service.AllMessages(ctx, url.Values{"MessageID": {m.MessageID}})
	if err != nil {
		return err
	}
	if len(page.Results) == 0 {
		l.Notice("message %s is deleted already", m.MessageID)
		return nil
	}
	if !l.NDJSON {
		if _, err := fmt.Fprintf(l.Out, "%s --> %s  msg %s\n", l.clock(), display.Sanitize(m.EventName), display.Sanitize(m.MessageID)); err != nil {
			return err
		}
	}
	got, err := l.Forwarder.post(ctx, m.MessageID, m.EventName, []byte(page.Results[0].Body))
	if ctx.Err() != nil {
		return &client.Error{Kind: client.Cancelled, Err: context.Canceled}
	}
	return l.printAnswer(m, got, err)
}

func (l *Listener) clock() string { return Clock(wire.Moment(l.Forwarder.now()), l.Zone) }

// passed is what became of a message, for programs.
type passed struct {
	At        string
	EventName string
	MessageID string
	URL       string
	HTTPCode  int     `json:",omitempty"`
	Duration  float64 // in milliseconds
	Error     string  `json:",omitempty"`
	Response  string  `json:",omitempty"`
}

// printAnswer prints what the receiver said. Its text is shown where it failed.
func (l *Listener) printAnswer(m wire.MessageChange, got answered, err error) error {
	failed := err != nil || got.status < 200 || got.status > 299
	shown := strings.TrimSpace(string(got.body))
	if !failed && !l.ShowResponse {
		shown = ""
	}
	if l.NDJSON {
		line := passed{At: l.Forwarder.now().UTC().Format(time.RFC3339Nano), EventName: m.EventName, MessageID: m.MessageID, URL: l.Forwarder.to.Redacted(),
			HTTPCode: got.status, Duration: float64(got.took.Microseconds()) / 1000, Response: shown}
		if err != nil {
			line.Error = err.Error()
		}
		text, err := output.DocumentText(line)
		if err == nil {
			_, err = fmt.Fprintf(l.Out, "%s\n", text)
		}
		return err
	}
	word := fmt.Sprint(got.status)
	if err != nil {
		word = "no answer: " + err.Error()
	}
	_, err = fmt.Fprintf(l.Out, "%s <-- %s  POST %s (%d ms)\n", l.clock(), display.Sanitize(word), l.Forwarder.to.Host, got.took.Milliseconds())
	if shown != "" && err == nil {
		_, err = fmt.Fprintf(&display.Writer{To: l.Out}, "         %s\n", strings.ReplaceAll(shown, "\n", "\n         "))
	}
	return err
}
