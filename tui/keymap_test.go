package tui

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"
	"pgregory.net/rapid"
)

// Every action and scope has a name of its own that a configuration can have as
// a key without quotes, and an action stands once in a scope.
func TestKeymapNames(t *testing.T) {
	seen := make(map[[2]string]bool)
	for _, b := range bindings {
		at := [2]string{scopeWords[b.scope], actionWords[b.action]}
		if at[0] == "" || at[1] == "" || seen[at] {
			t.Errorf("%q (%s) has no name, or one that it shares: %q", b.keys, b.help, at)
		}
		seen[at] = true
	}
	words := slices.Concat(slices.Collect(maps.Values(scopeWords)), slices.Collect(maps.Values(actionWords)))
	slices.Sort(words)
	if once := slices.Compact(slices.Clone(words)); len(once) != len(words) {
		t.Errorf("names that stand for two things, in %q", words)
	}
	bare := regexp.MustCompile(`^[a-z_]+$`)
	for _, word := range words {
		if !bare.MatchString(word) {
			t.Errorf("%q needs quotes", word)
		}
	}
}

// The scopes of all that can be open are those that are looked at for conflicts.
func TestStacks(t *testing.T) {
	d := startDeliveries(t).open(t, Options{})
	var found [][]scope
	for _, place := range screensWithActions {
		w := &walk{d, nil}
		w.at(place)
		found = append(found, append(d.app.front().scopes(), everywhere))
	}
	d.press(":", "'SO_Totals", "enter", "C")
	a := d.app
	for _, over := range []overlay{a.over, newHelp(a), newMenu(a), newLogin(a), newErrors(a), newJobList(a), &confirm{}, &typedConfirm{}, &confirm{other: func() {}}, &typedConfirm{confirm: confirm{other: func() {}}}, &picker{}, &secretBox{}} {
		found = append(found, over.scopes())
	}
	a.line = newCommandLine(a)
	found = append(found, a.scopes())
	same := func(list [][]scope, one []scope) bool {
		return slices.ContainsFunc(list, func(other []scope) bool { return slices.Equal(one, other) })
	}
	for _, one := range found {
		if !same(stacks[:], one) {
			t.Errorf("%v hold at the same time", one)
		}
	}
	for _, one := range stacks {
		if !same(found, one) {
			t.Errorf("%v never hold at the same time", one)
		}
	}
}

