// Package shell holds the parts of the app around the screens: the tabs with their screens,
// the frame that is drawn around the one in front, the keyboard, the mouse, and the
// overlays that belong to them. Each part declares the interface of the app that it uses.
package shell

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/session"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// FrameHost is the part of the app that the frame uses.
type FrameHost interface {
	CurrentSession() *ui.Session
	Overlay() ui.Overlay
	// Input returns the open input line, nil for none.
	Input() *ui.InputLine
}

// Frame draws the header and footer around the screen in front.
type Frame struct {
	Host    FrameHost
	Tabs    *Tabs
	Keys    *Keyboard
	Toasts  *ui.Toasts
	Stream  *session.Stream
	Undo    *session.Undo
	Jobs    *session.Jobs
	Changes *session.Changes

	behind dimmedView
	hidden string // filters in the last view that have no room in their frame
}

// dimmedView is the last view behind an overlay, which rarely changes.
type dimmedView struct{ view, dimmed string }

// View draws the screen. It has exactly as many lines and cells as the terminal.
func (f *Frame) View() string {
	if f.Tabs.width == 0 {
		return ""
	}
	if f.Tabs.TooSmall() {
		return f.smallView()
	}
	if f.Tabs.Front() == nil {
		return ""
	}
	lines := []string{f.headerLine(), f.tabLine()}
	lines = append(lines, f.body()...)
	lines = append(lines, f.statusLine(), f.hintLine())
	return strings.Join(lines, "\n")
}

// tabLine draws the tabs, or the input line in their place.
func (f *Frame) tabLine() string {
	if input := f.Host.Input(); input != nil {
		return input.View(f.Tabs.width)
	}
	tabs, help := f.Tabs.spans()
	return f.Host.CurrentSession().Theme.Compose(f.Tabs.width, tabs, help)
}

// body draws the screen in front, below the overlay or the completions of the input.
func (f *Frame) body() []string {
	s := f.Host.CurrentSession()
	width := f.Tabs.width
	overlay, input := f.Host.Overlay(), f.Host.Input()
	var completions []string
	if input != nil && overlay == nil {
		completions = input.Suggestions(width, s.Rows)
	}

	draw := f.untitled
	if s.Frames {
		draw = f.panels
	}
	view := draw()
	if overlay != nil || completions != nil || f.Stream.Conn.IsOffline(s.Now) {
		view = strings.Split(f.dimmed(strings.Join(view, "\n")), "\n")
	}
	if overlay != nil {
		_, top := f.Tabs.origin()
		top -= ui.HeaderHeight
		drawOverlay(width, view[top:top+s.Rows], overlay.Box(width-4, s.Rows))
	}
	drawBelowInput(s.Theme, width, view, completions)
	return view
}

// untitled draws the screen in front without a frame, below its title.
func (f *Frame) untitled() []string {
	t := f.Host.CurrentSession().Theme
	title, note := f.headings(f.Tabs.width - 2)
	for i := range note {
		note[i].Text += " "
	}
	lines := []string{
		t.Compose(f.Tabs.width, append([]theme.Span{{Text: " "}}, title...), note),
		t.Paint(theme.Rule, strings.Repeat(t.Line, f.Tabs.width)),
	}
	return append(lines, strings.Split(f.Tabs.Front().View(), "\n")...)
}

// panels draws the panels of the screen in front.
func (f *Frame) panels() []string {
	s := f.Host.CurrentSession()
	front := f.Tabs.Front()
	var panels []theme.Panel
	if divided, ok := front.(ui.Divided); ok {
		panels = divided.Panels()
	} else {
		panels = []theme.Panel{{
			Width:   f.Tabs.width - 2,
			Height:  s.Rows,
			Focused: true,
			Lines:   strings.Split(front.View(), "\n"),
		}}
	}
	for i := range panels {
		if panels[i].Title == nil {
			const margins = 3 // cells around a text in a frame
			panels[i].Title, panels[i].Note = f.headings(panels[i].Width - margins)
			break
		}
	}
	return s.Theme.Panels(f.Tabs.width, s.Rows+2, panels)
}

