package home

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/ui"
)

// Overview is the fetched content of the screen.
type Overview struct {
	Stats       *wire.Stats
	Failures    []wire.Message // newest first
	Groups      []Group        // groups of Failures
	Captures    Captures
	Subscribers int // number of subscribers, if there is no subscription
}

// fetchOverview fetches the content of the screen.
func fetchOverview(ctx context.Context, c *client.Client) (Overview, error) {
	var o Overview
	var err error
	o.Stats, err = c.Stats(ctx, time.Hour)
	if err != nil {
		return o, err
	}
	err = o.fetchFailures(ctx, c)
	if err != nil {
		return o, err
	}
	if o.Stats.Subscriptions == 0 {
		_, o.Subscribers, err = ui.Subscribers(ctx, c)
		if err != nil {
			return o, err
		}
	}
	o.Captures, err = fetchCaptures(ctx, c)
	return o, err
}

// Group is the messages of a subscription and event that had the same result and have the same
// status: failed, or to be retried.
type Group struct {
	Newest wire.Message
	Oldest time.Time // time of the first of their last attempts
	Next   time.Time // the first of their next attempts; zero if there is none
	IDs    []string  // MessageIDs
	Answer string    // summary of the answer to Newest
}

// result returns the status code, or why there was no response, and the answer.
func (g *Group) result() string { return resultText(g.Newest, g.Answer) }

// resultText describes the last result of a message by its status code and the first line of the
// answer, or why there was no response.
func resultText(m wire.Message, answer string) string {
	code := m.LastMessageResponseHTTPCode
	if code == nil {
		return ui.LastResult(m)
	}
	number := strconv.Itoa(*code)
	answer = withoutStatus(answer)
	if answer == "" {
		answer = http.StatusText(*code)
	}
	return strings.TrimSpace(number + " " + answer)
}

// withoutStatus returns an answer without the status code that titles of pages often start with.
// Behind a proxy, it can differ from that of the response.
func withoutStatus(answer string) string {
	first, after, _ := strings.Cut(answer, " ")
	code, err := strconv.Atoi(first)
	if err == nil && http.StatusText(code) != "" {
		return strings.TrimSpace(after)
	}
	return strings.TrimSpace(answer)
}

// answerTo returns the summary of the answer to the newest message with the same result, "" if it is
// not known.
func (o *Overview) answerTo(m wire.Message) string {
	for i := range o.Groups {
		if o.Groups[i].isOf(m) {
			return o.Groups[i].Answer
		}
	}
	return ""
}

// isOf reports whether a message belongs to the group.
func (g *Group) isOf(m wire.Message) bool {
	return g.Newest.SubscriptionID == m.SubscriptionID && g.Newest.EventName == m.EventName &&
		g.Newest.Status == m.Status && ui.LastResult(g.Newest) == ui.LastResult(m)
}

// add adds a message that is older than the others.
func (g *Group) add(m wire.Message) {
	g.Oldest = time.Time(m.LastSavedDateTime)
	g.IDs = append(g.IDs, m.MessageID)
	next := time.Time(m.NextAttemptDateTime)
	if g.Next.IsZero() || !next.IsZero() && next.Before(g.Next) {
		g.Next = next
	}
}

// key identifies the group after a refresh.
func (g *Group) key() string {
	m := g.Newest
	return strings.Join([]string{"group", m.SubscriptionID, m.EventName, strconv.Itoa(m.Status), ui.LastResult(m)}, " ")
}

// filter selects the messages of the group. The event is a condition only if its subscription has
// others, too: there is little room for filters.
func (g *Group) filter(subscribed string) ui.MessageFilter {
	m := g.Newest
	f := ui.MessageFilter{
		Subscription: m.SubscriptionID,
		Label:        m.EventName,
		Conditions:   []client.Filter{equal("Status", strconv.Itoa(m.Status))},
	}
	if m.LastMessageResponseHTTPCode != nil {
		code := strconv.Itoa(*m.LastMessageResponseHTTPCode)
		f.Conditions = append(f.Conditions, equal("LastMessageResponseHTTPCode", code))
	} else if m.LastMessageResponseMessage != "" {
		f.Conditions = append(f.Conditions, equal("LastMessageResponseMessage", m.LastMessageResponseMessage))
	}
	if subscribed != m.EventName {
		f.Conditions = append(f.Conditions, equal("EventName", m.EventName))
	}
	return f
}

// equal returns a condition on a field.
func equal(field, value string) client.Filter {
	return client.Filter{Field: field, Operator: record.Equal, Values: []string{value}}
}

