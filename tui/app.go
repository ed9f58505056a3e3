package tui

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/tui/export"
	"github.com/bizhook/whd/tui/session"
	"github.com/bizhook/whd/tui/shell"
	"github.com/bizhook/whd/tui/state"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// App is the bubbletea model: it composes the parts in packages session and shell, routes
// messages and responses to them, and is the ui.Host of the screens. All state changes
// happen in Update.
type App struct {
	Session *ui.Session // session of the current profile
	options Options

	tabs     *shell.Tabs
	frame    *shell.Frame
	keys     *shell.Keyboard
	mouse    *shell.Mouse
	kinds    *session.Kinds
	account  *session.Account
	changes  *session.Changes
	switcher *session.Switcher
	stream   *session.Stream
	undo     *session.Undo
	jobs     *session.Jobs
	secrets  *session.Secrets

	root        context.Context // parent of all sessions
	cancel      context.CancelFunc
	overlay     ui.Overlay    // nil for none
	input       *ui.InputLine // nil for none
	toasts      ui.Toasts
	pendingCmds []tea.Cmd  // commands added during the current update
	applying    ui.FetchID // fetch with the response that is being applied
	crashes     crashLog
}

// newSession returns a session of the profile in the options.
func newSession(ctx context.Context, o Options, c *client.Client, store *state.Store, t *theme.Theme) *ui.Session {
	return &ui.Session{
		Clock:       ui.Clock{Now: o.Now(), Zone: o.Zone},
		Client:      c,
		Context:     ctx,
		Theme:       t,
		Registry:    o.Kinds.Known,
		FetchKinds:  o.Kinds.Fetch,
		State:       store,
		History:     map[string][]string{ui.CommandHistory: slices.Clone(store.Commands)},
		URL:         o.URL,
		Profile:     o.Profile,
		Colour:      o.Colour,
		InsecureTLS: o.InsecureTLS,
		Downloads:   o.Downloads,
		ReadOnly:    o.ReadOnly,
		Access:      ui.Access{User: o.User, Protected: o.Protected, Unlock: o.Unlock},
	}
}

// Start requests the data of the screen in front, or of the records if the user may not
// see that screen.
func (a *App) Start() tea.Cmd {
	listen := a.stream.Listen()
	if a.tabs.Denied(a.tabs.Current()) != "" {
		return tea.Batch(listen, a.tabs.Show(shell.RecordsTab))
	}
	return tea.Batch(listen, a.Refresh())
}

func (a *App) Init() tea.Cmd {
	a.tabs.Start()
	return a.crashes.guard(tea.Batch(
		a.account.Connect(),
		a.switcher.List(),
		a.options.Loop.Tick(time.Second, tickMsg{}),
		a.mouse.Enable(),
	))
}

func (a *App) Update(m tea.Msg) (tea.Model, tea.Cmd) {
	defer a.crashes.recordPanic()
	a.Session.Now = a.options.Now()
	a.toasts.Expire(a.Session.Now)
	cmd := a.handle(m)
	if p, ok := a.Front().(ui.Previewer); ok && !a.tabs.TooSmall() {
		cmd = tea.Batch(cmd, p.UpdatePreview())
	}
	a.secrets.ShowNext()
	if a.stream.Conn.IsHealthy() {
		a.toasts.ClearConnection()
	}
	a.toasts.ClearClosed(a.tabs.IsOpen)
	if len(a.pendingCmds) > 0 {
		cmd = tea.Batch(append(a.pendingCmds, cmd)...)
		a.pendingCmds = nil
	}
	return a, a.crashes.guard(cmd)
}

func (a *App) View() string {
	defer a.crashes.recordPanic()
	return a.frame.View()
}

// After sends a message after a delay.
func (a *App) After(delay time.Duration, m tea.Msg) tea.Cmd { return a.options.Loop.Tick(delay, m) }

// AddCmd adds a command to those of the current update.
func (a *App) AddCmd(cmd tea.Cmd) { a.pendingCmds = append(a.pendingCmds, cmd) }

// tickMsg is sent once a second.
type tickMsg struct{}

// handle routes a message to the part of the app that it is for.
func (a *App) handle(m tea.Msg) tea.Cmd {
	switch m := m.(type) {
	case tea.WindowSizeMsg:
		return tea.Batch(resize(a, m.Width, m.Height), a.keys.Replay())
	case tea.KeyMsg:
		a.toasts.ClearOnKey(a.Session.Now)
		return a.keys.Key(m)
	case shell.EnterMsg:
		return a.keys.Enter(m)
	case tea.MouseMsg:
		if m.Action == tea.MouseActionPress {
			a.toasts.ClearOnKey(a.Session.Now)
		}
		return a.mouse.Handle(m)
	case tickMsg:
		return tea.Batch(tick(a), a.options.Loop.Tick(time.Second, tickMsg{}))
	case LiveMsg:
		cmd, current := a.stream.Handle(m)
		if !current || a.Session.Paused {
			return cmd
		}
		return tea.Batch(cmd, a.tabs.Follow(m.Changes, m.Requests))
	case ui.SentMsg:
		if r, ok := formResponse(m); ok {
			return a.handleResponse(r)
		}
		return func() tea.Msg { return m.Response }
	case tea.ResumeMsg:
		return a.mouse.Enable()
	case backgroundMsg:
		a.options.Appearance.Theme = m.theme
		*a.Session.Theme = *a.options.Appearance.newTheme()
	case ui.Response:
		return a.handleResponse(m)
	case session.RejectedMsg:
		return a.handleResponse(m.Response)
	}
	return nil
}

