package webhooks

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
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

// testSubscription runs whctl subscriptions test.
func testSubscription(c *cli.Context, _ *command.Session) (command.Change, error) {
	if c.Bool("no-wait") && c.IsSet("wait") {
		return command.Change{}, cmdline.Usagef("--wait and --no-wait cannot be combined")
	}
	sendTest := func(out *output.Printer, service *client.Client, ref subscriptionRef) error {
		state, err := service.TestSubscription(c.Context, ref.subscriber, ref.id)
		if err != nil {
			return err
		}
		if c.Bool("no-wait") {
			out.Notice("test message queued; show its state with whctl messages show %s", state.MessageID)
			return out.Created(state.MessageID, state)
		}
		return followTest(c, out, service, ref, state)
	}
	return onSubscription(c, "send a test message to", c.Args().First(), sendTest), nil
}

// followTest waits for the delivery of a queued test message, unless it cannot be soon, and
// prints its result.
func followTest(
	c *cli.Context, out *output.Printer, service *client.Client,
	ref subscriptionRef, state *wire.MessageState,
) error {
	subscription, err := subscriptionOf(c.Context, service, ref)
	if err != nil {
		return err
	}
	if !subscription.IsEnabled {
		return printQueued(out, state,
			"the subscription is disabled: the test message stays queued until it is enabled")
	}

	expected := delayOf(c.Context, service, subscription)
	if expected.text != "" {
		out.Notice("test message queued, %s", expected.text)
	}
	if expected.until > c.Duration("wait") {
		return printQueued(out, state,
			"the test message waits for the next attempt; show its state with whctl messages show "+state.MessageID)
	}

	attempt, err := firstAttempt(c, service, subscription, state.MessageID)
	if err != nil {
		return err
	}
	return printAttempt(out, state.MessageID, attempt)
}

// printQueued prints a test message without waiting for its delivery. It returns the reason as an
// error.
func printQueued(out *output.Printer, state *wire.MessageState, reason string) error {
	if err := out.Created(state.MessageID, state); err != nil {
		return err
	}
	return &command.PartialError{Message: reason}
}

// printAttempt prints the result of a test message, and returns an error if it was not received.
func printAttempt(out *output.Printer, messageID string, attempt *wire.MessageResponse) error {
	outcome := testOutcome{
		MessageID: messageID,
		Status:    attempt.Status,
		HTTPCode:  attempt.HTTPCode,
		Message:   attempt.Message,
		Duration:  attempt.Duration,
	}
	if err := out.Created(messageID, outcome); err != nil {
		return err
	}
	response := display.Response(attempt.HTTPCode, attempt.Message)
	if attempt.Status != statusSuccessful {
		return &command.PartialError{Message: "the test message was not received: " + response}
	}
	out.Notice("the test message was received: %s", response)
	return nil
}

// statusSuccessful is the status of a message that was received.
const statusSuccessful = 1

// delay is a reason for which messages of a subscription may not be sent at once.
type delay struct {
	text  string        // the reason; empty if there is none
	until time.Duration // time until the next attempt; 0 if it is not known
}

// delayOf returns the delay of a subscription: that of an open circuit breaker, which only
// admins see, or else the failures that may have opened it.
func delayOf(ctx context.Context, service *client.Client, s wire.Subscription) delay {
	stats, err := service.Stats(ctx, time.Hour)
	if err != nil {
		return delayByFailures(time.Time(s.FailingSince))
	}
	isOfSubscription := func(q wire.Queue) bool { return q.SubscriptionID == s.RecID }
	i := slices.IndexFunc(stats.Queues, isOfSubscription)
	if i < 0 || stats.Queues[i].Breaker != wire.BreakerOpen {
		return delay{}
	}
	queue := stats.Queues[i]
	probeAt := time.Time(queue.NextProbeDateTime)
	until := probeAt.Sub(time.Time(stats.ServerDateTime))
	text := display.BreakerOpen("", until)
	if others := openMessages(ctx, service, s) - 1; others > 0 { // the test message is one of them
		text += ", with one message at a time: the test message waits for its turn among " +
			display.Count(others, "other message", "other messages")
	}
	return delay{text: text, until: until}
}

// openMessages returns the number of messages of a subscription that are to be sent, 0 if it is not
// known. That of the statistics may be some seconds old.
func openMessages(ctx context.Context, service *client.Client, s wire.Subscription) int64 {
	page, err := service.AllMessages(ctx, url.Values{
		"SubscriptionID": {s.RecID},
		"StatusIn":       {"0,2"},
		"Include":        {"Total"},
		"Take":           {"0"},
	})
	if err != nil {
		return 0
	}
	return page.Total
}

// delayByFailures returns the delay of a subscription by the time since when all attempts have
// failed, zero for none.
func delayByFailures(failingSince time.Time) delay {
	if failingSince.IsZero() {
		return delay{}
	}
	age := display.Age(time.Since(failingSince))
	return delay{text: "all attempts have failed for " + age + ", so the next one may be delayed"}
}

// firstAttempt waits for the first delivery attempt of a message. Delivery is asynchronous, so it
// polls. It needs no other permission than the SubscriberID.
func firstAttempt(
	c *cli.Context, service *client.Client, s wire.Subscription, messageID string,
) (*wire.MessageResponse, error) {
	ctx, cancel := context.WithTimeout(c.Context, c.Duration("wait"))
	defer cancel()
	members := map[string][]string{
		"MessageID": {messageID},
		"Fields":    {"Status,HTTPCode,Message,Duration"},
		"OrderBy":   {"ItemNo"},
		"Take":      {"1"},
	}
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		page, err := service.MessageResponses(ctx, s.SubscriberID, members)
		// After the end of a context, err is only its consequence.
		if c.Context.Err() != nil {
			return nil, command.Interruption{}
		}
		if ctx.Err() != nil {
			return nil, tooSlow(messageID, c.Duration("wait"), delayOf(c.Context, service, s))
		}
		if err != nil {
			return nil, err
		}
		if len(page.Results) > 0 {
			return &page.Results[0], nil
		}

		select {
		case <-ctx.Done(): // the next request returns at once
		case <-time.After(pause):
		}
	}
}

// The polling interval grows from firstPause to maxPause.
const (
	firstPause = 20 * time.Millisecond
	maxPause   = time.Second
)

// tooSlow returns the error for a message that had no attempt within the time to wait.
func tooSlow(messageID string, wait time.Duration, expected delay) error {
	reason := expected.text
	if reason == "" {
		reason = "check that its subscriber is enabled"
	}
	return &client.Error{
		Kind:   client.TimedOut,
		Status: http.StatusAccepted,
		Message: fmt.Sprintf(
			"the test message was not sent within %s; %s; show its state with whctl messages show %s",
			wait, reason, messageID),
	}
}
