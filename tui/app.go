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
	"github.com/bizhook/whd/tui/screens/requests"
	"github.com/bizhook/whd/tui/screens/webhooks"
	"github.com/bizhook/whd/tui/state"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// App is the root: it knows what is open, hands keys and answers to it, and
// draws what stands around it. Everything changes in Update alone.
type App struct {
	*ui.Session
	options Options

	*tabs
	*frame
	*keyboard
	*pointing
	*account
	*switcher
	*stream
	*undo
	*jobs
	*secrets

	root     context.Context // of all profiles
	leave    context.CancelFunc
	over     ui.Overlay    // what lies over the screen, nil for nothing
	line     *ui.InputLine // that is typed, nil for none
	watchers []ui.Watcher
	toasts   ui.Toasts
	todo     []tea.Cmd // what the present message leads to besides
	crash    crash
}

// New makes the app; ctx ends everything that it does.
func New(ctx context.Context, c *client.Client, o Options) *App {
	o = o.complete()
	a := &App{options: o, root: ctx, crash: crash{dir: o.State}}
	a.tabs, a.frame, a.keyboard, a.pointing = &tabs{App: a, outdated: make(map[ui.Screen]bool)}, &frame{App: a}, &keyboard{App: a}, &pointing{App: a, mouse: o.Appearance.Mouse}
	a.account, a.switcher, a.stream = &account{App: a, locked: make(map[string]bool)}, &switcher{App: a}, &stream{App: a}
	a.undo, a.jobs, a.secrets = &undo{App: a}, &jobs{App: a}, &secrets{App: a}
	kept, err := state.Open(o.State, o.Profile)
	a.begin(c, kept, theme.New(o.Appearance.glyphs, o.Appearance.Theme))
	if err != nil {
		a.ShowError("what was kept of the last session", err)
	}
	return a
}

// begin begins the session of the profile that the options name.
func (a *App) begin(c *client.Client, kept *state.Store, t *theme.Theme) {
	o := a.options
	a.Session = &ui.Session{
		Clock: ui.Clock{Now: o.Now(), Zone: o.Zone}, Client: c, Theme: t, Registry: o.Registry, State: kept,
		History: map[string][]string{ui.CommandHistory: slices.Clone(kept.Commands)},
		URL:     o.URL, Profile: o.Profile, Downloads: o.Downloads, Protected: o.Protected, ReadOnly: o.ReadOnly || a.locked[o.Profile],
	}
	a.Context, a.leave = context.WithCancel(a.root)
	a.user = o.User
}

// Init is bubbletea's.
func (a *App) Init() tea.Cmd {
	return a.crash.guard(tea.Batch(a.openTab(homeTab), a.whoAmI(), a.listen(), a.listProfiles(false), a.after(time.Second, tickMsg{}), a.takeMouse()))
}

// Update is bubbletea's: it routes, and decides nothing that is a screen's.
func (a *App) Update(m tea.Msg) (tea.Model, tea.Cmd) {
	defer a.crash.note()
	a.Now = a.options.Now()
	a.toasts.Expire(a.Now)
	cmd := a.handle(m)
	a.showSecret()
	if a.link.fine() {
		a.toasts.ClearConnection()
	}
	if len(a.todo) > 0 {
		cmd, a.todo = tea.Batch(append(a.todo, cmd)...), nil
	}
	return a, a.crash.guard(cmd)
}

// AddCmd is a command that the present message leads to besides.
func (a *App) AddCmd(cmd tea.Cmd) { a.todo = append(a.todo, cmd) }

func (a *App) handle(m tea.Msg) tea.Cmd {
	switch m := m.(type) {
	case tea.WindowSizeMsg:
		a.width, a.height = m.Width, m.Height
		a.resize()
		if s := a.Front(); s != nil && !a.tooSmall() {
			return s.Shown() // more rows may be in sight
		}
	case tea.KeyMsg:
		return a.key(m)
	case tea.MouseMsg:
		return a.point(m)
	case tickMsg:
		return tea.Batch(a.tick(), a.after(time.Second, tickMsg{}))
	case LiveMsg:
		return a.live(m)
	case ui.SentMsg:
		return a.arrived(m)
	case tea.ResumeMsg:
		return a.takeMouse()
	case toastMsg:
		a.Notify(m.level, m.text)
	case ui.Response, answered:
		return a.answer(m)
	}
	return nil
}

