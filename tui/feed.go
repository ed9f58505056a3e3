package tui

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
)

// batchEvery is how long changes are gathered before the screen learns of them:
// any number of them a second are at most five repaints.
const batchEvery = 200 * time.Millisecond

// source is a live stream of the service.
type source = iter.Seq2[client.StreamEvent, error]

// feed gathers what a stream tells until somebody asks for it. One goroutine
// reads the stream; it ends with the feed's context.
type feed struct {
	mu      sync.Mutex
	batch   liveMsg
	lastID  string
	arrived chan struct{} // holds one when there is a batch
	ended   chan struct{}
}

// newFeed begins to read a stream.
func newFeed(session int, events source) *feed {
	f := &feed{batch: liveMsg{session: session}, arrived: make(chan struct{}, 1), ended: make(chan struct{})}
	go func() {
		defer close(f.ended)
		defer f.caught()
		for event, err := range events {
			f.add(event, err)
		}
	}()
	return f
}

// caught hands a panic on to the loop of the screens, which leaves the terminal
// as it was.
func (f *feed) caught() {
	fault := recover()
	if fault == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.batch.fault = fmt.Sprintf("%v\n\n%s", fault, debug.Stack())
	f.tell()
}

// tell says that there is something to take.
func (f *feed) tell() {
	select {
	case f.arrived <- struct{}{}:
	default:
	}
}

// add takes one event of the stream into the batch.
func (f *feed) add(event client.StreamEvent, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	b := &f.batch
	switch e := event.(type) {
	case nil:
		b.final = err
	case client.Connected:
		b.connected, b.lost = true, nil
	case client.Disconnected:
		b.lost, b.retry, b.beat, b.connected = e.Err, e.Retry, false, false
	case client.HeartbeatEvent:
		b.beat = true
		if !e.ServerTime.IsZero() {
			b.ahead = time.Until(e.ServerTime)
		}
		f.remember(e.ID)
	case client.MessageEvent:
		b.changes = append(b.changes, e.MessageChange)
		f.remember(e.ID)
	case client.RequestEvent:
		if !strings.HasPrefix(e.PathInfo, "/Logs") { // to look at the log must not make it move
			b.requests++
		}
	case client.StatsEvent:
		var pulse wire.Pulse
		if json.Unmarshal(e.Data, &pulse) == nil {
			b.pulse = &pulse
		}
	case client.ResetEvent:
		b.reset = true
	}
	f.bound()
	f.tell()
}

// batchMost is how many changes are told one by one. More of them at once are
// told as a reset: to fetch again is cheaper.
const batchMost = 5000

func (f *feed) bound() {
	if len(f.batch.changes) > batchMost {
		f.batch.changes, f.batch.reset = nil, true
	}
}

func (f *feed) remember(id string) {
	if id != "" {
		f.lastID = id
	}
}

// last is the id of the last event.
func (f *feed) last() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.lastID
}

// next waits until there is something, gathers what comes right after it, and
// gives all of it. It is nil when ctx is done.
func (f *feed) next(ctx context.Context) *liveMsg {
	select {
	case <-f.arrived:
	case <-ctx.Done():
		return nil
	}
	pause := time.NewTimer(batchEvery)
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-ctx.Done():
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	batch := f.batch
	f.batch = liveMsg{session: batch.session}
	return &batch
}
