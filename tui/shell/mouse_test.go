package shell

import (
	"slices"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// fakeHost is an app with an overlay, and screens that record their calls.
type fakeHost struct {
	session ui.Session
	overlay ui.Overlay
	input   *ui.InputLine
	notices []string
	did     []keymap.Action
}

func newFakeHost() *fakeHost {
	h := &fakeHost{}
	h.session.Now = time.Date(2026, 7, 1, 14, 0, 0, 0, time.UTC)
	h.session.Theme = theme.New(theme.ASCII, theme.Dark)
	return h
}

func (h *fakeHost) CurrentSession() *ui.Session    { return &h.session }
func (h *fakeHost) Notify(_ ui.Level, text string) { h.notices = append(h.notices, text) }
func (h *fakeHost) Overlay() ui.Overlay            { return h.overlay }
func (h *fakeHost) ShowOverlay(o ui.Overlay)       { h.overlay = o }
func (h *fakeHost) ShowInput(l *ui.InputLine)      { h.input = l }
func (h *fakeHost) Input() *ui.InputLine           { return h.input }
func (h *fakeHost) FirstScreen(tab int) ui.Screen  { return &fakeScreen{tab: tab} }

func (h *fakeHost) Do(b keymap.Binding, _ string) tea.Cmd {
	h.did = append(h.did, b.Action)
	return nil
}

// fakeScreen is a screen that notes clicks, keys and its size. The other methods are not
// called.
type fakeScreen struct {
	ui.Screen
	tab           int
	width, height int
	did           []keymap.Action
	clicks        []fakeClick
	started       int
	shown         int
	stopped       bool
}

type fakeClick struct {
	x, y   int
	double bool
}

func (s *fakeScreen) SetSize(width, height int) { s.width, s.height = width, height }
func (s *fakeScreen) Stop()                     { s.stopped = true }
func (s *fakeScreen) Reset()                    { s.stopped = false }

func (s *fakeScreen) Start() tea.Cmd {
	s.started++
	return nil
}

func (s *fakeScreen) Shown() tea.Cmd {
	s.shown++
	return nil
}

func (s *fakeScreen) Do(b keymap.Binding) tea.Cmd {
	s.did = append(s.did, b.Action)
	return nil
}

func (s *fakeScreen) Click(x, y int, double bool) tea.Cmd {
	s.clicks = append(s.clicks, fakeClick{x, y, double})
	return nil
}

// fakeMouse returns a mouse on a terminal of 80x24, its host and the screen in front.
func fakeMouse() (*Mouse, *fakeHost, *fakeScreen) {
	h := newFakeHost()
	tabs := NewTabs(h)
	tabs.Start()
	tabs.Resize(80, 24)
	return NewMouse(h, tabs, true), h, tabs.Front().(*fakeScreen)
}

// press returns a click of the left button.
func press(x, y int) tea.MouseMsg {
	return tea.MouseMsg{X: x, Y: y, Button: tea.MouseButtonLeft, Action: tea.MouseActionPress}
}

// A second click at the same position is a double click if it comes soon enough; clicks
// below the screen and while an overlay is open do nothing.
func TestMouseClicksScreen(t *testing.T) {
	m, h, screen := fakeMouse()
	m.Handle(press(6, ui.HeaderHeight+3))
	h.session.Now = h.session.Now.Add(doubleClickInterval - time.Millisecond)
	m.Handle(press(6, ui.HeaderHeight+3)) // soon enough

	h.session.Now = h.session.Now.Add(doubleClickInterval)
	m.Handle(press(6, ui.HeaderHeight+3)) // too late
	m.Handle(press(7, ui.HeaderHeight+3)) // elsewhere

	m.Handle(press(5, 22)) // the status line
	h.overlay = &ui.Form{}
	m.Handle(press(6, ui.HeaderHeight+3))

	want := []fakeClick{{5, 2, false}, {5, 2, true}, {5, 2, false}, {6, 2, false}}
	if !slices.Equal(screen.clicks, want) {
		t.Errorf("clicks %v, want %v", screen.clicks, want)
	}
}

// A click on the line of tabs opens a tab or the help.
func TestMouseClicksTabs(t *testing.T) {
	m, h, _ := fakeMouse()
	m.Handle(press(12, ui.TabRow))
	front := m.tabs.Front().(*fakeScreen)
	if front.tab != RecordsTab || front.started != 1 {
		t.Errorf("click on Records: got tab %d, started %d times, want %d, once",
			front.tab, front.started, RecordsTab)
	}

	m.Handle(press(79, ui.TabRow))
	if !slices.Equal(h.did, []keymap.Action{keymap.ShowHelp}) {
		t.Errorf("click on help: did %v, want the help", h.did)
	}
}

// The wheel scrolls the screen by three rows, but not while something is typed.
func TestMouseWheelScrolls(t *testing.T) {
	m, h, screen := fakeMouse()
	m.Handle(tea.MouseMsg{Button: tea.MouseButtonWheelDown})
	h.input = &ui.InputLine{}
	m.Handle(tea.MouseMsg{Button: tea.MouseButtonWheelUp})
	if want := slices.Repeat([]keymap.Action{keymap.GoDown}, wheelRows); !slices.Equal(screen.did, want) {
		t.Errorf("one step down, and one up during input: did %v, want %v", screen.did, want)
	}
}
