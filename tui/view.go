package tui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

func (a *app) tooSmall() bool { return a.width < ui.MinWidth || a.height < ui.LeastHeight }

// resize tells what is open how much room there is.
func (a *app) resize() {
	if a.tooSmall() {
		return
	}
	a.Columns, a.Rows = a.width, a.height-ui.LinesAround
	if s := a.Front(); s != nil {
		s.SetSize(a.width, a.height-ui.LinesAround)
	}
}

// View is bubbletea's: exactly as many lines and cells as the terminal has.
func (a *app) View() string {
	defer a.crash.note()
	switch {
	case a.width == 0:
		return ""
	case a.tooSmall():
		return a.smallView()
	case a.Front() == nil:
		return ""
	}
	body := strings.Split(a.Front().View(), "\n")
	if a.link.away(a.Now) {
		body = a.faded(body)
	}
	if a.over != nil {
		body = a.lay(body, a.over.Box(a.width-4, len(body)))
	} else if a.line != nil {
		body = a.under(body, a.line.Suggestions(a.width, len(body)))
	}
	lines := append([]string{a.identity(), a.tabLine(), a.crumbs(), a.Theme.Rule.Paint(strings.Repeat(a.Theme.Line, a.width))}, body...)
	return strings.Join(append(lines, a.statusLine(), a.hintLine()), "\n")
}

// faded draws what is not up to date: without its own inks.
func (a *app) faded(body []string) []string {
	for i, line := range body {
		body[i] = a.Theme.Wait.Paint(ansi.Strip(line))
	}
	return body
}

// smallView says how large the terminal has to be.
func (a *app) smallView() string {
	text := fmt.Sprintf("Terminal is %dx%d. whctl needs %dx%d. Enlarge the window; nothing is lost.", a.width, a.height, ui.MinWidth, ui.LeastHeight)
	words := theme.Wrap(text, a.width)
	lines := make([]string, a.height)
	for i := range lines {
		text = ""
		if i < len(words) {
			text = words[i].Text
		}
		lines[i] = a.Theme.Fit(text, a.width, false)
	}
	return strings.Join(lines, "\n")
}

// identity is line 1: where we are, who we are, what we may, and the state of
// the way to the service, which is always the truth.
func (a *app) identity() string {
	t := a.Theme
	left := []theme.Span{{Text: " whctl  ", Ink: t.Brand}}
	left = append(left, t.Profile(a.Profile, a.options.Colour)...)
	left = append(left, theme.Span{Text: ui.ShortURL(a.URL)})
	if a.options.InsecureTLS {
		left = append(left, theme.Span{Text: "  TLS!", Ink: t.Offline})
	}
	if a.user != "" {
		left = append(left, theme.Span{Text: "  " + a.user})
	}
	mode := theme.Span{Text: " RW", Ink: t.Waiting}
	if a.ReadOnly {
		mode = theme.Span{Text: " RO", Ink: t.Dim}
	}
	if a.fetching() {
		left = append(left, theme.Span{Text: "  ...", Ink: t.Dim})
	}
	word := a.link.word(a.Now)
	return a.Theme.Compose(a.width, left, []theme.Span{mode, {Text: "  "}, {Text: word, Ink: a.stateInk(word)}, {Text: "  " + a.TimeOfDay(a.Now) + a.ZoneName() + a.link.clocks() + " ", Ink: t.Dim}})
}

// fetching reports whether something of the screen in front is on its way.
func (a *app) fetching() bool {
	w, ok := a.Front().(ui.Waiter)
	return ok && w.Waiting()
}

func (a *app) stateInk(word string) theme.Ink {
	switch {
	case word == "LIVE":
		return a.Theme.Live
	case strings.HasPrefix(word, "OFFLINE"), word == "AUTH":
		return a.Theme.Offline
	}
	return a.Theme.Waiting
}

// tabLine is line 2.
func (a *app) tabLine() string {
	left, right := a.tabSpans()
	return a.Theme.Compose(a.width, left, right)
}

// tabSpans are the tabs, each behind a blank or two, and the help at the right.
func (a *app) tabSpans() (left, right []theme.Span) {
	left = []theme.Span{{Text: " "}}
	keys := keymap.Bindings.KeysOf(keymap.Everywhere, keymap.GoTab)
	for i, name := range tabNames {
		ink := theme.Ink("")
		if i == a.tab {
			ink = a.Theme.Tab
		}
		if a.width < 76 && i != a.tab {
			name = name[:min(3, len(name))]
		}
		if i < len(keys) {
			name = keys[i] + " " + name
		}
		left = append(left, theme.Span{Text: name, Ink: ink}, theme.Span{Text: "  "})
	}
	return left, []theme.Span{{Text: keymap.KeyFor(keymap.Everywhere, keymap.AskHelp) + " help ", Ink: a.Theme.Dim}}
}