// tick is what happens once a second: without a stream, rows are fetched again.
func (a *App) tick() tea.Cmd {
	var cmds []tea.Cmd
	if t, ok := a.Front().(ui.Ticker); ok {
		cmds = append(cmds, t.Tick())
	}
	cmds = append(cmds, a.makeDue(), a.writeState(), a.watch(ui.Watcher.Tick))
	if a.polling || !a.link.polls(a.Now) || a.Now.Unix()%int64(ui.PollInterval/time.Second) != 0 {
		return tea.Batch(cmds...)
	}
	a.polling = true
	cmds = append(cmds, a.whoAmI())
	if p, ok := a.Front().(ui.Poller); ok && a.over == nil {
		cmds = append(cmds, p.Poll())
	}
	return tea.Batch(cmds...)
}

// quit ends the program. Where a job runs, or a delete or a secret waits, it
// takes a second key.
func (a *App) quit() tea.Cmd {
	var open []string
	if n := a.jobs.running(); n > 0 {
		open = append(open, display.Count(n, "export is", "exports are")+" on the way")
	}
	if n := len(a.delayed); n > 0 {
		open = append(open, display.Count(n, "delete still waits and is not sent then", "deletes still wait and are not sent then"))
	}
	if n := a.unread(); n > 0 {
		open = append(open, display.Count(n, "secret is", "secrets are")+" not read yet")
	}
	if len(open) > 0 && !a.ending {
		a.ending = true
		a.Notify(ui.Warning, strings.Join(open, ", ")+": once more ends it")
		return nil
	}
	return tea.Quit
}

// Notify shows a message to the user.
func (a *App) Notify(l ui.Level, text string) {
	a.toasts.Add(ui.Toast{Level: l, Text: text, At: a.Now})
}

// ShowError shows what went wrong of what the user asked for: what was to be done,
// and the service's words.
func (a *App) ShowError(what string, err error) { a.failed(what, err, false) }

// ShowFetchError shows what could not be fetched. Where only the way to the service is
// to blame, that is over once it answers again.
func (a *App) ShowFetchError(what string, err error) { a.failed(what, err, ofLink(err)) }

func (a *App) failed(what string, err error, link bool) {
	if err == nil || client.Is(err, client.Cancelled) {
		return
	}
	text := what + ": " + ui.Describe(err)
	if f, asked := a.over.(*ui.Form); asked && f.IsSignIn && ui.SignedOut(err) && what != signingIn {
		a.toasts.Log(text, a.Now) // the question for the password says as much
		return
	}
	a.toasts.Add(ui.Toast{Level: ui.Failure, Text: text, At: a.Now, Connection: link})
}

// Copy copies a text, and tells how that was done.
func (a *App) Copy(text string) {
	if text == "" {
		a.Notify(ui.Warning, "there is nothing to copy")
		return
	}
	c := ui.Clipboard{Context: a.Context, Env: a.options.Env, Output: a.options.Output}
	a.AddCmd(func() tea.Msg {
		how, err := c.Copy(text)
		if err != nil {
			return toastMsg{ui.Failure, "copying: " + strings.ReplaceAll(err.Error(), "\n", "; ")}
		}
		return toastMsg{ui.Info, fmt.Sprintf("copied %s %s", display.Count(utf8.RuneCountInString(text), "character", "characters"), how)}
	})
}

// writeState writes down what has changed since the last time.
func (a *App) writeState() tea.Cmd {
	k := a.State
	if !k.Due() {
		return nil
	}
	return func() tea.Msg {
		err := k.Write()
		if told := k.RecordWrite(err != nil); err != nil && !told {
			return keptMsg{reply{err: err}}
		}
		return nil
	}
}

