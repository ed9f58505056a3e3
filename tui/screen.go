package tui

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/keymap"
)

// screen is what fills the middle of the terminal. Screens change themselves
// and return what is to be done besides; the app alone routes.
type screen interface {
	base() *part
	start() tea.Cmd            // it was opened
	shown() tea.Cmd            // it came to the front, also right after start
	stop()                     // it was left, and nothing is waited for any more
	afresh()                   // it is opened again
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
	follower interface {
		follow(changes []wire.MessageChange, requests int) tea.Cmd
	}
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
	dialog
	width, height int
	context       context.Context // of what is fetched
	cancel        context.CancelFunc
}

func newPart(h Host) part {
	p := part{dialog: dialogOf(h)}
	p.afresh()
	return p
}

// afresh gives up what is on its way and makes a context for what comes now.
func (p *part) afresh() {
	if p.cancel != nil {
		p.cancel()
	}
	p.context, p.cancel = context.WithCancel(p.Context)
}

func (p *part) base() *part             { return p }
func (p *part) start() tea.Cmd          { return nil }
func (p *part) stop()                   { p.cancel() }
func (p *part) chips() []string         { return nil }
func (p *part) setSize(width, high int) { p.width, p.height = width, high }
