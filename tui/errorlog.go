package tui

import (
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// errorLogHost is the part of the app that the list of errors uses.
type errorLogHost interface {
	CurrentSession() *ui.Session
	// Copy copies text to the clipboard.
	Copy(text string)
	ShowOverlay(o ui.Overlay)
}

// errorLog is the list of errors, newest first, with the request IDs.
type errorLog struct {
	host   errorLogHost
	toasts *ui.Toasts
	index  int // of the selected error
}

// newErrors returns the list of errors.
func newErrors(h errorLogHost, toasts *ui.Toasts) ui.Overlay {
	return &errorLog{host: h, toasts: toasts}
}

func (l *errorLog) Scopes() []keymap.Scope { return []keymap.Scope{keymap.InErrors} }

// failures returns the errors, newest first.
func (l *errorLog) failures() []ui.Toast {
	failures := slices.Clone(l.toasts.Errors)
	slices.Reverse(failures)
	return failures
}

func (l *errorLog) Do(b keymap.Binding) tea.Cmd {
	failures := l.failures()
	switch b.Action {
	case keymap.GoBack:
		l.host.ShowOverlay(nil)
	case keymap.GoUp:
		l.index = max(0, l.index-1)
	case keymap.GoDown:
		l.index = max(0, min(len(failures)-1, l.index+1))
	case keymap.CopyCell:
		if l.index < len(failures) {
			l.host.Copy(errorText(failures[l.index]))
		}
	case keymap.CopyRow:
		l.host.Copy(strings.Join(record.Texts(failures, errorText), "\n"))
	}
	return nil
}

// errorText formats an error for a support request, with its date in UTC like the
// log of the service.
func errorText(toast ui.Toast) string { return toast.At.UTC().Format(time.RFC3339) + "  " + toast.Text }

func (l *errorLog) Box(width, height int) []string {
	t := l.host.CurrentSession().Theme
	width = min(width, 96) - 4
	failures := l.failures()
	if len(failures) == 0 {
		return t.Frame("Errors", width, []string{t.Fit("No errors.", width, false)})
	}
	room := height - 2
	var lines []string
	for i := l.first(failures, width, room); i < len(failures) && len(lines) < room; i++ {
		lines = append(lines, l.entry(failures[i], i == l.index, width)...)
	}
	lines = lines[:min(len(lines), max(1, room))]
	return t.Frame("Errors ("+display.Thousands(len(failures))+")", width, lines)
}

// entry draws an error with its time, wrapped.
func (l *errorLog) entry(toast ui.Toast, selected bool, width int) []string {
	s := l.host.CurrentSession()
	t := s.Theme
	start := s.TimeOfDay(toast.At) + "  "
	startWidth := ansi.StringWidth(start)
	var lines []string
	for _, part := range theme.Wrap(toast.Text, width-startWidth-theme.PrefixCells) {
		text := theme.Span{Text: start + part.Text}
		if !selected {
			text.Role = theme.Dim
		}
		lines = append(lines, t.Row(width, selected, []theme.Span{text}, nil))
		start = theme.Spaces(startWidth)
	}
	return lines
}

// first returns the first visible error, so that the selected one is visible.
func (l *errorLog) first(failures []ui.Toast, width, room int) int {
	for i := l.index; i >= 0; i-- {
		room -= len(l.entry(failures[i], false, width))
		if room < 0 {
			return min(i+1, l.index)
		}
	}
	return 0
}
