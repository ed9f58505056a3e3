package tui

import (
	"cmp"
	"slices"
	"strings"
)

// What is said of keys: in the help, in the list of actions, and where one means
// nothing.

// name is a binding in a word or two, where it has any.
func (b binding) name() string { return cmp.Or(b.hint, b.help) }

// said is a binding with both the word of the line of hints and its help, as one
// of them is what people look for.
func (b binding) said() string {
	if b.hint == "" || strings.Contains(strings.ToLower(b.help), strings.ToLower(b.hint)) {
		return b.help
	}
	return b.hint + ": " + b.help
}

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
	a.tell(info, "no "+key+" here: "+a.keyFor(everywhere, showActions)+" lists what can be done")
}

// onScreens reports whether a key means something on any screen.
func (k keymap) onScreens(key string) bool {
	return slices.ContainsFunc(k, func(b binding) bool { return b.scope <= inRequests && slices.Contains(b.keyNames(), key) })
}