// Limits of the failures that are fetched and shown.
const (
	maxFailures = 500
	maxGroups   = 50
)

// failureFields are the fields of messages that the screen shows.
const failureFields = "SubscriberID,SubscriptionID,MessageID,EventName,URL,ItemNo,Status,Retries,MaxRetries," +
	"AddedDateTime,LastSavedDateTime,LastMessageResponseHTTPCode,LastMessageResponseMessage," +
	"NextAttemptDateTime,Key"

// failureStatuses are the statuses of messages that have failed or are retried.
var failureStatuses = fmt.Sprintf("%d,%d", ui.StatusRetrying, ui.StatusFailed)

// fetchFailures fetches the newest failures.
func (o *Overview) fetchFailures(ctx context.Context, c *client.Client) error {
	page, err := c.AllMessages(ctx, url.Values{
		"StatusIn":    {failureStatuses},
		"Take":        {strconv.Itoa(maxFailures)},
		"Fields":      {failureFields},
		"OrderByDesc": {"LastSavedDateTime"},
	})
	if err != nil {
		return err
	}
	o.Failures = page.Results
	o.GroupFailures()
	return o.fetchAnswers(ctx, c)
}

// GroupFailures groups the failures: failed messages before those that are retried, and in both
// the group of the newest failure first.
func (o *Overview) GroupFailures() {
	for _, m := range o.Failures {
		i := slices.IndexFunc(o.Groups, func(g Group) bool { return g.isOf(m) })
		if i < 0 {
			i = len(o.Groups)
			o.Groups = append(o.Groups, Group{Newest: m})
		}
		o.Groups[i].add(m)
	}
	slices.SortStableFunc(o.Groups, func(a, b Group) int { return b.Newest.Status - a.Newest.Status })
	o.Groups = o.Groups[:min(len(o.Groups), maxGroups)]
}

// fetchAnswers fetches a summary of the last answer of each group's newest failure.
func (o *Overview) fetchAnswers(ctx context.Context, c *client.Client) error {
	var messages, attempts []string
	for _, g := range o.Groups {
		messages = append(messages, g.Newest.MessageID)
		attempts = append(attempts, strconv.Itoa(g.Newest.Retries+1))
	}
	if len(messages) == 0 {
		return nil
	}
	slices.Sort(attempts)
	page, err := c.Attempts(ctx, url.Values{
		"MessageIDIn": {strings.Join(messages, ",")},
		"ItemNoIn":    {strings.Join(slices.Compact(attempts), ",")},
		"Fields":      {"MessageID,ItemNo,AnswerText,Detail"},
	})
	if err != nil {
		return err
	}
	for _, a := range page.Results {
		for i, g := range o.Groups {
			if a.MessageID == g.Newest.MessageID && a.ItemNo == g.Newest.Retries+1 {
				o.Groups[i].Answer = display.Summary(ui.AnswerText(a))
			}
		}
	}
	return nil
}

// groupOf returns the first group of a subscription, nil if it has none.
func (o *Overview) groupOf(subscription string) *Group {
	for i := range o.Groups {
		if o.Groups[i].Newest.SubscriptionID == subscription {
			return &o.Groups[i]
		}
	}
	return nil
}

// rank is 1 for an endpoint that was disabled without a reason, as users do; 0 for others.
func rank(q wire.Queue) int {
	if !q.IsEnabled && q.DisabledReason == "" {
		return 1
	}
	return 0
}

// troubled returns the endpoints that fail, or that receive nothing although messages wait, the
// worst first. Those that a user has disabled come last: they wait on purpose.
func (o *Overview) troubled() []wire.Queue {
	var list []wire.Queue
	for _, q := range o.Stats.Queues {
		if ui.InTrouble(q) {
			list = append(list, q)
		}
	}
	slices.SortStableFunc(list, func(a, b wire.Queue) int {
		return rank(a) - rank(b)
	})
	return list
}

// healthy returns the enabled endpoints with traffic that are not in trouble.
func (o *Overview) healthy() []wire.Queue {
	var list []wire.Queue
	for _, q := range o.Stats.Queues {
		if q.IsEnabled && !ui.InTrouble(q) {
			list = append(list, q)
		}
	}
	return list
}

// untroubledCount returns the number of enabled endpoints that are not in trouble, also of those
// without traffic.
func (o *Overview) untroubledCount(troubled []wire.Queue) int {
	count := o.Stats.Subscriptions - o.Stats.Disabled
	for _, q := range troubled {
		if q.IsEnabled {
			count--
		}
	}
	return max(0, count)
}
