// Package tuitest drives the screens in tests without a terminal: it runs them against
// a daemon or a test server, presses keys, advances the clock and reads the screen.
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

// Driver runs an app in place of bubbletea, one message after the other, with a clock
// that only the test advances.
type Driver struct {
	T      testing.TB
	App    *tui.App
	Clock  time.Time
	Quit   bool            // the program has quit
	Copied strings.Builder // output to the terminal other than the screen

	width, height int
	timers        []timer
	responses     chan tea.Msg
	waiting       int // number of running commands
	live          chan tea.Msg
	connected     bool // a heartbeat has arrived since the last disconnect
	stream        int  // session of the last live message
}

type timer struct {
	at      time.Time
	message tea.Msg
}

// Timeout is the limit for anything that a test waits for.
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

// dropServerOffset makes the clock of the service agree with the test's.
func dropServerOffset(m tea.Msg) tea.Msg {
	if live, ok := m.(tui.LiveMsg); ok {
		live.ServerOffset = 0
		return live
	}
	return m
}

// Run starts a command.
func (d *Driver) Run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	d.waiting++
	go func() { d.responses <- cmd() }()
}

// Send sends a message to the app and waits until all commands have finished.
func (d *Driver) Send(m tea.Msg) {
	d.T.Helper()
	d.Deliver(m)
	d.Settle()
}

// Deliver sends a message to the app and starts the resulting command.
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

// DeliverNext waits for the next result of a command and delivers it.
func (d *Driver) DeliverNext() {
	m := <-d.responses
	d.waiting--
	d.Deliver(m)
}

// commands returns the commands of a batch or a sequence, which are unexported types in
// bubbletea.
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

// Settle waits until no command is running.
func (d *Driver) Settle() {
	d.T.Helper()
	for d.waiting > 0 {
		select {
		case m := <-d.responses:
			d.waiting--
			d.Deliver(m)
		case <-time.After(Timeout):
			d.T.Fatalf("%d commands are still running; the screen is\n%s", d.waiting, d.Text())
		}
	}
}

// Advance advances the clock and delivers the messages that become due.
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
		if due.at.After(d.Clock) { // overdue messages are delivered now
			d.Clock = due.at
		}
		d.Send(due.message)
	}
}

// Wait is like Advance, but timers that are overdue fire immediately.
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

// WaitUntil delivers live messages until done returns true.
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
			d.T.Fatalf("timeout: %s; the screen is\n%s", description, d.Text())
		}
	}
	d.Settle()
}

// AwaitLive waits for the first heartbeat.
func (d *Driver) AwaitLive() {
	d.T.Helper()
	d.WaitUntil("it is live", func() bool { return strings.Contains(d.Text(), "LIVE") })
}

// Live delivers a live message on the current stream.
func (d *Driver) Live(m tui.LiveMsg) {
	d.T.Helper()
	m.Session = max(1, d.stream)
	d.Send(m)
}

// Heartbeat delivers a heartbeat if the stream is connected: the clock of the test is
// independent of the service's.
func (d *Driver) Heartbeat() {
	d.T.Helper()
	if d.connected {
		d.Live(tui.LiveMsg{Beat: true})
	}
}

// Respond delivers a response, or an error, to a screen.
func (d *Driver) Respond(to ui.Screen, err error, apply func(error) tea.Cmd) {
	d.T.Helper()
	d.Send(ui.Response{To: to, Err: err, Apply: func() tea.Cmd { return apply(err) }})
}

// Environment returns a function that looks up environment variables.
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
