package tui

import (
	"context"
	"fmt"
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
	options Options
	context context.Context
	client  *client.Client
	theme   *theme.Theme
	now     time.Time // when the last message came
	times   timeMode

	width, height int
	tabs          [len(tabNames)][]screen // what is open in each tab, the last in front
	tab           int
	former        place           // what was seen before
	outdated      map[screen]bool // were not told of changes; fetched again when they are seen
	over          overlay         // what lies over the screen, nil for nothing
	line          *line           // that is typed, nil for none
	history       map[string][]string

	user     string
	readOnly bool
	features map[string]bool // of the service; nil while it has not said

	eventNames []string     // those that the service has beside the published ones; nil while it has not said
	keeper     *state.Store // of what outlives the session

	root     context.Context // of all profiles
	leave    context.CancelFunc
	era      int // of the profile, to know answers to the former one
	profiles []Profile
	locked   map[string]bool // profiles that :ro was said of

	forbidden int // how often :ro was said

	delayed []delayed         // changes that can be taken back still
	trials  map[string]*trial // test messages whose outcome is awaited, by id
	mouse   bool              // clicks come here
	clicked click             // the last one
	crash   crash

	lanes    lanes
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
	secrets []*secretBox // that nobody has read and closed yet, the one that is shown first
	todo    []tea.Cmd    // what the present message leads to besides
}

// newApp makes the app; ctx ends everything that it does.
func newApp(ctx context.Context, c *client.Client, o Options) *app {
	a := &app{
		options: o, root: ctx, client: c, theme: theme.New(o.signs, o.Theme),
		user: o.User, readOnly: o.ReadOnly, history: make(map[string][]string), locked: make(map[string]bool),
		trials: make(map[string]*trial), outdated: make(map[screen]bool), mouse: o.Mouse, crash: crash{dir: o.State},
	}
	a.context, a.leave = context.WithCancel(ctx)
	a.now = o.Now()
	var err error
	if a.keeper, err = state.Open(o.State, o.Profile); err != nil {
		a.fail("what was kept of the last session", err)
	}
	a.recallCommands()
	return a
}

// Init is bubbletea's.
func (a *app) Init() tea.Cmd {
	return a.crash.guard(tea.Batch(a.openTab(homeTab), a.whoAmI(), a.listen(), a.listProfiles(false), a.after(time.Second, tickMsg{}), a.takeMouse()))
}

// front is the screen that is seen.
func (a *app) front() screen {
	stack := a.tabs[a.tab]
	if len(stack) == 0 {
		return nil
	}
	return stack[len(stack)-1]
}

// Update is bubbletea's: it routes, and decides nothing that is a screen's.
func (a *app) Update(m tea.Msg) (tea.Model, tea.Cmd) {
	defer a.crash.note()
	a.now = a.options.Now()
	a.toasts.Expire(a.now)
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

// later is a command that the present message leads to besides.
func (a *app) later(cmd tea.Cmd) { a.todo = append(a.todo, cmd) }

func (a *app) handle(m tea.Msg) tea.Cmd {
	switch m := m.(type) {
	case tea.WindowSizeMsg:
		a.width, a.height = m.Width, m.Height
		a.resize()
		if s := a.front(); s != nil && !a.tooSmall() {
			return s.shown() // more rows may be in sight
		}
	case tea.KeyMsg:
		return a.key(m)
	case tea.MouseMsg:
		return a.point(m)
	case tickMsg:
		return tea.Batch(a.tick(), a.after(time.Second, tickMsg{}))
	case liveMsg:
		return a.live(m)
	case sentMsg:
		return a.arrived(m)
	case tea.ResumeMsg:
		return a.takeMouse()
	case toastMsg:
		a.tell(m.level, m.text)
	case answered:
		return a.answer(m)
	}
	return nil
}

// tick is what happens once a second: without a stream, rows are fetched again.
func (a *app) tick() tea.Cmd {
	var cmds []tea.Cmd
	if t, ok := a.front().(ticker); ok {
		cmds = append(cmds, t.tick())
	}
	cmds = append(cmds, a.ripe(), a.keep(), a.trialsTick())
	if a.polling || !a.link.polls(a.now) || a.now.Unix()%int64(pollEvery/time.Second) != 0 {
		return tea.Batch(cmds...)
	}
	a.polling = true
	cmds = append(cmds, a.whoAmI())
	if p, ok := a.front().(poller); ok && a.over == nil {
		cmds = append(cmds, p.poll())
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
	wasAway := !a.link.live(a.now)
	was := a.link.signedOut
	a.link.take(m, a.now)
	a.askWho(was)
	cmds := []tea.Cmd{a.trialsFollow(m.changes)}
	a.lanes.due = a.lanes.due || len(m.changes) > 0
	if m.final == nil {
		cmds = append(cmds, a.hear(a.hearing))
	}
	if m.reset || m.beat && wasAway {
		cmds = append(cmds, a.missed())
	}
	if !a.link.paused {
		for _, stack := range a.tabs {
			for _, s := range stack {
				if f, ok := s.(follower); ok {
					cmds = append(cmds, f.follow(m))
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
		a.tell(ui.Warning, strings.Join(open, ", ")+": once more ends it")
		return nil
	}
	return tea.Quit
}

// tell shows a message to the user.
func (a *app) tell(l ui.Level, text string) { a.toasts.Add(ui.Toast{Level: l, Text: text, At: a.now}) }

// fail shows what went wrong of what the user asked for: what was to be done,
// and the service's words.
func (a *app) fail(what string, err error) { a.failed(what, err, false) }

// unfetched shows what could not be fetched. Where only the way to the service is
// to blame, that is over once it answers again.
func (a *app) unfetched(what string, err error) { a.failed(what, err, ofLink(err)) }

func (a *app) failed(what string, err error, link bool) {
	if err == nil || client.Is(err, client.Cancelled) {
		return
	}
	text := what + ": " + ui.Describe(err)
	if f, asked := a.over.(*form); asked && f.login && unauthorized(err) && what != signingIn {
		a.toasts.Note(text, a.now) // the question for the password says as much
		return
	}
	a.toasts.Add(ui.Toast{Level: ui.Failure, Text: text, At: a.now, Link: link})
}

// clip copies a text, and tells how that was done.
func (a *app) clip(text string) {
	if text == "" {
		a.tell(ui.Warning, "there is nothing to copy")
		return
	}
	c := ui.Clipboard{Context: a.context, Env: a.options.Env, Output: a.options.Output}
	a.later(func() tea.Msg {
		how, err := c.Copy(text)
		if err != nil {
			return toastMsg{ui.Failure, "copying: " + strings.ReplaceAll(err.Error(), "\n", "; ")}
		}
		return toastMsg{ui.Info, fmt.Sprintf("copied %s %s", ui.Plural(utf8.RuneCountInString(text), "character", "characters"), how)}
	})
}
