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

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/ui"
)

// stream handles live updates.
type stream struct {
	*App
	link      connection
	feed      *feed
	stopFeed  context.CancelFunc
	listenCtx context.Context // of the feed
	polling   bool            // a poll is in progress
}

// pause pauses or resumes live updates.
func (s *stream) pause() tea.Cmd {
	s.link.paused = !s.link.paused
	s.Paused = s.link.paused
	missed := s.link.missed
	s.link.missed = 0
	if !s.link.paused && missed > 0 {
		return s.refreshAll()
	}
	return nil
}

// refresh fetches the visible data again, and reconnects the stream if it was lost.
func (s *stream) refresh() tea.Cmd {
	var cmds []tea.Cmd
	if !s.link.isLive(s.Now) && (s.link.lostErr != nil || s.link.rejectedErr != nil) {
		s.link.rejectedErr = nil
		cmds = append(cmds, s.listen(), s.fetchAccount())
	}
	if p, ok := s.Front().(ui.Poller); ok {
		cmds = append(cmds, p.Poll())
	}
	return tea.Batch(cmds...)
}

// listen connects the stream.
func (s *stream) listen() tea.Cmd {
	if s.stopFeed != nil {
		s.stopFeed()
	}
	o := client.StreamOptions{Topics: []string{wire.TopicMessages, wire.TopicStats, wire.TopicRequests}}
	if s.feed != nil {
		o.LastEventID = s.feed.last()
	}
	ctx, stop := context.WithCancel(s.Context)
	s.link.session++
	s.feed, s.stopFeed = newFeed(s.link.session, s.Client.Stream(ctx, o)), stop
	return s.nextBatch(ctx)
}

// nextBatch returns a command that waits for the next batch of events.
func (s *stream) nextBatch(ctx context.Context) tea.Cmd {
	f := s.feed
	s.listenCtx = ctx
	return s.options.Loop.Listen(func() tea.Msg {
		if batch := f.next(ctx); batch != nil {
			return *batch
		}
		return nil
	})
}

// isLive handles a batch of events and waits for the next one.
func (s *stream) handleLive(m LiveMsg) tea.Cmd {
	if m.Fault != "" {
		panic(m.Fault)
	}
	if m.Session != s.link.session {
		return nil
	}
	wasAway := !s.link.isLive(s.Now)
	was := s.link.signedOut
	s.link.Update(m, s.Now)
	s.ServerOffset = s.link.offset
	s.promptSignIn(was)
	cmds := []tea.Cmd{s.watch(func(w ui.Watcher) tea.Cmd { return w.Follow(m.Changes) })}
	if len(m.Changes) > 0 {
		s.Queues.MarkChanged()
	}
	if m.Final == nil {
		cmds = append(cmds, s.nextBatch(s.listenCtx))
	}
	if m.Reset || m.Beat && wasAway {
		cmds = append(cmds, s.refreshAll())
	}
	if !s.link.paused {
		for _, stack := range s.stacks {
			for _, s := range stack {
				if f, ok := s.(ui.Follower); ok {
					cmds = append(cmds, f.Follow(m.Changes, m.Requests))
				}
			}
		}
	}
	return tea.Batch(cmds...)
}

// batchInterval is the interval in which events are collected: it limits the screen to
// five updates per second.
const batchInterval = 200 * time.Millisecond

// source is a live stream of the service.
type source = iter.Seq2[client.StreamEvent, error]

// feed collects the events of a stream. One goroutine reads the stream until the
// context of the feed is done.
type feed struct {
	mu     sync.Mutex
	batch  LiveMsg
	lastID string
	ready  chan struct{} // signals a batch; capacity 1
	ended  chan struct{}
}

// newFeed starts to read a stream.
func newFeed(session int, events source) *feed {
	f := &feed{batch: LiveMsg{Session: session}, ready: make(chan struct{}, 1), ended: make(chan struct{})}
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
		b.Connected, b.Lost = true, nil
	case client.Disconnected:
		b.Lost, b.Retry, b.Beat, b.Connected = e.Err, e.Retry, false, false
	case client.HeartbeatEvent:
		b.Beat = true
		if !e.ServerTime.IsZero() {
			b.ServerOffset = time.Until(e.ServerTime)
		}
		f.remember(e.ID)
	case client.MessageEvent:
		b.Changes = append(b.Changes, e.MessageChange)
		f.remember(e.ID)
	case client.RequestEvent:
		if !strings.HasPrefix(e.PathInfo, "/Logs") { // viewing the request log must not refresh it
			b.Requests++
		}
	case client.StatsEvent:
		var pulse wire.Pulse
		if json.Unmarshal(e.Data, &pulse) == nil {
			b.Throughput = &pulse
		}
	case client.ResetEvent:
		b.Reset = true
	}
	f.limitBatch()
	f.signal()
}

// maxBatchChanges is the maximum number of changes in a batch. More changes are replaced by a
// reset, since fetching again is cheaper.
const maxBatchChanges = 5000

