package tui

import (
	"slices"
	"strings"
	"unicode"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// keyboard routes keys.
type keyboard struct {
	*App
	pastes      pasteDetector
	quitPending bool // quit was pressed and needs confirmation
}

// isNavigation reports whether all keys of a message are navigation keys.
func (k *keyboard) isNavigation(m tea.KeyMsg) bool {
	scopes := k.scopes()
	return m.Type == tea.KeyRunes && !slices.ContainsFunc(m.Runes, func(r rune) bool {
		b, _ := keymap.Bindings.Lookup(scopes, string(r))
		return !slices.Contains(keymap.Navigation, b.Action)
	})
}

// key handles a key message.
func (k *keyboard) key(m tea.KeyMsg) tea.Cmd {
	if m.Type == tea.KeyCtrlC {
		return k.quit()
	}
	b, _ := ui.Binding([]keymap.Scope{keymap.Everywhere}, m)
	if b.Action == keymap.Suspend && m.Type == tea.KeyCtrlZ { // works during input too, since ctrl+z is never text
		return tea.Suspend
	}
	ends := b.Action == keymap.Quit || b.Action == keymap.QuitOrBack
	k.quitPending = k.quitPending && ends
	if k.tabs.TooSmall() || k.Front() == nil {
		if ends {
			return k.quit()
		}
		return nil
	}
	if k.input != nil {
		return k.input.Key(m)
	}
	if form, typing := k.overlay.(ui.KeyHandler); typing {
		if b, ok := ui.Binding(k.overlay.Scopes(), m); ok {
			return k.overlay.Do(b)
		}
		form.HandleKey(m)
		return nil
	}
	if cmd, opened := k.typeAhead(m); opened {
		return cmd
	}
	if k.pastes.pasted(m, k.Now, k.isNavigation(m)) {
		k.Notify(ui.Warning, "paste ignored: press / or : first")
		return nil
	}
	return k.keys(m)
}

// typeAhead handles keys that arrive together, as on slow connections, and open an
// input: the keys after that are typed into the input, which is not submitted.
func (k *keyboard) typeAhead(m tea.KeyMsg) (cmd tea.Cmd, handled bool) {
	if m.Type != tea.KeyRunes || m.Paste || len(m.Runes) < 2 || k.Now.Before(k.pastes.until) {
		return nil, false
	}
	for i, r := range m.Runes {
		b, _ := keymap.Bindings.Lookup(k.scopes(), string(r))
		switch b.Action {
		case keymap.GoTab: // often pressed before it
		case keymap.OpenCommandLine, keymap.OpenFilter:
			before := k.keys(tea.KeyMsg{Type: tea.KeyRunes, Runes: m.Runes[:i+1]})
			if k.input == nil {
				return before, true // this screen has no filter
			}
			return tea.Batch(before, k.input.Key(tea.KeyMsg{Type: tea.KeyRunes, Runes: m.Runes[i+1:]})), true
		default:
			return nil, false
		}
	}
	return nil, false
}

// keys handles the keys of a message one by one: several can arrive together on slow
// connections.
func (k *keyboard) keys(m tea.KeyMsg) tea.Cmd {
	if m.Type != tea.KeyRunes || len(m.Runes) <= 1 {
		return k.press(m.String())
	}
	var cmds []tea.Cmd
	for _, r := range m.Runes {
		if unicode.IsPrint(r) && k.input == nil {
			cmds = append(cmds, k.press(string(r)))
		}
	}
	return tea.Batch(cmds...)
}

// scopes returns the scopes of the open input, overlay or screen.
func (k *keyboard) scopes() []keymap.Scope {
	if k.input != nil {
		return []keymap.Scope{keymap.InLine}
	}
	if k.overlay != nil {
		return k.overlay.Scopes()
	}
	return append(k.Front().Scopes(), keymap.Everywhere)
}

// press handles a single key while no input is open.
func (k *keyboard) press(key string) tea.Cmd {
	b, ok := keymap.Bindings.Lookup(k.scopes(), key)
	if !ok || k.overlay == nil && !k.isEffective(b) {
		k.notifyUnbound(key)
		return nil
	}
	return k.perform(b, key)
}

// perform runs a binding; key is empty if it was chosen from the menu.
func (k *keyboard) perform(b keymap.Binding, key string) tea.Cmd {
	switch {
	case k.overlay != nil:
		return k.overlay.Do(b)
	case b.Scope == keymap.Everywhere, b.Action == keymap.OpenFilter: // some screens describe it in their own words
		return k.Do(b, key)
	}
	if reason := k.reason(b); reason != "" {
		k.Notify(ui.Warning, reason+"   ("+b.Name()+")")
		return nil
	}
	return k.Front().Do(b)
}

// reason returns why a binding cannot be used now, "" if it can.
func (k *keyboard) reason(b keymap.Binding) string {
	if slices.Contains(adminOnly[b.Scope], b.Action) && k.NeedsAdmin() != "" {
		return k.NeedsAdmin()
	}
	if b.Writes {
		return k.WhyReadOnly()
	}
	return ""
}

// adminOnly are the actions that require the role admin on screens that do not.
var adminOnly = map[keymap.Scope][]keymap.Action{
	keymap.InBrowser: {keymap.ShowWhy},
	keymap.InChanges: {keymap.ShowWhy},
	keymap.InEvents:  {keymap.Open, keymap.AddNew, keymap.ShowSubscriptions},
}

// Do runs the bindings of scope Everywhere.
func (k *keyboard) Do(b keymap.Binding, key string) tea.Cmd {
	switch b.Action {
	case keymap.ShowHelp:
		k.overlay = k.help()
	case keymap.OpenCommandLine:
		k.input = (&palette{k.App}).input()
	case keymap.OpenFilter:
		if f, ok := k.Front().(ui.Finder); ok {
			k.input = f.Find()
		}
	case keymap.GoBack:
		return k.back()
	case keymap.QuitOrBack:
		if cmd, ok := k.tabs.Pop(); ok {
			return cmd
		}
		return k.quit()
	case keymap.Quit:
		return k.quit()
	case keymap.GoTab:
		return k.tabs.Open(max(0, slices.Index(b.KeyNames(), key)) % len(TabNames))
	case keymap.PreviousLocation:
		return k.tabs.GoToPrevious()
	case keymap.SwitchProfile:
		return k.switcher.List(true)
	case keymap.ToggleMouse:
		return k.mouse.Toggle()
	case keymap.Undo:
		return k.undo.Last()
	case keymap.SwitchTimeMode:
		return k.nextTimeMode()
	case keymap.PauseLive:
		return k.stream.Pause()
	case keymap.Refresh:
		if k.stream.Conn.SignedOut() {
			k.ShowSignIn()
			return nil
		}
		return tea.Batch(k.refresh(), k.FetchKinds())
	case keymap.ShowActions:
		k.overlay = k.menu()
	case keymap.ShowErrors:
		k.overlay = newErrors(k.App, &k.toasts)
	case keymap.ShowJobs:
		k.overlay = newJobList(k.App, k.jobs)
	case keymap.ShowCommand:
		k.overlay = k.equivalent()
	case keymap.Redraw:
		return tea.ClearScreen
	case keymap.Suspend:
		return tea.Suspend
	}
	return nil
}

// back dismisses an error, removes marks, or closes the screen.
func (k *keyboard) back() tea.Cmd {
	if k.toasts.Dismiss() {
		return nil
	}
	if u, ok := k.Front().(ui.Unmarker); ok && u.Unmark() {
		return nil
	}
	return k.Pop()
}

// isEffective reports whether a binding has an effect on the screen in front.
func (k *keyboard) isEffective(b keymap.Binding) bool {
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

// notifyUnbound notifies the user that a key has no effect on this screen. Keys that are never
// bound are ignored.
func (k *keyboard) notifyUnbound(key string) {
	if k.overlay != nil || !keymap.Bindings.BoundOnAnyScreen(key) {
		return
	}
	if key == " " {
		key = keymap.SpaceKey
	}
	k.Notify(ui.Info, "no "+key+" here: "+keymap.KeyFor(keymap.Everywhere, keymap.ShowActions)+" lists the actions")
}

// hints returns the bindings of the hint line.
func (k *keyboard) hints() []keymap.Binding {
	if f, ok := k.overlay.(*ui.Form); ok {
		return f.Hints()
	}
	return keymap.Bindings.Hints(k.scopes())
}

// help returns the help overlay: the keys of the screen, then the global keys. It is
// generated from the key table.
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
		for _, b := range keymap.Bindings.Within(scopes, s, k.isEffective) {
			t.Keywords[len(t.Lines)] = strings.Fields(b.Keys)
			t.Lines = append(t.Lines, theme.Span{Text: "  " + k.Theme.Fit(b.Keys, keys, false) + " " + b.Description()})
		}
	}
	return t
}

