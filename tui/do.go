package tui

import (
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/shell"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// Do runs the bindings of scope Everywhere.
func (a *App) Do(b keymap.Binding, key string) tea.Cmd {
	switch b.Action {
	case keymap.ShowHelp:
		a.overlay = shell.NewHelp(a)
	case keymap.OpenCommandLine:
		a.input = newPalette(a, a.account, a.switcher, a.tabs).input(a)
	case keymap.OpenFilter:
		if f, ok := a.Front().(ui.Finder); ok {
			a.input = f.Find()
		}
	case keymap.GoBack:
		return back(a, &a.toasts)
	case keymap.QuitOrBack:
		if cmd, ok := a.tabs.Pop(); ok {
			return cmd
		}
		return a.keys.Quit()
	case keymap.Quit:
		return a.keys.Quit()
	case keymap.GoTab:
		tab := max(0, slices.Index(b.KeyNames(), key))
		return a.tabs.Open(tab % len(shell.TabNames))
	case keymap.PreviousLocation:
		return a.tabs.GoToPrevious()
	case keymap.SwitchProfile:
		return a.switcher.Choose()
	case keymap.ToggleMouse:
		return a.mouse.Toggle()
	case keymap.Undo:
		return a.undo.Last()
	case keymap.SwitchTimeMode:
		return nextTimeMode(a)
	case keymap.PauseLive:
		return a.stream.Pause()
	case keymap.Refresh:
		if a.stream.Conn.SignedOut() {
			a.ShowSignIn()
			return nil
		}
		return tea.Batch(a.Refresh(), a.kinds.Fetch())
	case keymap.ShowActions:
		a.overlay = shell.NewMenu(a, a.keys)
	case keymap.ShowErrors:
		a.overlay = newErrors(a, &a.toasts)
	case keymap.ShowJobs:
		a.overlay = shell.NewJobList(a, a.jobs)
	case keymap.ShowCommand:
		a.overlay = newEquivalent(a, a.options.clipboard(a.Session.Context))
	case keymap.Redraw:
		return tea.ClearScreen
	case keymap.Suspend:
		if !a.options.Loop.CanSuspend() {
			a.Notify(ui.Warning, "cannot be suspended: no shell to return to")
			return nil
		}
		return tea.Suspend
	}
	return nil
}

// back dismisses an error, removes marks, or closes the screen.
func back(h ui.Host, toasts *ui.Toasts) tea.Cmd {
	if toasts.Dismiss() {
		return nil
	}
	if u, ok := h.Front().(ui.Unmarker); ok && u.Unmark() {
		return nil
	}
	return h.Pop()
}

// Unfinished lists the work that quitting would abandon.
func (a *App) Unfinished() []string {
	var pending []string
	if n := len(a.jobs.Running()); n > 0 {
		pending = append(pending, display.Count(n, "export", "exports")+" running")
	}
	if n := a.undo.Count(); n > 0 {
		pending = append(pending, display.Count(n, "pending delete", "pending deletes")+" will not be sent")
	}
	if a.changes.Sending() != "" {
		pending = append(pending, "a change is being sent")
	}
	if n := a.secrets.Unread(); n > 0 {
		pending = append(pending, display.Count(n, "secret", "secrets")+" not shown yet")
	}
	return pending
}

// nextTimeMode switches to the next time mode, and notifies the user if that changes
// nothing on the screen.
func nextTimeMode(h ui.Host) tea.Cmd {
	s, front := h.CurrentSession(), h.Front()
	s.Times = (s.Times + 1) % ui.TimeMode(len(ui.TimeModes))
	before := front.View()
	note := ""
	if t, ok := front.(ui.Timed); ok {
		note = t.Retime()
	}
	cmd := front.Shown()
	if note == "" && front.View() == before {
		note = "this screen shows no times"
	}
	text := "times: " + ui.TimeModes[s.Times]
	if note != "" {
		text += "   " + note
	}
	h.Notify(ui.Info, text)
	return cmd
}

// newEquivalent returns the overlay with the equivalent whctl commands, and copies the
// first one.
func newEquivalent(h ui.Host, c ui.Clipboard) ui.Overlay {
	profile := ""
	if name := h.CurrentSession().Profile; name != "" {
		profile = " --profile " + ui.Quote(name) // the default profile of the shell may differ
	}
	command := h.Front().Equivalent() + profile
	t := ui.NewText(h, "Equivalent command",
		theme.Span{Text: command},
		theme.Span{},
		theme.Span{Text: "copying", Role: theme.Dim})
	t.CopyText = command
	const outcomeLine = 2 // index of the line about copying
	if commander, ok := h.Front().(ui.Commander); ok {
		t.Lines = append(t.Lines, theme.Span{}, theme.Span{Text: "Actions:", Role: theme.Breadcrumb})
		for _, action := range commander.Commands() {
			t.Lines = append(t.Lines, theme.Span{Text: action + profile})
		}
	}
	copyText(h, c, command, func(outcome string) { t.Lines[outcomeLine].Text = outcome })
	return t
}
