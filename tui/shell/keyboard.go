package shell

import (
	"slices"
	"strings"
	"time"
	"unicode"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/ui"
)

// KeyboardHost is the part of the app that the keyboard uses.
type KeyboardHost interface {
	CurrentSession() *ui.Session
	// Hint shows why a key has no effect, until the next key.
	Hint(l ui.Level, text string)
	Overlay() ui.Overlay
	// Input returns the open input line, nil for none.
	Input() *ui.InputLine
	// Do runs a binding of scope Everywhere; key is the key that was pressed.
	Do(b keymap.Binding, key string) tea.Cmd
	// Unfinished lists the work that quitting would abandon.
	Unfinished() []string
	// After sends a message after a delay.
	After(delay time.Duration, m tea.Msg) tea.Cmd
}

// Keyboard routes keys.
type Keyboard struct {
	host        KeyboardHost
	tabs        *Tabs
	pastes      pasteDetector
	enter       enterKey
	early       []tea.KeyMsg // pressed before the size of the terminal was known
	quitPending bool         // quit was pressed and needs confirmation
}

// NewKeyboard returns a keyboard that works on the screens of the tabs.
func NewKeyboard(h KeyboardHost, t *Tabs) *Keyboard { return &Keyboard{host: h, tabs: t} }

// Quit ends the program. If that would abandon work, the key must be pressed twice.
func (k *Keyboard) Quit() tea.Cmd {
	pending := k.host.Unfinished()
	if len(pending) > 0 && !k.quitPending {
		k.quitPending = true
		k.host.Hint(ui.Warning, strings.Join(pending, ", ")+": press again to quit")
		return nil
	}
	return tea.Quit
}

// Reset forgets that quit was pressed.
func (k *Keyboard) Reset() { k.quitPending = false }

// isNavigation reports whether all keys of a message are navigation keys.
func (k *Keyboard) isNavigation(m tea.KeyMsg) bool {
	scopes := k.scopes()
	return m.Type == tea.KeyRunes && !slices.ContainsFunc(m.Runes, func(r rune) bool {
		b, _ := keymap.Bindings.Lookup(scopes, string(r))
		return !slices.Contains(keymap.Navigation, b.Action)
	})
}

// Replay handles the keys that were pressed before the size of the terminal was known.
func (k *Keyboard) Replay() tea.Cmd {
	early := k.early
	k.early = nil
	var cmds []tea.Cmd
	for _, m := range early {
		cmds = append(cmds, k.Key(m))
	}
	return tea.Batch(cmds...)
}

// Key handles a key message.
func (k *Keyboard) Key(m tea.KeyMsg) tea.Cmd {
	if m.Type == tea.KeyCtrlC {
		return k.Quit()
	}
	if !k.tabs.hasSize() {
		k.early = append(k.early, m)
		return nil
	}
	b, _ := ui.Binding([]keymap.Scope{keymap.Everywhere}, m)
	if b.Action == keymap.Suspend && m.Type == tea.KeyCtrlZ { // during input, too: ctrl+z is never text
		return k.host.Do(b, m.String())
	}
	isQuit := b.Action == keymap.Quit || b.Action == keymap.QuitOrBack
	if !isQuit {
		k.Reset()
	}
	if k.tabs.TooSmall() || k.tabs.Front() == nil {
		if isQuit {
			return k.Quit()
		}
		return nil
	}
	if hasField(k.host) {
		return k.fieldKey(m)
	}
	return k.screenKey(m)
}

// Enter handles enter that nothing has followed.
func (k *Keyboard) Enter(m EnterMsg) tea.Cmd {
	if !k.enter.due(m) || !hasField(k.host) {
		return nil
	}
	return k.screenKey(tea.KeyMsg{Type: tea.KeyEnter})
}

// fieldKey handles a key while a field is open.
func (k *Keyboard) fieldKey(m tea.KeyMsg) tea.Cmd {
	var cmds []tea.Cmd
	if enter, wasKept := k.enter.release(); wasKept {
		cmds = append(cmds, k.screenKey(enter))
	}
	now := k.host.CurrentSession().Now
	if k.enter.hold(m, now) {
		return tea.Batch(append(cmds, k.host.After(ui.PasteInterval, EnterMsg{k.enter.number}))...)
	}
	return tea.Batch(append(cmds, k.screenKey(m))...)
}

// screenKey handles a key in the open input, overlay or screen.
func (k *Keyboard) screenKey(m tea.KeyMsg) tea.Cmd {
	if input := k.host.Input(); input != nil {
		return input.Key(m)
	}
	overlay := k.host.Overlay()
	if handler, ok := overlay.(ui.KeyHandler); ok {
		if b, ok := ui.Binding(overlay.Scopes(), m); ok {
			return overlay.Do(b)
		}
		handler.HandleKey(m)
		return nil
	}
	if cmd, opened := k.typeAhead(m); opened {
		return cmd
	}
	if k.pastes.pasted(m, k.host.CurrentSession().Now, k.isNavigation(m)) {
		k.host.Hint(ui.Warning, "paste ignored: press / or : first")
		return nil
	}
	return k.keys(m)
}