// equivalent returns the overlay with the equivalent whctl commands.
func (k *keyboard) equivalent() ui.Overlay {
	profile := ""
	if name := k.Profile; name != "" {
		profile = " --profile " + ui.Quote(name) // the default profile of the shell may differ
	}
	command := k.Front().Equivalent() + profile
	t := ui.NewText(k.App, "Equivalent command")
	t.CopyText = command
	const outcomeLine = 2
	t.Lines = append(t.Lines, theme.Span{Text: command}, theme.Span{}, theme.Span{Text: "copying", Role: theme.Dim})
	if d, ok := k.Front().(ui.Commander); ok {
		t.Lines = append(t.Lines, theme.Span{}, theme.Span{Text: "Actions:", Role: theme.Breadcrumb})
		for _, command := range d.Commands() {
			t.Lines = append(t.Lines, theme.Span{Text: command + profile})
		}
	}
	k.copyThen(command, func(outcome string) { t.Lines[outcomeLine].Text = outcome })
	return t
}

// menu returns the menu of actions.
func (k *keyboard) menu() ui.Overlay {
	m := &menu{keyboard: k, screen: k.Front()}
	scopes := append(m.screen.Scopes(), keymap.Everywhere)
	for _, s := range scopes {
		if s == keymap.InLists {
			continue
		}
		m.rows = append(m.rows, keymap.Bindings.Within(scopes, s, k.isEffective)...)
	}
	return m
}