func (f *feed) limitBatch() {
	if len(f.batch.Changes) > maxBatchChanges {
		f.batch.Changes, f.batch.Reset = nil, true
	}
}

func (f *feed) remember(id string) {
	if id != "" {
		f.lastID = id
	}
}

// last returns the ID of the last event.
func (f *feed) last() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.lastID
}

// next waits for an event, collects events for batchEvery and returns the batch. It
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

// connection is the state of the connection to the service. It is live only if a heartbeat
// arrived within ui.HeartbeatLimit.
type connection struct {
	session      int // number of the current stream
	connected    bool
	beat         time.Time // time of the last heartbeat
	lostErr      error     // why the stream is disconnected
	lostAt       time.Time
	retryAt      time.Time
	rejectedErr  error     // why the service rejected the stream
	lastResponse time.Time // time of the last response
	requestErr   error     // error of the last request that got no response
	failedAt     time.Time
	signedOut    bool
	offset       time.Duration // difference between the clock of the service and the local clock
	paused       bool
	missed       int // number of changes while paused
}

// Update updates the state from a batch.
func (l *connection) Update(m LiveMsg, now time.Time) {
	if m.Connected {
		l.connected, l.lostErr, l.signedOut = true, nil, false
	}
	if m.Beat { // a stream can outlive its session for a moment
		l.beat, l.lastResponse, l.lostErr, l.requestErr, l.offset = now, now, nil, nil, m.ServerOffset
	}
	if m.Lost != nil {
		l.connected, l.lostErr, l.lostAt, l.retryAt, l.beat = false, m.Lost, now, now.Add(m.Retry), time.Time{}
	}
	if m.Final != nil {
		l.connected, l.rejectedErr, l.beat = false, m.Final, time.Time{}
		l.signedOut = l.signedOut || ui.SignedOut(m.Final)
	}
	if l.paused {
		l.missed += len(m.Changes) + m.Requests
	}
}

// update updates the state from the outcome of a request.
func (l *connection) update(err error, now time.Time) {
	switch {
	case ui.SignedOut(err):
		l.signedOut, l.lastResponse, l.requestErr = true, now, nil
	case client.Is(err, client.Cancelled):
	case client.Is(err, client.Unreachable), client.Is(err, client.TimedOut):
		l.requestErr, l.failedAt = err, now
	case err == nil:
		l.lastResponse, l.requestErr, l.signedOut = now, nil, false
	}
}

// maxClockDifference is the clock difference that is not shown.
const maxClockDifference = 2 * time.Second

// clockDifference formats the difference between the clocks, "" if it is small.
func (l *connection) clockDifference() string {
	switch {
	case l.offset > maxClockDifference:
		return " +" + ui.Age(l.offset) + " there"
	case l.offset < -maxClockDifference:
		return " -" + ui.Age(-l.offset) + " there"
	}
	return ""
}

// isConnectionError reports whether an error is a connection or sign-in error.
func isConnectionError(err error) bool {
	return ui.SignedOut(err) || client.Is(err, client.Unreachable) || client.Is(err, client.TimedOut)
}

// isHealthy reports whether the last request was successful.
func (l *connection) isHealthy() bool {
	return !l.signedOut && l.requestErr == nil && !l.lastResponse.IsZero()
}

// isLive reports whether the stream keeps the screen up to date.
func (l *connection) isLive(now time.Time) bool {
	return !l.beat.IsZero() && now.Sub(l.beat) < ui.HeartbeatLimit && l.lostErr == nil
}

// shouldPoll reports whether the screens have to poll, because there is no live stream.
func (l *connection) shouldPoll(now time.Time) bool {
	return !l.paused && !l.signedOut && !l.isLive(now)
}

// isOffline reports whether the service is unreachable.
func (l *connection) isOffline(now time.Time) bool { return !l.isLive(now) && l.requestErr != nil }

// canReconnect reports whether the stream is waiting to reconnect although the service responds
// again.
func (l *connection) canReconnect(now time.Time) bool {
	return l.lostErr != nil && l.requestErr == nil && l.lastResponse.After(l.lostAt) && l.retryAt.After(now)
}

// label returns the connection state for the header.
func (l *connection) label(now time.Time) string {
	switch {
	case l.signedOut:
		return "AUTH"
	case l.paused:
		return fmt.Sprintf("PAUSED +%d", l.missed)
	case l.isLive(now):
		return "LIVE"
	case l.requestErr != nil && !l.retryAt.IsZero() && l.retryAt.After(now):
		return "OFFLINE retry " + ui.Age(l.retryAt.Sub(now)+time.Second-1)
	case l.requestErr != nil:
		return "OFFLINE"
	case !l.beat.IsZero():
		return "STALE " + ui.Age(now.Sub(l.beat))
	case l.lastResponse.IsZero():
		return "CONNECTING"
	case now.Sub(l.lastResponse) > 5*ui.PollInterval:
		return "STALE " + ui.Age(now.Sub(l.lastResponse))
	}
	return "POLL " + ui.Age(ui.PollInterval)
}
