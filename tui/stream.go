package tui

import (
	"cmp"
	"context"
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
	conn      connection
	feed      *feed
	stopFeed  context.CancelFunc
	listenCtx context.Context // of the feed
	polling   bool            // a poll is in progress
}

// pause pauses or resumes live updates.
func (s *stream) pause() tea.Cmd {
	s.conn.paused = !s.conn.paused
	s.Paused = s.conn.paused
	missed := s.conn.missed
	s.conn.missed = 0
	if !s.conn.paused && missed > 0 {
		return s.refreshAll()
	}
	return nil
}

// refresh fetches the visible data again, and reconnects the stream if it was lost.
func (s *stream) refresh() tea.Cmd {
	var cmds []tea.Cmd
	if !s.conn.isLive(s.Now) && (s.conn.lostErr != nil || s.conn.rejectedErr != nil) {
		s.conn.rejectedErr = nil
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
	if s.NeedsAdmin() != "" {
		return nil
	}
	o := client.StreamOptions{Topics: []string{wire.TopicMessages, wire.TopicRequests}}
	if s.feed != nil {
		o.LastEventID = s.feed.last()
	}
	ctx, stop := context.WithCancel(s.Context)
	s.conn.session++
	s.feed, s.listenCtx, s.stopFeed = newFeed(s.conn.session, s.Client.Stream(ctx, o)), ctx, stop
	return s.nextBatch()
}

// nextBatch returns a command that waits for the next batch of events.
func (s *stream) nextBatch() tea.Cmd {
	f, ctx := s.feed, s.listenCtx
	return s.options.Loop.Listen(func() tea.Msg {
		if batch := f.next(ctx); batch != nil {
			return *batch
		}
		return nil
	})
}

// LiveMsg contains the events of the live stream since the previous LiveMsg.
type LiveMsg struct {
	Session      int // number of the stream
	Changes      []wire.MessageChange
	Requests     int
	Connected    bool
	Beat         bool
	ServerOffset time.Duration // difference between the clock of the service and the local clock
	Reset        bool
	Lost         error         // why the connection was lost
	Retry        time.Duration // delay before the next attempt
	Final        error         // why the service rejected the stream
	Fault        string        // panic in the stream reader
}

// handleLive handles a batch of events and waits for the next one.
func (s *stream) handleLive(m LiveMsg) tea.Cmd {
	if m.Fault != "" {
		panic(m.Fault)
	}
	if m.Session != s.conn.session {
		return nil
	}
	wasAway := !s.conn.isLive(s.Now)
	was := s.conn.signedOut
	s.conn.addBatch(m, s.Now)
	s.ServerOffset = s.conn.offset
	s.promptSignIn(was)
	cmds := []tea.Cmd{s.watch(func(w ui.Watcher) tea.Cmd { return w.Follow(m.Changes) })}
	if len(m.Changes) > 0 {
		s.Queues.Changed = true
	}
	if m.Final == nil {
		cmds = append(cmds, s.nextBatch())
	}
	if m.Reset || m.Beat && wasAway {
		cmds = append(cmds, s.refreshAll())
	}
	if !s.conn.paused {
		for _, stack := range s.stacks {
			for _, one := range stack {
				for _, s := range withPreview(one) {
					if f, ok := s.(ui.Follower); ok {
						cmds = append(cmds, f.Follow(m.Changes, m.Requests))
					}
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
		f.lastID = cmp.Or(e.ID, f.lastID)
	case client.MessageEvent:
		b.Changes = append(b.Changes, e.MessageChange)
		f.lastID = cmp.Or(e.ID, f.lastID)
	case client.RequestEvent:
		if !strings.HasPrefix(e.PathInfo, "/Logs") { // viewing the request log must not refresh it
			b.Requests++
		}
	case client.ResetEvent:
		b.Reset = true
	}
	if len(b.Changes) > maxBatchChanges {
		b.Changes, b.Reset = nil, true
	}
	f.signal()
}

// maxBatchChanges is the maximum number of changes in a batch. More changes are replaced by a
// reset, since fetching again is cheaper.
const maxBatchChanges = 5000

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

// connection is the state of the connection to the service. It is live only if a heartbeat
// arrived within ui.HeartbeatLimit.
type connection struct {
	session      int       // number of the current stream
	beat         time.Time // time of the last heartbeat
	lostErr      error     // why the stream is disconnected
	lostAt       time.Time
	retryAt      time.Time
	rejectedErr  error     // why the service rejected the stream
	lastResponse time.Time // time of the last response
	requestErr   error     // error of the last request that got no response
	signedOut    bool
	offset       time.Duration // difference between the clock of the service and the local clock
	paused       bool
	missed       int // number of changes while paused
}

// addBatch updates the state from a batch of events.
func (c *connection) addBatch(m LiveMsg, now time.Time) {
	if m.Connected {
		c.lostErr, c.signedOut = nil, false
	}
	if m.Beat { // a stream can outlive its session for a moment
		c.beat, c.lastResponse, c.lostErr, c.requestErr, c.offset = now, now, nil, nil, m.ServerOffset
	}
	if m.Lost != nil {
		c.lostErr, c.lostAt, c.retryAt, c.beat = m.Lost, now, now.Add(m.Retry), time.Time{}
	}
	if m.Final != nil {
		c.rejectedErr, c.beat = m.Final, time.Time{}
		c.signedOut = c.signedOut || ui.SignedOut(m.Final)
	}
	if c.paused {
		c.missed += len(m.Changes) + m.Requests
	}
}

// addOutcome updates the state from the outcome of a request.
func (c *connection) addOutcome(err error, now time.Time) {
	switch {
	case ui.SignedOut(err):
		c.signedOut, c.lastResponse, c.requestErr = true, now, nil
	case client.Is(err, client.Cancelled):
	case client.Is(err, client.Unreachable), client.Is(err, client.TimedOut):
		c.requestErr = err
	case err == nil:
		c.lastResponse, c.requestErr, c.signedOut = now, nil, false
	}
}

// maxClockDifference is the clock difference that is not shown.
const maxClockDifference = 2 * time.Second

// clockDifference formats the difference between the clocks, "" if it is small.
func (c *connection) clockDifference() string {
	switch {
	case c.offset > maxClockDifference:
		return " +" + ui.Age(c.offset) + " service"
	case c.offset < -maxClockDifference:
		return " -" + ui.Age(-c.offset) + " service"
	}
	return ""
}

// isConnectionError reports whether an error is a connection or sign-in error.
func isConnectionError(err error) bool {
	return ui.SignedOut(err) || client.Is(err, client.Unreachable) || client.Is(err, client.TimedOut)
}

// isHealthy reports whether the last request was successful.
func (c *connection) isHealthy() bool {
	return !c.signedOut && c.requestErr == nil && !c.lastResponse.IsZero()
}

// isLive reports whether the stream keeps the screen up to date.
func (c *connection) isLive(now time.Time) bool {
	return !c.beat.IsZero() && now.Sub(c.beat) < ui.HeartbeatLimit && c.lostErr == nil
}

// shouldPoll reports whether the screens have to poll, because there is no live stream.
func (c *connection) shouldPoll(now time.Time) bool {
	return !c.paused && !c.signedOut && !c.isLive(now)
}

// isOffline reports whether the service is unreachable.
func (c *connection) isOffline(now time.Time) bool { return !c.isLive(now) && c.requestErr != nil }

// canReconnect reports whether the stream is waiting to reconnect although the service responds
// again.
func (c *connection) canReconnect(now time.Time) bool {
	return c.lostErr != nil && c.requestErr == nil && c.lastResponse.After(c.lostAt) && c.retryAt.After(now)
}

// label returns the connection state for the header.
func (c *connection) label(now time.Time) string {
	switch {
	case c.signedOut:
		return "SIGN IN"
	case c.paused:
		return fmt.Sprintf("PAUSED +%d", c.missed)
	case c.isLive(now):
		return "LIVE"
	case c.requestErr != nil && !c.retryAt.IsZero() && c.retryAt.After(now):
		return "OFFLINE retry in " + ui.Age(c.retryAt.Sub(now)+time.Second-1)
	case c.requestErr != nil:
		return "OFFLINE"
	case !c.beat.IsZero():
		return "STALE " + ui.Age(now.Sub(c.beat))
	case c.lastResponse.IsZero():
		return "CONNECTING"
	case now.Sub(c.lastResponse) > 5*ui.PollInterval:
		return "STALE " + ui.Age(now.Sub(c.lastResponse))
	}
	return "POLL " + ui.Age(ui.PollInterval)
}
