package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/output"
)

// testOutcome is what became of a test message, for programs.
type testOutcome struct {
	MessageID string
	Status    int    // as in wire.MessageState
	HTTPCode  *int   `json:",omitempty"` // nil where no answer came
	Message   string `json:",omitempty"` // what the receiver said, or why it did not
	Duration  string // of the attempt, such as PT0.0123S
}

// testSubscription is whctl subscriptions test. The service may have to wait for
// the receiver, so the answer is asked for again and again.
func testSubscription(c *cli.Context, _ *session) (change, error) {
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
			out.Notice("a test message is on its way; whctl messages show %s tells what became of it", state.MessageID)
			return out.Made(state.MessageID, state)
		}
		one, err := subscriptionOf(c.Context, service, n)
		if err != nil {
			return err
		}
		if !one.IsEnabled {
			if err := out.Made(state.MessageID, state); err != nil {
				return err
			}
			return &partialError{"the subscription is disabled: the test message stays queued until it is enabled"}
		}
		attempt, err := firstAttempt(c, service, n, state.MessageID)
		if err != nil {
			return err
		}
		if err := out.Made(state.MessageID, testOutcome{state.MessageID, attempt.Status, attempt.HTTPCode, attempt.Message, attempt.Duration}); err != nil {
			return err
		}
		answer := attemptAnswer(attempt)
		if attempt.Status != statusSuccessful {
			return &partialError{"the test message was not received: " + answer}
		}
		out.Notice("the test message was received: %s", answer)
		return nil
	}), err
}

// statusSuccessful is that of a message that was received.
const statusSuccessful = 1

// attemptAnswer is what came of an attempt, in words.
func attemptAnswer(a *wire.MessageResponse) string {
	if a.HTTPCode == nil {
		return a.Message
	}
	return strings.TrimSpace(fmt.Sprint(*a.HTTPCode, " ", strings.TrimPrefix(a.Message, fmt.Sprint(*a.HTTPCode))))
}

// firstAttempt waits for the first attempt to send a message. Asking takes no
// more than the SubscriberID.
func firstAttempt(c *cli.Context, service *client.Client, n subscriptionName, message string) (*wire.MessageResponse, error) {
	ctx, cancel := context.WithTimeout(c.Context, c.Duration("wait"))
	defer cancel()
	members := map[string][]string{"MessageID": {message}, "Fields": {"Status,HTTPCode,Message,Duration"}, "OrderBy": {"ItemNo"}, "Take": {"1"}}
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		page, err := service.MessageResponses(ctx, n.subscriber, members)
		switch {
		case c.Context.Err() != nil:
			return nil, interruption{}
		case ctx.Err() != nil:
			return nil, tooSlow(c, message)
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

// The pauses between two questions grow from the one to the other.
const (
	firstPause   = 20 * time.Millisecond
	longestPause = time.Second
)

func tooSlow(c *cli.Context, message string) error {
	return &client.Error{Kind: client.TimedOut, Status: http.StatusAccepted, Message: fmt.Sprintf(
		"the test message was not sent within %s: is the subscription disabled, or its receiver in trouble? whctl messages show %s tells what becomes of it", c.Duration("wait"), message)}
}