// headings returns the titles and filters of the open screens, and the number of rows if there is
// room for it.
func (f *Frame) headings(room int) (title, note []theme.Span) {
	title = f.heading(room)
	note = f.note()
	const gap = 3 // cells between the two
	if spansWidth(title)+gap+spansWidth(note) > room {
		note = nil
	}
	f.hidden = ""
	if spansWidth(title) > room {
		f.hidden = "[" + strings.Join(f.Tabs.Front().Badges(), "] [") + "]"
	}
	return title, note
}

// spansWidth returns the width of spans in cells.
func spansWidth(spans []theme.Span) int {
	width := 0
	for _, span := range spans {
		width += ansi.StringWidth(span.Text)
	}
	return width
}

// note returns the number of rows of the screen in front, nil if it has none.
func (f *Frame) note() []theme.Span {
	counter, ok := f.Tabs.Front().(ui.Counter)
	if !ok || counter.Count() == "" {
		return nil
	}
	return []theme.Span{{Text: counter.Count(), Role: theme.Dim}}
}

// dimmed returns a view in a single style.
func (f *Frame) dimmed(view string) string {
	if view != f.behind.view {
		f.behind = dimmedView{view: view, dimmed: f.Host.CurrentSession().Theme.Dimmed(view)}
	}
	return f.behind.dimmed
}

// smallView shows the required terminal size.
func (f *Frame) smallView() string {
	text := fmt.Sprintf("The terminal is %dx%d. whctl needs at least %dx%d. Enlarge the window to continue.",
		f.Tabs.width, f.Tabs.height, ui.MinWidth, ui.MinHeight)
	words := theme.Wrap(text, f.Tabs.width)
	lines := make([]string, f.Tabs.height)
	for i := range lines {
		text = ""
		if i < len(words) {
			text = words[i].Text
		}
		lines[i] = f.Host.CurrentSession().Theme.Fit(text, f.Tabs.width, false)
	}
	return strings.Join(lines, "\n")
}

// headerLine draws line 1: profile, URL, user, mode and connection state.
func (f *Frame) headerLine() string {
	s := f.Host.CurrentSession()
	t := s.Theme
	left := []theme.Span{{Text: " whctl  ", Role: theme.Brand}}
	left = append(left, t.Profile(s.Profile, s.Colour)...)
	left = append(left, theme.Span{Text: ui.ShortURL(s.URL)})
	if s.InsecureTLS {
		left = append(left, theme.Span{Text: "  TLS!", Role: theme.Offline})
	}
	if s.Access.User != "" {
		left = append(left, theme.Span{Text: "  " + s.Access.User})
	}
	if s.NeedsAdmin() != "" {
		left = append(left, theme.Span{Text: " (" + s.Access.Role + ")"})
	}
	mode := theme.Span{Text: " RW", Role: theme.Waiting}
	if s.WhyReadOnly() != "" {
		mode = theme.Span{Text: " RO", Role: theme.Dim}
	}
	if f.Tabs.Front().Waiting() {
		left = append(left, theme.Span{Text: "  ...", Role: theme.Dim})
	}
	connection := f.Stream.Conn.Label(s.Now)
	clock := s.TimeOfDay(s.Now) + s.ZoneName() + f.Stream.Conn.ClockDifference()
	return t.Compose(f.Tabs.width, left, []theme.Span{
		mode,
		{Text: "  "},
		{Text: connection, Role: connectionRole(connection)},
		{Text: "  " + clock + " ", Role: theme.Dim},
	})
}

// connectionRole returns the role of the label of the connection.
func connectionRole(label string) theme.Role {
	if label == "LIVE" {
		return theme.Live
	}
	if strings.HasPrefix(label, "OFFLINE") {
		return theme.Offline
	}
	return theme.Waiting
}

