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
	hasStatus := len(f.Statuses) == 0 || slices.Contains(f.Statuses, m.Status)
	return hasStatus && f.matchesEvent(m.EventName) &&
		matchesID(f.Subscriber, m.SubscriberID) && matchesID(f.Subscription, m.SubscriptionID)
}

// matchesEvent reports whether the event of a message matches the pattern.
func (f Filter) matchesEvent(name string) bool {
	if f.Event == "" {
		return true
	}
	sent, _ := record.SentEvent(name)
	// The pattern has been validated.
	matched, _ := path.Match(strings.ToLower(f.Event), strings.ToLower(sent))
	return matched
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
			l.prepareForwarder(ctx)
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

// prepareForwarder sets the time limit of the receiver to that of the service.
func (l *Listener) prepareForwarder(ctx context.Context) {
	if err := l.Forwarder.useTimeoutOf(ctx, l.Service); err != nil {
		l.Notice("the time limit for responses is %s, because the limit of the service cannot be read: %s",
			l.Forwarder.http.Timeout, err)
	}
	l.Notice("mirroring to %s; real subscribers are unaffected", l.Forwarder.to.Redacted())
}

// forward fetches a message and sends it to the local receiver, or prints it if there is none.
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
		event := display.Sanitize(m.EventName)
		id := display.Sanitize(m.MessageID)
		if _, err := fmt.Fprintf(l.Out, "%s --> %s  msg %s\n", l.clock(), event, id); err != nil {
			return err
		}
	}
	sent := page.Results[0]
	if l.Forwarder == nil {
		reply := response{
			status:   codeOf(m),
			body:     []byte(sent.Body),
			duration: time.Duration(m.Duration),
		}
		return l.printResult(m, sent.URL, reply, nil)
	}
	reply, err := l.Forwarder.post(ctx, m.MessageID, m.EventName, []byte(sent.Body))
	if ctx.Err() != nil {
		return &client.Error{Kind: client.Cancelled, Err: context.Canceled}
	}
	return l.printResult(m, l.Forwarder.to.Redacted(), reply, err)
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

// printResult prints the response of the receiver at a URL, or the error if there is none. The body
// of the response is printed for failures, and for all responses with ShowResponse. Without a
// Forwarder it is that of the message, and is always printed.
func (l *Listener) printResult(m wire.MessageChange, url string, reply response, err error) error {
	hasFailed := err != nil || reply.status < 200 || reply.status > 299
	body := strings.TrimSpace(string(reply.body))
	if l.Forwarder != nil && !hasFailed && !l.ShowResponse {
		body = ""
	}
	if l.NDJSON {
		return l.printObject(m, url, reply, body, err)
	}
	return l.printLines(url, reply, body, err)
}

// printObject prints a result as a JSON object.
func (l *Listener) printObject(
	m wire.MessageChange, url string, reply response, body string, err error,
) error {
	object := result{
		At:        l.Now().UTC().Format(time.RFC3339Nano),
		EventName: m.EventName,
		MessageID: m.MessageID,
		URL:       url,
		HTTPCode:  reply.status,
		Duration:  float64(reply.duration.Microseconds()) / 1000,
	}
	if l.Forwarder == nil {
		object.Body = body
	} else {
		object.Response = body
	}
	if err != nil {
		object.Error = err.Error()
	}
	text, err := output.DocumentText(object)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(l.Out, "%s\n", text)
	return err
}

// printLines prints a result as a line, and the body in lines below it.
func (l *Listener) printLines(url string, reply response, body string, err error) error {
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
	if err != nil || body == "" {
		return err
	}
	indented := strings.ReplaceAll(body, "\n", "\n         ")
	_, err = fmt.Fprintf(&display.Writer{To: l.Out}, "         %s\n", indented)
	return err
}
