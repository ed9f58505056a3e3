package tui

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/browse"
	"github.com/bizhook/whd/tui/screens/messages"
	"github.com/bizhook/whd/tui/screens/records"
	"github.com/bizhook/whd/tui/screens/requests"
	"github.com/bizhook/whd/tui/screens/webhooks"
	"github.com/bizhook/whd/tui/state"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// App is the bubbletea model: it owns the open screens, routes keys and responses to
// them, and draws the header and footer. All state changes happen in Update.
type App struct {
	*ui.Session
	options Options

	*tabs
	*frame
	*keyboard
	*mouse
	*account
	*switcher
	*stream
	*undo
	*jobs
	*secrets

	root        context.Context // parent of all sessions
	cancel      context.CancelFunc
	overlay     ui.Overlay    // nil for none
	input       *ui.InputLine // nil for none
	watchers    []ui.Watcher
	toasts      ui.Toasts
	pendingCmds []tea.Cmd // commands added during the current update
	crashes     crashLog
}

// New returns an app. Cancelling ctx stops all of its activity.
func New(ctx context.Context, c *client.Client, o Options) *App {
	o = o.complete()
	a := &App{options: o, root: ctx, crashes: crashLog{dir: o.State}}
	a.tabs, a.frame, a.keyboard, a.mouse = &tabs{App: a, stale: make(map[ui.Screen]bool)}, &frame{App: a}, &keyboard{App: a}, &mouse{App: a, enabled: o.Appearance.Mouse}
	a.account, a.switcher, a.stream = &account{App: a, readOnlyProfiles: make(map[string]bool)}, &switcher{App: a}, &stream{App: a}
	a.undo, a.jobs, a.secrets = &undo{App: a}, &jobs{App: a}, &secrets{App: a}
	store, err := state.Open(o.State, o.Profile)
	a.begin(c, store, theme.New(o.Appearance.glyphs, o.Appearance.Theme))
	if err != nil {
		a.ShowError("loading saved settings", err)
	}
	return a
}

// begin starts the session of the profile in the options.
func (a *App) begin(c *client.Client, store *state.Store, t *theme.Theme) {
	o := a.options
	a.Session = &ui.Session{
		Clock: ui.Clock{Now: o.Now(), Zone: o.Zone}, Client: c, Theme: t, Registry: o.Kinds.Known, State: store,
		History: map[string][]string{ui.CommandHistory: slices.Clone(store.Commands)},
		URL:     o.URL, Profile: o.Profile, Downloads: o.Downloads, ReadOnly: o.ReadOnly || a.readOnlyProfiles[o.Profile],
		Access: ui.Access{Protected: o.Protected, Locked: o.Unlock == nil},
	}
	a.Context, a.cancel = context.WithCancel(a.root)
	a.user = o.User
}

// Init implements tea.Model.
func (a *App) Init() tea.Cmd {
	return a.crashes.guard(tea.Batch(a.connect(), a.listProfiles(false), a.after(time.Second, tickMsg{}), a.enableMouse()))
}

// Update implements tea.Model.
func (a *App) Update(m tea.Msg) (tea.Model, tea.Cmd) {
	defer a.crashes.recordPanic()
	a.Now = a.options.Now()
	a.toasts.Expire(a.Now)
	cmd := a.handle(m)
	if p, ok := a.Front().(ui.Previewer); ok && !a.tooSmall() {
		cmd = tea.Batch(cmd, p.UpdatePreview())
	}
	a.showSecret()
	if a.conn.isHealthy() {
		a.toasts.ClearConnection()
	}
	if len(a.pendingCmds) > 0 {
		cmd, a.pendingCmds = tea.Batch(append(a.pendingCmds, cmd)...), nil
	}
	return a, a.crashes.guard(cmd)
}

// AddCmd adds a command to those of the current update.
func (a *App) AddCmd(cmd tea.Cmd) { a.pendingCmds = append(a.pendingCmds, cmd) }

