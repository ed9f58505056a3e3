package keymap

import (
	"cmp"
	"slices"
	"strings"
)

// Table is what the keys of the screens mean.
type Table []Binding

// SpaceKey is a blank as the table has it, where blanks separate keys.
const SpaceKey = "space"

// KeyNames splits a row's keys, as bubbletea names them.
func (b Binding) KeyNames() []string {
	names := strings.Fields(b.Keys)
	for i, name := range names {
		if name == SpaceKey {
			names[i] = " "
		}
	}
	return names
}

// Label is the first key as people call it, empty where there is none.
func (b Binding) Label() string {
	names := strings.Fields(b.Keys)
	switch {
	case len(names) == 0:
		return ""
	case b.Action == GoTab:
		return names[0] + ".." + names[len(names)-1]
	}
	return names[0]
}

// Lookup finds what a key means in the first of the scopes that knows it.
func (k Table) Lookup(scopes []Scope, key string) (Binding, bool) {
	for _, s := range scopes {
		for _, b := range k {
			if b.Scope == s && slices.Contains(b.KeyNames(), key) {
				return b, true
			}
		}
	}
	return Binding{}, false
}

// Within lists the bindings of a scope that a narrower one does not shadow, with
// the keys that are left to them. One that has no keys is done by the menu alone.
func (k Table) Within(scopes []Scope, s Scope) []Binding {
	var all []Binding
	for _, b := range k {
		if b.Scope != s {
			continue
		}
		var left []string
		for i, name := range b.KeyNames() {
			if found, _ := k.Lookup(scopes, name); found.Scope == s {
				left = append(left, strings.Fields(b.Keys)[i])
			}
		}
		if len(left) > 0 || b.Keys == "" {
			b.Keys = strings.Join(left, " ")
			all = append(all, b)
		}
	}
	return all
}

// Hints lists what the line of hints shows.
func (k Table) Hints(scopes []Scope) []Binding {
	var all []Binding
	for _, s := range scopes {
		for _, b := range k.Within(scopes, s) {
			if b.Hint != "" && b.Keys != "" {
				all = append(all, b)
			}
		}
	}
	return all
}

// KeysOf are the keys of an action in a scope.
func (k Table) KeysOf(s Scope, action Action) []string {
	for _, b := range k {
		if b.Scope == s && b.Action == action {
			return strings.Fields(b.Keys)
		}
	}
	return nil
}

// KeyFor names the key of an action for a text that tells of it.
func KeyFor(s Scope, action Action) string {
	if names := Bindings.KeysOf(s, action); len(names) > 0 {
		return names[0]
	}
	return "no key"
}

// Name is a binding in a word or two, where it has any.
func (b Binding) Name() string { return cmp.Or(b.Hint, b.help) }

// Description is a binding with both the word of the line of hints and its help, as one
// of them is what people look for.
func (b Binding) Description() string {
	if b.Hint == "" || strings.Contains(strings.ToLower(b.help), strings.ToLower(b.Hint)) {
		return b.help
	}
	return b.Hint + ": " + b.help
}

// BoundOnAnyScreen reports whether a key means something on any screen.
func (k Table) BoundOnAnyScreen(key string) bool {
	return slices.ContainsFunc(k, func(b Binding) bool { return b.Scope <= InRequests && slices.Contains(b.KeyNames(), key) })
}

// Navigation are the actions that change nothing but what is seen.
var Navigation = []Action{GoUp, GoDown, GoLeft, GoRight, PreviousPage, NextPage, NextMatch, PreviousMatch, NextTab, PreviousTab}
