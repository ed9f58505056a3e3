package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// frame draws the header and footer around the screen in front.
type frame struct {
	*App
	behind dimmedView
}

// dimmedView is the last view behind an overlay, which rarely changes.
type dimmedView struct{ view, dimmed string }

// View implements tea.Model. It has exactly as many lines and cells as the terminal.
func (f *frame) View() string {
	defer f.crashes.recordPanic()
	switch {
	case f.tabs.width == 0:
		return ""
	case f.tabs.TooSmall():
		return f.smallView()
	case f.Front() == nil:
		return ""
	}
	view := f.Front().View()
	var suggestions []string
	if f.input != nil && f.overlay == nil {
		suggestions = f.input.Suggestions(f.tabs.width, f.tabs.height-ui.ChromeHeight)
	}
	if f.overlay != nil || suggestions != nil || f.stream.Conn.IsOffline(f.Now) {
		if view != f.behind.view {
			f.behind = dimmedView{view, f.Theme.Dimmed(view)}
		}
		view = f.behind.dimmed
	}
	body := strings.Split(view, "\n")
	if f.overlay != nil {
		f.drawOverlay(body, f.overlay.Box(f.tabs.width-4, len(body)))
	}
	f.drawBelowInput(body, suggestions)
	tabs, help := f.tabs.spans()
	lines := append([]string{f.headerLine(), f.Theme.Compose(f.tabs.width, tabs, help), f.breadcrumbs(), f.Theme.Paint(theme.Rule, strings.Repeat(f.Theme.Line, f.tabs.width))}, body...)
	return strings.Join(append(lines, f.statusLine(), f.hintLine()), "\n")
}

// smallView shows the required terminal size.
func (f *frame) smallView() string {
	text := fmt.Sprintf("The terminal is %dx%d. whctl needs at least %dx%d. Enlarge the window to continue.", f.tabs.width, f.tabs.height, ui.MinWidth, ui.MinHeight)
	words := theme.Wrap(text, f.tabs.width)
	lines := make([]string, f.tabs.height)
	for i := range lines {
		text = ""
		if i < len(words) {
			text = words[i].Text
		}
		lines[i] = f.Theme.Fit(text, f.tabs.width, false)
	}
	return strings.Join(lines, "\n")
}

// headerLine draws line 1: profile, URL, user, mode and connection state.
func (f *frame) headerLine() string {
	t := f.Theme
	left := []theme.Span{{Text: " whctl  ", Role: theme.Brand}}
	left = append(left, t.Profile(f.Profile, f.options.Colour)...)
	left = append(left, theme.Span{Text: ui.ShortURL(f.URL)})
	if f.options.InsecureTLS {
		left = append(left, theme.Span{Text: "  TLS!", Role: theme.Offline})
	}
	if f.Access.User != "" {
		left = append(left, theme.Span{Text: "  " + f.Access.User})
	}
	if f.NeedsAdmin() != "" {
		left = append(left, theme.Span{Text: " (" + f.Access.Role + ")"})
	}
	mode := theme.Span{Text: " RW", Role: theme.Waiting}
	if f.WhyReadOnly() != "" {
		mode = theme.Span{Text: " RO", Role: theme.Dim}
	}
	if f.Front().Waiting() {
		left = append(left, theme.Span{Text: "  ...", Role: theme.Dim})
	}
	word := f.stream.Conn.Label(f.Now)
	return f.Theme.Compose(f.tabs.width, left, []theme.Span{mode, {Text: "  "}, {Text: word, Role: stateRole(word)}, {Text: "  " + f.TimeOfDay(f.Now) + f.ZoneName() + f.stream.Conn.ClockDifference() + " ", Role: theme.Dim}})
}

func stateRole(word string) theme.Role {
	switch {
	case word == "LIVE":
		return theme.Live
	case strings.HasPrefix(word, "OFFLINE"):
		return theme.Offline
	}
	return theme.Waiting
}

// breadcrumbs draws line 3: titles and filters of the open screens, or the input line.
func (f *frame) breadcrumbs() string {
	if f.input != nil {
		return f.input.View(f.tabs.width)
	}
	names := slices.Compact(record.Texts(f.tabs.stacks[f.tabs.tab], ui.Screen.Title)) // a list and a filtered part of it have the same title
	step := " " + f.Theme.More + " "
	var badges []theme.Span
	room := f.tabs.width - 2
	for _, badge := range f.Front().Badges() {
		badges = append(badges, theme.Span{Text: "  "}, theme.Span{Text: "[" + badge + "]", Role: theme.Badge})
		room -= ansi.StringWidth(badge) + 4
	}
	for first := 0; first < len(names)-1 && ansi.StringWidth(strings.Join(names[first:], step)) > room; first++ {
		names[first] = "" // filters are more important than titles
		names[first+1] = f.Theme.Ellipsis + step + names[first+1]
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name == "" })
	return f.Theme.Compose(f.tabs.width, append([]theme.Span{{Text: " " + strings.Join(names, step), Role: theme.Breadcrumb}}, badges...), nil)
}

