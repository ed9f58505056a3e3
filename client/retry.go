package client

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/bizhook/whd/client/backoff"
)

// The pauses before a read is sent again double from the one on, and are never
// longer than the other, whatever the service asks for.
const (
	minReadPause = 250 * time.Millisecond
	maxReadPause = 10 * time.Second
)

// errClosed is underneath the error of a request whose connection was closed
// before a reply came.
var errClosed = errors.New("the connection was closed")

// exchangeReads is exchange, of reads again and again where that may help.
func (c *Client) exchangeReads(ctx context.Context, what call) (*http.Response, error) {
	pauses := backoff.Backoff{Min: minReadPause, Max: maxReadPause}
	for n := 0; ; n++ {
		reply, err := c.exchange(ctx, what)
		if err == nil || n == c.options.Retries || !what.reads || !passing(err) {
			return reply, err
		}
		pause := pauses.Next()
		wait := min(max(pause+rand.N(pause/2), askedFor(err)), maxReadPause)
		if c.options.Retrying != nil {
			c.options.Retrying(err, wait)
		}
		select {
		case <-ctx.Done():
			return nil, c.unanswered(ctx, ctx.Err(), true)
		case <-time.After(wait):
		}
	}
}

// passing reports whether an error may be gone in a moment: a service that
// starts or is overloaded, or something in between that cannot reach it.
func passing(err error) bool {
	e, is := errors.AsType[*Error](err)
	if !is {
		return false
	}
	switch e.Status {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return errors.Is(err, errClosed)
}

// askedFor is how long the service wants to be left alone.
func askedFor(err error) time.Duration {
	if e, is := errors.AsType[*Error](err); is {
		return e.RetryAfter
	}
	return 0
}
