package ui

import (
	"context"
	"errors"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/state"
	"github.com/bizhook/whd/tui/theme"
)

// Clicker is implemented by screens that handle mouse clicks. The position is relative
// to the screen, in cells.
type Clicker interface {
	Click(x, y int, double bool) tea.Cmd
}

// Screen is the content between the header and the status line. Methods that return a
// command change the screen in place; the app runs the command.
type Screen interface {
	Common() *Base
	Start() tea.Cmd            // after it was opened
	Shown() tea.Cmd            // when it becomes visible, also after Start
	Stop()                     // when it is closed; cancels requests
	Reset()                    // when it is opened again
	Do(keymap.Binding) tea.Cmd // handles a key that is bound in Scopes
	SetSize(width, height int)
	View() string // exactly height lines of width cells
	Title() string
	Badges() []string // filters of the rows, shown in the header
	Status() string
	Waiting() bool          // a request is in progress
	Scopes() []keymap.Scope // in addition to Everywhere, the narrowest first
	Equivalent() string     // the equivalent whctl command
}

// Optional interfaces of screens.
type (
	// Finder is implemented by screens that can be searched or filtered with /.
	Finder interface{ Find() *InputLine }
	// Poller fetches data again; errors are not shown.
	Poller interface{ Poll() tea.Cmd }
	// Follower receives live updates.
	Follower interface {
		Follow(changes []wire.MessageChange, requests int) tea.Cmd
	}
	// Ticker is called once a second while the screen is in front.
	Ticker interface{ Tick() tea.Cmd }
	// Parent reports whether it contains another screen.
	Parent interface{ HasChild(Screen) bool }
	// Previewer shows the screen of the selected row. UpdatePreview is called after every
	// update while it is in front.
	Previewer interface {
		UpdatePreview() tea.Cmd
		Previewed() Screen // nil for none
	}
	// Leaver is notified when another screen comes to the front.
	Leaver interface{ Leave() }
	// Unmarker removes marks; esc then does not close the screen.
	Unmarker interface{ Unmark() bool }
)

// Divided is implemented by screens of several panels.
type Divided interface {
	// Panels returns the panels of the screen. The first one without a title has that of the
	// screen, with its filters and the number of its rows.
	Panels() []theme.Panel
}

// Hinter is implemented by screens with hints that depend on the selected row.
type Hinter interface {
	// Hints returns the bindings of the hint line, in its order and with its words.
	Hints(bound []keymap.Binding) []keymap.Binding
}

// Counter is implemented by screens with a list; the text is shown in the frame of the list.
type Counter interface{ Count() string }

// Heading returns a title in the style of a role, and filters.
func Heading(title string, badges []string, role theme.Role) []theme.Span {
	spans := []theme.Span{{Text: title, Role: role}}
	for _, badge := range badges {
		spans = append(spans, theme.Span{Text: " "}, theme.Span{Text: "[" + badge + "]", Role: theme.Badge})
	}
	return spans
}

// Base is embedded by all screens.
type Base struct {
	HostSession
	Width, Height int
	Busy          bool            // a request for its data is in flight
	Ctx           context.Context // context of requests; cancelled by Stop and Reset
	cancel        context.CancelFunc
}

// NewBase returns the Base of a screen.
func NewBase(h Host) Base {
	b := Base{HostSession: NewHostSession(h)}
	b.Reset()
	return b
}

// Reset cancels the requests in progress and creates a new context.
func (b *Base) Reset() {
	b.Busy = false // its response is dropped
	if b.cancel != nil {
		b.cancel()
	}
	b.Ctx, b.cancel = context.WithCancel(b.Session.Context)
}

func (b *Base) Common() *Base { return b }

func (b *Base) Start() tea.Cmd { return nil }

func (b *Base) Waiting() bool { return b.Busy }

func (b *Base) Stop() { b.cancel() }

func (b *Base) Badges() []string { return nil }

func (b *Base) SetSize(width, height int) { b.Width, b.Height = width, height }

// PanelWidth returns the width of the screen for panels, 0 if there is no room for frames.
func (b *Base) PanelWidth() int {
	if !b.Session.Frames {
		return 0
	}
	return b.Width
}

// Viewer is implemented by screens that can be saved as a view.
type Viewer interface {
	AsView() (state.View, error) // the error is the reason why the screen cannot be saved
	SetViewName(name string)     // marks the screen as showing this view
}

// ErrNoView is the error of a screen that cannot be saved as a view.
var ErrNoView = errors.New("only lists of records and messages can be saved as a view")

// Dimensions of the terminal and the header, in cells.
const (
	MinWidth  = 60
	MinHeight = 15
	// FrameMinWidth and FrameMinHeight are the size from which panels have frames.
	FrameMinWidth  = 80
	FrameMinHeight = 24
	// ChromeHeight is the height of the lines above and below a screen, with its frame if it has
	// one, and of those without.
	ChromeHeight = 6
	// HeaderHeight is the number of lines above the panels. Without frames there are two more,
	// with the title of the screen.
	HeaderHeight = 2
	TabRow       = 1 // index of the tab line
)

const (
	// HeartbeatLimit is the time after the last heartbeat during which the stream counts as live.
	HeartbeatLimit = 20 * time.Second
	// PollInterval is the interval in which screens fetch their data without a live stream.
	PollInterval = 2 * time.Second
)

// Timed is implemented by screens that show times. Retime applies a new time mode and
// returns a note for the user, "" for none.
type Timed interface{ Retime() string }

// Commander lists the whctl commands that are equivalent to the actions of a screen on
// the marked rows, or on the selected row.
type Commander interface{ Commands() []string }

// Explainer is implemented by lists with columns that the help explains.
type Explainer interface{ Explanations() []Explanation }

// Explanation is the meaning of the title of a column, or of a sign in its cells.
type Explanation struct{ Title, Meaning string }

// Scroller reports whether the screen scrolls horizontally.
type Scroller interface{ Scrolls() bool }
