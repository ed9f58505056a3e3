package tui

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/ui"
)

// stream follows what happens at the service.
type stream struct {
	*app
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
	return s.options.hear(func() tea.Msg {
		if batch := f.next(ctx); batch != nil {
			return *batch
		}
		return nil
	})
}

// live takes what the stream told, and waits for more.
func (s *stream) live(m liveMsg) tea.Cmd {
	if m.fault != "" {
		panic(m.fault)
	}
	if m.session != s.link.session {
		return nil
	}
	wasAway := !s.link.live(s.Now)
	was := s.link.signedOut
	s.link.Take(m, s.Now)
	s.Ahead = s.link.ahead
	s.askWho(was)
	cmds := []tea.Cmd{s.watch(func(w ui.Watcher) tea.Cmd { return w.Follow(m.changes) })}
	if len(m.changes) > 0 {
		s.Queues.Changed()
	}
	if m.final == nil {
		cmds = append(cmds, s.hear(s.hearing))
	}
	if m.reset || m.beat && wasAway {
		cmds = append(cmds, s.missed())
	}
	if !s.link.paused {
		for _, stack := range s.stacks {
			for _, s := range stack {
				if f, ok := s.(ui.Follower); ok {
					cmds = append(cmds, f.Follow(m.changes, m.requests))
				}
			}
		}
	}
	return tea.Batch(cmds...)
}
