package home

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/ui"
)

// Overview is the fetched content of the screen.
type Overview struct {
	Stats    *wire.Stats
	counts   [4]int         // number of messages by status
	Failures []wire.Message // newest first
	Groups   []Group        // groups of Failures
	Lagging  []wire.Capture // captures that have stopped or lag by more than two sweeps
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
	o.Lagging, err = lagging(ctx, c)
	return o, err
}

// Group is the failed messages of a subscription that had the same result, or its queued
// messages if none has failed and the endpoint receives nothing.
type Group struct {
	SubscriptionID string
	URL            string
	Result         string // an HTTP status code, or why there was no response
	Count          int
	At             time.Time // time of the newest failure
	Answer         string    // first line of the answer to the newest failure
	newest         wire.Message
}

// queued reports whether the messages of the group are only queued.
func (g Group) queued() bool { return g.newest.MessageID == "" }

// filter selects the messages of the group.
func (g Group) filter(event string) ui.MessageFilter {
	f := ui.MessageFilter{
		Subscription: g.SubscriptionID,
		Label:        event,
		Problems:     !g.queued(),
		Undelivered:  g.queued(),
	}
	m := g.newest
	if m.LastMessageResponseHTTPCode != nil {
		f.Conditions = []client.Filter{{
			Field:    "LastMessageResponseHTTPCode",
			Operator: record.Equal,
			Values:   []string{strconv.Itoa(*m.LastMessageResponseHTTPCode)},
		}}
	} else if m.LastMessageResponseMessage != "" {
		f.Conditions = []client.Filter{{
			Field:    "LastMessageResponseMessage",
			Operator: record.Equal,
			Values:   []string{m.LastMessageResponseMessage},
		}}
	}
	return f
}

// Limits of the failures that are fetched and shown.
const (
	maxFailures = 500
	maxGroups   = 30
)

// failureFields are the fields of messages that the screen shows.
const failureFields = "SubscriberID,SubscriptionID,MessageID,EventName,URL,ItemNo,Status,Retries,MaxRetries," +
	"AddedDateTime,LastSavedDateTime,LastMessageResponseHTTPCode,LastMessageResponseMessage," +
	"NextAttemptDateTime,Key"

// fetchFailures fetches the numbers of messages by status and the newest failures.
func (o *Overview) fetchFailures(ctx context.Context, c *client.Client) error {
	// One request per status, since the service keeps these totals: a query that groups by status
	// would read all messages.
	for status := range o.counts {
		page, err := c.AllMessages(ctx, url.Values{
			"Status":  {strconv.Itoa(status)},
			"Take":    {"0"},
			"Include": {"Total"},
		})
		if err != nil {
			return err
		}
		o.counts[status] = int(page.Total)
	}
	page, err := c.AllMessages(ctx, url.Values{
		"StatusIn":    {"2,3"},
		"Take":        {strconv.Itoa(maxFailures)},
		"Fields":      {failureFields},
		"OrderByDesc": {"LastSavedDateTime"},
	})
	if err != nil {
		return err
	}
	o.Failures = page.Results
	o.groupFailures()
	o.addBlocked()
	return o.fetchAnswers(ctx, c)
}

// groupFailures groups the failures by subscription and result, the group of the newest failure
// first.
func (o *Overview) groupFailures() {
	for _, m := range o.Failures {
		result := ui.LastResult(m)
		i := slices.IndexFunc(o.Groups, func(g Group) bool {
			return g.SubscriptionID == m.SubscriptionID && g.Result == result
		})
		if i < 0 {
			i = len(o.Groups)
			o.Groups = append(o.Groups, Group{
				SubscriptionID: m.SubscriptionID,
				URL:            m.URL,
				Result:         result,
				At:             time.Time(m.LastSavedDateTime),
				newest:         m,
			})
		}
		o.Groups[i].Count++
	}
	o.Groups = o.Groups[:min(len(o.Groups), maxGroups)]
}

// addBlocked adds the endpoints that receive nothing and have no group yet.
func (o *Overview) addBlocked() {
	for _, queue := range o.Stats.Queues {
		isBlocked := !queue.IsEnabled || queue.Breaker == wire.BreakerOpen
		hasGroup := slices.ContainsFunc(o.Groups, func(g Group) bool {
			return g.SubscriptionID == queue.SubscriptionID
		})
		if isBlocked && !hasGroup {
			o.Groups = append(o.Groups, Group{
				SubscriptionID: queue.SubscriptionID,
				URL:            queue.URL,
				Result:         "not sent",
				Count:          int(queue.Pending),
				At:             time.Time(queue.OldestDateTime),
			})
		}
	}
}

// fetchAnswers fetches the first line of the last answer of each group's newest failure.
func (o *Overview) fetchAnswers(ctx context.Context, c *client.Client) error {
	var messages, attempts []string
	for _, g := range o.Groups {
		if !g.queued() {
			messages = append(messages, g.newest.MessageID)
			attempts = append(attempts, strconv.Itoa(g.newest.Retries+1))
		}
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
			if a.MessageID == g.newest.MessageID && a.ItemNo == g.newest.Retries+1 {
				o.Groups[i].Answer = ui.FirstLine(a)
			}
		}
	}
	return nil
}
