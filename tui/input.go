package tui

import (
	"slices"
	"strings"
	"time"
	"unicode"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
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
	fast := !b.recent[0].IsZero() && now.Sub(b.recent[0]) < ui.PasteInterval && !moves
	copy(b.recent[:], b.recent[1:])
	b.recent[len(b.recent)-1] = now
	if fast {
		b.until = now.Add(burstPause)
	}
	return fast
}

// keyboard routes keys.
type keyboard struct {
	*App
	burst  burst
	ending bool // quit was asked for although a job runs
}

// moves reports whether keys do nothing but move here.
func (k *keyboard) moves(m tea.KeyMsg) bool {
	scopes := k.scopes()
	return m.Type == tea.KeyRunes && !slices.ContainsFunc(m.Runes, func(r rune) bool {
		b, _ := keymap.Bindings.Lookup(scopes, string(r))
		return !slices.Contains(keymap.Navigation, b.Action)
	})
}

// key routes one key press.
func (k *keyboard) key(m tea.KeyMsg) tea.Cmd {
	if m.Type == tea.KeyCtrlC {
		return k.quit()
	}
	b, _ := keymap.Bindings.Lookup([]keymap.Scope{keymap.Everywhere}, m.String())
	if b.Action == keymap.Suspend && m.Type == tea.KeyCtrlZ { // also where something is typed, which ctrl+z never is
		return tea.Suspend
	}
	ends := b.Action == keymap.Quit || b.Action == keymap.QuitOrBack
	k.ending = k.ending && ends
	if k.tooSmall() || k.Front() == nil {
		if ends {
			return k.quit()
		}
		return nil
	}
	if k.line != nil {
		return k.line.Key(m)
	}
	if form, typing := k.over.(ui.KeyHandler); typing {
		if b, ok := keymap.Bindings.Lookup(k.over.Scopes(), m.String()); !ok || m.Paste {
			return form.HandleKey(m)
		} else if !m.Paste {
			return k.over.Do(b)
		}
	}
	if cmd, opened := k.typedAhead(m); opened {
		return cmd
	}
	if k.burst.pasted(m, k.Now, k.moves(m)) {
		k.Notify(ui.Warning, "a paste was ignored: nothing is typed here")
		return nil
	}
	return k.keys(m)
}

// typedAhead takes keys that arrive together, as they do over slow lines, where
// they open a line: what stands behind it is typed there, and does nothing until
// somebody presses enter.
func (k *keyboard) typedAhead(m tea.KeyMsg) (cmd tea.Cmd, opened bool) {
	if m.Type != tea.KeyRunes || m.Paste || len(m.Runes) < 2 || k.Now.Before(k.burst.until) {
		return nil, false
	}
	for i, r := range m.Runes {
		b, _ := keymap.Bindings.Lookup(k.scopes(), string(r))
		switch b.Action {
		case keymap.GoTab: // which many press before it
		case keymap.OpenCommandLine, keymap.OpenFilter:
			before := k.keys(tea.KeyMsg{Type: tea.KeyRunes, Runes: m.Runes[:i+1]})
			if k.line == nil {
				return before, true // nothing can be filtered here
			}
			return tea.Batch(before, k.line.Key(tea.KeyMsg{Type: tea.KeyRunes, Runes: m.Runes[i+1:]})), true
		default:
			return nil, false
		}
	}
	return nil, false
}

// keys hands on the single keys of a message: over slow lines several arrive
// together.
func (k *keyboard) keys(m tea.KeyMsg) tea.Cmd {
	if m.Type != tea.KeyRunes || len(m.Runes) <= 1 {
		return k.press(m.String())
	}
	var cmds []tea.Cmd
	for _, r := range m.Runes {
		if unicode.IsPrint(r) && k.line == nil {
			cmds = append(cmds, k.press(string(r)))
		}
	}
	return tea.Batch(cmds...)
}

// scopes are those of what is open now.
func (k *keyboard) scopes() []keymap.Scope {
	if k.line != nil {
		return []keymap.Scope{keymap.InLine}
	}
	if k.over != nil {
		return k.over.Scopes()
	}
	return append(k.Front().Scopes(), keymap.Everywhere)
}

// press is one key where nothing is typed.
func (k *keyboard) press(key string) tea.Cmd {
	b, ok := keymap.Bindings.Lookup(k.scopes(), key)
	if !ok || k.over == nil && !k.means(b) {
		k.unused(key)
		return nil
	}
	return k.perform(b, key)
}

