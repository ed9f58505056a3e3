package client

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/bizhook/whd/client/backoff"
)

// The pause before a retry doubles from minReadPause to maxReadPause, plus up to half of
// it as jitter. maxReadPause limits the sum, and also Retry-After.
const (
	minReadPause = 250 * time.Millisecond
	maxReadPause = 10 * time.Second
)

// errClosed is the cause of an error if the connection was closed before the response.
var errClosed = errors.New("the connection was closed")

// exchangeWithRetries calls exchange and, if the request only reads, repeats it after
// transient errors, up to Options.Retries times.
func (c *Client) exchangeWithRetries(ctx context.Context, req call) (*http.Response, error) {
	pauses := backoff.Backoff{Min: minReadPause, Max: maxReadPause}
	for n := 0; ; n++ {
		reply, err := c.exchange(ctx, req)
		isLast := n == c.options.Retries || !req.reads
		if err == nil || isLast || !isTransient(err) {
			return reply, err
		}
		if err := c.pauseAfter(ctx, err, &pauses); err != nil {
			return nil, err
		}
	}
}

// pauseAfter waits before the retry after a transient error.
func (c *Client) pauseAfter(ctx context.Context, err error, pauses *backoff.Backoff) error {
	pause := pauses.Next()
	wait := min(max(pause+rand.N(pause/2), retryAfterOf(err)), maxReadPause)
	if c.options.Retrying != nil {
		c.options.Retrying(err, wait)
	}
	if err := backoff.Sleep(ctx, wait); err != nil {
		return c.noReplyError(ctx, err, true)
	}
	return nil
}

// isTransient reports whether a retry may succeed: the status is 502, 503 or 504, since the
// service is starting or overloaded or a proxy cannot reach it, or the connection was closed
// before the response.
func isTransient(err error) bool {
	switch statusOf(err) {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return errors.Is(err, errClosed)
}

// retryAfterOf returns the Retry-After of an error; 0 if there is none.
func retryAfterOf(err error) time.Duration {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.RetryAfter
	}
	return 0
}

// statusOf returns the HTTP status of an error; 0 if there is none.
func statusOf(err error) int {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Status
	}
	return 0
}