// heading returns the titles and filters of the open screens.
func (f *Frame) heading(room int) []theme.Span {
	badges := f.Tabs.Front().Badges()
	for _, badge := range badges {
		room -= ansi.StringWidth(badge) + len(" []")
	}
	return ui.Heading(f.path(room), badges, theme.Title)
}

// minTitle is the minimum width of a title next to badges, in cells.
const minTitle = 32

// path returns the titles of the open screens of the tab. Filters are more important: if there
// is not enough room for all titles, the first ones are left out, and the last one is cut.
func (f *Frame) path(room int) string {
	t := f.Host.CurrentSession().Theme
	titles := record.Texts(f.Tabs.stacks[f.Tabs.tab], ui.Screen.Title)
	titles = slices.Compact(titles) // a list and a filtered part of it have the same title
	titles = slices.DeleteFunc(titles, func(title string) bool { return title == "" })
	step := " " + t.More + " "
	path := strings.Join(titles, step)
	for len(titles) > 1 && ansi.StringWidth(path) > room {
		titles = titles[1:]
		path = t.Ellipsis + step + strings.Join(titles, step)
	}
	return ansi.Truncate(path, max(room, minTitle), t.Ellipsis)
}

// statusLine draws the visible message, the connection error or the status of the
// screen.
func (f *Frame) statusLine() string {
	s := f.Host.CurrentSession()
	offline := f.Stream.Conn.IsOffline(s.Now)
	right := append(undoSpans(f.Undo, s.Now), jobSpans(f.Jobs.Running())...)
	toast := f.Toasts.Shown()
	if toast != nil && toast.Connection && offline {
		toast = nil // the line describes the connection error
	}
	if toast != nil {
		return f.toastLine(toast, right)
	}
	if offline {
		return f.offlineLine(right)
	}
	status := f.Tabs.Front().Status()
	right = append(sendingSpans(f.Changes, status), right...)
	room := f.Tabs.width - 2 - spansWidth(right)
	status = fitStatus(f.withHidden(status, room), room)
	return s.Theme.Compose(f.Tabs.width, []theme.Span{{Text: " " + status}}, right)
}

// withHidden returns a status after the filters that the title has no room for. They are cut, so that
// the most important part of the status is visible too.
func (f *Frame) withHidden(status string, room int) string {
	const gap = "   "
	first, _, _ := strings.Cut(status, gap)
	room -= len(gap) + ansi.StringWidth(first)
	hidden := ansi.Truncate(f.hidden, max(room, minTitle), f.Host.CurrentSession().Theme.Ellipsis)
	return ui.Parts(hidden, status)
}

// fitStatus leaves out the last parts of a status that do not fit. The most important part is the
// first, and stays.
func fitStatus(status string, room int) string {
	short := status
	for ansi.StringWidth(short) > room {
		end := max(strings.LastIndex(short, ", "), strings.LastIndex(short, "   "))
		if end < room/2 {
			return status
		}
		short = short[:end]
	}
	return short
}

// toastLine draws a message to the user. An error has its time if there is room, and a hint if it
// is too long: the list of errors has all of it.
func (f *Frame) toastLine(toast *ui.Toast, right []theme.Span) string {
	s := f.Host.CurrentSession()
	text := toast.Text
	isError := toast.Level == ui.Failure
	timed := s.TimeOfDay(toast.At) + "  " + text
	if isError && f.fitsStatus(timed, right) {
		text = timed
	}
	if isError && ansi.StringWidth(text)+2 > f.Tabs.width {
		key := keymap.KeyFor(keymap.Everywhere, keymap.ShowErrors)
		right = append(right,
			theme.Span{Text: "  " + key, Role: theme.Key},
			theme.Span{Text: " show all ", Role: theme.Dim})
	}
	notice := theme.Span{Text: " " + text + " ", Role: theme.ToastInfo + theme.Role(toast.Level)}
	return s.Theme.Compose(f.Tabs.width, []theme.Span{notice}, right)
}

