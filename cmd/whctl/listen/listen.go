// Package listen follows the messages that the service sends and forwards them to a
// local receiver.
package listen

import (
	"context"
	"fmt"
	"io"
	"iter"
	neturl "net/url"
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

// Stream follows a topic and reports the state of the connection by notice. A lost
// connection is reestablished; if the first connection fails, Stream ends with an
// error.
func Stream(
	ctx context.Context, service *client.Client, topic string, notice func(format string, args ...any),
) iter.Seq2[client.StreamEvent, error] {
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
				notice("disconnected: %s; reconnecting in %s", e.Err, e.Retry.Round(100*time.Millisecond))
			case client.ResetEvent:
				notice("some events were missed: %s", e.Reason)
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// Filter selects changes of messages. Empty fields match everything.
type Filter struct {
	Statuses                 []int
	Event                    string // a pattern for path.Match
	Subscriber, Subscription string // IDs
}

// Matches reports whether a change matches.
func (f Filter) Matches(m wire.MessageChange) bool {
	sent, _ := record.SentEvent(m.EventName)
	event, _ := path.Match(strings.ToLower(f.Event), strings.ToLower(sent)) // the pattern has been validated
	hasStatus := len(f.Statuses) == 0 || slices.Contains(f.Statuses, m.Status)
	hasEvent := f.Event == "" || event
	return hasStatus && hasEvent &&
		matchesID(f.Subscriber, m.SubscriberID) && matchesID(f.Subscription, m.SubscriptionID)
}

// matchesID reports whether an ID is the wanted one, or any ID is wanted.
func matchesID(want, id string) bool { return want == "" || strings.EqualFold(want, id) }

// Clock returns the time of day in a zone.
func Clock(at wire.Timestamp, zone *time.Location) string {
	return time.Time(at).In(zone).Format(time.TimeOnly)
}

// Listener forwards messages and prints the result of each.
type Listener struct {
	Service      *client.Client
	Forwarder    *Forwarder // nil to print the messages and their bodies only
	Filter       Filter
	Now          func() time.Time
	Max          int64          // number of messages; 0 for no limit
	Zone         *time.Location // time zone of printed times
	Out          io.Writer
	Notice       func(format string, args ...any)
	NDJSON       bool // print a JSON object for each message
	ShowResponse bool // print the responses of successful deliveries too
}

// Run forwards each message after the service has tried to deliver it. It returns
// the number of messages.
func (l *Listener) Run(ctx context.Context) (count int64, err error) {
	for e, err := range Stream(ctx, l.Service, wire.TopicMessages, l.Notice) {
		if err != nil {
			return count, err
		}
		if _, ok := e.(client.Connected); ok && l.Forwarder != nil {
			if err := l.Forwarder.useTimeoutOf(ctx, l.Service); err != nil {
				l.Notice("the time limit for responses is %s: cannot read that of the service: %s",
					l.Forwarder.http.Timeout, err)
			}
			l.Notice("mirroring to %s; real subscribers are unaffected", l.Forwarder.to.Redacted())
		}
		m, ok := e.(client.MessageEvent)
		isAttempt := ok && m.Duration != 0 && !m.Deleted
		if !isAttempt || !l.Filter.Matches(m.MessageChange) {
			continue
		}
		if err := l.forward(ctx, m.MessageChange); err != nil {
			return count, err
		}
		count++
		if count == l.Max {
			return count, nil
		}
	}
	return count, nil
}

// forward fetches a message and sends it to the local receiver.
func (l *Listener) forward(ctx context.Context, m wire.MessageChange) error {
	page, err := l.Service.AllMessages(ctx, neturl.Values{"MessageID": {m.MessageID}})
	if err != nil {
		return err
	}
	if len(page.Results) == 0 {
		l.Notice("message %s has been deleted", m.MessageID)
		return nil
	}
	if !l.NDJSON {
		if _, err := fmt.Fprintf(l.Out, "%s --> %s  msg %s\n", l.clock(), display.Sanitize(m.EventName), display.Sanitize(m.MessageID)); err != nil {
			return err
		}
	}
	sent := page.Results[0]
	if l.Forwarder == nil {
		return l.printResult(m, sent.URL, response{
			status:   codeOf(m),
			body:     []byte(sent.Body),
			duration: time.Duration(m.Duration),
		}, nil)
	}
	got, err := l.Forwarder.post(ctx, m.MessageID, m.EventName, []byte(sent.Body))
	if ctx.Err() != nil {
		return &client.Error{Kind: client.Cancelled, Err: context.Canceled}
	}
	return l.printResult(m, l.Forwarder.to.Redacted(), got, err)
}

// codeOf returns the status of an attempt; 0 without a response.
func codeOf(m wire.MessageChange) int {
	if m.HTTPCode == nil {
		return 0
	}
	return *m.HTTPCode
}

func (l *Listener) clock() string { return Clock(wire.Timestamp(l.Now()), l.Zone) }

// result is the result of a forwarded message, in JSON.
type result struct {
	At        string
	EventName string
	MessageID string
	URL       string
	HTTPCode  int     `json:",omitempty"`
	Duration  float64 // in milliseconds
	Error     string  `json:",omitempty"`
	Response  string  `json:",omitempty"`
	Body      string  `json:",omitempty"` // body of the message, if it is not forwarded
}

// printResult prints the response of the receiver at a URL. Its body is printed for
// failures, and for all responses with ShowResponse. Without a Forwarder the body is that
// of the message.
func (l *Listener) printResult(m wire.MessageChange, url string, reply response, err error) error {
	failed := err != nil || reply.status < 200 || reply.status > 299
	shown := strings.TrimSpace(string(reply.body))
	if l.Forwarder != nil && !failed && !l.ShowResponse {
		shown = ""
	}
	if l.NDJSON {
		line := result{
			At:        l.Now().UTC().Format(time.RFC3339Nano),
			EventName: m.EventName,
			MessageID: m.MessageID,
			URL:       url,
			HTTPCode:  reply.status,
			Duration:  float64(reply.duration.Microseconds()) / 1000,
		}
		if l.Forwarder == nil {
			line.Body = shown
		} else {
			line.Response = shown
		}
		if err != nil {
			line.Error = err.Error()
		}
		text, err := output.DocumentText(line)
		if err == nil {
			_, err = fmt.Fprintf(l.Out, "%s\n", text)
		}
		return err
	}
	outcome := fmt.Sprint(reply.status)
	if err != nil {
		outcome = "no response: " + err.Error()
	} else if reply.status == 0 {
		outcome = "no response"
	}
	host := url
	if address, err := neturl.Parse(url); err == nil {
		host = address.Host
	}
	_, err = fmt.Fprintf(l.Out, "%s <-- %s  POST %s (%d ms)\n",
		l.clock(), display.Sanitize(outcome), display.Sanitize(host), reply.duration.Milliseconds())
	if shown != "" && err == nil {
		_, err = fmt.Fprintf(&display.Writer{To: l.Out}, "         %s\n",
			strings.ReplaceAll(shown, "\n", "\n         "))
	}
	return err
}
