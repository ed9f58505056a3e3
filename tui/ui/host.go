package ui

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/export"
	"github.com/bizhook/whd/tui/state"
)

// Host is what screens and overlays may ask of the app.
type Host interface {
	// CurrentSession is what the screens of the profile share.
	CurrentSession() *Session

	// Notify shows a message to the user.
	Notify(l Level, text string)
	// ShowError shows what went wrong of what the user asked for: what was to be done,
	// and the service's words.
	ShowError(what string, err error)
	// ShowFetchError shows what could not be fetched. Where only the way to the service
	// is to blame, that is over once it answers again.
	ShowFetchError(what string, err error)
	// ClearToast takes away a message that would cover the line of status.
	ClearToast()
	// Copy copies a text to the clipboard.
	Copy(text string)

	// Open opens a destination, which another package may show.
	Open(t Target) tea.Cmd
	// Push opens a screen over the one in front.
	Push(s Screen) tea.Cmd
	// Pop leaves the screen in front.
	Pop() tea.Cmd
	// Front is the screen that is seen.
	Front() Screen
	// MarkStale has a screen fetched again when it is seen.
	MarkStale(s Screen)

	// Overlay is what lies over the screen; nil for nothing.
	Overlay() Overlay
	// ShowOverlay puts an overlay over the screen; nil takes away what is there.
	ShowOverlay(o Overlay)
	// CloseOverlay takes an overlay away, also where it waits below something else.
	CloseOverlay(o Overlay)
	// ShowSecret shows a secret as soon as nothing else is typed or read.
	ShowSecret(s *Secret)
	// ShowInput opens a line below the tabs; nil closes it.
	ShowInput(l *InputLine)
	// InputOpen reports whether such a line is open.
	InputOpen() bool

	// Change makes a change at the service: not in a read-only session, and after
	// a sign-in where that is needed.
	Change(c Change) tea.Cmd
	// SignInPending reports whether a change waits for a sign-in.
	SignInPending() bool
	// Delay makes a change in a moment; until then it can be taken back.
	Delay(what string, ids []string, run func() tea.Cmd) tea.Cmd
	// Delayed reports whether a change of an object waits so.
	Delayed(id string) bool
	// AddCmd runs a command besides what the present message leads to.
	AddCmd(cmd tea.Cmd)
	// Watch calls a watcher until it is done.
	Watch(w Watcher)
	// Export writes rows to a file, in the background.
	Export(j *export.Job) tea.Cmd
}

// Change is a change at the service.
type Change struct {
	Screen Screen // that asks for it; nil for none
	Name   string // for people
	Do     func(ctx context.Context, c *client.Client) error
	OnDone func(err error)         // shows the outcome, also where the screen was left meanwhile; nil for a toast
	Then   func(err error) tea.Cmd // what the screen does next; nil for nothing
}

// Watcher waits for something, whatever screen is in front.
type Watcher interface {
	// Tick is called once a second.
	Tick() tea.Cmd
	// Follow takes what has become of messages.
	Follow(changes []wire.MessageChange) tea.Cmd
	// Done reports whether it waits no longer.
	Done() bool
}

// Target is a destination that is opened by Host.Open.
type Target interface{ isTarget() }

// The destinations.
type (
	// MessagesTarget is the list of messages.
	MessagesTarget struct {
		MessageFilter
		Message *wire.Message // shown over the list; nil for none
		Here    bool          // the list is opened over the screen in front, not in its tab
	}
	// RecordsTarget is the rows of a kind, with these filters where there are any.
	RecordsTarget struct {
		Kind    *record.Kind
		Filters []client.Filter
		Typed   map[string]string // the filters as they were typed, by their members
	}
	// SubscriptionTarget is the subscription of a queue.
	SubscriptionTarget struct{ Queue wire.Queue }
	// ViewTarget is a saved view.
	ViewTarget struct{ state.View }
)

func (MessagesTarget) isTarget() {}

func (RecordsTarget) isTarget() {}

func (SubscriptionTarget) isTarget() {}

func (ViewTarget) isTarget() {}

// Dialog is what overlays and screens hold: the app, and what is shared.
type Dialog struct {
	Host
	*Session
}

// NewDialog is what an overlay or a screen of an app holds.
func NewDialog(h Host) Dialog { return Dialog{h, h.CurrentSession()} }

// Response is the message that something asked for has come.
type Response struct {
	To        Screen         // that asked; nil for none
	Err       error          // the service's
	Apply     func() tea.Cmd // takes it
	ApplyLate func()         // takes it where the screen was left meanwhile; nil for nothing
	Local     bool           // it says nothing of the way to the service
}

// Fetch asks the service for something, which the screen takes if it is still
// there.
func Fetch[T any](ctx context.Context, s Screen, fetch func(ctx context.Context, c *client.Client) (T, error), apply func(T, error) tea.Cmd) tea.Cmd {
	c := s.Common().Client
	return func() tea.Msg {
		got, err := fetch(ctx, c)
		return Response{To: s, Err: err, Apply: func() tea.Cmd { return apply(got, err) }}
	}
}
