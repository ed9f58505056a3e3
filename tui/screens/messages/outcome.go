package messages

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/ui"
)

// outcome waits for the attempts of retried messages, and shows their
// results. Delivered messages lose their mark, so that those that failed again keep it.
type outcome struct {
	host      outcomeHost
	session   *ui.Session
	retried   int64          // all messages
	pending   map[string]int // Retries before the retry of the messages without a result, by ID
	delivered int
	failed    map[string]int // number of messages by result
	resultAt  time.Time      // when the last result was fetched
	requested bool           // a request for results is in flight
	ended     bool
}

// outcomeHost shows the results of a retry.
type outcomeHost interface {
	// ShowResults shows the results so far.
	ShowResults(text string)
	// EndResults shows the results when no more are expected.
	EndResults(l ui.Level, text string)
	// Unmark removes the mark of a delivered message.
	Unmark(id string)
}

const (
	outcomeRows    = 100              // messages per request
	outcomeTimeout = 45 * time.Second // maximum wait for the next result
)

// newOutcome returns the outcome of a retry. The list can have fewer messages than were retried.
func newOutcome(h outcomeHost, s *ui.Session, retried int64, list []wire.Message) *outcome {
	o := &outcome{
		host:     h,
		session:  s,
		retried:  retried,
		pending:  make(map[string]int),
		failed:   make(map[string]int),
		resultAt: s.Now,
	}
	for _, m := range list {
		o.pending[m.MessageID] = m.Retries
	}
	return o
}

func (o *outcome) Done() bool { return o.ended }

// Follow does nothing. A change does not have all that a result shows.
func (o *outcome) Follow([]wire.MessageChange) tea.Cmd { return nil }

// Tick requests results once a second, and shows them when all are known.
func (o *outcome) Tick() tea.Cmd {
	if o.requested || o.session.Rejection != nil {
		return nil
	}
	isTimeout := o.session.Now.Sub(o.resultAt) >= outcomeTimeout
	if len(o.pending) > 0 && !isTimeout {
		return o.request()
	}
	level := ui.Info
	if len(o.failed)+len(o.pending) > 0 {
		level = ui.Warning
	}
	o.ended = true
	o.host.EndResults(level, o.text())
	return nil
}

// request requests the state of messages without a result. If there are more than outcomeRows, it
// requests different ones each time, since the order of a map is random.
func (o *outcome) request() tea.Cmd {
	ids := slices.Collect(maps.Keys(o.pending))
	o.requested = true
	ctx, c := o.session.Context, o.session.Client
	q := url.Values{
		"MessageIDIn": ids[:min(len(ids), outcomeRows)],
		"Take":        {strconv.Itoa(outcomeRows)},
		"Fields":      {"MessageID,Status,Retries,LastMessageResponseHTTPCode,LastMessageResponseMessage"},
	}
	return func() tea.Msg {
		page, err := c.AllMessages(ctx, q)
		return ui.Response{Err: err, Client: c, Apply: func() tea.Cmd {
			o.requested = false
			if err == nil {
				o.add(page.Results)
			}
			return nil
		}}
	}
}

// add counts the messages that have a result.
func (o *outcome) add(list []wire.Message) {
	for _, m := range list {
		retries, isPending := o.pending[m.MessageID]
		isDelivered := m.Status == ui.StatusDelivered
		isAttempted := isDelivered || m.Retries > retries
		if !isPending || !isAttempted {
			continue
		}
		if isDelivered {
			o.delivered++
			o.host.Unmark(m.MessageID)
		} else {
			result := ui.LastResult(m)
			if o.retried == 1 && m.LastMessageResponseHTTPCode != nil {
				result += " " + m.LastMessageResponseMessage
			}
			o.failed[result]++
		}
		delete(o.pending, m.MessageID)
		o.resultAt = o.session.Now
	}
	o.host.ShowResults(o.text())
}

// text describes the results.
func (o *outcome) text() string {
	results := slices.SortedFunc(maps.Keys(o.failed), func(x, y string) int {
		return cmp.Or(o.failed[y]-o.failed[x], strings.Compare(x, y))
	})
	if o.retried == 1 && len(results) == 1 {
		return "1 retried: failed again (" + results[0] + ")"
	}
	failed := 0
	for i, result := range results {
		failed += o.failed[result]
		results[i] = fmt.Sprintf("%s x %s", display.Thousands(o.failed[result]), result)
	}
	text := display.Thousands(o.retried) + " retried"
	if followed := o.delivered + failed + len(o.pending); int64(followed) < o.retried {
		text += ", the newest " + display.Thousands(followed)
	}
	text += ": " + display.Thousands(o.delivered) + " delivered"
	if failed > 0 {
		text += fmt.Sprintf(", %s failed again (%s)", display.Thousands(failed), strings.Join(results, ", "))
	}
	if n := len(o.pending); n > 0 {
		text += ", " + display.Thousands(n) + " waiting"
	}
	return text
}
