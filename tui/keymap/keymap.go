package keymap

import (
	"cmp"
	"slices"
	"strings"
)

// Table is a list of key bindings.
type Table []Binding

// SpaceKey is the name of the space key in the table, where spaces separate keys.
const SpaceKey = "space"

// KeyNames returns the keys of a binding, as bubbletea names them.
func (b Binding) KeyNames() []string {
	names := strings.Fields(b.Keys)
	for i, name := range names {
		if name == SpaceKey {
			names[i] = " "
		}
	}
	return names
}

// Label returns the first key of a binding as shown in hints, "" if it has none.
func (b Binding) Label() string {
	names := strings.Fields(b.Keys)
	if len(names) == 0 {
		return ""
	}
	if b.Action == GoTab {
		return names[0] + ".." + names[len(names)-1]
	}
	return names[0]
}

// has reports whether a key, as bubbletea names it, is one of the binding. It does not allocate: the
// hints of a frame look up each of their keys among all bindings of the screen.
func (b Binding) has(key string) bool {
	if key == " " {
		key = SpaceKey
	}
	for name := range strings.FieldsSeq(b.Keys) {
		if name == key {
			return true
		}
	}
	return false
}

// Lookup returns the binding of a key in the first scope that has one.
func (k Table) Lookup(scopes []Scope, key string) (Binding, bool) {
	for _, s := range scopes {
		for _, b := range k {
			if b.Scope == s && b.has(key) {
				return b, true
			}
		}
	}
	return Binding{}, false
}

// Within returns the wanted bindings of a scope with the keys that narrower scopes do not
// override. Bindings without keys, which are run from menus only, are included.
func (k Table) Within(scopes []Scope, s Scope, wanted func(Binding) bool) []Binding {
	var all []Binding
	for _, b := range k {
		if b.Scope != s || !wanted(b) {
			continue
		}
		var keys []string
		for i, name := range b.KeyNames() {
			if bound, _ := k.Lookup(scopes, name); bound.Scope == s {
				keys = append(keys, strings.Fields(b.Keys)[i])
			}
		}
		if len(keys) > 0 || b.Keys == "" {
			b.Keys = strings.Join(keys, " ")
			all = append(all, b)
		}
	}
	return all
}

// Hints lists the bindings of the hint line.
func (k Table) Hints(scopes []Scope) []Binding {
	var all []Binding
	for _, s := range scopes {
		all = append(all, k.Within(scopes, s, func(b Binding) bool { return b.Hint != "" && b.Keys != "" })...)
	}
	return all
}

// KeysOf returns the keys of an action in a scope.
func (k Table) KeysOf(s Scope, action Action) []string {
	for _, b := range k {
		if b.Scope == s && b.Action == action {
			return strings.Fields(b.Keys)
		}
	}
	return nil
}

// KeyFor returns the first key of an action, for use in texts.
func KeyFor(s Scope, action Action) string {
	if names := Bindings.KeysOf(s, action); len(names) > 0 {
		return names[0]
	}
	return "no key"
}

// Name returns the hint of a binding, or its help if it has none.
func (b Binding) Name() string { return cmp.Or(b.Hint, b.help) }

// Description returns the help of a binding, preceded by its hint if the help does not
// contain it.
func (b Binding) Description() string {
	if b.Hint == "" || strings.Contains(strings.ToLower(b.help), strings.ToLower(b.Hint)) {
		return b.help
	}
	return b.Hint + ": " + b.help
}

// BoundOnAnyScreen reports whether a key has a binding on any screen.
func (k Table) BoundOnAnyScreen(key string) bool {
	return slices.ContainsFunc(k, func(b Binding) bool {
		return b.Scope <= InRequests && slices.Contains(b.KeyNames(), key)
	})
}

// Navigation is the actions that only move the selection or the view.
var Navigation = []Action{
	GoUp, GoDown, GoLeft, GoRight, PreviousPage, NextPage, NextMatch, PreviousMatch,
	NextTab, PreviousTab, NextPanel, PreviousPanel,
}