func (a *App) handle(m tea.Msg) tea.Cmd {
	switch m := m.(type) {
	case tea.WindowSizeMsg:
		a.width, a.height = m.Width, m.Height
		a.resize()
		if s := a.Front(); s != nil && !a.tooSmall() && a.started {
			return s.Shown() // more rows may be visible
		}
	case tea.KeyMsg:
		return a.key(m)
	case tea.MouseMsg:
		return a.handleMouse(m)
	case tickMsg:
		return tea.Batch(a.tick(), a.after(time.Second, tickMsg{}))
	case LiveMsg:
		return a.handleLive(m)
	case ui.SentMsg:
		return a.formResponded(m)
	case tea.ResumeMsg:
		return a.enableMouse()
	case toastMsg:
		a.Notify(m.level, m.text)
		if m.then != nil {
			m.then(m.text)
		}
	case ui.Response, response:
		return a.handleResponse(m)
	}
	return nil
}

// tick runs once a second. It polls if there is no live stream.
func (a *App) tick() tea.Cmd {
	var cmds []tea.Cmd
	for _, s := range withPreview(a.Front()) {
		if t, ok := s.(ui.Ticker); ok && a.started {
			cmds = append(cmds, t.Tick())
		}
	}
	cmds = append(cmds, a.sendDue(), a.writeState(), a.watch(ui.Watcher.Tick))
	if a.polling || !a.conn.shouldPoll(a.Now) || a.Now.Unix()%int64(ui.PollInterval/time.Second) != 0 {
		return tea.Batch(cmds...)
	}
	a.polling = true
	cmds = append(cmds, a.fetchAccount())
	if a.overlay == nil {
		cmds = append(cmds, poll(a.Front()))
	}
	return tea.Batch(cmds...)
}

// quit ends the program. If an export is running, or a deletion or a secret is pending,
// the key must be pressed twice.
func (a *App) quit() tea.Cmd {
	var pending []string
	if n := a.jobs.running(); n > 0 {
		pending = append(pending, display.Count(n, "export", "exports")+" running")
	}
	if n := len(a.delayed); n > 0 {
		pending = append(pending, display.Count(n, "pending delete", "pending deletes")+" will not be sent")
	}
	if n := a.unread(); n > 0 {
		pending = append(pending, display.Count(n, "secret", "secrets")+" not shown yet")
	}
	if len(pending) > 0 && !a.quitPending {
		a.quitPending = true
		a.Notify(ui.Warning, strings.Join(pending, ", ")+": press again to quit")
		return nil
	}
	return tea.Quit
}

// Notify shows a message to the user.
func (a *App) Notify(l ui.Level, text string) {
	a.toasts.Add(ui.Toast{Level: l, Text: text, At: a.Now})
}

// ShowError shows the error of an action that the user requested.
func (a *App) ShowError(action string, err error) { a.showError(action, err, false) }

// ShowFetchError shows the error of a fetch. Connection errors are cleared when the
// service responds again.
func (a *App) ShowFetchError(action string, err error) {
	a.showError(action, err, isConnectionError(err))
}

func (a *App) showError(action string, err error, connection bool) {
	if err == nil || client.Is(err, client.Cancelled) {
		return
	}
	text := action + ": " + ui.Describe(err)
	if f, isForm := a.overlay.(*ui.Form); isForm && f.IsSignIn && ui.SignedOut(err) && action != signInAction {
		a.toasts.Log(text, a.Now) // the sign-in form shows the reason
		return
	}
	a.toasts.Add(ui.Toast{Level: ui.Failure, Text: text, At: a.Now, Connection: connection})
}

// Copy copies text to the clipboard and reports how.
func (a *App) Copy(text string) { a.copyThen(text, nil) }

// copyThen is like Copy, and calls then with the outcome unless it is nil.
func (a *App) copyThen(text string, then func(outcome string)) {
	if text == "" {
		a.Notify(ui.Warning, "nothing to copy")
		return
	}
	c := ui.Clipboard{Context: a.Context, Env: a.options.Env, Output: a.options.Output}
	a.AddCmd(func() tea.Msg {
		how, err := c.Copy(text)
		if err != nil {
			return toastMsg{ui.Failure, "copying failed: " + strings.ReplaceAll(err.Error(), "\n", "; "), then}
		}
		return toastMsg{ui.Info, how + ": " + display.Count(utf8.RuneCountInString(text), "character", "characters"), then}
	})
}

// writeState writes unsaved settings.
func (a *App) writeState() tea.Cmd {
	store := a.State
	if !store.Due() {
		return nil
	}
	return func() tea.Msg {
		err := store.Write()
		if reported := store.RecordWrite(err != nil); err != nil && !reported {
			return savedMsg{responseBase{err: err}}
		}
		return nil
	}
}

