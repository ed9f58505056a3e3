package session

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/ui"
)

// StreamHost is the part of the app that the live updates use.
type StreamHost interface {
	CurrentSession() *ui.Session
	// SessionExpired opens the sign-in form, unless something else is open.
	SessionExpired()
	// RefreshAll refreshes the screens after changes were missed.
	RefreshAll() tea.Cmd
}

// Stream handles live updates, and knows the state of the connection.
type Stream struct {
	Conn      Connection
	host      StreamHost
	listen    func(wait tea.Cmd) tea.Cmd // runs the command that waits for the stream
	feed      *feed
	stopFeed  context.CancelFunc
	listenCtx context.Context // context of the feed
	watchers  []ui.Watcher
}

// NewStream returns a stream that is not connected; listen runs the command that waits for
// events.
func NewStream(h StreamHost, listen func(wait tea.Cmd) tea.Cmd) *Stream {
	return &Stream{host: h, listen: listen}
}

// Pause pauses or resumes live updates.
func (s *Stream) Pause() tea.Cmd {
	missed := s.Conn.missed
	s.Conn.paused = !s.Conn.paused
	s.Conn.missed = 0
	s.host.CurrentSession().Paused = s.Conn.paused
	if !s.Conn.paused && missed > 0 {
		return s.host.RefreshAll()
	}
	return nil
}

// Lost reports whether the stream was lost or rejected, and is not live again.
func (s *Stream) Lost() bool {
	lost := s.Conn.lostErr != nil || s.Conn.rejectedErr != nil
	return lost && !s.Conn.IsLive(s.host.CurrentSession().Now)
}

// Reconnect connects the stream although the service has rejected it.
func (s *Stream) Reconnect() tea.Cmd {
	s.Conn.rejectedErr = nil
	return s.Listen()
}

// Listen connects the stream, or ends it if the user may not listen.
func (s *Stream) Listen() tea.Cmd {
	s.stop()
	session := s.host.CurrentSession()
	if session.NeedsAdmin() != "" {
		s.Conn.beat = time.Time{}
		return nil
	}
	o := client.StreamOptions{Topics: []string{wire.TopicMessages, wire.TopicRequests}}
	if s.feed != nil {
		o.LastEventID = s.feed.last()
	}
	s.listenCtx, s.stopFeed = context.WithCancel(session.Context)
	s.feed = newFeed(s.Conn.session, session.Client.Stream(s.listenCtx, o))
	return s.nextBatch()
}

// stop ends the stream. Late events of it are dropped.
func (s *Stream) stop() {
	if s.stopFeed != nil {
		s.stopFeed()
	}
	s.Conn.session++
}

// nextBatch returns a command that waits for the next batch of events.
func (s *Stream) nextBatch() tea.Cmd {
	f, ctx := s.feed, s.listenCtx
	return s.listen(func() tea.Msg {
		if batch := f.next(ctx); batch != nil {
			return *batch
		}
		return nil
	})
}

// SignedIn ends the stream of the previous session, and forgets that the service has
// rejected it.
func (s *Stream) SignedIn() {
	s.stop()
	s.Conn.signedOut = false
	s.Conn.rejectedErr = nil
}

// AddOutcome updates the connection state from the outcome of a request.
func (s *Stream) AddOutcome(err error) {
	before := s.Conn.signedOut
	s.Conn.addOutcome(err, s.host.CurrentSession().Now)
	if s.Conn.signedOut && !before {
		s.host.SessionExpired()
	}
}

// Watch calls a watcher until it is done.
func (s *Stream) Watch(w ui.Watcher) { s.watchers = append(s.watchers, w) }

// Watchers returns the watchers that are not done.
func (s *Stream) Watchers() []ui.Watcher { return s.watchers }

// Tick calls the watchers once a second.
func (s *Stream) Tick() tea.Cmd { return s.watch(ui.Watcher.Tick) }

// watch calls the watchers that are not done.
func (s *Stream) watch(call func(ui.Watcher) tea.Cmd) tea.Cmd {
	var cmds []tea.Cmd
	for _, w := range slices.Clone(s.watchers) {
		if !w.Done() {
			cmds = append(cmds, call(w))
		}
	}
	s.watchers = slices.DeleteFunc(s.watchers, ui.Watcher.Done)
	return tea.Batch(cmds...)
}

// Reset ends the stream of the previous session, and forgets its connection and watchers.
// The next stream does not resume it, since it may be of another service or user.
func (s *Stream) Reset() {
	s.stop()
	s.Conn = Connection{session: s.Conn.session}
	s.watchers = nil
	s.feed = nil
}

