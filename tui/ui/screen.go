package ui

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/state"
)

// Clicker is a screen that can be clicked on, in cells from its own corner.
// Again says that the same place was clicked a moment ago.
type Clicker interface {
	Click(x, y int, again bool) tea.Cmd
}

// Screen is what fills the middle of the terminal. Screens change themselves
// and return what is to be done besides; the app alone routes.
type Screen interface {
	Common() *Base
	Start() tea.Cmd            // it was opened
	Shown() tea.Cmd            // it came to the front, also right after start
	Stop()                     // it was left, and nothing is waited for any more
	Reset()                    // it is opened again
	Do(keymap.Binding) tea.Cmd // a key with a meaning here
	SetSize(width, height int)
	View() string // exactly as many lines and cells as setSize said
	Title() string
	Badges() []string // what limits the rows that are shown
	Status() string
	Scopes() []keymap.Scope // beside everywhere, the narrowest first
	Equivalent() string     // the whctl command that shows the same
}

// What only some screens can do.
type (
	// Finder takes a line that was typed after /.
	Finder interface{ Find() *InputLine }
	// Poller fetches again what may have changed, without a word where that fails.
	Poller interface{ Poll() tea.Cmd }
	// Follower wants to know what happens at the service.
	Follower interface {
		Follow(changes []wire.MessageChange, requests int) tea.Cmd
	}
	// Ticker has something to do once a second while it is in front.
	Ticker interface{ Tick() tea.Cmd }
	// Waiter reports whether something is on its way.
	Waiter interface{ Waiting() bool }
	// Parent has screens inside of it.
	Parent interface{ HasChild(Screen) bool }
	// Unmarker takes marks away before esc leaves the screen.
	Unmarker interface{ Unmark() bool }
)

// Base is what all screens have in common.
type Base struct {
	Dialog
	Width, Height int
	Ctx           context.Context // of what is fetched
	cancel        context.CancelFunc
}

// NewBase makes what a screen of an app embeds.
func NewBase(h Host) Base {
	p := Base{Dialog: NewDialog(h)}
	p.Reset()
	return p
}

// Reset gives up what is on its way and makes a context for what comes now.
func (p *Base) Reset() {
	if p.cancel != nil {
		p.cancel()
	}
	p.Ctx, p.cancel = context.WithCancel(p.Context)
}

// Common implements Screen.
func (p *Base) Common() *Base { return p }

// Start implements Screen.
func (p *Base) Start() tea.Cmd { return nil }

// Stop implements Screen.
func (p *Base) Stop() { p.cancel() }

// Badges implements Screen.
func (p *Base) Badges() []string { return nil }

// SetSize implements Screen.
func (p *Base) SetSize(width, high int) { p.Width, p.Height = width, high }

// Viewer is a screen that can be saved as a view.
type Viewer interface {
	AsView() state.View
	SetViewName(name string) // the screen is the view of that name from now on
}

// The least that anything can be shown on.
const (
	MinWidth     = 60
	MinHeight    = 15
	ChromeHeight = HeaderHeight + 2
	HeaderHeight = 4 // of the screen
	TabRow       = 1 // the line of the tabs, from 0
)

// UndoDelay is how long it can be taken back.
const UndoDelay = 5 * time.Second

const (
	HeartbeatLimit = 20 * time.Second // without a heartbeat, nothing is called live
	PollInterval   = 2 * time.Second  // where no stream comes
)

// Timed is a screen whose cells or lines have times in them. It makes them anew
// for another mode, and says what is not as one might expect, "" for nothing.
type Timed interface{ Retime() string }

// Commander names the whctl commands that do what the keys of a screen do: to what
// is marked, else to the selected row.
type Commander interface{ Commands() []string }

// Scroller is a screen whose columns are not always all seen.
type Scroller interface{ Scrolls() bool }