// nextTimeMode switches to the next time mode, and notifies the user if that changes
// nothing on the screen.
func (a *App) nextTimeMode() tea.Cmd {
	a.Times = (a.Times + 1) % ui.TimeMode(len(ui.TimeModes))
	before, note := a.Front().View(), ""
	if t, ok := a.Front().(ui.Timed); ok {
		note = t.Retime()
	}
	cmd := a.Front().Shown()
	if note == "" && a.Front().View() == before {
		note = "this screen shows no times"
	}
	if note != "" {
		note = "   " + note
	}
	a.Notify(ui.Info, "times: "+ui.TimeModes[a.Times]+note)
	return cmd
}

// Open opens a destination.
func (a *App) Open(t ui.Target) tea.Cmd {
	switch t := t.(type) {
	case ui.MessagesTarget:
		return a.openMessages(t)
	case ui.RecordsTarget:
		b := browse.New(a, t.Kind, t.Filters, browse.Options{})
		if t.Filters != nil {
			b.Typed = t.Typed
			b.Remember()
		}
		return a.pushIn(recordsTab, b)
	case ui.SubscriptionTarget:
		return a.openSubscription(t.Queue)
	case ui.WhyTarget:
		if why := a.NeedsAdmin(); why != "" {
			a.Notify(ui.Warning, "the history of a key "+why)
			return nil
		}
		return a.Push(messages.NewWhy(a, t.Key))
	case ui.ChangesTarget:
		return a.Push(records.NewChanges(a, t.Kind))
	case ui.ViewTarget:
		return a.openView(t.View)
	}
	return nil
}

func (a *App) openMessages(t ui.MessagesTarget) tea.Cmd {
	list := messages.New(a, t.MessageFilter)
	switch {
	case t.Here:
		return a.Push(list)
	case t.Message == nil:
		return a.pushIn(messagesTab, list)
	}
	list.SelectID = t.Message.MessageID
	return tea.Batch(a.pushIn(messagesTab, list), a.Push(messages.NewDetail(list, *t.Message)))
}

// openSubscription opens the subscription of a queue. Until the subscription and its
// subscriber are fetched, it is shown with the data of the queue.
func (a *App) openSubscription(q wire.Queue) tea.Cmd {
	list := webhooks.NewSubscriptions(a, wire.Subscriber{RecID: q.SubscriberID, Name: q.SubscriberName, IsEnabled: true})
	list.SelectID = q.SubscriptionID
	one := wire.Subscription{RecID: q.SubscriptionID, SubscriberID: q.SubscriberID, EventName: q.EventName, URL: q.URL,
		IsEnabled: q.IsEnabled, DisabledReason: q.DisabledReason, Ordered: q.Ordered, OrderedByKey: q.OrderedByKey}
	return tea.Batch(a.pushIn(subscribersTab, list), a.Push(webhooks.NewSubscription(list, one)))
}

// CurrentSession returns the state that the screens of the profile share.
func (a *App) CurrentSession() *ui.Session { return a.Session }

// ClearToast removes a transient message that covers the status line.
func (a *App) ClearToast() { a.toasts.Transient = nil }

// Overlay returns the overlay in front of the screen, nil for none.
func (a *App) Overlay() ui.Overlay { return a.overlay }

// ShowOverlay replaces the overlay; nil removes it.
func (a *App) ShowOverlay(o ui.Overlay) { a.overlay = o }

// CloseOverlay removes an overlay, even if another overlay covers it.
func (a *App) CloseOverlay(o ui.Overlay) {
	if a.overlay == o {
		a.overlay = nil
		if s, secret := o.(*ui.Secret); secret {
			a.overlay = s.Below
		}
	}
	if a.pendingChange != nil && a.pendingChange.below == o {
		a.pendingChange.below = nil
	}
	a.queued = slices.DeleteFunc(a.queued, func(one *ui.Secret) bool { return ui.Overlay(one) == o })
	for _, s := range a.queued {
		if s.Below == o {
			s.Below = nil
		}
	}
}

// ShowInput opens an input line below the tabs; nil closes it.
func (a *App) ShowInput(l *ui.InputLine) { a.input = l }

// InputOpen reports whether an input line is open.
func (a *App) InputOpen() bool { return a.input != nil }

// Watch calls a watcher until it is done.
func (a *App) Watch(w ui.Watcher) { a.watchers = append(a.watchers, w) }