// resize sets the size of the terminal. More rows may be visible then, which are fetched.
func resize(a *App, width, height int) tea.Cmd {
	a.tabs.Resize(width, height)
	s := a.Front()
	if s == nil || a.tabs.TooSmall() || !a.account.Started() {
		return nil
	}
	return s.Shown()
}

// handleResponse passes a response to the screen that made the request, if it is still open.
func (a *App) handleResponse(r ui.Response) tea.Cmd {
	if r.To != nil && !a.tabs.IsOpen(r.To) {
		if r.ApplyLate != nil {
			r.ApplyLate()
		}
		return nil
	}
	isOfOldClient := r.Client != nil && r.Client != a.Session.Client
	isSignedInSince := ui.SignedOut(r.Err) && isOfOldClient
	if !r.Background && !isSignedInSince && !errors.Is(r.Err, session.ErrNotSent) {
		a.stream.AddOutcome(r.Err)
	}
	if r.To != nil && client.Is(r.Err, client.Cancelled) {
		return nil
	}
	if r.Err == nil {
		a.toasts.Recovered(r.Fetch)
	}
	a.applying = r.Fetch
	cmd := r.Apply()
	a.applying = ui.FetchID{}
	return cmd
}

// formResponse returns the response to a form, before a key can submit the form again. It
// returns false for another message.
func formResponse(m ui.SentMsg) (ui.Response, bool) {
	m.Form.Sent = false
	switch message := m.Response.(type) {
	case session.RejectedMsg:
		message.SetForm(m.Form)
		return message.Response, true
	case ui.Response:
		return message, true
	}
	return ui.Response{}, false
}

// tick runs once a second. It polls if there is no live stream.
func tick(a *App) tea.Cmd {
	var cmds []tea.Cmd
	for _, s := range shell.WithPreview(a.Front()) {
		if t, ok := s.(ui.Ticker); ok && a.account.Started() {
			cmds = append(cmds, t.Tick())
		}
	}
	cmds = append(cmds, a.undo.SendDue(), writeState(a.Session.State, a.ShowError), a.stream.Tick())
	isPollDue := a.Session.Now.Unix()%int64(ui.PollInterval/time.Second) == 0
	if !isPollDue || a.account.Polling() || !a.stream.Conn.ShouldPoll(a.Session.Now) {
		return tea.Batch(cmds...)
	}
	cmds = append(cmds, a.account.Poll())
	if a.overlay == nil {
		cmds = append(cmds, shell.Poll(a.Front()))
	}
	return tea.Batch(cmds...)
}

// Notify shows a message to the user.
func (a *App) Notify(l ui.Level, text string) {
	a.toasts.Add(ui.Toast{Level: l, Text: text, At: a.Session.Now})
}

// Hint shows why a key has no effect, until the next key.
func (a *App) Hint(l ui.Level, text string) {
	a.toasts.Add(ui.Toast{Level: l, Text: text, At: a.Session.Now, IsHint: true})
}

// ShowError shows the error of an action that the user requested.
func (a *App) ShowError(action string, err error) {
	addError(&a.toasts, a.overlay, action, ui.Toast{At: a.Session.Now}, err)
}

// ShowFetchError shows the error of a fetch. Connection errors are cleared when the
// service responds again.
func (a *App) ShowFetchError(action string, err error) {
	toast := ui.Toast{At: a.Session.Now, Connection: session.IsConnectionError(err), Fetch: a.applying}
	addError(&a.toasts, a.overlay, action, toast, err)
}

// addError shows the error of an action, unless it was cancelled or the sign-in form in
// front shows it.
func addError(toasts *ui.Toasts, front ui.Overlay, action string, toast ui.Toast, err error) {
	if err == nil || client.Is(err, client.Cancelled) {
		return
	}
	toast.Level = ui.Failure
	toast.Text = action + ": " + ui.Describe(err)
	form, isForm := front.(*ui.Form)
	isSigningIn := isForm && form.IsSignIn
	if isSigningIn && ui.SignedOut(err) && action != session.SignInAction {
		toasts.Log(toast.Text, toast.At) // the sign-in form shows the reason
		return
	}
	toasts.Add(toast)
}

// Copy copies text to the clipboard and reports how.
func (a *App) Copy(text string) { copyText(a, a.options.clipboard(a.Session.Context), text, nil) }

