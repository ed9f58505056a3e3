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
)

func trialFlags() []cli.Flag {
	return []cli.Flag{
		&cli.DurationFlag{Name: "wait", Value: time.Minute, Usage: "wait no longer than `DURATION` for the answer"},
		&cli.BoolFlag{Name: "no-wait", Usage: "do not wait for the answer"},
	}
}

// trialOutcome is what became of a test message, for programs.
type trialOutcome struct {
	MessageID string
	Status    int    // as in wire.MessageState
	HTTPCode  *int   `json:",omitempty"` // nil where nobody answered
	Message   string `json:",omitempty"` // what the receiver said, or why it did not
	Duration  string // of the attempt, such as PT0.0123S
}

// testSubscription is whctl subscriptions test. The service may have to wait for
// the receiver, so the answer is asked for again and again.
func (p *program) testSubscription(c *cli.Context) error {
	if c.Bool("no-wait") && c.IsSet("wait") {
		return cmdline.Usagef("--wait and --no-wait exclude each other")
	}
	service, n, err := p.subscriptionToChange(c, c.Args().First(), "send a test message to")
	if err != nil {
		return err
	}
	defer service.Close()
	state, err := service.TestSubscription(c.Context, n.subscriber, n.id)
	if err != nil {
		return err
	}
	if c.Bool("no-wait") {
		p.notice(c, "a test message is on its way; whctl messages show %s tells what became of it", state.MessageID)
		return p.tellNew(c, state.MessageID, state)
	}
	one, err := subscriptionOf(c.Context, service, n)
	switch {
	case err != nil:
		return err
	case !one.IsEnabled:
		if err := p.tellNew(c, state.MessageID, state); err != nil {
			return err
		}
		return &partialError{"the subscription is disabled: the test message waits until it is enabled"}
	}
	attempt, err := p.firstAttempt(c, service, n, state.MessageID)
	if err != nil {
		return err
	}
	if err := p.tellNew(c, state.MessageID, trialOutcome{state.MessageID, attempt.Status, attempt.HTTPCode, attempt.Message, attempt.Duration}); err != nil {
		return err
	}
	answer := attemptAnswer(attempt)
	if attempt.Status != statusSuccessful {
		return &partialError{"the test message was not received: " + answer}
	}
	p.notice(c, "the test message was received: %s", answer)
	return nil
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
func (p *program) firstAttempt(c *cli.Context, service *client.Client, n subscriptionName, message string) (*wire.MessageResponse, error) {
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