func TestNewKeymap(t *testing.T) {
	type want struct {
		scope scope
		what  action
		keys  string
	}
	for _, test := range []struct {
		name     string
		settings []KeySetting
		want     []want
		err      string
	}{
		{name: "nothing", want: []want{{inMessages, retry, "r"}}},
		{"everywhere that it stands", []KeySetting{{Action: "retry", Keys: []string{"w", "f9"}}}, []want{{inMessages, retry, "w f9"}, {inMessage, retry, "w f9"}}, ""},
		{"in one scope", []KeySetting{{Scope: "messages", Action: "retry", Keys: []string{"w"}}}, []want{{inMessages, retry, "w"}, {inMessage, retry, "r"}}, ""},
		{"one scope wins, in any order", []KeySetting{{Scope: "messages", Action: "retry", Keys: []string{"w"}}, {Action: "retry", Keys: []string{"m"}}}, []want{{inMessages, retry, "w"}, {inMessage, retry, "m"}}, ""},
		{"none", []KeySetting{{Action: "undo"}}, []want{{everywhere, takeBack, ""}}, ""},
		{"two that change places", []KeySetting{{Action: "retry", Keys: []string{"R"}}, {Action: "refresh", Keys: []string{"r", "f5"}}}, []want{{inMessages, retry, "R"}, {everywhere, refresh, "r f5"}}, ""},
		{"names in capitals", []KeySetting{{Action: "pause", Keys: []string{"F7", "Alt+P"}}, {Action: "mark", Keys: []string{" "}}}, []want{{everywhere, pauseLive, "f7 alt+P"}, {inGrids, mark, "space"}}, ""},
		{"quit besides ctrl+c", []KeySetting{{Action: "quit", Keys: []string{"f10"}}}, []want{{everywhere, quit, "f10 ctrl+c"}}, ""},
		{"a shadow as the table has it", []KeySetting{{Action: "left", Keys: []string{"left", "h", "H"}}}, []want{{inLists, goLeft, "left h H"}}, ""},
		{"other letters of tabs", []KeySetting{{Action: "tabs", Keys: []string{"f2", "f3", "f4", "f6", "f7", "f8"}}}, []want{{everywhere, goTab, "f2 f3 f4 f6 f7 f8"}}, ""},
		{"no such action", []KeySetting{{Action: "retyr", Keys: []string{"w"}}}, nil, "config:1: keys.retyr: no action is called so; did you mean retry?"},
		{"no such scope", []KeySetting{{Scope: "mesages", Action: "retry", Keys: []string{"w"}}}, nil, "there is no [keys.mesages]; did you mean messages or message?"},
		{"not there", []KeySetting{{Scope: "home", Action: "retry", Keys: []string{"w"}}}, nil, "keys.home.retry: it stands in other places: messages, message"},
		{"no such key", []KeySetting{{Action: "retry", Keys: []string{"ctrl+shft+r"}}}, nil, `no key is called "ctrl+shft+r"`},
		{"nearly a key", []KeySetting{{Action: "retry", Keys: []string{"spce"}}}, nil, "did you mean space?"},
		{"a key that never comes", []KeySetting{{Action: "retry", Keys: []string{"ctrl+m"}}}, nil, "ctrl+m comes as enter"},
		{"an empty key", []KeySetting{{Action: "retry", Keys: []string{""}}}, nil, `no key is called ""`},
		{"another blank", []KeySetting{{Action: "retry", Keys: []string{"\u00a0"}}}, nil, "no key is called"},
		{"alt alone", []KeySetting{{Action: "retry", Keys: []string{"alt+"}}}, nil, `no key is called`},
		{"alt twice", []KeySetting{{Action: "retry", Keys: []string{"alt+alt+r"}}}, nil, `no key is called "alt+alt+r"`},
		{"twice", []KeySetting{{Action: "retry", Keys: []string{"w", "w"}}}, nil, "w stands twice"},
		{"a key of the same screen", []KeySetting{{Action: "retry", Keys: []string{"a"}}}, nil, "keys.retry: a is the key of mark_all in messages already"},
		{"a key of everywhere", []KeySetting{{Action: "retry", Keys: []string{"p"}}}, nil, "p is the key of pause in everywhere already"},
		{"a key of a screen, everywhere", []KeySetting{{Action: "pause", Keys: []string{"r"}}}, nil, "r is the key of retry in messages already"},
		{"two settings", []KeySetting{{Action: "retry", Keys: []string{"w"}}, {Action: "mouse", Keys: []string{"w"}}}, nil, "w is the key of"},
		{"no way back", []KeySetting{{Action: "back"}}, nil, "it must have a key in everywhere"},
		{"no way to say no", []KeySetting{{Scope: "question", Action: "decline"}}, nil, "it must have a key in question"},
		{"no way to quit", []KeySetting{{Action: "quit"}}, nil, "it must have a key"},
		{"ctrl+c", []KeySetting{{Action: "copy", Keys: []string{"ctrl+c"}}}, nil, "ctrl+c always quits"},
		{"five tabs", []KeySetting{{Action: "tabs", Keys: []string{"1", "2", "3", "4", "5"}}}, nil, "takes 6 keys"},
		{"a letter in a form", []KeySetting{{Scope: "form", Action: "back", Keys: []string{"q"}}}, nil, "q is typed in form"},
		{"what edits a line", []KeySetting{{Scope: "line", Action: "complete", Keys: []string{"right"}}}, nil, "right is typed in line"},
		{"yes by enter", []KeySetting{{Scope: "question", Action: "accept", Keys: []string{"enter"}}, {Scope: "question", Action: "decline", Keys: []string{"esc"}}}, nil, "enter is no answer"},
		{"yes by what asks", []KeySetting{{Scope: "question", Action: "accept", Keys: []string{"D"}}}, nil, "D answers questions with yes, and delete in"},
		{"what asks by yes", []KeySetting{{Action: "retry", Keys: []string{"Y"}}, {Action: "copy_row", Keys: []string{"f9"}}, {Scope: "question", Action: "accept", Keys: []string{"Y"}}}, nil, "Y answers questions with yes, and retry in messages asks them"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for i := range test.settings {
				test.settings[i].Origin = "config:1"
			}
			k, err := NewKeymap(test.settings)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) || k != nil {
					t.Fatalf("%v, want %q", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range test.want {
				if got := strings.Join(k.of(w.scope, w.what), " "); got != w.keys {
					t.Errorf("%s in %s has %q, want %q", actionWords[w.what], scopeWords[w.scope], got, w.keys)
				}
			}
		})
	}
}

