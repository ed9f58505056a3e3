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

// stream follows what happens at the service.
type stream struct {
	*App
	link     link
	feed     *feed
	stopFeed context.CancelFunc
	hearing  context.Context // of the feed
	polling  bool            // a poll is on its way
}

// pause holds back what is live, or goes on with it.
func (s *stream) pause() tea.Cmd {
	s.link.paused = !s.link.paused
	s.Paused = s.link.paused
	missed := s.link.missed
	s.link.missed = 0
	if !s.link.paused && missed > 0 {
		return s.missed()
	}
	return nil
}

// refresh fetches what is shown again, and makes the stream anew where it was
// lost.
func (s *stream) refresh() tea.Cmd {
	var cmds []tea.Cmd
	if !s.link.live(s.Now) && (s.link.lost != nil || s.link.refused != nil) {
		s.link.refused = nil
		cmds = append(cmds, s.listen(), s.whoAmI())
	}
	if p, ok := s.Front().(ui.Poller); ok {
		cmds = append(cmds, p.Poll())
	}
	return tea.Batch(cmds...)
}

// listen begins to follow the service.
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
	return s.hear(ctx)
}

// hear waits for what happens next.
func (s *stream) hear(ctx context.Context) tea.Cmd {
	f := s.feed
	s.hearing = ctx
	return s.options.Loop.Listen(func() tea.Msg {
		if batch := f.next(ctx); batch != nil {
			return *batch
		}
		return nil
	})
}

