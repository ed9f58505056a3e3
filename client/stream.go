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

// StreamOptions configures a live stream.
type StreamOptions struct {
	Topics      []string // wire.TopicMessages etc.; empty: messages and stats
	LastEventID string   // ID of the last event received; the stream resumes after it
}

// StreamEvent is an event of a live stream: a MessageEvent, StatsEvent, RequestEvent,
// HeartbeatEvent or ResetEvent of the service, or Connected or Disconnected.
type StreamEvent interface{ streamEvent() }

// Connected is sent each time the connection is established.
type Connected struct{}

// Disconnected is sent each time the connection is lost or cannot be established. The
// client reconnects after Retry.
type Disconnected struct {
	Err   error
	Retry time.Duration
}

// MessageEvent is a change of a message. A stream with ID as StreamOptions.LastEventID
// resumes after it.
type MessageEvent struct {
	ID string
	wire.MessageChange
}

// StatsEvent has delivery statistics. Data is the JSON of GET /Webhooks/Stats, to be
// decoded into wire.Stats.
type StatsEvent struct{ Data json.RawMessage }

// RequestEvent is a request that the service has handled.
type RequestEvent struct{ wire.HandledRequest }

// HeartbeatEvent is sent when the connection is established and then every 15 seconds. ID can be
// used like the ID of a MessageEvent; it is empty without the topic messages.
type HeartbeatEvent struct {
	ID         string
	ServerTime time.Time
}

// ResetEvent means that changes were missed: the caller must reload the data that it
// updates by events, for example the list of messages.
type ResetEvent struct{ Reason string }

func (Connected) streamEvent()      {}
func (Disconnected) streamEvent()   {}
func (MessageEvent) streamEvent()   {}
func (StatsEvent) streamEvent()     {}
func (RequestEvent) streamEvent()   {}
func (HeartbeatEvent) streamEvent() {}
func (ResetEvent) streamEvent()     {}

const streamTimedOut = "the stream timed out"

const (
	heartbeatTimeout = 20 * time.Second      // maximum time without heartbeat
	initialRetry     = 2 * time.Second       // until the service sends a retry delay
	minRetry         = 10 * time.Millisecond // lower bound of the service's retry delay
	maxRetry         = 30 * time.Second
)

// Stream follows the events of the service until ctx is done or the loop ends. A
// connection that is lost, or has no heartbeat for 20 seconds, is reestablished and
// resumed; if it cannot be resumed, a ResetEvent is sent. The last item is an error if ctx
// is done, if the request cannot be sent, or if the service rejects the stream: then it is
// an *Error with a status from 300 to 499, except 408, 425 and 429.
func (c *Client) Stream(ctx context.Context, o StreamOptions) iter.Seq2[StreamEvent, error] {
	return func(yield func(StreamEvent, error) bool) {
		f := follower{
			client:  c,
			topics:  o.Topics,
			lastID:  o.LastEventID,
			backoff: backoff.Backoff{Min: initialRetry, Max: maxRetry},
			yield:   yield,
		}
		for {
			err := f.connect(ctx)
			if errors.Is(err, errLoopEnded) {
				return
			}
			if ctx.Err() != nil || isFinal(err) {
				yield(nil, err)
				return
			}
			wait := f.wait(err)
			if !yield(Disconnected{Err: err, Retry: wait}, nil) {
				return
			}
			if backoff.Sleep(ctx, wait) != nil {
				yield(nil, contextError(ctx, streamTimedOut))
				return
			}
		}
	}
}

// errLoopEnded is returned if the caller ended the loop.
var errLoopEnded = errors.New("the loop ended")

// errNoHeartbeat is the cause if no heartbeat arrives within heartbeatTimeout.
var errNoHeartbeat = errors.New("no heartbeat")

// isFinal reports whether err ends the stream instead of causing a reconnect: the service
// rejects the request, or err does not come from the connection.
func isFinal(err error) bool {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return true // such as ErrNotSent or an invalid event; a reconnect would not help
	}
	switch e.Status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return false
	}
	return e.Status >= 300 && e.Status <= 499
}
