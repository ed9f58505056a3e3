package tui

import (
	"slices"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
)

// Each key means one thing in a scope, and what means something says so.
func TestBindings(t *testing.T) {
	taken := make(map[scope]map[string]bool)
	for _, b := range bindings {
		if taken[b.scope] == nil {
			taken[b.scope] = make(map[string]bool)
		}
		if b.help == "" || b.action == noAction || len(b.keyNames()) == 0 {
			t.Errorf("%+v says too little", b)
		}
		for _, key := range b.keyNames() {
			if taken[b.scope][key] {
				t.Errorf("%q means two things in %q", key, scopeNames[b.scope])
			}
			taken[b.scope][key] = true
		}
	}
	for s, name := range scopeNames {
		if name == "" || taken[scope(s)] == nil {
			t.Errorf("scope %d (%q) has no name or no keys", s, name)
		}
	}
}

// Keys that terminals send for others, or take for themselves, are not used.
func TestBindingsAreSafe(t *testing.T) {
	for _, b := range bindings {
		for _, key := range b.keyNames() {
			if unsafeKeys[key] != "" {
				t.Errorf("%s: %s is not safe", b.help, key)
			}
		}
	}
}

// What changes something at the service asks first: its action opens a question
// or a form, or it is a form that is filled in.
func TestWritingKeysAreKnown(t *testing.T) {
	asking := []action{addNew, edit, renewSecret, retry, remove, test, toggleEnabled}
	for _, b := range bindings {
		if b.writes != slices.Contains(asking, b.action) {
			t.Errorf("%s (%s): writes is %v", b.keys, b.help, b.writes)
		}
	}
}

func TestLookup(t *testing.T) {
	for _, test := range []struct {
		scopes []scope
		key    string
		want   action
	}{
		{[]scope{inMessages, inLists, everywhere}, "r", retry},
		{[]scope{inBrowser, inGrids, inLists, everywhere}, "h", goLeft},
		{[]scope{inRecord, inLists, everywhere}, "h", previousTab},
		{[]scope{inGrids, everywhere}, " ", mark},
		{[]scope{inConfirm}, "r", noAction},
		{[]scope{inLists, everywhere}, "q", quitOrBack},
	} {
		if b, _ := bindings.lookup(test.scopes, test.key); b.action != test.want {
			t.Errorf("%q means %d in %v, want %d", test.key, b.action, test.scopes, test.want)
		}
	}
}

func TestPastesAreKnown(t *testing.T) {
	var b burst
	d := &driver{}
	typed := func(text string) tea.KeyMsg { return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(text)} }
	for _, test := range []struct {
		name  string
		after int // milliseconds
		key   tea.KeyMsg
		want  bool
	}{
		{"a key", 1000, typed("D"), false},
		{"a slow one", 200, typed("y"), false},
		{"a marked paste", 200, tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("DDyy"), Paste: true}, true},
		{"what follows it", 100, typed("y"), true},
		{"later", 1000, typed("y"), false},
		{"many at once", 1000, typed("DELETE"), true},
		{"a held key over a slow line", 1000, typed("jjjjjjj"), false},
	} {
		d.clock = d.clock.Add(ms(test.after))
		if got := b.pasted(test.key, d.clock, false); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
	b = burst{}
	for i := range 6 {
		d.clock = d.clock.Add(ms(5))
		if got := b.pasted(typed("D"), d.clock, false); got != (i >= 4) {
			t.Errorf("key %d of a paste without marks: %v", i+1, got)
		}
	}
}
