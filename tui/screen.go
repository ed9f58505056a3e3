package tui

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/tui/keymap"
)

// screen is what fills the middle of the terminal. Screens change themselves
// and return what is to be done besides; the app alone routes.
type screen interface {
	start() tea.Cmd            // it was opened
	shown() tea.Cmd            // it came to the front, also right after start
	stop()                     // it was left, and nothing is waited for any more
	afresh()                   // it is opened again
	update(tea.Msg) tea.Cmd    // an answer to one of its commands
	do(keymap.Binding) tea.Cmd // a key with a meaning here
	setSize(width, height int)
	view() string // exactly as many lines and cells as setSize said
	title() string
	chips() []string // what limits the rows that are shown
	status() string
	scopes() []keymap.Scope // beside everywhere, the narrowest first
	twin() string           // the whctl command that shows the same
}

// What only some screens can do.
type (
	// finder takes a line that was typed after /.
	finder interface{ find() *line }
	// poller fetches again what may have changed, without a word where that fails.
	poller interface{ poll() tea.Cmd }
	// follower wants to know what happens at the service.
	follower interface{ follow(liveMsg) tea.Cmd }
	// ticker has something to do once a second while it is in front.
	ticker interface{ tick() tea.Cmd }
	// waiter reports whether something is on its way.
	waiter interface{ waiting() bool }
	// holder has screens inside of it.
	holder interface{ holds(screen) bool }
	// unmarker takes marks away before esc leaves the screen.
	unmarker interface{ unmark() bool }
)

// part is what all screens have in common.
type part struct {
	app           *app
	width, height int
	context       context.Context
	cancel        context.CancelFunc
}

func newPart(a *app) part {
	p := part{app: a}
	p.afresh()
	return p
}

// afresh gives up what is on its way and makes a context for what comes now.
func (p *part) afresh() {
	if p.cancel != nil {
		p.cancel()
	}
	p.context, p.cancel = context.WithCancel(p.app.context)
}

func (p *part) start() tea.Cmd          { return nil }
func (p *part) stop()                   { p.cancel() }
func (p *part) chips() []string         { return nil }
func (p *part) setSize(width, high int) { p.width, p.height = width, high }