// Whoever writes other letters on all keys has the same keymap with those.
func TestPermutedKeys(t *testing.T) {
	var signs []string
	for _, b := range bindings {
		for _, name := range b.keyNames() {
			if name != " " && utf8.RuneCountInString(name) == 1 && !slices.Contains(signs, name) {
				signs = append(signs, name)
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		to := make(map[string]string)
		for i, name := range rapid.Permutation(signs).Draw(t, "keys") {
			to[signs[i]] = name
		}
		var settings []KeySetting
		for _, row := range (Keymap)(nil).Rows() {
			s := KeySetting{Scope: row.Scope, Action: row.Action}
			for _, name := range row.Keys {
				s.Keys = append(s.Keys, renamed(to, name))
			}
			settings = append(settings, s)
		}
		k, err := NewKeymap(settings)
		if err != nil {
			t.Fatal(err)
		}
		for _, stack := range stacks {
			for _, b := range bindings {
				for _, name := range b.keyNames() {
					was, _ := bindings.lookup(stack, name)
					if is, _ := k.lookup(stack, renamed(to, name)); is.action != was.action || is.scope != was.scope {
						t.Fatalf("%s was %s in %v and %s is %s", name, actionWords[was.action], stack, renamed(to, name), actionWords[is.action])
					}
				}
			}
		}
	})
}

func renamed(to map[string]string, name string) string {
	if other := to[name]; other != "" {
		return other
	}
	return name
}

// Whatever a configuration says: either it is refused, or each of its keys does
// what it says, no action has lost a key to it, and a question is safe.
func TestChosenKeysAreUnambiguous(t *testing.T) {
	names := []string{"a", "b", "d", "h", "j", "q", "r", "w", "y", "D", "Y", "R", "?", "/", "[", "1", "space", "enter", "esc", "tab", "up", "f1", "f9", "ctrl+s", "ctrl+x", "alt+r"}
	rows := (Keymap)(nil).Rows()
	accepted := 0
	rapid.Check(t, func(t *rapid.T) {
		var settings []KeySetting
		for range rapid.IntRange(1, 4).Draw(t, "count") {
			row := rapid.SampledFrom(rows).Draw(t, "row")
			s := KeySetting{Scope: row.Scope, Action: row.Action, Keys: rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, 3, rapid.ID).Draw(t, "keys")}
			if rapid.Bool().Draw(t, "of all") {
				s.Scope = ""
			}
			settings = append(settings, s)
		}
		k, err := NewKeymap(settings)
		if err != nil {
			return
		}
		accepted++
		for _, stack := range stacks {
			checkStack(t, k, stack)
		}
		for _, b := range k {
			if slices.Contains(k.of(inConfirm, accept), "enter") || b.writes && common(b, binding{keys: strings.Join(k.of(inConfirm, accept), " ")}) != "" {
				t.Fatalf("%s in %s answers its own question", actionWords[b.action], scopeWords[b.scope])
			}
		}
	})
	if accepted == 0 {
		t.Error("every configuration was refused")
	}
}

// checkStack fails where a key does something else than its row says, unless the
// table has it so.
func checkStack(t *rapid.T, k Keymap, stack []scope) {
	for i, b := range k {
		if !slices.Contains(stack, b.scope) {
			continue
		}
		for _, name := range b.keyNames() {
			is, _ := k.lookup(stack, name)
			j := slices.IndexFunc(k, func(other binding) bool { return other.scope == is.scope && other.action == is.action })
			if j != i && is.action != b.action && common(bindings[i], bindings[j]) == "" {
				t.Fatalf("%s is the key of %s in %s, and does %s of %s", name, actionWords[b.action], scopeWords[b.scope], actionWords[is.action], scopeWords[is.scope])
			}
		}
		if slices.Contains(waysOut, b.action) && b.keys == "" {
			t.Fatalf("no way out of %s", scopeWords[b.scope])
		}
	}
}

// keymapOf is what a configuration makes.
func keymapOf(t testing.TB, settings ...KeySetting) Keymap {
	t.Helper()
	k, err := NewKeymap(settings)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// Another key is the one that works, that is hinted at, and that help and the
// list of actions name; the usual one does nothing any more.
func TestOtherKeys(t *testing.T) {
	s := startDeliveries(t)
	d := s.open(t, Options{Keys: keymapOf(t,
		KeySetting{Action: "retry", Keys: []string{"w", "f9"}},
		KeySetting{Scope: "question", Action: "accept", Keys: []string{"Y"}},
		KeySetting{Action: "undo"},
		KeySetting{Action: "help", Keys: []string{"H"}},
		KeySetting{Action: "tabs", Keys: []string{"A", "B", "Q", "b", "I", "L"}},
	)})
	d.sees("A Home", "b Messages", "H help")
	d.press("4")
	d.sees("A Home", " Home ")
	d.press("b")
	d.sees("w retry", "following")
	d.press("down", "r")
	if d.app.over != nil {
		t.Errorf("r does something still:\n%s", d.text())
	}
	d.press("H")
	d.sees("w f9 ", "retry: send again: the row")
	d.press("esc", "x", "down")
	d.sees("w       retry: send again")
	d.press("enter")
	d.sees("Retry this message?", "Y retry it")
	d.press("esc", "w")
	d.sees("Retry this message?")
	d.press("y")
	d.sees("Retry this message?")
	d.press("Y")
	d.sees("retry of inventory.stocklevel")
	d.send(tea.KeyMsg{Type: tea.KeyF9})
	d.sees("Retry this message?")
	d.press("esc", "D")
	d.sees("no key takes that back")
}
