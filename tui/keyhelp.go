package tui

import (
	"slices"
)

// scroller is a screen whose columns are not always all seen.
type scroller interface{ scrolls() bool }

// scrolls reports whether left and right do anything.
func (t *table) scrolls() bool { return !t.grid.Lines() || !t.grid.Whole() }

// means reports whether a binding does anything on the screen in front.
func (a *app) means(b binding) bool {
	switch b.action {
	case askFilter:
		_, ok := a.front().(finder)
		return ok
	case goLeft, goRight:
		s, ok := a.front().(scroller)
		return ok && s.scrolls()
	}
	return true
}

// inUse are the bindings of a scope that do anything on the screen in front.
func (a *app) inUse(scopes []scope, s scope) []binding {
	return slices.DeleteFunc(bindings.within(scopes, s), func(b binding) bool { return !a.means(b) })
}

// unused answers a key that means something on other screens. Those that mean
// nothing anywhere are left alone.
func (a *app) unused(key string) {
	if a.over != nil || !bindings.onScreens(key) {
		return
	}
	if key == " " {
		key = blank
	}
	a.tell(info, "no "+key+" here: "+keyFor(everywhere, showActions)+" lists what can be done")
}