// copyText copies text to the clipboard, reports how, and calls then with the outcome unless
// it is nil.
func copyText(h ui.Host, c ui.Clipboard, text string, then func(outcome string)) {
	if text == "" {
		h.Notify(ui.Warning, "nothing to copy")
		return
	}
	h.AddCmd(func() tea.Msg {
		how, err := c.Copy(text)
		return ui.Response{Background: true, Apply: func() tea.Cmd {
			level := ui.Info
			outcome := how + ": " + display.Count(utf8.RuneCountInString(text), "character", "characters")
			if err != nil {
				level = ui.Failure
				outcome = "copying failed: " + strings.ReplaceAll(err.Error(), "\n", "; ")
			}
			h.Notify(level, outcome)
			if then != nil {
				then(outcome)
			}
			return nil
		}}
	})
}

// writeState writes unsaved settings; report shows the error of a failed write, once.
func writeState(store *state.Store, report func(action string, err error)) tea.Cmd {
	if !store.Due() {
		return nil
	}
	return func() tea.Msg {
		err := store.Write()
		reported := store.RecordWrite(err != nil)
		if err == nil || reported {
			return nil
		}
		return ui.Response{Err: err, Background: true, Apply: func() tea.Cmd {
			report("saving settings", err)
			return nil
		}}
	}
}

// CurrentSession returns the state that the screens of the profile share.
func (a *App) CurrentSession() *ui.Session { return a.Session }

// ClearToast removes a transient message that covers the status line.
func (a *App) ClearToast() { a.toasts.Transient = nil }

// Open opens a destination, possibly in another tab.
func (a *App) Open(to ui.Target) tea.Cmd { return openTarget(a.tabs, a, to) }

// Push opens a screen on top of the one in front.
func (a *App) Push(s ui.Screen) tea.Cmd { return a.tabs.Push(s) }

// Pop closes the screen in front, unless it is the first of its tab.
func (a *App) Pop() tea.Cmd {
	cmd, _ := a.tabs.Pop()
	return cmd
}

// Front returns the visible screen.
func (a *App) Front() ui.Screen { return a.tabs.Front() }

// MarkStale makes a screen fetch its data again when it is shown next.
func (a *App) MarkStale(s ui.Screen) { a.tabs.MarkStale(s) }

// RefreshAll refreshes the screens after changes were missed.
func (a *App) RefreshAll() tea.Cmd { return a.tabs.RefreshAll() }

// FirstScreen returns a new first screen of a tab.
func (a *App) FirstScreen(tab int) ui.Screen { return firstScreen(a, tab) }

// Overlay returns the overlay in front of the screen, nil for none.
func (a *App) Overlay() ui.Overlay { return a.overlay }

// ShowOverlay replaces the overlay; nil removes it.
func (a *App) ShowOverlay(o ui.Overlay) { a.overlay = o }

// CloseOverlay removes an overlay, even if another overlay covers it.
func (a *App) CloseOverlay(o ui.Overlay) {
	if a.overlay == o {
		a.overlay = nil
		if secret, ok := o.(*ui.Secret); ok {
			a.overlay = secret.Below
		}
	}
	a.changes.Closed(o)
	a.secrets.Closed(o)
}

// ShowSecret shows a secret once no other overlay or input is open.
func (a *App) ShowSecret(s *ui.Secret) { a.secrets.Add(s) }

// ShowInput opens an input line below the tabs; nil closes it.
func (a *App) ShowInput(l *ui.InputLine) { a.input = l }

// Input returns the open input line, nil for none.
func (a *App) Input() *ui.InputLine { return a.input }

// Watch calls a watcher until it is done.
func (a *App) Watch(w ui.Watcher) { a.stream.Watch(w) }

// Refresh fetches the visible data again, and reconnects the stream if it was lost.
func (a *App) Refresh() tea.Cmd {
	var cmds []tea.Cmd
	if a.stream.Lost() {
		cmds = append(cmds, a.stream.Reconnect(), a.account.Fetch())
	}
	if p, ok := a.Front().(ui.Poller); ok {
		cmds = append(cmds, p.Poll())
	}
	return tea.Batch(cmds...)
}

// Delay runs a change after ui.UndoDelay, unless the user undoes it before.
func (a *App) Delay(name string, ids []string, run func() tea.Cmd) tea.Cmd {
	return a.undo.Delay(name, ids, run)
}

// Delayed reports whether a delayed change affects an object.
func (a *App) Delayed(id string) bool { return a.undo.Affects(id) }

// Export writes rows to a file in the background.
func (a *App) Export(j *export.Job) tea.Cmd { return a.jobs.Export(j) }

// Change changes data at the service. It fails in a read-only session, and repeats the
// change after a sign-in if the session has expired.
func (a *App) Change(c ui.Change) tea.Cmd { return a.changes.Change(c) }

// SignInPending reports whether a change is waiting for a sign-in.
func (a *App) SignInPending() bool {
	_, pending := a.changes.Pending()
	return pending
}

// ShowSignIn opens the sign-in form in place of the overlay and the input.
func (a *App) ShowSignIn() {
	a.input = nil
	a.overlay = newSignIn(a, a.account, a.changes)
}

// Wait waits for the stream reader and for exports to finish.
func (a *App) Wait() {
	a.jobs.Wait()
	_ = a.Session.State.Write() // the screen is closed: errors cannot be shown
	a.stream.Close()
}
