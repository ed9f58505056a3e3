package tui

import (
	"reflect"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/browse"
	"github.com/bizhook/whd/tui/screens/records"
	"github.com/bizhook/whd/tui/ui"
)

// driver runs an app without a terminal: it plays bubbletea's part, one message
// after the other, with a clock that only the test moves.
type driver struct {
	t       testing.TB
	app     *app
	clock   time.Time
	timers  []timer
	answers chan tea.Msg
	waiting int // commands on their way
	live    chan tea.Msg
	quit    bool
	copied  strings.Builder // what went to the terminal beside the screen
}

type timer struct {
	at      time.Time
	message tea.Msg
}

// patience is how long anything that must happen may take.
const patience = 2 * time.Minute

// drive starts an app on a screen of 80x24.
func drive(t testing.TB, c *client.Client, o Options) *driver {
	t.Helper()
	d := &driver{t: t, clock: time.Date(2026, 7, 1, 14, 2, 6, 0, time.UTC), answers: make(chan tea.Msg, 100), live: make(chan tea.Msg, 1)}
	o.URL, o.Zone = "http://erp01:5050", time.UTC
	o.Now = func() time.Time { return d.clock }
	o.Output = &d.copied
	if o.Env == nil {
		o.Env = func(name string) string { return map[string]string{"WHCTL_CLIPBOARD": "osc52"}[name] }
	}
	o.Input = strings.NewReader("")
	o.loop.tick = func(after time.Duration, m tea.Msg) tea.Cmd {
		d.timers = append(d.timers, timer{d.clock.Add(after), m})
		return nil
	}
	o.loop.hear = func(wait tea.Cmd) tea.Cmd {
		go func() {
			select {
			case d.live <- sameClocks(wait()):
			case <-t.Context().Done():
			}
		}()
		return nil
	}
	d.app = newApp(t.Context(), c, o.complete())
	t.Cleanup(d.app.wait)
	d.run(d.app.Init())
	d.settle()
	d.resize(80, 24)
	return d
}

// sameClocks has the service's clock agree with the test's.
func sameClocks(m tea.Msg) tea.Msg {
	if told, ok := m.(liveMsg); ok {
		told.ahead = 0
		return told
	}
	return m
}

// run starts a command, and those that it is made of.
func (d *driver) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	d.waiting++
	go func() { d.answers <- cmd() }()
}

// send gives the app one message, and settles.
func (d *driver) send(m tea.Msg) {
	d.t.Helper()
	d.Take(m)
	d.settle()
}

func (d *driver) Take(m tea.Msg) {
	if m == nil {
		return
	}
	if _, quit := m.(tea.QuitMsg); quit {
		d.quit = true
		return
	}
	if several, ok := commands(m); ok {
		for _, cmd := range several {
			d.run(cmd)
		}
		return
	}
	_, cmd := d.app.Update(m)
	d.run(cmd)
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

// settle waits until no command is on its way.
func (d *driver) settle() {
	d.t.Helper()
	for d.waiting > 0 {
		select {
		case m := <-d.answers:
			d.waiting--
			d.Take(m)
		case <-time.After(patience):
			d.t.Fatalf("%d commands do not come back; the screen is\n%s", d.waiting, d.text())
		}
	}
}

// later moves the clock and gives the app the messages that are due then.
func (d *driver) later(by time.Duration) {
	d.t.Helper()
	for end := d.clock.Add(by); ; {
		next := -1
		for i, t := range d.timers {
			if !t.at.After(end) && (next < 0 || t.at.Before(d.timers[next].at)) {
				next = i
			}
		}
		if next < 0 {
			d.clock = end
			return
		}
		due := d.timers[next]
		d.timers = append(d.timers[:next], d.timers[next+1:]...)
		if due.at.After(d.clock) { // one that is overdue comes now
			d.clock = due.at
		}
		d.send(due.message)
	}
}

// wait lets time pass from now on: what was due while keys were pressed is
// due at once.
func (d *driver) wait(by time.Duration) {
	d.t.Helper()
	for i := range d.timers {
		d.timers[i].at = later(d.timers[i].at, d.clock)
	}
	d.later(by)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// until gives the app what the stream tells, until that is enough.
func (d *driver) until(what string, enough func() bool) {
	d.t.Helper()
	for deadline := time.After(patience); !enough(); {
		select {
		case m := <-d.live:
			d.send(m)
		case m := <-d.answers:
			d.waiting--
			d.Take(m)
		case <-deadline:
			d.t.Fatalf("it does not happen that %s; the screen is\n%s", what, d.text())
		}
	}
	d.settle()
}

// awaitLive waits for the first sign of life.
func (d *driver) awaitLive() {
	d.t.Helper()
	d.until("it is live", func() bool { return d.app.link.live(d.clock) })
}

// keys are those with names; anything else is typed.
var keys = map[string]tea.KeyMsg{
	"enter": {Type: tea.KeyEnter}, "esc": {Type: tea.KeyEsc}, "tab": {Type: tea.KeyTab}, "shift+tab": {Type: tea.KeyShiftTab},
	"up": {Type: tea.KeyUp}, "down": {Type: tea.KeyDown}, "left": {Type: tea.KeyLeft}, "right": {Type: tea.KeyRight},
	"home": {Type: tea.KeyHome}, "end": {Type: tea.KeyEnd}, "pgup": {Type: tea.KeyPgUp}, "pgdown": {Type: tea.KeyPgDown},
	"space": {Type: tea.KeySpace, Runes: []rune{' '}}, "backspace": {Type: tea.KeyBackspace}, "ctrl+c": {Type: tea.KeyCtrlC},
	"ctrl+d": {Type: tea.KeyCtrlD}, "ctrl+e": {Type: tea.KeyCtrlE}, "ctrl+s": {Type: tea.KeyCtrlS}, "ctrl+u": {Type: tea.KeyCtrlU}, "f1": {Type: tea.KeyF1}, "f5": {Type: tea.KeyF5},
}

// press presses keys, half a second apart. What begins with ' is typed.
func (d *driver) press(names ...string) {
	d.t.Helper()
	for _, name := range names {
		if text, typed := strings.CutPrefix(name, "'"); typed {
			for _, r := range text {
				d.key(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}})
			}
			continue
		}
		m, named := keys[name]
		if !named {
			m = tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(name)}
		}
		d.key(m)
	}
}

