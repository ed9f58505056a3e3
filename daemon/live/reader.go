package live

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"strconv"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/wake"
)

// heartbeatInterval is the time between two heartbeats.
const heartbeatInterval = 15 * time.Second

// Reader is one stream.
type Reader struct {
	hub         *Hub
	topics      Topics
	cursor      uint64 // number of the last change sent
	resetReason string // reason of an initial reset; empty for none
	wake        chan struct{}
	broadcasts  chan []byte

	// peersJoined is set when changes of other daemons start to be included: the reader gets a
	// reset. It is guarded by the hub's lock.
	peersJoined bool
}

// notify signals that there may be changes.
func (r *Reader) notify() {
	if !r.topics.Has(Messages) {
		return
	}
	wake.Signal(r.wake)
}

// Run passes the reader's events to send until ctx is done. It returns ErrClosed,
// ErrBehind or ErrStalled, or the error of ctx, check or send. send must return soon
// after its context is done. check is called at intervals; its error ends the stream.
func (r *Reader) Run(
	ctx context.Context, send func(context.Context, []byte) error, check func(context.Context) error,
) error {
	defer r.hub.leave(r)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stopWatching := context.AfterFunc(r.hub.ctx, func() { cancel(ErrClosed) })
	defer stopWatching()
	heartbeat := time.NewTicker(heartbeatInterval)
	checks := time.NewTicker(r.hub.config.Check)
	defer heartbeat.Stop()
	defer checks.Stop()

	out := r.preamble()
	for {
		if len(out) > 0 {
			if err := send(ctx, out); err != nil {
				return r.sendError(ctx, err)
			}
		}
		out = out[:0]
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-heartbeat.C:
			out = r.heartbeat(out)
		case <-checks.C:
			if err := check(ctx); err != nil {
				return err
			}
		case broadcast := <-r.broadcasts:
			out = append(out, broadcast...)
			out = r.drainBroadcasts(out)
		case <-r.wake:
			var err error
			out, err = r.changes(out)
			if err != nil {
				r.hub.count(func(c *Counts) { c.Behind++ })
				_ = send(ctx, r.reset(out, resetSlow)) // the stream ends either way; the client may resume from here
				return err
			}
		}
	}
}

// changes appends new changes. If there are more than one batch, it signals the reader
// again.
func (r *Reader) changes(dst []byte) ([]byte, error) {
	r.hub.mu.Lock()
	joined := r.peersJoined
	r.peersJoined = false
	r.hub.mu.Unlock()
	if joined {
		dst = r.reset(dst, resetPeersJoined)
	}
	dst, last, hasMore, err := r.hub.readFrames(dst, r.cursor)
	r.cursor = last
	if hasMore {
		r.notify()
	}
	return dst, err
}

// drainBroadcasts appends the buffered broadcasts.
func (r *Reader) drainBroadcasts(dst []byte) []byte {
	for {
		select {
		case broadcast := <-r.broadcasts:
			dst = append(dst, broadcast...)
		default:
			return dst
		}
	}
}

// sendError returns the reason of a failed send.
func (r *Reader) sendError(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), ErrClosed) {
		return ErrClosed
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		r.hub.count(func(c *Counts) { c.Stalled++ })
		return ErrStalled
	}
	return err
}

// appendEvent appends an event. An empty ID leaves the client's last ID unchanged; data
// must be a single line.
func appendEvent(dst []byte, id, name string, data []byte) []byte {
	if id != "" {
		dst = append(dst, "id: "...)
		dst = append(dst, id...)
		dst = append(dst, '\n')
	}
	dst = append(dst, "event: "...)
	dst = append(dst, name...)
	dst = append(dst, "\ndata: "...)
	dst = append(dst, data...)
	return append(dst, "\n\n"...)
}

// retryAfter is the reconnection delay of clients.
const retryAfter = 2 * time.Second

// preambleSize is the number of bytes sent at the start, mostly padding, which makes
// buffering proxies pass on the start of the stream.
const preambleSize = 4 << 10

// preamble returns the start of a stream. If the stream cannot be resumed, it contains
// the reset, in one piece with its ID.
func (r *Reader) preamble() []byte {
	const end = "\n\n"
	out := strconv.AppendInt([]byte("retry: "), retryAfter.Milliseconds(), 10)
	out = append(out, "\n:"...) // a comment
	out = append(out, bytes.Repeat([]byte{' '}, preambleSize-len(out)-len(end))...)
	out = append(out, end...)
	if r.resetReason != "" {
		out = r.reset(out, r.resetReason)
	}
	return r.heartbeat(out)
}

// heartbeat includes the ID, so that a client that is disconnected before any change
// can resume.
func (r *Reader) heartbeat(dst []byte) []byte {
	return r.appendStreamEvent(dst, wire.EventHeartbeat, wire.Heartbeat{At: wire.Timestamp(time.Now())})
}

// reset appends an event with the reason why the client has missed changes.
func (r *Reader) reset(dst []byte, reason string) []byte {
	return r.appendStreamEvent(dst, wire.EventReset, wire.Reset{Reason: reason})
}

// appendStreamEvent appends an event about the stream itself.
func (r *Reader) appendStreamEvent(dst []byte, name string, data any) []byte {
	text, err := json.Marshal(data)
	if err != nil {
		panic("live: " + err.Error()) // the types have no values that cannot be encoded
	}
	id := ""
	if r.topics.Has(Messages) {
		id = r.hub.id(r.cursor)
	}
	return appendEvent(dst, id, name, text)
}
