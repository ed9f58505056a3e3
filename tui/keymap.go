package tui

import (
	"cmp"
	"slices"
	"strings"
)

// keymap is what the keys of the screens mean.
type keymap []binding

// blank is a blank as the table has it, where blanks separate keys.
const blank = "space"

// keyNames splits a row's keys, as bubbletea names them.
func (b binding) keyNames() []string {
	names := strings.Fields(b.keys)
	for i, name := range names {
		if name == blank {
			names[i] = " "
		}
	}
	return names
}

// label is the first key as people call it, empty where there is none.
func (b binding) label() string {
	names := strings.Fields(b.keys)
	switch {
	case len(names) == 0:
		return ""
	case b.action == goTab:
		return names[0] + ".." + names[len(names)-1]
	}
	return names[0]
}

// lookup finds what a key means in the first of the scopes that knows it.
func (k keymap) lookup(scopes []scope, key string) (binding, bool) {
	for _, s := range scopes {
		for _, b := range k {
			if b.scope == s && slices.Contains(b.keyNames(), key) {
				return b, true
			}
		}
	}
	return binding{}, false
}

// within lists the bindings of a scope that a narrower one does not shadow, with
// the keys that are left to them. One that has no keys is done by the menu alone.
func (k keymap) within(scopes []scope, s scope) []binding {
	var all []binding
	for _, b := range k {
		if b.scope != s {
			continue
		}
		var left []string
		for i, name := range b.keyNames() {
			if found, _ := k.lookup(scopes, name); found.scope == s {
				left = append(left, strings.Fields(b.keys)[i])
			}
		}
		if len(left) > 0 || b.keys == "" {
			b.keys = strings.Join(left, " ")
			all = append(all, b)
		}
	}
	return all
}

// hints lists what the line of hints shows.
func (k keymap) hints(scopes []scope) []binding {
	var all []binding
	for _, s := range scopes {
		for _, b := range k.within(scopes, s) {
			if b.hint != "" && b.keys != "" {
				all = append(all, b)
			}
		}
	}
	return all
}

// of are the keys of an action in a scope.
func (k keymap) of(s scope, what action) []string {
	for _, b := range k {
		if b.scope == s && b.action == what {
			return strings.Fields(b.keys)
		}
	}
	return nil
}

// keyFor names the key of an action for a text that tells of it.
func keyFor(s scope, what action) string {
	if names := bindings.of(s, what); len(names) > 0 {
		return names[0]
	}
	return "no key"
}

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

// onScreens reports whether a key means something on any screen.
func (k keymap) onScreens(key string) bool {
	return slices.ContainsFunc(k, func(b binding) bool { return b.scope <= inRequests && slices.Contains(b.keyNames(), key) })
}

// movers are the actions that change nothing but what is seen.
var movers = []action{goUp, goDown, goLeft, goRight, pageBefore, pageAfter, nextMatch, previousMatch, nextTab, previousTab}

