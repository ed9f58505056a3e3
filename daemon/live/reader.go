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
)

// heartbeatInterval is the time between two signs of life.
const heartbeatInterval = 15 * time.Second

// Reader is one stream.
type Reader struct {
	hub         *Hub
	topics      Topics
	cursor      uint64 // number of the last change that it was given
	resetReason string // why it begins with a reset; empty where it does not
	peersJoined bool   // others have joined since it began: it gets a reset, once; the hub's lock guards it
	wake        chan struct{}
	broadcasts  chan []byte
}

// notify says that there may be changes.
func (r *Reader) notify() {
	if !r.topics.Has(Messages) {
		return
	}
	select {
	case r.wake <- struct{}{}:
	default: // it knows
	}
}

// Run gives send what the reader is to get until ctx is done, and says why it
// ended: with ErrClosed, ErrBehind or ErrStalled, or else with the error of ctx,
// check or send. A send must fail soon once its context is done. Now and then
// check is asked whether the reader may go on.
func (r *Reader) Run(ctx context.Context, send func(context.Context, []byte) error, check func(context.Context) error) error {
	defer r.hub.leave(r)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(r.hub.ctx, func() { cancel(ErrClosed) })()
	heartbeat, checks := time.NewTicker(heartbeatInterval), time.NewTicker(r.hub.config.Check)
	defer heartbeat.Stop()
	defer checks.Stop()

	for out := r.preamble(); ; {
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
			out = r.drainBroadcasts(append(out, broadcast...))
		case <-r.wake:
			var err error
			if out, err = r.changes(out); err != nil {
				r.hub.count(func(c *Counts) { c.Behind++ })
				_ = send(ctx, r.reset(out, resetSlow)) // it ends either way, and may come back and go on from here
				return err
			}
		}
	}
}

// changes appends what is new. Where there is more of it than one send should
// have, the reader comes here again.
func (r *Reader) changes(dst []byte) ([]byte, error) {
	r.hub.mu.Lock()
	joined := r.peersJoined
	r.peersJoined = false
	r.hub.mu.Unlock()
	if joined {
		dst = r.reset(dst, resetPeersJoined)
	}
	out, last, more, err := r.hub.readFrames(dst, r.cursor)
	r.cursor = last
	if more {
		r.notify()
	}
	return out, err
}

// drainBroadcasts appends the notes that have come meanwhile.
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

// sendError is the reason why a send failed.
func (r *Reader) sendError(ctx context.Context, err error) error {
	switch {
	case errors.Is(context.Cause(ctx), ErrClosed):
		return ErrClosed
	case errors.Is(err, os.ErrDeadlineExceeded):
		r.hub.count(func(c *Counts) { c.Stalled++ })
		return ErrStalled
	}
	return err
}

// appendEvent writes one event. An empty id leaves the reader's as it is; the
// data is one line.
func appendEvent(dst []byte, id, name string, data []byte) []byte {
	if id != "" {
		dst = append(append(append(dst, "id: "...), id...), '\n')
	}
	dst = append(append(dst, "event: "...), name...)
	dst = append(append(dst, "\ndata: "...), data...)
	return append(dst, "\n\n"...)
}

// retryAfter is how soon a client that was cut off may come back.
const retryAfter = 2 * time.Second

// preambleSize is how much is sent at the start, mostly padding: proxies that
// gather a reply in a buffer pass on what has filled it.
const preambleSize = 4 << 10

// preamble is the beginning of a stream. Where it cannot go on as asked, the
// reset comes first: with the id behind it, it is taken together or not at all.
func (r *Reader) preamble() []byte {
	out := append([]byte("retry: "), strconv.FormatInt(retryAfter.Milliseconds(), 10)...)
	out = append(out, "\n:"...)
	out = append(out, bytes.Repeat([]byte{' '}, preambleSize-len(out)-2)...)
	out = append(out, "\n\n"...)
	if r.resetReason != "" {
		out = r.reset(out, r.resetReason)
	}
	return r.heartbeat(out)
}

// heartbeat carries the id too, so that a client which was cut off before
// anything happened knows where it was.
func (r *Reader) heartbeat(dst []byte) []byte {
	return r.appendStreamEvent(dst, wire.EventHeartbeat, wire.Heartbeat{At: wire.Moment(time.Now())})
}

func (r *Reader) reset(dst []byte, reason string) []byte {
	return r.appendStreamEvent(dst, wire.EventReset, wire.Reset{Reason: reason})
}

// appendStreamEvent writes an event about the stream itself.
func (r *Reader) appendStreamEvent(dst []byte, name string, data any) []byte {
	text, err := json.Marshal(data)
	if err != nil {
		panic("live: " + err.Error()) // there is nothing in it that JSON has not
	}
	id := ""
	if r.topics.Has(Messages) {
		id = r.hub.id(r.cursor)
	}
	return appendEvent(dst, id, name, text)
}
