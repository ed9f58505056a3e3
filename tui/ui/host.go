package ui

import (
	"context"
	"reflect"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/export"
	"github.com/bizhook/whd/tui/state"
)

// Host is the interface of the app that screens and overlays use.
type Host interface {
	// CurrentSession returns the state that the screens of a profile share.
	CurrentSession() *Session

	// Notify shows a message to the user.
	Notify(l Level, text string)
	// ShowError shows the error of an action that the user requested.
	ShowError(action string, err error)
	// ShowFetchError shows the error of a fetch. Connection errors are cleared when the
	// service responds again.
	ShowFetchError(action string, err error)
	// ClearToast removes a transient message that covers the status line.
	ClearToast()
	// Copy copies text to the clipboard.
	Copy(text string)

	// Open opens a destination, possibly in another tab.
	Open(t Target) tea.Cmd
	// Push opens a screen on top of the one in front.
	Push(s Screen) tea.Cmd
	// Pop closes the screen in front.
	Pop() tea.Cmd
	// Front returns the visible screen.
	Front() Screen
	// MarkStale makes a screen fetch its data again when it is shown next.
	MarkStale(s Screen)

	// Overlay returns the overlay in front of the screen, nil if there is none.
	Overlay() Overlay
	// ShowOverlay replaces the overlay; nil removes it.
	ShowOverlay(o Overlay)
	// CloseOverlay removes an overlay, even if another overlay covers it.
	CloseOverlay(o Overlay)
	// ShowSecret shows a secret once no other overlay or input is open.
	ShowSecret(s *Secret)
	// ShowInput opens an input line below the tabs; nil closes it.
	ShowInput(l *InputLine)
	// Input returns the open input line, nil for none.
	Input() *InputLine

	// Change changes data at the service. It fails in a read-only session, and
	// repeats the change after a sign-in if the session has expired.
	Change(c Change) tea.Cmd
	// SignInPending reports whether a change is waiting for a sign-in.
	SignInPending() bool
	// Delay runs a change after UndoDelay, unless the user undoes it before.
	Delay(name string, ids []string, run func() tea.Cmd) tea.Cmd
	// Delayed reports whether a queued change concerns an object.
	Delayed(id string) bool
	// After sends a message after a delay.
	After(delay time.Duration, m tea.Msg) tea.Cmd
	// AddCmd adds a command to those of the current update.
	AddCmd(cmd tea.Cmd)
	// Watch calls the methods of a watcher until its Done returns true.
	Watch(w Watcher)
	// Export writes rows to a file in the background.
	Export(j *export.Job) tea.Cmd
}

// Change is a change of data at the service.
type Change struct {
	Screen Screen // the screen that requested it; nil for none
	Name   string // shown to the user
	Do     func(ctx context.Context, c *client.Client) error
	OnDone func(err error)         // shows the outcome, even if the screen was closed; nil for a toast
	Then   func(err error) tea.Cmd // called if the screen is still open; nil for nothing
	DryRun bool                    // it only counts the affected objects
}

// Watcher observes message changes and time independently of the screen in front.
type Watcher interface {
	// Tick is called once a second.
	Tick() tea.Cmd
	// Follow is called with changes of messages.
	Follow(changes []wire.MessageChange) tea.Cmd
	// Done reports whether the watcher is finished.
	Done() bool
}

// Target is a destination of Host.Open.
type Target interface{ isTarget() }

// The destinations.
type (
	// MessagesTarget opens the list of messages.
	MessagesTarget struct {
		MessageFilter
		Message *wire.Message // opened on top of the list; nil for none
		Here    bool          // open the list on top of the current screen, not in its tab
	}
	// RecordsTarget opens the rows of a kind; nil filters restore the last ones.
	RecordsTarget struct {
		Kind    *record.Kind
		Filters []client.Filter
		Typed   map[string]string // filters as typed, by formatted condition
	}
	// SubscriptionTarget opens the subscription of a queue.
	SubscriptionTarget struct{ Queue wire.Queue }
	// NewSubscriberTarget opens the form for a new subscriber, on the list of subscribers.
	NewSubscriberTarget struct{}
	// WhyTarget opens the history of a key, or of a message's key by its ID.
	WhyTarget struct{ Key string }
	// ChangesTarget opens the changes of a kind.
	ChangesTarget struct{ Kind *record.Kind }
	// BillTarget opens custom fields of a bill, or the form for the IDs if IDs is empty. IDs is
	// BILL/STAGE or BILL/STAGE/SETTING.
	BillTarget struct{ IDs string }
	// ViewTarget opens a saved view.
	ViewTarget struct{ state.View }
)

func (MessagesTarget) isTarget() {}

func (RecordsTarget) isTarget() {}

func (SubscriptionTarget) isTarget() {}

func (NewSubscriberTarget) isTarget() {}

func (WhyTarget) isTarget() {}

// OpenWhy opens the history of a message's key. Without a key, it shows the command for the history of
// the message alone.
func OpenWhy(h Host, m wire.Message) tea.Cmd {
	if m.Key == "" {
		alone := ":why " + ShortID(m.MessageID) + " shows it alone"
		h.Notify(Warning, "the event of this message has no key; "+alone)
		return nil
	}
	return h.Open(WhyTarget{Key: m.Key})
}

func (ChangesTarget) isTarget() {}

func (BillTarget) isTarget() {}

func (ViewTarget) isTarget() {}

// HostSession provides overlays and screens with access to the app and to the session.
type HostSession struct {
	Host    Host
	Session *Session
}

// NewHostSession returns the HostSession of a host.
func NewHostSession(h Host) HostSession {
	return HostSession{Host: h, Session: h.CurrentSession()}
}

// Response is the message with the result of a fetch or a change.
type Response struct {
	To         Screen         // the screen that made the request; nil for the app
	Err        error          // error of the service
	Apply      func() tea.Cmd // called if the screen is still open
	ApplyLate  func()         // called if the screen was closed; nil for nothing
	Background bool           // a best-effort fetch: the outcome does not affect the connection state
	Client     *client.Client // the client that sent the request; nil if its session does not matter
	Fetch      FetchID
}

// FetchID identifies a fetch of a screen. It is zero for other requests.
type FetchID struct {
	Screen Screen
	Type   reflect.Type // type of the fetched data
}

// Fetch calls the service in the background; apply receives the result if the screen is
// still open. Rejected credentials are not sent again: the service limits failed logins.
func Fetch[T any](
	ctx context.Context, s Screen, fetch func(ctx context.Context, c *client.Client) (T, error),
	apply func(T, error) tea.Cmd,
) tea.Cmd {
	session := s.Common().Session
	c := session.Client
	rejection := session.Rejection
	return func() tea.Msg {
		var fetched T
		err := rejection
		if err == nil {
			fetched, err = fetch(ctx, c)
		}
		return Response{
			To:     s,
			Err:    err,
			Client: c,
			Fetch:  FetchID{Screen: s, Type: reflect.TypeFor[T]()},
			Apply:  func() tea.Cmd { return apply(fetched, err) },
		}
	}
}