// menu lists the actions of a screen, and why some are unavailable.
type menu struct {
	*keyboard
	screen ui.Screen // screen of the actions
	rows   []keymap.Binding
	at     int
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
		if m.Front() != m.screen {
			m.Notify(ui.Warning, "cancelled: the screen changed")
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
	first := max(0, m.at-room+1)
	var lines []string
	for i := first; i < len(m.rows) && len(lines) < room; i++ {
		pointer, role := t.RowPrefix(i == m.at)
		if m.reason(m.rows[i]) != "" && m.rows[i].Scope != keymap.Everywhere {
			role = theme.Dim
		}
		lines = append(lines, t.Paint(role, t.Fit(pointer+m.line(m.rows[i]), width, false)))
	}
	return m.Theme.ScrollFrame("Actions", width, lines, first, len(m.rows)-first-len(lines))
}

// line returns the key and description of a binding. If it is unavailable, the reason
// is shown where it is always visible.
func (m *menu) line(b keymap.Binding) string {
	room := 0
	for _, one := range m.rows {
		room = max(room, len(one.Label()))
	}
	text := m.Theme.Fit(b.Label(), room+2, false)
	if reason := m.reason(b); reason != "" && b.Scope != keymap.Everywhere {
		return text + m.Theme.Fit(b.Name(), maxNameWidth, false) + "  " + reason
	}
	return text + b.Description()
}

// maxNameWidth is the width of the name of an unavailable binding.
const maxNameWidth = 16
