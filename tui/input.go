package tui

import (
	"slices"
	"strings"
	"time"
	"unicode"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/ui"
)

// burst knows pastes into a place where nothing is typed, which arrive as keys:
// each of them would do something.
type burst struct {
	recent [4]time.Time // when the last keys came
	until  time.Time    // up to when keys are dropped
}

const (
	burstPause = 250 * time.Millisecond
	burstRunes = 5 // in one message
)

// pasted reports whether a key is part of a paste. One that moves only is
// harmless when it repeats.
func (b *burst) pasted(m tea.KeyMsg, now time.Time, moves bool) bool {
	if m.Paste || len(m.Runes) >= burstRunes && strings.Count(string(m.Runes), string(m.Runes[:1])) < len(m.Runes) {
		b.until = now.Add(burstPause)
		return true
	}
	if now.Before(b.until) {
		b.until = now.Add(burstPause)
		return true
	}
	if m.Type != tea.KeyRunes && m.Type != tea.KeySpace {
		return false
	}
	fast := !b.recent[0].IsZero() && now.Sub(b.recent[0]) < ui.PasteWithin && !moves
	copy(b.recent[:], b.recent[1:])
	b.recent[len(b.recent)-1] = now
	if fast {
		b.until = now.Add(burstPause)
	}
	return fast
}

// moves reports whether keys do nothing but move here.
func (a *app) moves(m tea.KeyMsg) bool {
	scopes := a.scopes()
	return m.Type == tea.KeyRunes && !slices.ContainsFunc(m.Runes, func(r rune) bool {
		b, _ := keymap.Bindings.Lookup(scopes, string(r))
		return !slices.Contains(keymap.Movers, b.Action)
	})
}

// key routes one key press.
func (a *app) key(m tea.KeyMsg) tea.Cmd {
	if m.Type == tea.KeyCtrlC {
		return a.quit()
	}
	b, _ := keymap.Bindings.Lookup([]keymap.Scope{keymap.Everywhere}, m.String())
	if b.Action == keymap.Suspend && m.Type == tea.KeyCtrlZ { // also where something is typed, which ctrl+z never is
		return tea.Suspend
	}
	ends := b.Action == keymap.Quit || b.Action == keymap.QuitOrBack
	a.ending = a.ending && ends
	if a.tooSmall() || a.Front() == nil {
		if ends {
			return a.quit()
		}
		return nil
	}
	if a.line != nil {
		return a.line.Key(m)
	}
	if form, typing := a.over.(ui.Typist); typing {
		if b, ok := keymap.Bindings.Lookup(a.over.Scopes(), m.String()); !ok || m.Paste {
			return form.Typed(m)
		} else if !m.Paste {
			return a.over.Do(b)
		}
	}
	if cmd, opened := a.typedAhead(m); opened {
		return cmd
	}
	if a.burst.pasted(m, a.Now, a.moves(m)) {
		a.Tell(ui.Warning, "a paste was ignored: nothing is typed here")
		return nil
	}
	return a.keys(m)
}

// typedAhead takes keys that arrive together, as they do over slow lines, where
// they open a line: what stands behind it is typed there, and does nothing until
// somebody presses enter.
func (a *app) typedAhead(m tea.KeyMsg) (cmd tea.Cmd, opened bool) {
	if m.Type != tea.KeyRunes || m.Paste || len(m.Runes) < 2 || a.Now.Before(a.burst.until) {
		return nil, false
	}
	for i, r := range m.Runes {
		b, _ := keymap.Bindings.Lookup(a.scopes(), string(r))
		switch b.Action {
		case keymap.GoTab: // which many press before it
		case keymap.AskCommand, keymap.AskFilter:
			before := a.keys(tea.KeyMsg{Type: tea.KeyRunes, Runes: m.Runes[:i+1]})
			if a.line == nil {
				return before, true // nothing can be filtered here
			}
			return tea.Batch(before, a.line.Key(tea.KeyMsg{Type: tea.KeyRunes, Runes: m.Runes[i+1:]})), true
		default:
			return nil, false
		}
	}
	return nil, false
}

// keys hands on the single keys of a message: over slow lines several arrive
// together.
func (a *app) keys(m tea.KeyMsg) tea.Cmd {
	if m.Type != tea.KeyRunes || len(m.Runes) <= 1 {
		return a.press(m.String())
	}
	var cmds []tea.Cmd
	for _, r := range m.Runes {
		if unicode.IsPrint(r) && a.line == nil {
			cmds = append(cmds, a.press(string(r)))
		}
	}
	return tea.Batch(cmds...)
}

