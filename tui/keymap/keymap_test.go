package keymap

import (
	"slices"
	"testing"
	"unicode/utf8"
)

// Each key has one binding in a scope, and each binding has an action and a help text.
func TestBindingsAreComplete(t *testing.T) {
	taken := make(map[Scope]map[string]bool)
	for _, b := range Bindings {
		if taken[b.Scope] == nil {
			taken[b.Scope] = make(map[string]bool)
		}
		if b.help == "" || b.Action == noAction || len(b.KeyNames()) == 0 {
			t.Errorf("%+v is incomplete", b)
		}
		for _, key := range b.KeyNames() {
			if taken[b.Scope][key] {
				t.Errorf("%q means two things in %q", key, ScopeNames[b.Scope])
			}
			taken[b.Scope][key] = true
		}
	}
	for s, name := range ScopeNames {
		if name == "" || taken[Scope(s)] == nil {
			t.Errorf("scope %d (%q) has no name or no keys", s, name)
		}
	}
}

// Keys that terminals send for other keys, or handle themselves, are not used.
func TestBindingsAvoidReservedKeys(t *testing.T) {
	unsafeKeys := []string{"ctrl+i", "ctrl+m", "ctrl+h", "ctrl+[", "ctrl+q", `ctrl+\`, "ctrl+@"}
	for _, b := range Bindings {
		for _, key := range b.KeyNames() {
			if slices.Contains(unsafeKeys, key) {
				t.Errorf("%s: %s is not safe", b.help, key)
			}
		}
	}
}

// Actions that change data open a confirmation or a form.
func TestWritingActionsAreMarked(t *testing.T) {
	asking := []Action{AddNew, Edit, NewSecret, Retry, Delete, Test, ToggleEnabled}
	for _, b := range Bindings {
		if b.Writes != slices.Contains(asking, b.Action) {
			t.Errorf("%s (%s): writes is %v", b.Keys, b.help, b.Writes)
		}
	}
}

func TestLookupPrefersNarrowScope(t *testing.T) {
	for _, test := range []struct {
		scopes []Scope
		key    string
		want   Action
	}{
		{[]Scope{InMessages, InLists, Everywhere}, "r", Retry},
		{[]Scope{InBrowser, InGrids, InLists, Everywhere}, "h", GoLeft},
		{[]Scope{InRecord, InLists, Everywhere}, "h", PreviousTab},
		{[]Scope{InGrids, Everywhere}, " ", Mark},
		{[]Scope{InConfirm}, "r", noAction},
		{[]Scope{InLists, Everywhere}, "q", QuitOrBack},
	} {
		if b, _ := Bindings.Lookup(test.scopes, test.key); b.Action != test.want {
			t.Errorf("%q means %d in %v, want %d", test.key, b.Action, test.scopes, test.want)
		}
	}
}

// A key that is pressed twice or held must not accept a confirmation: the accept key
// differs from all keys that open one, submit or move.
func TestAcceptKeyIsDistinct(t *testing.T) {
	submitting := []Action{Accept, Submit, SubmitAndTest, NextFieldOrSubmit, Open}
	for _, b := range Bindings {
		if b.Scope == InConfirm {
			continue
		}
		isSubmitting := b.Writes || slices.Contains(submitting, b.Action)
		if !isSubmitting && !slices.Contains(Navigation, b.Action) {
			continue
		}
		for _, key := range b.KeyNames() {
			if binding, _ := Bindings.Lookup([]Scope{InConfirm}, key); binding.Action == Accept {
				t.Errorf("%q accepts a confirmation, but is also bound to: %s", key, b.help)
			}
		}
	}
}

// Text keys are not bound where text is typed.
func TestTextKeysAreNotBound(t *testing.T) {
	typedScopes := []Scope{InLine, InForm, InTypedConfirm, InTypedRetryConfirm}
	editingKeys := []string{"backspace", "delete", "left", "right", "home", "end"}
	for _, b := range Bindings {
		if !slices.Contains(typedScopes, b.Scope) {
			continue
		}
		for _, key := range b.KeyNames() {
			if utf8.RuneCountInString(key) == 1 || slices.Contains(editingKeys, key) {
				t.Errorf("%q is typed in %s, but is bound to: %s", key, ScopeNames[b.Scope], b.help)
			}
		}
	}
}

// Each scope that covers a screen has a key that leaves it.
func TestScopesCanBeLeft(t *testing.T) {
	leaving := []Action{GoBack, QuitOrBack, Quit, Decline}
	for _, s := range []Scope{
		Everywhere, InText, InConfirm, InTypedConfirm, InLine, InColumns, InForm, InMenu, InJobs, InErrors, InSecret,
	} {
		canLeave := slices.ContainsFunc(Bindings, func(b Binding) bool {
			return b.Scope == s && slices.Contains(leaving, b.Action)
		})
		if !canLeave {
			t.Errorf("no key leaves %s", ScopeNames[s])
		}
	}
}
