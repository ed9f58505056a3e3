package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/tui/state"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// app is the root: it knows what is open, hands keys and answers to it, and
// draws what stands around it. Everything changes in Update alone.
type app struct {
	*ui.Session
	options Options

	width, height int
	tabs          [len(tabNames)][]ui.Screen // what is open in each tab, the last in front
	tab           int
	former        place              // what was seen before
	outdated      map[ui.Screen]bool // were not told of changes; fetched again when they are seen
	over          ui.Overlay         // what lies over the screen, nil for nothing
	line          *ui.Line           // that is typed, nil for none

	user     string
	features map[string]bool // of the service; nil while it has not said

	root     context.Context // of all profiles
	leave    context.CancelFunc
	profiles []Profile
	locked   map[string]bool // profiles that :ro was said of

	forbidden int // how often :ro was said

	delayed  []delayed // changes that can be taken back still
	watchers []ui.Watcher
	mouse    bool  // clicks come here
	clicked  click // the last one
	crash    crash

	link     link
	feed     *feed
	stopFeed context.CancelFunc
	hearing  context.Context // of the feed
	polling  bool            // a poll is on its way

	toasts  ui.Toasts
	burst   burst
	jobs    jobs
	ending  bool         // quit was asked for although a job runs
	held    *unsent      // what a sign-in releases; nil for nothing
	secrets []*ui.Secret // that nobody has read and closed yet, the one that is shown first
	todo    []tea.Cmd    // what the present message leads to besides
}

// newApp makes the app; ctx ends everything that it does.
func newApp(ctx context.Context, c *client.Client, o Options) *app {
	a := &app{options: o, root: ctx, locked: make(map[string]bool), outdated: make(map[ui.Screen]bool), mouse: o.Mouse, crash: crash{dir: o.State}}
	kept, err := state.Open(o.State, o.Profile)
	a.begin(c, kept, theme.New(o.signs, o.Theme))
	if err != nil {
		a.Fail("what was kept of the last session", err)
	}
	return a
}

// begin begins the session of the profile that the options name.
func (a *app) begin(c *client.Client, kept *state.Store, t *theme.Theme) {
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
func (a *app) Init() tea.Cmd {
	return a.crash.guard(tea.Batch(a.openTab(homeTab), a.whoAmI(), a.listen(), a.listProfiles(false), a.after(time.Second, tickMsg{}), a.takeMouse()))
}

// Front is the screen that is seen.
func (a *app) Front() ui.Screen {
	stack := a.tabs[a.tab]
	if len(stack) == 0 {
		return nil
	}
	return stack[len(stack)-1]
}

// Update is bubbletea's: it routes, and decides nothing that is a screen's.
func (a *app) Update(m tea.Msg) (tea.Model, tea.Cmd) {
	defer a.crash.note()
	a.Now = a.options.Now()
	a.toasts.Expire(a.Now)
	cmd := a.handle(m)
	a.showSecret()
	if a.link.fine() {
		a.toasts.Reached()
	}
	if len(a.todo) > 0 {
		cmd, a.todo = tea.Batch(append(a.todo, cmd)...), nil
	}
	return a, a.crash.guard(cmd)
}

// Later is a command that the present message leads to besides.
func (a *app) Later(cmd tea.Cmd) { a.todo = append(a.todo, cmd) }

func (a *app) handle(m tea.Msg) tea.Cmd {
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
	case liveMsg:
		return a.live(m)
	case ui.SentMsg:
		return a.arrived(m)
	case tea.ResumeMsg:
		return a.takeMouse()
	case toastMsg:
		a.Tell(m.level, m.text)
	case ui.Answer, answered:
		return a.answer(m)
	}
	return nil
}

// tick is what happens once a second: without a stream, rows are fetched again.
func (a *app) tick() tea.Cmd {
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

// live takes what the stream told, and waits for more.
func (a *app) live(m liveMsg) tea.Cmd {
	if m.fault != "" {
		panic(m.fault)
	}
	if m.session != a.link.session {
		return nil
	}
	wasAway := !a.link.live(a.Now)
	was := a.link.signedOut
	a.link.Take(m, a.Now)
	a.Ahead = a.link.ahead
	a.askWho(was)
	cmds := []tea.Cmd{a.watch(func(w ui.Watcher) tea.Cmd { return w.Follow(m.changes) })}
	if len(m.changes) > 0 {
		a.Queues.Changed()
	}
	if m.final == nil {
		cmds = append(cmds, a.hear(a.hearing))
	}
	if m.reset || m.beat && wasAway {
		cmds = append(cmds, a.missed())
	}
	if !a.link.paused {
		for _, stack := range a.tabs {
			for _, s := range stack {
				if f, ok := s.(ui.Follower); ok {
					cmds = append(cmds, f.Follow(m.changes, m.requests))
				}
			}
		}
	}
	return tea.Batch(cmds...)
}

// quit ends the program. Where a job runs, or a delete or a secret waits, it
// takes a second key.
func (a *app) quit() tea.Cmd {
	var open []string
	if n := a.jobs.running(); n > 0 {
		open = append(open, ui.Plural(n, "export is", "exports are")+" on the way")
	}
	if n := len(a.delayed); n > 0 {
		open = append(open, ui.Plural(n, "delete still waits and is not sent then", "deletes still wait and are not sent then"))
	}
	if n := a.unread(); n > 0 {
		open = append(open, ui.Plural(n, "secret is", "secrets are")+" not read yet")
	}
	if len(open) > 0 && !a.ending {
		a.ending = true
		a.Tell(ui.Warning, strings.Join(open, ", ")+": once more ends it")
		return nil
	}
	return tea.Quit
}

// Tell shows a message to the user.
func (a *app) Tell(l ui.Level, text string) { a.toasts.Add(ui.Toast{Level: l, Text: text, At: a.Now}) }

// Fail shows what went wrong of what the user asked for: what was to be done,
// and the service's words.
func (a *app) Fail(what string, err error) { a.failed(what, err, false) }

// FetchFailed shows what could not be fetched. Where only the way to the service is
// to blame, that is over once it answers again.
func (a *app) FetchFailed(what string, err error) { a.failed(what, err, ofLink(err)) }

func (a *app) failed(what string, err error, link bool) {
	if err == nil || client.Is(err, client.Cancelled) {
		return
	}
	text := what + ": " + ui.Describe(err)
	if f, asked := a.over.(*ui.Form); asked && f.Login && ui.SignedOut(err) && what != signingIn {
		a.toasts.Note(text, a.Now) // the question for the password says as much
		return
	}
	a.toasts.Add(ui.Toast{Level: ui.Failure, Text: text, At: a.Now, Link: link})
}

// Copy copies a text, and tells how that was done.
func (a *app) Copy(text string) {
	if text == "" {
		a.Tell(ui.Warning, "there is nothing to copy")
		return
	}
	c := ui.Clipboard{Context: a.Context, Env: a.options.Env, Output: a.options.Output}
	a.Later(func() tea.Msg {
		how, err := c.Copy(text)
		if err != nil {
			return toastMsg{ui.Failure, "copying: " + strings.ReplaceAll(err.Error(), "\n", "; ")}
		}
		return toastMsg{ui.Info, fmt.Sprintf("copied %s %s", ui.Plural(utf8.RuneCountInString(text), "character", "characters"), how)}
	})
}
