package tui

import (
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// errorLog is the list of errors, newest first, with the request IDs.
type errorLog struct {
	ui.HostSession
	toasts *ui.Toasts
	at     int
}

func newErrors(h ui.Host, toasts *ui.Toasts) ui.Overlay {
	return &errorLog{HostSession: ui.NewHostSession(h), toasts: toasts}
}

func (l *errorLog) Scopes() []keymap.Scope { return []keymap.Scope{keymap.InErrors} }

// failure returns an error by index, newest first.
func (l *errorLog) failure(i int) (ui.Toast, bool) {
	all := l.toasts.Errors
	if i < 0 || i >= len(all) {
		return ui.Toast{}, false
	}
	return all[len(all)-1-i], true
}

func (l *errorLog) Do(b keymap.Binding) tea.Cmd {
	switch b.Action {
	case keymap.GoBack:
		l.ShowOverlay(nil)
	case keymap.GoUp:
		l.at = max(0, l.at-1)
	case keymap.GoDown:
		l.at = max(0, min(len(l.toasts.Errors)-1, l.at+1))
	case keymap.CopyCell:
		if one, ok := l.failure(l.at); ok {
			l.Copy(errorText(one))
		}
	case keymap.CopyRow:
		var all []string
		for i := range l.toasts.Errors {
			one, _ := l.failure(i)
			all = append(all, errorText(one))
		}
		l.Copy(strings.Join(all, "\n"))
	}
	return nil
}

// errorText formats an error for a support request, with its date in UTC like the
// log of the service.
func errorText(one ui.Toast) string { return one.At.UTC().Format(time.RFC3339) + "  " + one.Text }

func (l *errorLog) Box(width, height int) []string {
	t := l.Theme
	width = min(width, 96) - 4
	if len(l.toasts.Errors) == 0 {
		return l.Theme.Frame("Errors", width, []string{t.Fit("No errors.", width, false)})
	}
	var lines []string
	for i := l.first(width, height-2); len(lines) < height-2; i++ {
		one, ok := l.failure(i)
		if !ok {
			break
		}
		lines = append(lines, l.entry(one, i == l.at, width)...)
	}
	return l.Theme.Frame("Errors ("+display.Thousands(len(l.toasts.Errors))+")", width, lines[:min(len(lines), max(1, height-2))])
}

// entry draws an error with its time, wrapped.
func (l *errorLog) entry(one ui.Toast, selected bool, width int) []string {
	t := l.Theme
	pointer, role := "  ", theme.Null
	if selected {
		pointer, role = t.Pointer+" ", theme.Selected
	}
	var lines []string
	for n, part := range theme.Wrap(one.Text, width-12) {
		before := pointer + l.TimeOfDay(one.At) + "  "
		if n > 0 {
			before = strings.Repeat(" ", 12)
		}
		lines = append(lines, t.Paint(role, t.Fit(before+part.Text, width, false)))
	}
	return lines
}

// first returns the first visible error, so that the selected one is visible.
func (l *errorLog) first(width, room int) int {
	for i := l.at; i >= 0; i-- {
		one, _ := l.failure(i)
		if room -= len(l.entry(one, false, width)); room < 0 {
			return min(i+1, l.at)
		}
	}
	return 0
}