// perform does what a binding says; the key is empty where none was pressed.
func (k *keyboard) perform(b keymap.Binding, key string) tea.Cmd {
	switch {
	case k.over != nil:
		return k.over.Do(b)
	case b.Scope == keymap.Everywhere:
		return k.do(b, key)
	}
	if reason := k.reason(b); reason != "" {
		k.Notify(ui.Warning, reason+"   ("+b.Name()+")")
		return nil
	}
	return k.Front().Do(b)
}

// reason says why a binding cannot be used now, "" where it can.
func (k *keyboard) reason(b keymap.Binding) string {
	if b.Writes && k.ReadOnly {
		return "read-only: :rw lifts it"
	}
	if feature := needs[b.Action]; feature != "" && k.features != nil && !k.features[feature] {
		return "this service cannot do that yet (" + feature + ")"
	}
	return ""
}

// needs names what the service must be able to do for an action.
var needs = map[keymap.Action]string{keymap.MarkAll: "bulk"}

// do is what keys mean everywhere.
func (k *keyboard) do(b keymap.Binding, key string) tea.Cmd {
	switch b.Action {
	case keymap.ShowHelp:
		k.over = k.help()
	case keymap.OpenCommandLine:
		k.line = (&palette{k.App}).open()
	case keymap.OpenFilter:
		if f, ok := k.Front().(ui.Finder); ok {
			k.line = f.Find()
		}
	case keymap.GoBack:
		return k.back()
	case keymap.QuitOrBack:
		if cmd, ok := k.pop(); ok {
			return cmd
		}
		return k.quit()
	case keymap.Quit:
		return k.quit()
	case keymap.GoTab:
		return k.openTab(max(0, slices.Index(b.KeyNames(), key)) % len(tabNames))
	case keymap.PreviousLocation:
		return k.goBefore()
	case keymap.SwitchProfile:
		return k.listProfiles(true)
	case keymap.ToggleMouse:
		return k.turnMouse()
	case keymap.Undo:
		return k.takeBack()
	case keymap.SwitchTimeMode:
		return k.nextTimes()
	case keymap.PauseLive:
		return k.pause()
	case keymap.Refresh:
		if k.link.signedOut {
			k.over = k.App.login()
			return nil
		}
		return k.refresh()
	case keymap.ShowActions:
		k.over = k.menu()
	case keymap.ShowErrors:
		k.over = newErrors(k.App, &k.toasts)
	case keymap.ShowJobs:
		k.over = k.jobs.list()
	case keymap.ShowCommand:
		k.over = k.equivalent()
	case keymap.Redraw:
		return tea.ClearScreen
	case keymap.Suspend:
		return tea.Suspend
	}
	return nil
}

// back is one step: an error, marks, or the screen.
func (k *keyboard) back() tea.Cmd {
	if k.toasts.Dismiss() {
		return nil
	}
	if u, ok := k.Front().(ui.Unmarker); ok && u.Unmark() {
		return nil
	}
	return k.Pop()
}

// means reports whether a binding does anything on the screen in front.
func (k *keyboard) means(b keymap.Binding) bool {
	switch b.Action {
	case keymap.OpenFilter:
		_, ok := k.Front().(ui.Finder)
		return ok
	case keymap.GoLeft, keymap.GoRight:
		s, ok := k.Front().(ui.Scroller)
		return ok && s.Scrolls()
	}
	return true
}

// inUse are the bindings of a scope that do anything on the screen in front.
func (k *keyboard) inUse(scopes []keymap.Scope, s keymap.Scope) []keymap.Binding {
	return slices.DeleteFunc(keymap.Bindings.Within(scopes, s), func(b keymap.Binding) bool { return !k.means(b) })
}

// unused answers a key that means something on other screens. Those that mean
// nothing anywhere are left alone.
func (k *keyboard) unused(key string) {
	if k.over != nil || !keymap.Bindings.BoundOnAnyScreen(key) {
		return
	}
	if key == " " {
		key = keymap.SpaceKey
	}
	k.Notify(ui.Info, "no "+key+" here: "+keymap.KeyFor(keymap.Everywhere, keymap.ShowActions)+" lists what can be done")
}

// hinted is what the line of hints shows: a form has words of its own.
func (k *keyboard) hinted() []keymap.Binding {
	if f, ok := k.over.(*ui.Form); ok {
		return f.Hints()
	}
	return keymap.Bindings.Hints(k.scopes())
}