// scopes are those of what is open now.
func (a *app) scopes() []keymap.Scope {
	if a.line != nil {
		return []keymap.Scope{keymap.InLine}
	}
	if a.over != nil {
		return a.over.Scopes()
	}
	return append(a.Front().Scopes(), keymap.Everywhere)
}

// press is one key where nothing is typed.
func (a *app) press(key string) tea.Cmd {
	b, ok := keymap.Bindings.Lookup(a.scopes(), key)
	if !ok || a.over == nil && !a.means(b) {
		a.unused(key)
		return nil
	}
	return a.perform(b, key)
}

// perform does what a binding says; the key is empty where none was pressed.
func (a *app) perform(b keymap.Binding, key string) tea.Cmd {
	switch {
	case a.over != nil:
		return a.over.Do(b)
	case b.Scope == keymap.Everywhere:
		return a.do(b, key)
	}
	if reason := a.reason(b); reason != "" {
		a.Tell(ui.Warning, reason+"   ("+b.Name()+")")
		return nil
	}
	return a.Front().Do(b)
}

// reason says why a binding cannot be used now, "" where it can.
func (a *app) reason(b keymap.Binding) string {
	if b.Writes && a.ReadOnly {
		return "read-only: :rw lifts it"
	}
	if feature := needs[b.Action]; feature != "" && a.features != nil && !a.features[feature] {
		return "this service cannot do that yet (" + feature + ")"
	}
	return ""
}

// needs names what the service must be able to do for an action.
var needs = map[keymap.Action]string{keymap.MarkAll: "bulk"}

// do is what keys mean everywhere.
func (a *app) do(b keymap.Binding, key string) tea.Cmd {
	switch b.Action {
	case keymap.AskHelp:
		a.over = newHelp(a)
	case keymap.AskCommand:
		a.line = newCommandLine(a)
	case keymap.AskFilter:
		if f, ok := a.Front().(ui.Finder); ok {
			a.line = f.Find()
		}
	case keymap.GoBack:
		return a.back()
	case keymap.QuitOrBack:
		if cmd, ok := a.pop(); ok {
			return cmd
		}
		return a.quit()
	case keymap.Quit:
		return a.quit()
	case keymap.GoTab:
		return a.openTab(max(0, slices.Index(b.KeyNames(), key)) % len(tabNames))
	case keymap.GoPrevious:
		return a.goBefore()
	case keymap.SwitchProfile:
		return a.listProfiles(true)
	case keymap.SwitchMouse:
		return a.turnMouse()
	case keymap.TakeBack:
		return a.undo()
	case keymap.SwitchTimes:
		return a.nextTimes()
	case keymap.PauseLive:
		return a.pause()
	case keymap.Refresh:
		if a.link.signedOut {
			a.over = newLogin(a)
			return nil
		}
		return a.refresh()
	case keymap.ShowActions:
		a.over = newMenu(a)
	case keymap.ShowErrors:
		a.over = newErrors(a)
	case keymap.ShowJobs:
		a.over = newJobList(a)
	case keymap.ShowTwin:
		a.over = newTwin(a, a.Front().Equivalent())
	case keymap.Redraw:
		return tea.ClearScreen
	case keymap.Suspend:
		return tea.Suspend
	}
	return nil
}

// back is one step: an error, marks, or the screen.
func (a *app) back() tea.Cmd {
	if a.toasts.Dismiss() {
		return nil
	}
	if u, ok := a.Front().(ui.Unmarker); ok && u.Unmark() {
		return nil
	}
	return a.Pop()
}

// pause holds back what is live, or goes on with it.
func (a *app) pause() tea.Cmd {
	a.link.paused = !a.link.paused
	a.Paused = a.link.paused
	missed := a.link.missed
	a.link.missed = 0
	if !a.link.paused && missed > 0 {
		return a.missed()
	}
	return nil
}

// refresh fetches what is shown again, and makes the stream anew where it was
// lost.
func (a *app) refresh() tea.Cmd {
	var cmds []tea.Cmd
	if !a.link.live(a.Now) && (a.link.lost != nil || a.link.refused != nil) {
		a.link.refused = nil
		cmds = append(cmds, a.listen(), a.whoAmI())
	}
	if p, ok := a.Front().(ui.Poller); ok {
		cmds = append(cmds, p.Poll())
	}
	return tea.Batch(cmds...)
}
