package tui

import (
	"slices"
	"testing"
	"unicode/utf8"
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
	unsafeKeys := []string{"ctrl+i", "ctrl+m", "ctrl+h", "ctrl+[", "ctrl+q", `ctrl+\`, "ctrl+@"}
	for _, b := range bindings {
		for _, key := range b.keyNames() {
			if slices.Contains(unsafeKeys, key) {
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

// A key that is pressed twice, or held, answers no question: yes is another key
// than those that ask or that enter and move.
func TestQuestionsHaveTheirOwnYes(t *testing.T) {
	for _, b := range bindings {
		if b.scope == inConfirm {
			continue
		}
		asks := b.writes || slices.Contains([]action{accept, submit, submitAndTest, nextField, open}, b.action) || slices.Contains(movers, b.action)
		for _, key := range b.keyNames() {
			if is, _ := bindings.lookup([]scope{inConfirm}, key); asks && is.action == accept {
				t.Errorf("%q is yes to a question, and %s", key, b.help)
			}
		}
	}
}

// Keys that are text in a line or a form do nothing else there, and each scope
// that covers a screen has a way out.
func TestKeysThatAreTyped(t *testing.T) {
	out := make(map[scope]bool)
	for _, b := range bindings {
		out[b.scope] = out[b.scope] || slices.Contains([]action{goBack, quitOrBack, quit, decline}, b.action)
		for _, key := range b.keyNames() {
			if typed := slices.Contains([]scope{inLine, inForm, inTypedConfirm, inTypedRetryQuestion}, b.scope); typed && (utf8.RuneCountInString(key) == 1 || slices.Contains([]string{"backspace", "delete", "left", "right", "home", "end"}, key)) {
				t.Errorf("%q is typed in %s", key, scopeNames[b.scope])
			}
		}
	}
	for _, s := range []scope{everywhere, inText, inConfirm, inTypedConfirm, inLine, inColumns, inForm, inMenu, inJobs, inErrors, inSecret} {
		if !out[s] {
			t.Errorf("there is no way out of %s", scopeNames[s])
		}
	}
}