// statusLine draws the visible message, the connection error or the status of the
// screen.
func (f *frame) statusLine() string {
	if s := f.toasts.Shown(); s != nil && !(s.Connection && f.stream.Conn.IsOffline(f.Now)) {
		right := append(undoSpans(f.undo, f.Now), jobSpans(f.jobs.Running())...)
		if s.Level == ui.Failure && ansi.StringWidth(s.Text)+2 > f.tabs.width {
			right = append(right, theme.Span{Text: "  " + keymap.KeyFor(keymap.Everywhere, keymap.ShowErrors), Role: theme.Key}, theme.Span{Text: " show all ", Role: theme.Dim})
		}
		return f.Theme.Compose(f.tabs.width, []theme.Span{{Text: " " + s.Text + " ", Role: theme.ToastInfo + theme.Role(s.Level)}}, right)
	}
	if f.stream.Conn.IsOffline(f.Now) {
		last, err := f.stream.Conn.LastResponse()
		text := " " + ui.Describe(err)
		if !last.IsZero() {
			text = " Data from " + f.TimeOfDay(last) + " (" + ui.Age(f.Now.Sub(last)) + " ago); " + ui.Cause(err)
		}
		return f.Theme.Compose(f.tabs.width, []theme.Span{{Text: text, Role: theme.ToastFailure}}, []theme.Span{{Text: "  " + keymap.KeyFor(keymap.Everywhere, keymap.Refresh) + " retry now ", Role: theme.Key}})
	}
	return f.Theme.Compose(f.tabs.width, []theme.Span{{Text: " " + f.Front().Status()}}, append(undoSpans(f.undo, f.Now), jobSpans(f.jobs.Running())...))
}

// undoSpans returns the last delayed change and the key that undoes it.
func undoSpans(u *Undo, now time.Time) []theme.Span {
	if u.Count() == 0 {
		return nil
	}
	name, due := u.Next()
	left := (due.Sub(now) + time.Second - 1).Truncate(time.Second)
	return []theme.Span{
		{Text: name + " in " + ui.Age(left) + "  ", Role: theme.Waiting},
		{Text: keymap.KeyFor(keymap.Everywhere, keymap.Undo), Role: theme.Key},
		{Text: " undo ", Role: theme.Dim},
	}
}

// hintLine draws the most important keys.
func (f *frame) hintLine() string {
	if f.input != nil {
		return f.Theme.Compose(f.tabs.width, []theme.Span{{Text: " " + f.input.Hint(), Role: theme.Dim}}, nil)
	}
	left := []theme.Span{{Text: " "}}
	room := f.tabs.width - 2
	for _, b := range f.keys.Hints() {
		role := theme.Key
		if f.overlay == nil && Reason(f.Session, b) != "" {
			role = theme.Dim
		}
		need := ansi.StringWidth(b.Label()) + len(b.Hint) + 3
		if room -= need; room < 0 {
			break
		}
		left = append(left, theme.Span{Text: b.Label(), Role: role}, theme.Span{Text: " " + b.Hint + "  ", Role: theme.Dim})
	}
	return f.Theme.Compose(f.tabs.width, left, nil)
}

// drawBelowInput draws lines over the first lines of the body.
func (f *frame) drawBelowInput(body, lines []string) {
	lines = lines[:min(len(lines), len(body))]
	copy(body, lines)
	if n := len(lines); n > 0 && n < len(body) { // separates them from the body
		body[n] = f.Theme.Paint(theme.Rule, strings.Repeat(f.Theme.Line, f.tabs.width))
	}
}

// drawOverlay draws a box in the middle of the body.
func (f *frame) drawOverlay(body, box []string) {
	if len(box) == 0 {
		return
	}
	width := ansi.StringWidth(box[0])
	left, top := max(0, (f.tabs.width-width)/2), max(0, (len(body)-len(box))/2)
	for i, line := range box {
		if top+i >= len(body) {
			break
		}
		under := body[top+i]
		before := ansi.Truncate(under, left, "")
		before += strings.Repeat(" ", left-ansi.StringWidth(before))
		after := ansi.TruncateLeft(under, left+width, "")
		after = strings.Repeat(" ", max(0, f.tabs.width-left-width-ansi.StringWidth(after))) + after
		body[top+i] = before + theme.Reset + line + theme.Reset + after
	}
}