// nextTimes shows times in the next of the modes, and says where that makes no
// difference.
func (a *App) nextTimes() tea.Cmd {
	a.Times = (a.Times + 1) % ui.TimeMode(len(ui.TimeModes))
	before, note := a.Front().View(), ""
	if t, ok := a.Front().(ui.Timed); ok {
		note = t.Retime()
	}
	cmd := a.Front().Shown()
	if note == "" && a.Front().View() == before {
		note = "nothing here changes by it but the clock"
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
	list.Sought = t.Message.MessageID
	return tea.Batch(a.pushIn(messagesTab, list), a.Push(messages.NewDetail(list, *t.Message)))
}

// openSubscription shows the subscription of a queue. Until it and its subscriber
// are fetched, the queue's reason tells which of them is disabled.
func (a *App) openSubscription(q wire.Queue) tea.Cmd {
	list := webhooks.NewSubscriptions(a, wire.Subscriber{RecID: q.SubscriberID, Name: q.SubscriberName, IsEnabled: true})
	list.Sought = q.SubscriptionID
	one := wire.Subscription{RecID: q.SubscriptionID, SubscriberID: q.SubscriberID, EventName: q.EventName, URL: q.URL,
		IsEnabled: q.IsEnabled, DisabledReason: q.DisabledReason, Ordered: q.Ordered}
	return tea.Batch(a.pushIn(subscribersTab, list), a.Push(webhooks.NewSubscription(list, one)))
}

// CurrentSession is what the screens of the profile share.
func (a *App) CurrentSession() *ui.Session { return a.Session }

// ClearToast takes away a message that would cover the line of status.
func (a *App) ClearToast() { a.toasts.Transient = nil }

// Overlay is what lies over the screen; nil for nothing.
func (a *App) Overlay() ui.Overlay { return a.over }

// ShowOverlay puts an overlay over the screen; nil takes away what is there.
func (a *App) ShowOverlay(o ui.Overlay) { a.over = o }

// CloseOverlay takes an overlay away, also where it waits below something else.
func (a *App) CloseOverlay(o ui.Overlay) {
	if a.over == o {
		a.over = nil
		if s, secret := o.(*ui.Secret); secret {
			a.over = s.Below
		}
	}
	if a.held != nil && a.held.under == o {
		a.held.under = nil
	}
	a.waiting = slices.DeleteFunc(a.waiting, func(one *ui.Secret) bool { return ui.Overlay(one) == o })
	for _, s := range a.waiting {
		if s.Below == o {
			s.Below = nil
		}
	}
}

// ShowInput opens a line below the tabs; nil closes it.
func (a *App) ShowInput(l *ui.InputLine) { a.line = l }

// InputOpen reports whether such a line is open.
func (a *App) InputOpen() bool { return a.line != nil }

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

// openView opens a view.
func (a *App) openView(v state.View) tea.Cmd {
	if v.Record == ui.MessageRecord {
		m := messages.New(a, ui.MessageFilter{Subscription: v.Subscription, Label: v.Label, Problems: v.Problems, Undelivered: v.Undelivered})
		m.Filter.Conditions, m.Typed = browse.RestoreFilters(m.Dialog, ui.MessageKind(), v.Where)
		m.SetViewName(v.Name)
		m.Arrange(v.Arrangement)
		m.Order = messages.MessageOrder(v.OrderBy)
		return a.pushIn(messagesTab, m)
	}
	kind, ok := browse.LookupKind(a.Registry, v.Record)
	if !ok {
		a.Notify(ui.Warning, v.Name+": there is no record "+v.Record+" any more")
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

// quick is how long requests may take that nobody waits for.
const quick = 10 * time.Second

// after is a message that comes later.
func (a *App) after(d time.Duration, m tea.Msg) tea.Cmd {
	return a.options.Loop.Tick(d, m)
}

// errReadOnly is the answer to every change that is asked for while the session
// is read-only. It is decided here, beside the client's own refusal.
var errReadOnly = errors.New("read-only: nothing was sent (:rw lifts it)")

// Change makes a change at the service: it refuses it in a read-only session and
// repeats it after a sign-in.
func (a *App) Change(one ui.Change) tea.Cmd {
	c, ctx, readOnly := a.Client, a.Context, a.ReadOnly
	told := one.OnDone
	if told == nil {
		told = func(err error) { a.changed(one.Name, err) }
	}
	return a.repeatable(one.Name, func() tea.Msg {
		err := errReadOnly
		if !readOnly {
			err = one.Do(ctx, c)
		}
		return ui.Response{To: one.Screen, Err: err, ApplyLate: func() { told(err) }, Apply: func() tea.Cmd {
			if told(err); one.Then == nil {
				return nil
			}
			return one.Then(err)
		}}
	})
}

// changed tells how a change went.
func (a *App) changed(what string, err error) {
	if err != nil {
		a.ShowError(what, ui.MarkNotSent(err))
		return
	}
	a.Notify(ui.Info, what+": done")
}

// Wait waits for what reads the stream, and for exports to put their files in
// order.
func (a *App) Wait() {
	a.jobs.wait()
	_ = a.State.Write() // nobody is there to be told any more
	if a.stopFeed != nil {
		a.stopFeed()
		<-a.feed.ended
	}
}

// Run shows the screens until the user leaves or ctx is done. The terminal is as
// before afterwards, whatever happened.
func Run(ctx context.Context, c *client.Client, o Options) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGHUP, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithCancel(ctx)
	if o = o.complete(); o.Appearance.Theme == "" && theme.CanQueryBackground(o.Env) {
		o.Appearance.Theme = askedTheme(o.Input, o.Output)
	}
	a := New(ctx, c, o)
	program := tea.NewProgram(a, tea.WithContext(ctx), tea.WithAltScreen(), tea.WithoutSignalHandler(), tea.WithInput(o.Input), tea.WithOutput(o.Output))
	_, err := program.Run()
	ended := ctx.Err() != nil
	cancel()
	a.Wait()
	err = a.crash.told(err)
	if ended && errors.Is(err, tea.ErrProgramKilled) && !errors.Is(err, tea.ErrProgramPanic) {
		return nil // somebody ended it from outside
	}
	return err
}