// watch calls the watchers that are not done.
func (a *App) watch(call func(ui.Watcher) tea.Cmd) tea.Cmd {
	var cmds []tea.Cmd
	for _, w := range slices.Clone(a.watchers) {
		if !w.Done() {
			cmds = append(cmds, call(w))
		}
	}
	a.watchers = slices.DeleteFunc(a.watchers, ui.Watcher.Done)
	return tea.Batch(cmds...)
}

// openView opens a saved view.
func (a *App) openView(v state.View) tea.Cmd {
	if why := a.NeedsAdmin(); why != "" && (v.Record == ui.MessageRecord || v.Record == requests.Kind) {
		a.Notify(ui.Warning, v.Name+": "+why)
		return nil
	}
	if v.Record == ui.MessageRecord {
		m := messages.New(a, ui.MessageFilter{Subscription: v.Subscription, Label: v.Label, Problems: v.Problems, Undelivered: v.Undelivered})
		m.Filter.Conditions, m.Typed = browse.RestoreFilters(m.HostSession, ui.MessageKind(), v.Where)
		m.SetViewName(v.Name)
		m.Arrange(v.Arrangement)
		m.Order = messages.MessageOrder(v.OrderBy)
		return a.pushIn(messagesTab, m)
	}
	kind, ok := browse.LookupKind(a.Registry, v.Record)
	if !ok {
		a.Notify(ui.Warning, v.Name+": record kind "+v.Record+" no longer exists")
		return nil
	}
	b := requests.NewRows(a, "")
	if kind.Name != requests.Kind {
		b = browse.New(a, kind, nil, browse.Options{})
	}
	b.Arrange(v.Arrangement)
	b.SetViewName(v.Name)
	return a.pushIn(recordsTab, b)
}

// backgroundTimeout is the timeout of background requests.
const backgroundTimeout = 10 * time.Second

// after returns a command that sends a message after a delay.
func (a *App) after(d time.Duration, m tea.Msg) tea.Cmd {
	return a.options.Loop.Tick(d, m)
}

// errNotSent is the error of changes in a read-only session. The client rejects them
// too.
var errNotSent = errors.New("nothing was sent")

// Change changes data at the service. It fails in a read-only session, and repeats the
// change after a sign-in if the session has expired.
func (a *App) Change(one ui.Change) tea.Cmd {
	c, ctx, why := a.Client, a.Context, a.WhyReadOnly()
	refusal := fmt.Errorf("%s; %w", why, errNotSent)
	done := one.OnDone
	if done == nil {
		done = func(err error) { a.changeDone(one.Name, err) }
	}
	return a.retryAfterSignIn(one.Name, func() tea.Msg {
		err := refusal
		if why == "" {
			err = one.Do(ctx, c)
		}
		return ui.Response{To: one.Screen, Err: err, ApplyLate: func() { done(err) }, Apply: func() tea.Cmd {
			if done(err); one.Then == nil {
				return nil
			}
			return one.Then(err)
		}}
	})
}

// changeDone shows the outcome of a change.
func (a *App) changeDone(name string, err error) {
	if err != nil {
		a.ShowError(name, ui.MarkNotSent(err))
		return
	}
	a.Notify(ui.Info, name+": done")
}

// Wait waits for the stream reader and for exports to finish.
func (a *App) Wait() {
	a.jobs.wait()
	_ = a.State.Write() // the screen is closed: errors cannot be shown
	if a.stopFeed != nil {
		a.stopFeed()
		<-a.feed.ended
	}
}

// Run shows the screens until the user quits or ctx is done. It always restores the
// terminal.
func Run(ctx context.Context, c *client.Client, o Options) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGHUP, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithCancel(ctx)
	if o = o.complete(); o.Appearance.Theme == "" && theme.CanQueryBackground(o.Env) {
		o.Appearance.Theme = queryTheme(o.Input, o.Output)
	}
	a := New(ctx, c, o)
	program := tea.NewProgram(a, tea.WithContext(ctx), tea.WithAltScreen(), tea.WithoutSignalHandler(), tea.WithInput(o.Input), tea.WithOutput(o.Output))
	_, err := program.Run()
	ended := ctx.Err() != nil
	cancel()
	a.Wait()
	err = a.crashes.wrap(err)
	if ended && errors.Is(err, tea.ErrProgramKilled) && !errors.Is(err, tea.ErrProgramPanic) {
		return nil // ended by a signal
	}
	return err
}
