package session

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
)

// batchInterval is the interval in which events are collected: it limits the screen to
// five updates per second.
const batchInterval = 200 * time.Millisecond

// maxBatchChanges is the maximum number of changes in a batch. More changes are replaced by a
// reset, since fetching again is cheaper.
const maxBatchChanges = 5000

// source is a live stream of the service.
type source = iter.Seq2[client.StreamEvent, error]

// feed collects the events of a stream. One goroutine reads the stream until the
// context of the feed is done.
type feed struct {
	ready chan struct{} // signals a batch; capacity 1
	ended chan struct{} // closed when the stream is no longer read

	mu     sync.Mutex // guards the fields below
	batch  LiveMsg    // events that next has not returned yet
	lastID string     // ID of the last event, to resume the stream
}

// newFeed starts to read a stream.
func newFeed(session int, events source) *feed {
	f := &feed{
		batch: LiveMsg{Session: session},
		ready: make(chan struct{}, 1),
		ended: make(chan struct{}),
	}
	go func() {
		defer close(f.ended)
		defer f.recoverPanic()
		for event, err := range events {
			f.add(event, err)
		}
	}()
	return f
}

// recoverPanic forwards a panic to the main loop, which restores the terminal.
func (f *feed) recoverPanic() {
	fault := recover()
	if fault == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.batch.Fault = fmt.Sprintf("%v\n\n%s", fault, debug.Stack())
	f.signal()
}

// signal signals that there is a batch.
func (f *feed) signal() {
	select {
	case f.ready <- struct{}{}:
	default:
	}
}

// add adds an event to the batch.
func (f *feed) add(event client.StreamEvent, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	b := &f.batch
	switch e := event.(type) {
	case nil:
		b.Final = err
	case client.Connected:
		b.Connected = true
		b.Lost = nil
	case client.Disconnected:
		b.Lost = e.Err
		b.Retry = e.Retry
		b.Beat = false
		b.Connected = false
	case client.HeartbeatEvent:
		b.Beat = true
		if !e.ServerTime.IsZero() {
			b.ServerOffset = time.Until(e.ServerTime)
		}
		f.lastID = cmp.Or(e.ID, f.lastID)
	case client.MessageEvent:
		b.Changes = append(b.Changes, e.MessageChange)
		f.lastID = cmp.Or(e.ID, f.lastID)
	case client.RequestEvent:
		if e.StatusCode >= http.StatusInternalServerError {
			b.FailedRequests++
		}
		if !strings.HasPrefix(e.PathInfo, "/Logs") { // viewing the request log must not refresh it
			b.Requests++
		}
	case client.StatsEvent:
		var stats wire.Throughput
		if json.Unmarshal(e.Data, &stats) == nil && stats.Troubles != nil {
			b.Troubles = stats.Troubles
		}
	case client.ResetEvent:
		b.Reset = true
	}
	if len(b.Changes) > maxBatchChanges {
		b.Changes = nil
		b.Reset = true
	}
	f.signal()
}

// last returns the ID of the last event.
func (f *feed) last() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.lastID
}

// next waits for an event, collects events for batchInterval and returns the batch. It
// returns nil when ctx is done.
func (f *feed) next(ctx context.Context) *LiveMsg {
	select {
	case <-f.ready:
	case <-ctx.Done():
		return nil
	}
	pause := time.NewTimer(batchInterval)
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-ctx.Done():
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	batch := f.batch
	f.batch = LiveMsg{Session: batch.Session}
	return &batch
}
