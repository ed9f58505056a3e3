package tui

import (
	"slices"

	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/ui"
)

// means reports whether a binding does anything on the screen in front.
func (a *app) means(b keymap.Binding) bool {
	switch b.Action {
	case keymap.AskFilter:
		_, ok := a.Front().(ui.Finder)
		return ok
	case keymap.GoLeft, keymap.GoRight:
		s, ok := a.Front().(ui.Scroller)
		return ok && s.Scrolls()
	}
	return true
}

// inUse are the bindings of a scope that do anything on the screen in front.
func (a *app) inUse(scopes []keymap.Scope, s keymap.Scope) []keymap.Binding {
	return slices.DeleteFunc(keymap.Bindings.Within(scopes, s), func(b keymap.Binding) bool { return !a.means(b) })
}

// unused answers a key that means something on other screens. Those that mean
// nothing anywhere are left alone.
func (a *app) unused(key string) {
	if a.over != nil || !keymap.Bindings.OnScreens(key) {
		return
	}
	if key == " " {
		key = keymap.Blank
	}
	a.Tell(ui.Info, "no "+key+" here: "+keymap.KeyFor(keymap.Everywhere, keymap.ShowActions)+" lists what can be done")
}
