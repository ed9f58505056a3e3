// Package tuitest drives the screens in tests without a terminal: it runs them against
// a daemon or a test server, presses keys, advances the clock and reads the screen.
package tuitest

import (
	"encoding/base64"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

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

// timer is a message that is sent at a time.
type timer struct {
	at      time.Time
	message tea.Msg
}

// Timeout is the limit for each wait, such as that of Settle, DeliverNext or WaitUntil.
const Timeout = 2 * time.Minute

// Drive starts an app on a screen of 80x24.
func Drive(t testing.TB, c *client.Client, o tui.Options) *Driver {
	t.Helper()
	d := &Driver{
		T:         t,
		Clock:     time.Date(2026, 7, 1, 14, 2, 6, 0, time.UTC),
		responses: make(chan tea.Msg, 100),
		live:      make(chan tea.Msg, 1),
	}
	o.URL = "http://erp01:5050"
	o.Zone = time.UTC
	o.Now = func() time.Time { return d.Clock }
	o.Output = &d.Copied
	if o.Env == nil {
		o.Env = Environment("WHCTL_CLIPBOARD=osc52", "COLORTERM=truecolor", "TERM=xterm-256color")
	}
	o.Input = strings.NewReader("")
	o.Loop.Tick = func(after time.Duration, m tea.Msg) tea.Cmd {
		d.timers = append(d.timers, timer{at: d.Clock.Add(after), message: m})
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
	if o.Loop.CanSuspend == nil {
		o.Loop.CanSuspend = func() bool { return true }
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
	if batch, ok := m.(tea.BatchMsg); ok {
		for _, cmd := range batch {
			d.Run(cmd)
		}
		return
	}
	if isCommands(m) {
		d.T.Fatalf("a command returned a %T; the driver runs commands only concurrently, in a batch", m)
	}
	if live, ok := m.(tui.LiveMsg); ok {
		if live.Beat {
			d.connected = true
		}
		if live.Lost != nil || live.Final != nil {
			d.connected = false
		}
		d.stream = live.Session
	}
	_, cmd := d.App.Update(m)
	d.Run(cmd)
}

// DeliverNext waits for the next result of a command and delivers it.
func (d *Driver) DeliverNext() {
	d.T.Helper()
	if d.waiting == 0 {
		d.T.Fatalf("no command is running; the screen is\n%s", d.Text())
	}
	d.receive(time.After(Timeout), "a command has finished", nil)
}

// isCommands reports whether a message is a list of commands. That of a sequence has a type which
// bubbletea does not export.
func isCommands(m tea.Msg) bool {
	v := reflect.TypeOf(m)
	return v.Kind() == reflect.Slice && v.Elem() == reflect.TypeFor[tea.Cmd]()
}

// Settle waits until no command is running.
func (d *Driver) Settle() {
	d.T.Helper()
	for d.waiting > 0 {
		d.receive(time.After(Timeout), "all commands have finished", nil)
	}
}

// receive delivers the next result of a command, or the next message of live, which may be nil. At
// the deadline, it fails with the description of the state that the test waits for.
func (d *Driver) receive(deadline <-chan time.Time, description string, live <-chan tea.Msg) {
	d.T.Helper()
	select {
	case m := <-d.responses:
		d.waiting--
		d.Deliver(m)
	case m := <-live:
		d.Send(m)
	case <-deadline:
		d.T.Fatalf("timeout: %s; %d commands are running; the screen is\n%s", description, d.waiting, d.Text())
	}
}

// Advance advances the clock and delivers the messages that become due.
func (d *Driver) Advance(duration time.Duration) {
	d.T.Helper()
	end := d.Clock.Add(duration)
	for {
		next, ok := d.nextTimer(end)
		if !ok {
			d.Clock = end
			return
		}
		d.Clock = later(d.Clock, next.at) // overdue messages are delivered now
		d.Send(next.message)
	}
}

// nextTimer removes the first timer that fires until end, and returns it, false if there is none.
func (d *Driver) nextTimer(end time.Time) (timer, bool) {
	first := -1
	for i, t := range d.timers {
		if t.at.After(end) {
			continue
		}
		if first < 0 || t.at.Before(d.timers[first].at) {
			first = i
		}
	}
	if first < 0 {
		return timer{}, false
	}
	next := d.timers[first]
	d.timers = slices.Delete(d.timers, first, first+1)
	return next, true
}

// Wait is like Advance, but timers that are overdue fire immediately.
func (d *Driver) Wait(duration time.Duration) {
	d.T.Helper()
	for i := range d.timers {
		d.timers[i].at = later(d.timers[i].at, d.Clock)
	}
	d.Advance(duration)
}

// later returns the later one of two times.
func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// WaitUntil delivers live messages until done returns true.
func (d *Driver) WaitUntil(description string, done func() bool) {
	d.T.Helper()
	deadline := time.After(Timeout)
	for !done() {
		d.receive(deadline, description, d.live)
	}
	d.Settle()
}

// AwaitLive waits until the screen shows that it is live, which a heartbeat causes.
func (d *Driver) AwaitLive() {
	d.T.Helper()
	d.WaitUntil("it is live", func() bool { return strings.Contains(d.Text(), "  LIVE  ") })
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

// Resize sets the size of the terminal.
func (d *Driver) Resize(width, height int) {
	d.T.Helper()
	d.width, d.height = width, height
	d.Send(tea.WindowSizeMsg{Width: width, Height: height})
}

// Text returns the screen without styles.
func (d *Driver) Text() string { return ansi.Strip(d.App.View()) }

// WantText fails unless the screen shows each of the texts.
func (d *Driver) WantText(texts ...string) {
	d.T.Helper()
	shown := d.Text()
	for _, text := range texts {
		if !strings.Contains(shown, text) {
			d.T.Fatalf("the screen does not show %q:\n%s", text, shown)
		}
	}
}

// WantNoText fails if the screen shows a text.
func (d *Driver) WantNoText(text string) {
	d.T.Helper()
	if strings.Contains(d.Text(), text) {
		d.T.Errorf("the screen shows %q:\n%s", text, d.Text())
	}
}

// LineWith returns the first line of the screen that contains a text.
func (d *Driver) LineWith(text string) string {
	d.T.Helper()
	for line := range strings.SplitSeq(d.Text(), "\n") {
		if strings.Contains(line, text) {
			return line
		}
	}
	d.T.Fatalf("no line has %q:\n%s", text, d.Text())
	return ""
}

// WaitFor waits until the screen matches a pattern.
func (d *Driver) WaitFor(pattern string) {
	d.T.Helper()
	expression := regexp.MustCompile(pattern)
	d.WaitUntil("the screen matches "+pattern, func() bool { return expression.MatchString(d.Text()) })
}

// CheckScreen fails unless the screen has exactly the size of the terminal.
func (d *Driver) CheckScreen() {
	d.T.Helper()
	lines := strings.Split(d.App.View(), "\n")
	if len(lines) != d.height {
		d.T.Errorf("%d lines on %dx%d:\n%s", len(lines), d.width, d.height, d.Text())
	}
	for i, line := range lines {
		if w := ansi.StringWidth(line); w != d.width {
			d.T.Errorf("line %d is %d wide on %dx%d: %q\n%s", i+1, w, d.width, d.height, line, d.Text())
		}
	}
}

// LastCopied returns the last text that was copied to the terminal.
func (d *Driver) LastCopied() string {
	d.T.Helper()
	output := d.Copied.String()
	const sequence = "\x1b]52;c;"
	start := strings.LastIndex(output, sequence)
	if start < 0 {
		d.T.Fatalf("nothing was copied; the screen is\n%s", d.Text())
	}
	encoded, _, _ := strings.Cut(output[start+len(sequence):], "\a")
	text, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		d.T.Fatalf("decoding the copied text %q: %v", encoded, err)
	}
	return string(text)
}