// Close ends the stream and waits for its reader.
func (s *Stream) Close() {
	s.stop()
	if s.feed != nil {
		<-s.feed.ended
	}
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

// Handle handles a batch of events and waits for the next one. It reports whether the
// batch is of the current stream.
func (s *Stream) Handle(m LiveMsg) (cmd tea.Cmd, current bool) {
	if m.Fault != "" {
		panic(m.Fault)
	}
	if m.Session != s.Conn.session {
		return nil, false
	}
	session := s.host.CurrentSession()
	wasAway := !s.Conn.IsLive(session.Now)
	before := s.Conn.signedOut
	s.Conn.addBatch(m, session.Now)
	session.ServerOffset = s.Conn.offset
	if s.Conn.signedOut && !before {
		s.host.SessionExpired()
	}
	cmds := []tea.Cmd{s.watch(func(w ui.Watcher) tea.Cmd { return w.Follow(m.Changes) })}
	if len(m.Changes) > 0 {
		session.Queues.Changed = true
	}
	if m.Final == nil {
		cmds = append(cmds, s.nextBatch())
	}
	if m.Reset || m.Beat && wasAway {
		cmds = append(cmds, s.host.RefreshAll())
	}
	return tea.Batch(cmds...), true
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

// Connection is the state of the connection to the service. It is live only if a heartbeat
// arrived within ui.HeartbeatLimit.
type Connection struct {
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
func (c *Connection) addBatch(m LiveMsg, now time.Time) {
	if m.Connected {
		c.lostErr, c.signedOut = nil, false
	}
	if m.Beat { // a stream can outlive its session for a moment
		c.beat = now
		c.lastResponse = now
		c.lostErr = nil
		c.requestErr = nil
		c.offset = m.ServerOffset
	}
	if m.Lost != nil {
		c.lostErr = m.Lost
		c.lostAt = now
		c.retryAt = now.Add(m.Retry)
		c.beat = time.Time{}
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
func (c *Connection) addOutcome(err error, now time.Time) {
	switch {
	case ui.SignedOut(err):
		c.signedOut = true
		c.lastResponse = now
		c.requestErr = nil
	case client.Is(err, client.Cancelled):
	case client.Is(err, client.Unreachable), client.Is(err, client.TimedOut):
		c.requestErr = err
	case err == nil:
		c.lastResponse = now
		c.requestErr = nil
		c.signedOut = false
	}
}

// maxClockDifference is the clock difference that is not shown.
const maxClockDifference = 2 * time.Second

// ClockDifference formats the difference between the clocks, "" if it is small.
func (c *Connection) ClockDifference() string {
	if c.offset > maxClockDifference {
		return " +" + ui.Age(c.offset) + " service"
	}
	if c.offset < -maxClockDifference {
		return " -" + ui.Age(-c.offset) + " service"
	}
	return ""
}

// IsConnectionError reports whether an error is a connection or sign-in error.
func IsConnectionError(err error) bool {
	return ui.SignedOut(err) || client.Is(err, client.Unreachable) || client.Is(err, client.TimedOut)
}

// IsHealthy reports whether the last request was successful.
func (c *Connection) IsHealthy() bool {
	return !c.signedOut && c.requestErr == nil && !c.lastResponse.IsZero()
}

// IsLive reports whether the stream keeps the screen up to date.
func (c *Connection) IsLive(now time.Time) bool {
	return !c.beat.IsZero() && now.Sub(c.beat) < ui.HeartbeatLimit && c.lostErr == nil
}

// ShouldPoll reports whether the screens have to poll, because there is no live stream.
func (c *Connection) ShouldPoll(now time.Time) bool {
	return !c.paused && !c.signedOut && !c.IsLive(now)
}

// IsOffline reports whether the service is unreachable.
func (c *Connection) IsOffline(now time.Time) bool { return !c.IsLive(now) && c.requestErr != nil }

// LastResponse returns the time of the last response, and the error of a later request that
// got none.
func (c *Connection) LastResponse() (time.Time, error) { return c.lastResponse, c.requestErr }

// SignedOut reports whether the session has expired.
func (c *Connection) SignedOut() bool { return c.signedOut }

// CanReconnect reports whether the stream is waiting to reconnect although the service responds
// again.
func (c *Connection) CanReconnect(now time.Time) bool {
	return c.lostErr != nil && c.requestErr == nil && c.lastResponse.After(c.lostAt) && c.retryAt.After(now)
}

// Label returns the connection state for the header.
func (c *Connection) Label(now time.Time) string {
	switch {
	case c.signedOut:
		return "SIGN IN"
	case c.paused:
		return fmt.Sprintf("PAUSED +%d", c.missed)
	case c.IsLive(now):
		return "LIVE"
	case c.requestErr != nil && c.retryAt.After(now):
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
