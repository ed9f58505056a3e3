package tui

import (
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
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

// failures returns the errors, newest first.
func (l *errorLog) failures() []ui.Toast {
	failures := slices.Clone(l.toasts.Errors)
	slices.Reverse(failures)
	return failures
}

func (l *errorLog) Do(b keymap.Binding) tea.Cmd {
	all := l.failures()
	switch b.Action {
	case keymap.GoBack:
		l.Host.ShowOverlay(nil)
	case keymap.GoUp:
		l.at = max(0, l.at-1)
	case keymap.GoDown:
		l.at = max(0, min(len(all)-1, l.at+1))
	case keymap.CopyCell:
		if l.at < len(all) {
			l.Host.Copy(errorText(all[l.at]))
		}
	case keymap.CopyRow:
		l.Host.Copy(strings.Join(record.Texts(all, errorText), "\n"))
	}
	return nil
}

// errorText formats an error for a support request, with its date in UTC like the
// log of the service.
func errorText(toast ui.Toast) string { return toast.At.UTC().Format(time.RFC3339) + "  " + toast.Text }

func (l *errorLog) Box(width, height int) []string {
	t := l.Session.Theme
	width = min(width, 96) - 4
	all := l.failures()
	if len(all) == 0 {
		return l.Session.Theme.Frame("Errors", width, []string{t.Fit("No errors.", width, false)})
	}
	var lines []string
	for i := l.first(all, width, height-2); i < len(all) && len(lines) < height-2; i++ {
		lines = append(lines, l.entry(all[i], i == l.at, width)...)
	}
	return l.Session.Theme.Frame("Errors ("+display.Thousands(len(all))+")", width,
		lines[:min(len(lines), max(1, height-2))])
}

// entry draws an error with its time, wrapped.
func (l *errorLog) entry(toast ui.Toast, selected bool, width int) []string {
	t := l.Session.Theme
	pointer, role := "  ", theme.Null
	if selected {
		pointer, role = t.Pointer+" ", theme.Selected
	}
	var lines []string
	for n, part := range theme.Wrap(toast.Text, width-12) {
		before := pointer + l.Session.TimeOfDay(toast.At) + "  "
		if n > 0 {
			before = strings.Repeat(" ", 12)
		}
		lines = append(lines, t.Paint(role, t.Fit(before+part.Text, width, false)))
	}
	return lines
}

// first returns the first visible error, so that the selected one is visible.
func (l *errorLog) first(all []ui.Toast, width, room int) int {
	for i := l.at; i >= 0; i-- {
		room -= len(l.entry(all[i], false, width))
		if room < 0 {
			return min(i+1, l.at)
		}
	}
	return 0
}