// help lists the keys of what is on the screen, then those of everywhere. It
// is made of the table of keys, like dispatch.
func (k *keyboard) help() ui.Overlay {
	const keys = 18 // cells
	t := ui.NewText(k.App, "Help")
	t.HangingIndent = 2 + keys + 1
	scopes := append(k.Front().Scopes(), keymap.Everywhere)
	for _, s := range scopes {
		if len(t.Lines) > 0 {
			t.Lines = append(t.Lines, theme.Span{})
		}
		t.Lines = append(t.Lines, theme.Span{Text: keymap.ScopeNames[s], Role: theme.Breadcrumb})
		for _, b := range k.inUse(scopes, s) {
			t.AddKeywords(len(t.Lines), strings.Fields(b.Keys))
			t.Lines = append(t.Lines, theme.Span{Text: "  " + k.Theme.Fit(b.Keys, keys, false) + " " + b.Description()})
		}
	}
	return t
}

// equivalent shows the command that does the same.
func (k *keyboard) equivalent() ui.Overlay {
	profile := ""
	if name := k.Profile; name != "" {
		profile = " --profile " + ui.Quote(name) // the shell's is another one, maybe
	}
	command := k.Front().Equivalent() + profile
	t := ui.NewText(k.App, "The same on the command line")
	t.CopyText = command
	t.Lines = append(t.Lines, theme.Span{Text: command}, theme.Span{}, theme.Span{Text: "copied, where the terminal allows it", Role: theme.Dim})
	if d, ok := k.Front().(ui.Commander); ok {
		t.Lines = append(t.Lines, theme.Span{}, theme.Span{Text: "What can be done here:", Role: theme.Breadcrumb})
		for _, deed := range d.Commands() {
			t.Lines = append(t.Lines, theme.Span{Text: deed + profile})
		}
	}
	k.Copy(command)
	return t
}

// menu lists what can be done on the screen in front.
func (k *keyboard) menu() ui.Overlay {
	m := &menu{keyboard: k, of: k.Front()}
	scopes := append(m.of.Scopes(), keymap.Everywhere)
	for _, s := range scopes {
		if s == keymap.InLists {
			continue
		}
		m.rows = append(m.rows, k.inUse(scopes, s)...)
	}
	return m
}

// menu lists what can be done, and why what cannot.
type menu struct {
	*keyboard
	of   ui.Screen // whose actions they are
	rows []keymap.Binding
	at   int
}

func (m *menu) Scopes() []keymap.Scope { return []keymap.Scope{keymap.InMenu} }

func (m *menu) Do(b keymap.Binding) tea.Cmd {
	switch b.Action {
	case keymap.GoUp:
		m.at = max(0, m.at-1)
	case keymap.GoDown:
		m.at = min(len(m.rows)-1, m.at+1)
	case keymap.GoBack:
		m.ShowOverlay(nil)
	case keymap.Accept:
		m.ShowOverlay(nil)
		if m.Front() != m.of {
			m.Notify(ui.Warning, "nothing was done, since another screen took the place of the one that it was about")
			return nil
		}
		return m.perform(m.rows[m.at], "")
	}
	return nil
}

func (m *menu) Box(width, height int) []string {
	t := m.Theme
	width = min(width, 76) - 4
	room := max(1, height-2)
	var lines []string
	for i := max(0, m.at-room+1); i < len(m.rows) && len(lines) < room; i++ {
		pointer, role := t.RowPrefix(i == m.at)
		if m.reason(m.rows[i]) != "" && m.rows[i].Scope != keymap.Everywhere {
			role = theme.Dim
		}
		lines = append(lines, t.Paint(role, t.Fit(pointer+m.line(m.rows[i]), width, false)))
	}
	return m.Theme.Frame("Actions", width, lines)
}

// line is a key and what it does; of one that cannot be used now the reason
// stands where all of it is seen.
func (m *menu) line(b keymap.Binding) string {
	room := 0
	for _, one := range m.rows {
		room = max(room, len(one.Label()))
	}
	text := m.Theme.Fit(b.Label(), room+2, false)
	if reason := m.reason(b); reason != "" && b.Scope != keymap.Everywhere {
		return text + m.Theme.Fit(b.Name(), widestName, false) + "  " + reason
	}
	return text + b.Description()
}

// widestName is what is seen of what a key does where the reason why it cannot
// be used stands behind it.
const widestName = 16