// crumbs is line 3: how we came here and what limits the rows; or the line that
// is typed.
func (a *app) crumbs() string {
	if a.line != nil {
		return a.line.View(a.width)
	}
	var names []string
	for _, s := range a.tabs[a.tab] {
		names = append(names, s.Title())
	}
	names = slices.Compact(names) // a list and a part of it, which the chips tell apart
	var chips []theme.Span
	room := a.width - 2
	for _, chip := range a.Front().Badges() {
		chips = append(chips, theme.Span{Text: "  "}, theme.Span{Text: "[" + chip + "]", Ink: a.Theme.Chip})
		room -= ansi.StringWidth(chip) + 4
	}
	for first := 0; first < len(names)-1 && ansi.StringWidth(strings.Join(names[first:], a.Theme.Step)) > room; first++ {
		names[first] = "" // what limits the rows matters more than how one came here
		names[first+1] = a.Theme.Cut + a.Theme.Step + names[first+1]
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name == "" })
	return a.Theme.Compose(a.width, append([]theme.Span{{Text: " " + strings.Join(names, a.Theme.Step), Ink: a.Theme.Crumb}}, chips...), nil)
}

// statusLine is a message where there is one, else what the screen says.
func (a *app) statusLine() string {
	if s := a.toasts.Shown(); s != nil && !(s.Link && a.link.away(a.Now)) {
		right := append(a.undoSpans(), a.jobSpans()...)
		if s.Level == ui.Failure && ansi.StringWidth(s.Text)+2 > a.width {
			right = append(right, theme.Span{Text: "  " + keymap.KeyFor(keymap.Everywhere, keymap.ShowErrors), Ink: a.Theme.Key}, theme.Span{Text: " all of it ", Ink: a.Theme.Dim})
		}
		return a.Theme.Compose(a.width, []theme.Span{{Text: " " + s.Text + " ", Ink: a.Theme.Toast[s.Level]}}, right)
	}
	if a.link.away(a.Now) {
		text := " " + ui.Describe(a.link.failed)
		if !a.link.reached.IsZero() {
			text = " Data from " + a.TimeOfDay(a.link.reached) + ", " + ui.Age(a.Now.Sub(a.link.reached)) + " ago: " + ui.Cause(a.link.failed)
		}
		return a.Theme.Compose(a.width, []theme.Span{{Text: text, Ink: a.Theme.Toast[ui.Failure]}}, []theme.Span{{Text: "  " + keymap.KeyFor(keymap.Everywhere, keymap.Refresh) + " now ", Ink: a.Theme.Key}})
	}
	return a.Theme.Compose(a.width, []theme.Span{{Text: " " + a.Front().Status()}}, append(a.undoSpans(), a.jobSpans()...))
}

// jobSpans says at the end of the line what is on its way.
func (a *app) jobSpans() []theme.Span {
	word := a.jobWord()
	if word == "" {
		return nil
	}
	return []theme.Span{{Text: " " + word + " ", Ink: a.Theme.Accent}}
}

// hintLine names the keys that matter here.
func (a *app) hintLine() string {
	if a.line != nil {
		return a.Theme.Compose(a.width, []theme.Span{{Text: " " + a.line.Hint(), Ink: a.Theme.Dim}}, nil)
	}
	left := []theme.Span{{Text: " "}}
	room := a.width - 2
	for _, b := range a.hinted() {
		ink := a.Theme.Key
		if a.over == nil && a.reason(b) != "" {
			ink = a.Theme.Dim
		}
		need := ansi.StringWidth(b.Label()) + len(b.Hint) + 3
		if room -= need; room < 0 {
			break
		}
		left = append(left, theme.Span{Text: b.Label(), Ink: ink}, theme.Span{Text: " " + b.Hint + "  ", Ink: a.Theme.Dim})
	}
	return a.Theme.Compose(a.width, left, nil)
}

// under draws lines over the first lines of the body.
func (a *app) under(body, lines []string) []string {
	lines = lines[:min(len(lines), len(body))]
	copy(body, lines)
	if n := len(lines); n > 0 && n < len(body) { // what lies below is none of it
		body[n] = a.Theme.Rule.Paint(strings.Repeat(a.Theme.Line, a.width))
	}
	return body
}

// lay draws a box over the middle of the body.
func (a *app) lay(body, box []string) []string {
	if len(box) == 0 {
		return body
	}
	width := ansi.StringWidth(box[0])
	left, top := max(0, (a.width-width)/2), max(0, (len(body)-len(box))/2)
	for i, line := range box {
		if top+i >= len(body) {
			break
		}
		under := body[top+i]
		before := ansi.Truncate(under, left, "")
		before += strings.Repeat(" ", left-ansi.StringWidth(before))
		after := ansi.TruncateLeft(under, left+width, "")
		after = strings.Repeat(" ", max(0, a.width-left-width-ansi.StringWidth(after))) + after
		body[top+i] = before + theme.Reset + line + theme.Reset + after
	}
	return body
}
