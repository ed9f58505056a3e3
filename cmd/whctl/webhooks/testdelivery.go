package webhooks

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/wire"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/command"
	"github.com/bizhook/whd/cmd/whctl/output"
)

// testOutcome is the result of a test message in JSON.
type testOutcome struct {
	MessageID string
	Status    int    // as in wire.MessageState
	HTTPCode  *int   `json:",omitempty"` // nil if there was no response
	Message   string `json:",omitempty"` // the status text or the error
	Duration  string // duration of the attempt, such as PT0.0123S
}

// testSubscription runs whctl subscriptions test. Delivery is asynchronous, so
// it polls for the result.
func testSubscription(c *cli.Context, _ *command.Session) (command.Change, error) {
	var err error
	if c.Bool("no-wait") && c.IsSet("wait") {
		err = cmdline.Usagef("--wait and --no-wait cannot be combined")
	}
	return onSubscription(c, "send a test message to", c.Args().First(), func(out *output.Printer, service *client.Client, n subscriptionName) error {
		state, err := service.TestSubscription(c.Context, n.subscriber, n.id)
		if err != nil {
			return err
		}
		if c.Bool("no-wait") {
			out.Notice("test message queued; show its state with whctl messages show %s", state.MessageID)
			return out.Created(state.MessageID, state)
		}
		subscription, err := subscriptionOf(c.Context, service, n)
		if err != nil {
			return err
		}
		if !subscription.IsEnabled {
			if err := out.Created(state.MessageID, state); err != nil {
				return err
			}
			return &command.PartialError{Message: "the subscription is disabled: the test message stays queued until it is enabled"}
		}
		delay := delayOf(c.Context, service, subscription)
		if delay.text != "" {
			out.Notice("test message queued, %s", delay.text)
		}
		if delay.until > c.Duration("wait") {
			if err := out.Created(state.MessageID, state); err != nil {
				return err
			}
			return &command.PartialError{Message: "the test message waits for the next attempt; show its state with whctl messages show " + state.MessageID}
		}
		attempt, err := firstAttempt(c, service, n, state.MessageID, delay)
		if err != nil {
			return err
		}
		outcome := testOutcome{state.MessageID, attempt.Status, attempt.HTTPCode, attempt.Message, attempt.Duration}
		if err := out.Created(state.MessageID, outcome); err != nil {
			return err
		}
		response := attemptResult(attempt)
		if attempt.Status != statusSuccessful {
			return &command.PartialError{Message: "the test message was not received: " + response}
		}
		out.Notice("the test message was received: %s", response)
		return nil
	}), err
}

// statusSuccessful is the status of a message that was received.
const statusSuccessful = 1

// attemptResult returns the result of an attempt as text.
func attemptResult(a *wire.MessageResponse) string {
	if a.HTTPCode == nil {
		return a.Message
	}
	return strings.TrimSpace(fmt.Sprint(*a.HTTPCode, " ", strings.TrimPrefix(a.Message, fmt.Sprint(*a.HTTPCode))))
}

// delay is why messages of a subscription may not be sent at once.
type delay struct {
	text  string        // empty for none
	until time.Duration // to the next attempt; 0 if it is not known
}

// delayOf returns the delay of a subscription: that of an open circuit breaker, which only
// admins see, or else the failures that may have opened it.
func delayOf(ctx context.Context, service *client.Client, s wire.Subscription) delay {
	stats, err := service.Stats(ctx, time.Hour)
	if err != nil {
		since := time.Time(s.FailingSince)
		if since.IsZero() {
			return delay{}
		}
		return delay{text: "all attempts have failed for " + display.Age(time.Since(since)) +
			", so the next one may be delayed"}
	}
	i := slices.IndexFunc(stats.Queues, func(q wire.Queue) bool { return q.SubscriptionID == s.RecID })
	if i < 0 || stats.Queues[i].Breaker != wire.BreakerOpen {
		return delay{}
	}
	queue := stats.Queues[i]
	until := time.Time(queue.NextProbeDateTime).Sub(time.Time(stats.ServerDateTime))
	return delay{text: display.BreakerOpen("", until), until: until}
}

// firstAttempt waits for the first delivery attempt of a message. It needs no other
// permission than the SubscriberID.
func firstAttempt(
	c *cli.Context, service *client.Client, n subscriptionName, message string, d delay,
) (*wire.MessageResponse, error) {
	ctx, cancel := context.WithTimeout(c.Context, c.Duration("wait"))
	defer cancel()
	members := map[string][]string{
		"MessageID": {message},
		"Fields":    {"Status,HTTPCode,Message,Duration"},
		"OrderBy":   {"ItemNo"},
		"Take":      {"1"},
	}
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		page, err := service.MessageResponses(ctx, n.subscriber, members)
		switch {
		case c.Context.Err() != nil:
			return nil, command.Interruption{}
		case ctx.Err() != nil:
			return nil, tooSlow(c, message, d)
		case err != nil:
			return nil, err
		case len(page.Results) > 0:
			return &page.Results[0], nil
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// The polling interval grows from firstPause to maxPause.
const (
	firstPause = 20 * time.Millisecond
	maxPause   = time.Second
)

func tooSlow(c *cli.Context, message string, d delay) error {
	reason := d.text
	if reason == "" {
		reason = "check that its subscriber is enabled"
	}
	return &client.Error{Kind: client.TimedOut, Status: http.StatusAccepted, Message: fmt.Sprintf(
		"the test message was not sent within %s; %s; show its state with whctl messages show %s",
		c.Duration("wait"), reason, message)}
}
