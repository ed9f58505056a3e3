package session

import (
	"context"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/ui"
)

// StreamHost is the part of the app that the live updates use.
type StreamHost interface {
	CurrentSession() *ui.Session
	Overlay() ui.Overlay
	Input() *ui.InputLine
	// ShowSignIn opens the sign-in form in place of the overlay and the input.
	ShowSignIn()
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
	o := client.StreamOptions{Topics: []string{wire.TopicMessages, wire.TopicRequests, wire.TopicStats}}
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
	s.Conn.rejection = nil
	s.Conn.rejectedErr = nil
	s.host.CurrentSession().Rejection = nil
}

// AddOutcome updates the connection state from the outcome of a request.
func (s *Stream) AddOutcome(err error) {
	session := s.host.CurrentSession()
	wasSignedOut := s.Conn.SignedOut()
	s.Conn.addOutcome(err, session.Now)
	session.Rejection = s.Conn.rejection
	if s.Conn.SignedOut() && !wasSignedOut {
		s.sessionExpired()
	}
}

// sessionExpired opens the sign-in form, unless something else is open.
func (s *Stream) sessionExpired() {
	if s.host.Overlay() == nil && s.host.Input() == nil {
		s.host.ShowSignIn()
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
	Requests     int            // number of requests that were logged
	Connected    bool           // the stream has connected
	Beat         bool           // a heartbeat has arrived
	ServerOffset time.Duration  // difference between the clock of the service and the local clock
	Reset        bool           // changes were missed
	Lost         error          // why the connection was lost
	Retry        time.Duration  // delay before the next attempt
	Final        error          // why the service rejected the stream
	Fault        string         // panic in the stream reader
	Troubles     *wire.Troubles // the last ones; nil for none

	FailedRequests int // number of requests with an error of the service, also those not in Requests
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
	wasSignedOut := s.Conn.SignedOut()
	s.Conn.addBatch(m, session.Now)
	session.ServerOffset = s.Conn.offset
	session.Rejection = s.Conn.rejection
	if s.Conn.SignedOut() && !wasSignedOut {
		s.sessionExpired()
	}
	cmds := []tea.Cmd{s.watch(func(w ui.Watcher) tea.Cmd { return w.Follow(m.Changes) })}
	if len(m.Changes) > 0 {
		session.Queues.Changed = true
	}
	if m.Troubles != nil {
		session.Queues.Announce(*m.Troubles, session.Now)
	}
	session.FailedRequests.Add(session.Now, m.FailedRequests)
	if m.Final == nil {
		cmds = append(cmds, s.nextBatch())
	}
	isBack := wasAway && m.Beat
	if m.Reset || isBack {
		cmds = append(cmds, s.host.RefreshAll())
	}
	return tea.Batch(cmds...), true
}
