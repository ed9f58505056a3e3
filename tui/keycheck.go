package tui

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// What may not be, whatever the user likes: that a key means two things, that
// there is no way back, that a question is answered by the key that asked it.

// waysOut are the actions without which one is caught.
var waysOut = []action{goBack, quitOrBack, quit, decline}

// alwaysQuits is the key that ends the program wherever it is.
const alwaysQuits = "ctrl+c"

// typedIn are the scopes in which most keys are text.
var typedIn = []scope{inLine, inForm, inTypedConfirm, inTypedRetryQuestion}

// editing are the keys that change a text, besides those with a sign on them.
var editing = []string{blank, "backspace", "delete", "left", "right", "home", "end"}

// check looks at a row with keys that the user has chosen.
func (m *mapping) check(i int) error {
	b := &m.rows[i]
	names := strings.Fields(b.keys)
	switch {
	case len(names) == 0 && slices.Contains(waysOut, b.action):
		return fmt.Errorf("it must have a key in %s: it is the way out", scopeWords[b.scope])
	case b.action == goTab && len(names)%len(tabNames) != 0:
		return fmt.Errorf("it takes %d keys, one for each tab in their order, not %d", len(tabNames), len(names))
	case b.action == quit && !slices.Contains(names, alwaysQuits):
		b.keys += " " + alwaysQuits
	case b.action != quit && slices.Contains(names, alwaysQuits):
		return fmt.Errorf("%s always quits", alwaysQuits)
	}
	for _, name := range names {
		if slices.Contains(typedIn, b.scope) && (utf8.RuneCountInString(name) == 1 || slices.Contains(editing, name)) {
			return fmt.Errorf("%s is typed in %s, where it can do nothing else; [keys.%[2]s] gives it other keys there alone", name, scopeWords[b.scope])
		}
	}
	if err := m.conflict(i); err != nil {
		return err
	}
	return m.answer()
}

// conflict tells of another action that holds at the same time and has one of a
// row's keys. Usual keys may shadow each other where they do so in the table.
func (m *mapping) conflict(i int) error {
	b := m.rows[i]
	for j, other := range m.rows {
		name := common(b, other)
		switch {
		case i == j, name == "", !together(b.scope, other.scope):
		case b.action == other.action || common(bindings[i], bindings[j]) != "":
		default:
			return fmt.Errorf("%s is the key of %s in %s already", name, actionWords[other.action], scopeWords[other.scope])
		}
	}
	return nil
}

// common is a key that two rows have, empty for none.
func common(a, b binding) string {
	others := strings.Fields(b.keys)
	for name := range strings.FieldsSeq(a.keys) {
		if slices.Contains(others, name) {
			return name
		}
	}
	return ""
}

// together reports whether two scopes can hold at the same time.
func together(a, b scope) bool {
	return slices.ContainsFunc(stacks[:], func(all []scope) bool { return slices.Contains(all, a) && slices.Contains(all, b) })
}

// answer keeps the yes to a question apart from what asks one, so that no key
// that is pressed twice, or held, does anything.
func (m *mapping) answer() error {
	var yes binding
	for _, b := range m.rows {
		if b.scope == inConfirm && b.action == accept {
			yes = b
		}
	}
	if slices.Contains(strings.Fields(yes.keys), "enter") {
		return fmt.Errorf("enter is no answer to a question: it is too easily pressed; [keys.question] gives accept other keys there alone")
	}
	for _, b := range m.rows {
		if name := common(yes, b); name != "" && asks(b) {
			return fmt.Errorf("%s answers questions with yes, and %s in %s asks them: they must have different keys", name, actionWords[b.action], scopeWords[b.scope])
		}
	}
	return nil
}

// asks reports whether an action can lead to a question, or is one whose key
// people hold, also when a question comes.
func asks(b binding) bool {
	return b.writes || b.scope != inConfirm && (slices.Contains([]action{accept, submit, submitAndTest, nextField, open}, b.action) || slices.Contains(movers, b.action))
}