// fitsStatus reports whether a text fits into the status line, before other spans.
func (f *Frame) fitsStatus(text string, right []theme.Span) bool {
	width := ansi.StringWidth(text) + 2
	for _, span := range right {
		width += ansi.StringWidth(span.Text)
	}
	return width < f.Tabs.width
}

// offlineLine draws the connection error, and the time of the data on the screen.
func (f *Frame) offlineLine(right []theme.Span) string {
	s := f.Host.CurrentSession()
	last, err := f.Stream.Conn.LastResponse()
	text := " " + ui.Describe(err)
	if !last.IsZero() {
		age := ui.Age(s.Now.Sub(last))
		text = " Data from " + s.TimeOfDay(last) + " (" + age + " ago); " + ui.Cause(err)
	}
	left := theme.Span{Text: text, Role: theme.ToastFailure}
	key := keymap.KeyFor(keymap.Everywhere, keymap.Refresh)
	retry := theme.Span{Text: "  " + key + " retry now ", Role: theme.Key}
	return s.Theme.Compose(f.Tabs.width, []theme.Span{left}, append(right, retry))
}

// sendingSpans returns the progress of a change that the status of the screen does not show.
func sendingSpans(c *session.Changes, status string) []theme.Span {
	name := c.Sending()
	if name == "" || strings.Contains(status, name) {
		return nil
	}
	return []theme.Span{{Text: " " + name + " ...  ", Role: theme.Accent}}
}

// undoSpans returns the last delayed change and the key that undoes it.
func undoSpans(u *session.Undo, now time.Time) []theme.Span {
	if u.Count() == 0 {
		return nil
	}
	name, due := u.Next()
	key, words := ui.UndoAction()
	return []theme.Span{
		{Text: ui.DelayedText(name, due.Sub(now)) + "  ", Role: theme.Waiting},
		{Text: key, Role: theme.Key},
		{Text: " " + words + " ", Role: theme.Dim},
	}
}

// hintLine draws the most important keys.
func (f *Frame) hintLine() string {
	s := f.Host.CurrentSession()
	if input := f.Host.Input(); input != nil {
		return s.Theme.Compose(f.Tabs.width, []theme.Span{{Text: " " + input.Hint(), Role: theme.Dim}}, nil)
	}
	left := []theme.Span{{Text: " "}}
	room := f.Tabs.width - 2
	for _, b := range f.Keys.Hints() {
		role := theme.Key
		if f.Host.Overlay() == nil && Reason(s, b) != "" {
			role = theme.Dim
		}
		room -= ansi.StringWidth(b.Label()) + len(b.Hint) + 3
		if room < 0 {
			break
		}
		left = append(left,
			theme.Span{Text: b.Label(), Role: role},
			theme.Span{Text: " " + b.Hint + "  ", Role: theme.Dim})
	}
	return s.Theme.Compose(f.Tabs.width, left, nil)
}

// drawBelowInput draws lines over the first lines of the body.
func drawBelowInput(t *theme.Theme, width int, body, lines []string) {
	lines = lines[:min(len(lines), len(body))]
	copy(body, lines)
	n := len(lines)
	if n > 0 && n < len(body) { // a rule separates them from the body
		body[n] = t.Paint(theme.Rule, strings.Repeat(t.Line, width))
	}
}

// drawOverlay draws a box in the middle of the body, which is as wide as the screen.
func drawOverlay(screen int, body, box []string) {
	if len(box) == 0 {
		return
	}
	width := ansi.StringWidth(box[0])
	left := max(0, (screen-width)/2)
	top := max(0, (len(body)-len(box))/2)
	for i, line := range box {
		if top+i >= len(body) {
			break
		}
		under := body[top+i]
		before := ansi.Truncate(under, left, "")
		before += strings.Repeat(" ", left-ansi.StringWidth(before))
		after := ansi.TruncateLeft(under, left+width, "")
		after = strings.Repeat(" ", max(0, screen-left-width-ansi.StringWidth(after))) + after
		body[top+i] = before + theme.Reset + line + theme.Reset + after
	}
}