// typeAhead handles keys that arrive together, as on slow connections, and open an
// input: the keys after that are typed into the input, which is not submitted.
func (k *Keyboard) typeAhead(m tea.KeyMsg) (cmd tea.Cmd, handled bool) {
	isTyped := m.Type == tea.KeyRunes && !m.Paste && len(m.Runes) > 1
	if !isTyped || k.pastes.isPasting(k.host.CurrentSession().Now) {
		return nil, false
	}
	for i, r := range m.Runes {
		b, _ := keymap.Bindings.Lookup(k.scopes(), string(r))
		switch b.Action {
		case keymap.GoTab:
			// Users switch to a tab and open its filter at once.
		case keymap.OpenCommandLine, keymap.OpenFilter:
			opened := k.keys(tea.KeyMsg{Type: tea.KeyRunes, Runes: m.Runes[:i+1]})
			input := k.host.Input()
			if input == nil {
				return opened, true // this screen has no filter
			}
			k.enter.typedAhead(k.host.CurrentSession().Now)
			typed := input.Key(tea.KeyMsg{Type: tea.KeyRunes, Runes: m.Runes[i+1:]})
			return tea.Batch(opened, typed), true
		default:
			return nil, false
		}
	}
	return nil, false
}

// keys handles the keys of a message one by one: several can arrive together on slow
// connections.
func (k *Keyboard) keys(m tea.KeyMsg) tea.Cmd {
	if m.Type != tea.KeyRunes || len(m.Runes) <= 1 {
		return k.press(m.String())
	}
	var cmds []tea.Cmd
	for _, r := range m.Runes {
		if unicode.IsPrint(r) && k.host.Input() == nil {
			cmds = append(cmds, k.press(string(r)))
		}
	}
	return tea.Batch(cmds...)
}

// scopes returns the scopes of the open input, overlay or screen.
func (k *Keyboard) scopes() []keymap.Scope {
	if k.host.Input() != nil {
		return []keymap.Scope{keymap.InLine}
	}
	if k.host.Overlay() != nil {
		return k.host.Overlay().Scopes()
	}
	return append(k.tabs.Front().Scopes(), keymap.Everywhere)
}

// press handles a single key while no input is open.
func (k *Keyboard) press(key string) tea.Cmd {
	b, isBound := keymap.Bindings.Lookup(k.scopes(), key)
	if k.host.Overlay() == nil {
		isBound = isBound && isEffective(k.tabs.Front(), b)
	}
	if !isBound {
		k.notifyUnbound(key)
		return nil
	}
	return k.perform(b, key)
}

// perform runs a binding; key is empty if it was chosen from the menu.
func (k *Keyboard) perform(b keymap.Binding, key string) tea.Cmd {
	if k.host.Overlay() != nil {
		return k.host.Overlay().Do(b)
	}
	// Some screens have a binding of OpenFilter for its description only.
	if b.Scope == keymap.Everywhere || b.Action == keymap.OpenFilter {
		return k.host.Do(b, key)
	}
	if reason := Reason(k.host.CurrentSession(), b); reason != "" {
		k.host.Hint(ui.Warning, reason+"   ("+b.Name()+")")
		return nil
	}
	return k.tabs.Front().Do(b)
}

// Reason returns why a binding cannot be used now, "" if it can.
func Reason(s *ui.Session, b keymap.Binding) string {
	if slices.Contains(adminOnly[b.Scope], b.Action) && s.NeedsAdmin() != "" {
		return s.NeedsAdmin()
	}
	if b.Writes {
		return s.WhyReadOnly()
	}
	return ""
}

// adminOnly are the actions that require the role admin on screens that do not.
var adminOnly = map[keymap.Scope][]keymap.Action{
	keymap.InBrowser: {keymap.ShowWhy},
	keymap.InChanges: {keymap.ShowWhy},
	keymap.InEvents:  {keymap.Open, keymap.AddNew, keymap.ShowSubscriptions},
}

// isEffective reports whether a binding has an effect on a screen.
func isEffective(front ui.Screen, b keymap.Binding) bool {
	switch b.Action {
	case keymap.OpenFilter:
		_, ok := front.(ui.Finder)
		return ok
	case keymap.GoLeft, keymap.GoRight:
		s, ok := front.(ui.Scroller)
		return ok && s.Scrolls()
	}
	return true
}

// effective returns the bindings of a scope that have an effect on a screen.
func effective(front ui.Screen, scopes []keymap.Scope, s keymap.Scope) []keymap.Binding {
	return keymap.Bindings.Within(scopes, s, func(b keymap.Binding) bool { return isEffective(front, b) })
}

// notifyUnbound notifies the user that a key has no effect on this screen. Keys that are never
// bound are ignored.
func (k *Keyboard) notifyUnbound(key string) {
	if k.host.Overlay() != nil || !keymap.Bindings.BoundOnAnyScreen(key) {
		return
	}
	if upper := strings.ToUpper(key); upper != key && len(key) == 1 {
		b, isBound := keymap.Bindings.Lookup(k.tabs.Front().Scopes(), upper)
		if isBound && isEffective(k.tabs.Front(), b) {
			k.host.Hint(ui.Info, "no "+key+" here: "+upper+" is "+b.Name())
			return
		}
	}
	if key == " " {
		key = keymap.SpaceKey
	}
	k.host.Hint(ui.Info,
		"no "+key+" here: "+keymap.KeyFor(keymap.Everywhere, keymap.ShowActions)+" lists the actions")
}

// Hints returns the bindings of the hint line.
func (k *Keyboard) Hints() []keymap.Binding {
	if f, ok := k.host.Overlay().(*ui.Form); ok {
		return f.Hints()
	}
	bound := keymap.Bindings.Hints(k.scopes())
	if h, ok := k.tabs.Front().(ui.Hinter); ok && k.host.Overlay() == nil {
		return h.Hints(bound)
	}
	return bound
}
