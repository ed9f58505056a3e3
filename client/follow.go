package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/bizhook/whd/client/backoff"
	"github.com/bizhook/whd/client/wire"
)

// follower follows a stream across connections.
type follower struct {
	client  *Client
	topics  []string
	lastID  string          // ID of the last event
	backoff backoff.Backoff // since the last heartbeat
	yield   func(StreamEvent, error) bool
}

// wait returns the wait after a failure. It grows with each failure and has jitter,
// so that clients do not reconnect simultaneously.
func (f *follower) wait(err error) time.Duration {
	longest := f.backoff.Next()
	jittered := longest/2 + rand.N(longest/2)
	requested := min(retryAfterOf(err), maxRetry)
	return max(jittered, requested)
}

// connect follows a single connection until it ends. It always returns an error.
func (f *follower) connect(parent context.Context) error {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	path := withQuery("/Webhooks/Stream", f.members())
	reply, err := f.client.send(ctx, call{method: http.MethodGet, path: path, accept: wire.MediaEventStream})
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	if err := expect(reply, wire.MediaEventStream); err != nil {
		return err
	}
	if !f.yield(Connected{}, nil) {
		return errLoopEnded
	}

	err = f.read(newEventSource(reply.Body), cancel)
	switch {
	case errors.Is(err, errLoopEnded):
		return err
	case parent.Err() != nil:
		return contextError(parent, streamTimedOut)
	case errors.Is(context.Cause(ctx), errNoHeartbeat):
		message := fmt.Sprintf("no heartbeat from %s for %s", f.client.base, heartbeatTimeout)
		return &Error{Kind: TimedOut, Message: message, Err: errNoHeartbeat}
	case errors.Is(err, io.EOF):
		return truncated(reply, err, "the service has ended the stream")
	}
	return truncated(reply, err, "the stream was aborted: "+err.Error())
}

// members returns the members of the request.
func (f *follower) members() url.Values {
	members := make(url.Values)
	if len(f.topics) > 0 {
		members.Set("Topics", strings.Join(f.topics, ","))
	}
	if f.lastID != "" {
		members.Set("LastEventID", f.lastID)
	}
	return members
}

// read yields the events of a connection and cancels it if there is no heartbeat. The
// time spent in the caller's loop does not count.
func (f *follower) read(source *eventSource, cancel context.CancelCauseFunc) error {
	remaining := heartbeatTimeout // until the next heartbeat must arrive
	watchdog := time.AfterFunc(remaining, func() { cancel(errNoHeartbeat) })
	defer watchdog.Stop()
	source.lastID = f.lastID
	for {
		watchdog.Reset(remaining)
		start := time.Now()
		e, err := source.next()
		watchdog.Stop()
		if err != nil {
			return err
		}
		remaining -= time.Since(start)
		if e.name == wire.EventHeartbeat {
			remaining = heartbeatTimeout
			f.backoff.Reset()
		}
		if source.retry > 0 {
			f.backoff.Min = max(source.retry, minRetry)
		}
		f.lastID = source.lastID // also for an invalid event, which would otherwise be sent again

		event, err := decodeEvent(e, f.lastID)
		if err != nil {
			return err
		}
		if event != nil && !f.yield(event, nil) {
			return errLoopEnded
		}
	}
}

// decodeEvent decodes an event. It returns nil for an unknown event, which a newer service
// can send.
func decodeEvent(e sourceEvent, id string) (event StreamEvent, err error) {
	switch e.name {
	case wire.EventMessage:
		message := MessageEvent{ID: id}
		err = json.Unmarshal(e.data, &message.MessageChange)
		event = message
	case wire.EventStats:
		event = StatsEvent{Data: e.data}
	case wire.EventRequest:
		var request RequestEvent
		err = json.Unmarshal(e.data, &request.HandledRequest)
		event = request
	case wire.EventHeartbeat:
		var beat wire.Heartbeat
		err = json.Unmarshal(e.data, &beat)
		event = HeartbeatEvent{ID: id, ServerTime: time.Time(beat.At)}
	case wire.EventReset:
		var reset wire.Reset
		err = json.Unmarshal(e.data, &reset)
		event = ResetEvent{Reason: reset.Reason}
	}
	if err != nil {
		return nil, fmt.Errorf("invalid event %s: %w", e.name, err)
	}
	return event, nil
}