// live takes what the stream told, and waits for more.
func (s *stream) live(m LiveMsg) tea.Cmd {
	if m.Fault != "" {
		panic(m.Fault)
	}
	if m.Session != s.link.session {
		return nil
	}
	wasAway := !s.link.live(s.Now)
	was := s.link.signedOut
	s.link.Take(m, s.Now)
	s.ServerOffset = s.link.ahead
	s.askWho(was)
	cmds := []tea.Cmd{s.watch(func(w ui.Watcher) tea.Cmd { return w.Follow(m.Changes) })}
	if len(m.Changes) > 0 {
		s.Queues.MarkChanged()
	}
	if m.Final == nil {
		cmds = append(cmds, s.hear(s.hearing))
	}
	if m.Reset || m.Beat && wasAway {
		cmds = append(cmds, s.missed())
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

// batchEvery is how long changes are gathered before the screen learns of them:
// any number of them a second are at most five repaints.
const batchEvery = 200 * time.Millisecond

// source is a live stream of the service.
type source = iter.Seq2[client.StreamEvent, error]

// feed gathers what a stream tells until somebody asks for it. One goroutine
// reads the stream; it ends with the feed's context.
type feed struct {
	mu      sync.Mutex
	batch   LiveMsg
	lastID  string
	arrived chan struct{} // holds one when there is a batch
	ended   chan struct{}
}

// newFeed begins to read a stream.
func newFeed(session int, events source) *feed {
	f := &feed{batch: LiveMsg{Session: session}, arrived: make(chan struct{}, 1), ended: make(chan struct{})}
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
	f.batch.Fault = fmt.Sprintf("%v\n\n%s", fault, debug.Stack())
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
		b.Final = err
	case client.Connected:
		b.Connected, b.Lost = true, nil
	case client.Disconnected:
		b.Lost, b.Retry, b.Beat, b.Connected = e.Err, e.Retry, false, false
	case client.HeartbeatEvent:
		b.Beat = true
		if !e.ServerTime.IsZero() {
			b.Ahead = time.Until(e.ServerTime)
		}
		f.remember(e.ID)
	case client.MessageEvent:
		b.Changes = append(b.Changes, e.MessageChange)
		f.remember(e.ID)
	case client.RequestEvent:
		if !strings.HasPrefix(e.PathInfo, "/Logs") { // to look at the log must not make it move
			b.Requests++
		}
	case client.StatsEvent:
		var pulse wire.Pulse
		if json.Unmarshal(e.Data, &pulse) == nil {
			b.Pulse = &pulse
		}
	case client.ResetEvent:
		b.Reset = true
	}
	f.bound()
	f.tell()
}

// batchMost is how many changes are told one by one. More of them at once are
// told as a reset: to fetch again is cheaper.
const batchMost = 5000

func (f *feed) bound() {
	if len(f.batch.Changes) > batchMost {
		f.batch.Changes, f.batch.Reset = nil, true
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
func (f *feed) next(ctx context.Context) *LiveMsg {
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
	f.batch = LiveMsg{Session: batch.Session}
	return &batch
}

// link is what is known of the way to the service. It never calls live what is
// not: without a heartbeat in the last 20 seconds the word is another one.
type link struct {
	session   int // of the stream that counts
	connected bool
	beat      time.Time // the last heartbeat
	lost      error     // the stream's connection
	lostAt    time.Time
	retryAt   time.Time
	refused   error     // the service has no stream for us
	reached   time.Time // the last answer of any kind
	failed    error     // the last request got none
	failedAt  time.Time
	signedOut bool
	ahead     time.Duration // how far the service's clock is ahead of ours
	paused    bool
	missed    int // changes while paused
}

// Take learns from what the stream told.
func (l *link) Take(m LiveMsg, now time.Time) {
	if m.Connected {
		l.connected, l.lost, l.signedOut = true, nil, false
	}
	if m.Beat { // which a stream has that outlives its session for a moment
		l.beat, l.reached, l.lost, l.failed, l.ahead = now, now, nil, nil, m.Ahead
	}
	if m.Lost != nil {
		l.connected, l.lost, l.lostAt, l.retryAt, l.beat = false, m.Lost, now, now.Add(m.Retry), time.Time{}
	}
	if m.Final != nil {
		l.connected, l.refused, l.beat = false, m.Final, time.Time{}
		l.signedOut = l.signedOut || ui.SignedOut(m.Final)
	}
	if l.paused {
		l.missed += len(m.Changes) + m.Requests
	}
}

// heard learns from the outcome of a request.
func (l *link) heard(err error, now time.Time) {
	switch {
	case ui.SignedOut(err):
		l.signedOut, l.reached, l.failed = true, now, nil
	case client.Is(err, client.Cancelled):
	case client.Is(err, client.Unreachable), client.Is(err, client.TimedOut):
		l.failed, l.failedAt = err, now
	case err == nil:
		l.reached, l.failed, l.signedOut = now, nil, false
	}
}

// sameClock is how far two clocks may be apart without a word.
const sameClock = 2 * time.Second

// clocks says by how much the service's clock differs; empty for not worth
// mentioning.
func (l *link) clocks() string {
	switch {
	case l.ahead > sameClock:
		return " +" + ui.Age(l.ahead) + " there"
	case l.ahead < -sameClock:
		return " -" + ui.Age(-l.ahead) + " there"
	}
	return ""
}

// ofLink reports whether an error says only that the service could not be asked,
// or not by us.
func ofLink(err error) bool {
	return ui.SignedOut(err) || client.Is(err, client.Unreachable) || client.Is(err, client.TimedOut)
}

// fine reports whether the service answers, and us.
func (l *link) fine() bool { return !l.signedOut && l.failed == nil && !l.reached.IsZero() }

// live reports whether what is shown is kept up to date by the stream.
func (l *link) live(now time.Time) bool {
	return !l.beat.IsZero() && now.Sub(l.beat) < ui.HeartbeatLimit && l.lost == nil
}

// polls reports whether rows have to be fetched again and again, since no stream
// brings their changes.
func (l *link) polls(now time.Time) bool { return !l.paused && !l.signedOut && !l.live(now) }

// away reports whether the service cannot be reached.
func (l *link) away(now time.Time) bool { return !l.live(now) && l.failed != nil }

// idle reports whether the stream still waits although the service answers
// again.
func (l *link) idle(now time.Time) bool {
	return l.lost != nil && l.failed == nil && l.reached.After(l.lostAt) && l.retryAt.After(now)
}

// word is the state in one word or two.
func (l *link) word(now time.Time) string {
	switch {
	case l.signedOut:
		return "AUTH"
	case l.paused:
		return fmt.Sprintf("PAUSED +%d", l.missed)
	case l.live(now):
		return "LIVE"
	case l.failed != nil && !l.retryAt.IsZero() && l.retryAt.After(now):
		return "OFFLINE retry " + ui.Age(l.retryAt.Sub(now)+time.Second-1)
	case l.failed != nil:
		return "OFFLINE"
	case !l.beat.IsZero():
		return "STALE " + ui.Age(now.Sub(l.beat))
	case l.reached.IsZero():
		return "CONNECTING"
	case now.Sub(l.reached) > 5*ui.PollInterval:
		return "STALE " + ui.Age(now.Sub(l.reached))
	}
	return "POLL " + ui.Age(ui.PollInterval)
}
