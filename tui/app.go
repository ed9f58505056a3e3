package tui

import (
	"context"
	"errors"
	"fmt"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
)

// app is the root: it knows what is open, hands keys and answers to it, and
// draws what stands around it. Everything changes in Update alone.
type app struct {
	options Options
	context context.Context
	client  *client.Client
	theme   *theme
	now     time.Time // when the last message came
	times   timeMode

	width, height int
	tabs          [len(tabNames)][]screen // what is open in each tab, the last in front
	tab, before   int
	over          overlay // what lies over the screen, nil for nothing
	line          *line   // that is typed, nil for none
	history       map[string][]string

	user     string
	readOnly bool
	features map[string]bool // of the service; nil while it has not said

	link     link
	feed     *feed
	stopFeed context.CancelFunc
	hearing  context.Context // of the feed
	polling  bool            // a poll is on its way

	toasts toasts
	burst  burst
	jobs   int  // exports on their way
	ending bool // quit was asked for although a job runs
}

// newApp makes the app; ctx ends everything that it does.
func newApp(ctx context.Context, c *client.Client, o Options) *app {
	a := &app{
		options: o, context: ctx, client: c, theme: newTheme(o.ASCII, o.Mono),
		user: o.User, readOnly: o.ReadOnly, history: make(map[string][]string),
	}
	a.now = o.Now()
	return a
}

// Init is bubbletea's.
func (a *app) Init() tea.Cmd {
	return tea.Batch(a.openTab(homeTab), a.whoAmI(), a.listen(), a.after(time.Second, tickMsg{}))
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
	a.now = a.options.Now()
	a.toasts.expire(a.now)
	return a, a.handle(m)
}

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
	case tickMsg:
		return tea.Batch(a.tick(), a.after(time.Second, tickMsg{}))
	case liveMsg:
		return a.live(m)
	case toastMsg:
		a.tell(m.level, m.text)
	case answered:
		return a.answer(m)
	}
	return nil
}

// answer hands an answer to the screen that asked, if it is still there.
func (a *app) answer(m answered) tea.Cmd {
	r := m.about()
	if was := a.link.signedOut; !errors.Is(r.err, errReadOnly) {
		a.link.heard(r.err, a.now)
		a.askWho(was)
	}
	if r.to == nil {
		return a.own(m)
	}
	if !a.isOpen(r.to) || client.Is(r.err, client.Cancelled) {
		return nil
	}
	return r.to.update(m)
}

// askWho asks for a password when the session has just ended.
func (a *app) askWho(was bool) {
	if a.link.signedOut && !was && a.over == nil && a.line == nil {
		a.over = newLogin(a)
	}
}

func (a *app) isOpen(s screen) bool {
	for _, stack := range a.tabs {
		for _, one := range stack {
			if one == s {
				return true
			}
		}
	}
	return false
}

// own takes the answers to what the app asked itself.
func (a *app) own(m answered) tea.Cmd {
	switch m := m.(type) {
	case whoMsg:
		return a.introduced(m)
	case unlockedMsg:
		if m.err != nil {
			a.fail("read-only as before", m.err)
			return nil
		}
		a.client, a.readOnly = m.client, false
		a.tell(warning, "changes are allowed for this session (:ro forbids them)")
	case signedInMsg:
		return a.signedIn(m)
	case exportMsg:
		a.exported(m)
	}
	return nil
}

// introduced learns who we are and what the service can do.
func (a *app) introduced(m whoMsg) tea.Cmd {
	a.polling = false
	if m.info != nil {
		a.features = make(map[string]bool)
		for _, name := range m.info.Features {
			a.features[name] = true
		}
	}
	if m.user != nil {
		a.user = m.user.UserName
	}
	if m.err == nil && a.link.idle(a.now) {
		return a.listen()
	}
	return nil
}

// tick is what happens once a second: without a stream, rows are fetched again.
func (a *app) tick() tea.Cmd {
	var cmds []tea.Cmd
	if t, ok := a.front().(ticker); ok {
		cmds = append(cmds, t.tick())
	}
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
	if m.session != a.link.session {
		return nil
	}
	wasAway := !a.link.live(a.now)
	was := a.link.signedOut
	a.link.take(m, a.now)
	a.askWho(was)
	var cmds []tea.Cmd
	if m.final == nil {
		cmds = append(cmds, a.hear(a.hearing))
	}
	if m.reset || m.beat && wasAway {
		if p, ok := a.front().(poller); ok {
			cmds = append(cmds, p.poll())
		}
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

// quit ends the program. Where a job runs, it takes a second key.
func (a *app) quit() tea.Cmd {
	if a.jobs > 0 && !a.ending {
		a.ending = true
		a.tell(warning, fmt.Sprintf("%s on the way: once more ends it", plural(a.jobs, "export is", "exports are")))
		return nil
	}
	return tea.Quit
}

// tell shows a message to the user.
func (a *app) tell(l level, text string) { a.toasts.add(l, text, a.now) }

// fail shows what went wrong: what was to be done, and the service's words.
func (a *app) fail(what string, err error) {
	if err == nil || client.Is(err, client.Cancelled) {
		return
	}
	a.toasts.add(failure, what+": "+describe(err), a.now)
}

// describe is an error with what helps to act on it.
func describe(err error) string {
	text := err.Error()
	var e *client.Error
	if errors.As(err, &e) {
		for _, f := range e.Fields {
			text += "; " + f.FieldName + ": " + f.Message
		}
		if e.RequestID != "" {
			text += " (request " + e.RequestID + ")"
		}
	}
	return text
}
