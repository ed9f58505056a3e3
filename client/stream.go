package client

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"time"

	"github.com/bizhook/whd/client/backoff"
	"github.com/bizhook/whd/client/wire"
)

// StreamOptions say what a live stream is to be about.
type StreamOptions struct {
	Topics      []string // wire.TopicMessages and the others; messages and stats where empty
	LastEventID string   // of the last event that was seen: nothing behind it is left out
}

// StreamEvent is something that a live stream gives: a MessageEvent, StatsEvent,
// RequestEvent, HeartbeatEvent or ResetEvent of the service, or Connected or
// Disconnected.
type StreamEvent interface{ streamEvent() }

// Connected comes each time that the service has begun to answer.
type Connected struct{}

// Disconnected comes each time that the connection was lost or could not be
// made. It is tried again after Retry.
type Disconnected struct {
	Err   error
	Retry time.Duration
}

// MessageEvent is what became of one message. ID is for
// StreamOptions.LastEventID.
type MessageEvent struct {
	ID string
	wire.MessageChange
}

// StatsEvent has figures of the delivery, as JSON.
type StatsEvent struct{ Data json.RawMessage }

// RequestEvent is a request that the service has answered.
type RequestEvent struct{ wire.AnsweredRequest }

// HeartbeatEvent is a sign of life, which comes at once and then every 15
// seconds. ID is as in MessageEvent, empty without the topic messages.
type HeartbeatEvent struct {
	ID         string
	ServerTime time.Time
}

// ResetEvent says that changes were left out: what was read before has to be
// read again.
type ResetEvent struct{ Reason string }

func (Connected) streamEvent()      {}
func (Disconnected) streamEvent()   {}
func (MessageEvent) streamEvent()   {}
func (StatsEvent) streamEvent()     {}
func (RequestEvent) streamEvent()   {}
func (HeartbeatEvent) streamEvent() {}
func (ResetEvent) streamEvent()     {}

const streamTimeOver = "the time for the stream is over"

const (
	streamSilence = 20 * time.Second // without a heartbeat; then the connection counts as dead
	firstRetry    = 2 * time.Second  // unless the service says otherwise
	leastRetry    = 10 * time.Millisecond
	longestRetry  = 30 * time.Second
)

// Stream follows what the service does until ctx is done or the loop is left. A
// connection that is lost, or shows no heartbeat for 20 seconds, is made again
// and goes on where it was; where that is not possible a ResetEvent comes. An
// error is the last that comes: the service refuses the stream, as one of Kind
// Unauthorized or NotFound, or ctx is done.
func (c *Client) Stream(ctx context.Context, o StreamOptions) iter.Seq2[StreamEvent, error] {
	return func(yield func(StreamEvent, error) bool) {
		f := follower{client: c, topics: o.Topics, lastID: o.LastEventID, backoff: backoff.Backoff{Min: firstRetry, Max: longestRetry}, yield: yield}
		for {
			err := f.connect(ctx)
			switch {
			case errors.Is(err, errLeft):
				return
			case ctx.Err() != nil || isFinal(err):
				yield(nil, err)
				return
			}
			wait := f.wait(err)
			if !yield(Disconnected{Err: err, Retry: wait}, nil) {
				return
			}
			if err := pause(ctx, wait); err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// errLeft says that the loop over a stream was left.
var errLeft = errors.New("the stream was left")

// errSilent says that no heartbeat came.
var errSilent = errors.New("silence")

// isFinal reports whether it makes no sense to ask again: the answer is
// refused, rather than impossible.
func isFinal(err error) bool {
	e, is := errors.AsType[*Error](err)
	if !is {
		return true // nothing was sent
	}
	switch e.Status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return false
	}
	return e.Status >= 300 && e.Status <= 499
}

// pause waits, unless ctx is done before.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return endOf(ctx, streamTimeOver)
	}
}
