// Package tuitest drives the screens in tests, without a terminal: it starts them
// against a real daemon or a stand-in, presses keys, lets time pass, and reads
// what is drawn.
package tuitest

import (
	"reflect"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/ui"
)

// Driver runs an app without a terminal: it plays bubbletea's part, one message
// after the other, with a clock that only the test moves.
type Driver struct {
	T      testing.TB
	App    *tui.App
	Clock  time.Time
	Quit   bool            // the program has ended
	Copied strings.Builder // what went to the terminal beside the screen

	width, height int
	timers        []timer
	responses     chan tea.Msg
	waiting       int // commands on their way
	live          chan tea.Msg
	connected     bool // there was a heartbeat, and the stream was not lost since
	stream        int  // that it came on
}

type timer struct {
	at      time.Time
	message tea.Msg
}

// Timeout is how long anything that must happen may take.
const Timeout = 2 * time.Minute

// Drive starts an app on a screen of 80x24.
func Drive(t testing.TB, c *client.Client, o tui.Options) *Driver {
	t.Helper()
	d := &Driver{T: t, Clock: time.Date(2026, 7, 1, 14, 2, 6, 0, time.UTC), responses: make(chan tea.Msg, 100), live: make(chan tea.Msg, 1)}
	o.URL, o.Zone = "http://erp01:5050", time.UTC
	o.Now = func() time.Time { return d.Clock }
	o.Output = &d.Copied
	if o.Env == nil {
		o.Env = Environment("WHCTL_CLIPBOARD=osc52")
	}
	o.Input = strings.NewReader("")
	o.Loop.Tick = func(after time.Duration, m tea.Msg) tea.Cmd {
		d.timers = append(d.timers, timer{d.Clock.Add(after), m})
		return nil
	}
	o.Loop.Listen = func(wait tea.Cmd) tea.Cmd {
		go func() {
			select {
			case d.live <- dropServerOffset(wait()):
			case <-t.Context().Done():
			}
		}()
		return nil
	}
	d.App = tui.New(t.Context(), c, o)
	t.Cleanup(d.App.Wait)
	d.Run(d.App.Init())
	d.Settle()
	d.Resize(80, 24)
	return d
}

// dropServerOffset has the service's clock agree with the test's.
func dropServerOffset(m tea.Msg) tea.Msg {
	if live, ok := m.(tui.LiveMsg); ok {
		live.Ahead = 0
		return live
	}
	return m
}

// Run starts a command, and those that it is made of.
func (d *Driver) Run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	d.waiting++
	go func() { d.responses <- cmd() }()
}

// Send gives the app one message, and settles.
func (d *Driver) Send(m tea.Msg) {
	d.T.Helper()
	d.Deliver(m)
	d.Settle()
}

// Deliver gives the app one message, and starts what comes of it.
func (d *Driver) Deliver(m tea.Msg) {
	if m == nil {
		return
	}
	if _, quit := m.(tea.QuitMsg); quit {
		d.Quit = true
		return
	}
	if several, ok := commands(m); ok {
		for _, cmd := range several {
			d.Run(cmd)
		}
		return
	}
	if live, ok := m.(tui.LiveMsg); ok {
		d.connected = (d.connected || live.Beat) && live.Lost == nil && live.Final == nil
		d.stream = live.Session
	}
	_, cmd := d.App.Update(m)
	d.Run(cmd)
}

// DeliverNext waits for the next answer, and gives it to the app.
func (d *Driver) DeliverNext() {
	m := <-d.responses
	d.waiting--
	d.Deliver(m)
}

// commands are those of a batch or a sequence, whose types bubbletea keeps to
// itself.
func commands(m tea.Msg) ([]tea.Cmd, bool) {
	v := reflect.ValueOf(m)
	if v.Kind() != reflect.Slice || v.Type().Elem() != reflect.TypeFor[tea.Cmd]() {
		return nil, false
	}
	var all []tea.Cmd
	for i := range v.Len() {
		all = append(all, v.Index(i).Interface().(tea.Cmd))
	}
	return all, true
}

// Settle waits until no command is on its way.
func (d *Driver) Settle() {
	d.T.Helper()
	for d.waiting > 0 {
		select {
		case m := <-d.responses:
			d.waiting--
			d.Deliver(m)
		case <-time.After(Timeout):
			d.T.Fatalf("%d commands do not come back; the screen is\n%s", d.waiting, d.Text())
		}
	}
}

// Advance moves the clock and gives the app the messages that are due then.
func (d *Driver) Advance(by time.Duration) {
	d.T.Helper()
	for end := d.Clock.Add(by); ; {
		next := -1
		for i, t := range d.timers {
			if !t.at.After(end) && (next < 0 || t.at.Before(d.timers[next].at)) {
				next = i
			}
		}
		if next < 0 {
			d.Clock = end
			return
		}
		due := d.timers[next]
		d.timers = append(d.timers[:next], d.timers[next+1:]...)
		if due.at.After(d.Clock) { // one that is overdue comes now
			d.Clock = due.at
		}
		d.Send(due.message)
	}
}

// Wait lets time pass from now on: what was due while keys were pressed is
// due at once.
func (d *Driver) Wait(by time.Duration) {
	d.T.Helper()
	for i := range d.timers {
		d.timers[i].at = later(d.timers[i].at, d.Clock)
	}
	d.Advance(by)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// WaitUntil gives the app what the stream tells, until that is enough.
func (d *Driver) WaitUntil(description string, done func() bool) {
	d.T.Helper()
	for deadline := time.After(Timeout); !done(); {
		select {
		case m := <-d.live:
			d.Send(m)
		case m := <-d.responses:
			d.waiting--
			d.Deliver(m)
		case <-deadline:
			d.T.Fatalf("it does not happen that %s; the screen is\n%s", description, d.Text())
		}
	}
	d.Settle()
}

// AwaitLive waits for the first sign of life.
func (d *Driver) AwaitLive() {
	d.T.Helper()
	d.WaitUntil("it is live", func() bool { return strings.Contains(d.Text(), "LIVE") })
}

// Live has something happen on the stream that was heard last.
func (d *Driver) Live(m tui.LiveMsg) {
	d.T.Helper()
	m.Session = max(1, d.stream)
	d.Send(m)
}

// Heartbeat is a sign of life on the stream, where there was one before: the test's
// clock has nothing to do with the service's.
func (d *Driver) Heartbeat() {
	d.T.Helper()
	if d.connected {
		d.Live(tui.LiveMsg{Beat: true})
	}
}

// Respond has something come that a screen asked for, or fail.
func (d *Driver) Respond(to ui.Screen, err error, apply func(error) tea.Cmd) {
	d.T.Helper()
	d.Send(ui.Response{To: to, Err: err, Apply: func() tea.Cmd { return apply(err) }})
}

// Environment answers like the variables of a session.
func Environment(pairs ...string) func(string) string {
	return func(name string) string {
		for _, pair := range pairs {
			if value, ok := strings.CutPrefix(pair, name+"="); ok {
				return value
			}
		}
		return ""
	}
}