// letter is a key with a character.
func letter(r string) tea.KeyMsg { return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(r)} }

func (d *driver) key(m tea.KeyMsg) {
	d.t.Helper()
	d.clock = d.clock.Add(500 * time.Millisecond)
	d.beat()
	d.send(m)
}

// beat is a sign of life on the stream, where there was one before: the test's
// clock has nothing to do with the service's.
func (d *driver) beat() {
	if !d.app.link.beat.IsZero() {
		d.send(liveMsg{session: d.app.link.session, beat: true})
	}
}

func (d *driver) resize(width, height int) {
	d.t.Helper()
	d.send(tea.WindowSizeMsg{Width: width, Height: height})
}

// text is the screen without its colours.
func (d *driver) text() string { return ansi.Strip(d.app.View()) }

// sees fails unless the screen shows each of the texts.
func (d *driver) sees(texts ...string) {
	d.t.Helper()
	shown := d.text()
	for _, text := range texts {
		if !strings.Contains(shown, text) {
			d.t.Fatalf("the screen does not show %q:\n%s", text, shown)
		}
	}
}

// checkScreen fails unless every line is exactly as wide as the terminal, and
// there are as many as it is high.
func (d *driver) checkScreen() {
	d.t.Helper()
	lines := strings.Split(d.app.View(), "\n")
	if len(lines) != d.app.height {
		d.t.Errorf("%d lines on %dx%d:\n%s", len(lines), d.app.width, d.app.height, d.text())
	}
	for i, line := range lines {
		if w := ansi.StringWidth(line); w != d.app.width {
			d.t.Errorf("line %d is %d wide on %dx%d: %q\n%s", i+1, w, d.app.width, d.app.height, line, d.text())
		}
	}
}

// billValue is the answer that brings what a bill's field holds.
func (d *driver) billValue(field client.BillField, value *wire.CustomFieldValue) tea.Msg {
	return ui.Answer{Take: func() tea.Cmd {
		records.NewBill(d.app).Fetched(field, value, nil, nil)
		return nil
	}}
}

// answers has something come that a screen asked for, or fail.
func (d *driver) answersTo(to ui.Screen, err error, take func(error) tea.Cmd) {
	d.t.Helper()
	d.send(ui.Answer{To: to, Err: err, Take: func() tea.Cmd { return take(err) }})
}

// kindOf is a record kind.
func kindOf(t testing.TB, name string) *record.Kind {
	t.Helper()
	kind, ok := record.Builtin().Lookup(name)
	if !ok {
		t.Fatalf("no kind %s", name)
	}
	return kind
}

func filtersOf(t testing.TB, a *app, kind, text string) []client.Filter {
	t.Helper()
	filters, err := browse.ReadFilters(a.Now, kindOf(t, kind), text)
	if err != nil {
		t.Fatal(err)
	}
	return filters
}
