package tui

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/record"
)

// KeySetting is what a configuration says of an action: its keys, in one scope,
// or in all that it stands in.
type KeySetting struct {
	Scope  string // empty for all
	Action string
	Keys   []string // in place of the usual ones; none takes all keys away
	Origin string   // where it is said, for errors
}

// NewKeymap is the usual keymap with other keys for some actions. What is said
// of one scope wins over what is said of all. An error is of the first setting
// that makes no sense, or that would take a key away from another action.
func NewKeymap(settings []KeySetting) (Keymap, error) {
	m := mapping{rows: slices.Clone(bindings), set: make(map[int]KeySetting)}
	for _, ofOne := range []bool{false, true} {
		for _, s := range settings {
			if (s.Scope != "") != ofOne {
				continue
			}
			if err := m.take(s); err != nil {
				return nil, s.wrong("%w", err)
			}
		}
	}
	for i := range m.rows {
		if s, chosen := m.set[i]; chosen {
			if err := m.check(i); err != nil {
				return nil, s.wrong("%w", err)
			}
		}
	}
	return m.rows, nil
}

// wrong is an error with where and of what it is.
func (s KeySetting) wrong(format string, args ...any) error {
	name := s.Action
	if s.Scope != "" {
		name = s.Scope + "." + name
	}
	return fmt.Errorf("%s: keys.%s: %w", s.Origin, name, fmt.Errorf(format, args...))
}

// mapping is a keymap that is being made.
type mapping struct {
	rows Keymap
	set  map[int]KeySetting // that made a row what it is
}

// take puts the keys of a setting into its rows.
func (m *mapping) take(s KeySetting) error {
	what, known := called(actionWords, s.Action)
	if !known {
		return fmt.Errorf("no action is called so%s (whctl config keys lists them)", didYouMean(s.Action, actionWords))
	}
	where, known := called(scopeWords, s.Scope)
	if !known && s.Scope != "" {
		return fmt.Errorf("there is no [keys.%s]%s (whctl config keys lists them)", s.Scope, didYouMean(s.Scope, scopeWords))
	}
	names, err := readKeys(s.Keys)
	if err != nil {
		return err
	}
	var stands []string
	found := false
	for i, b := range m.rows {
		if b.action != what {
			continue
		}
		stands = append(stands, scopeWords[b.scope])
		if s.Scope == "" || b.scope == where {
			m.rows[i].keys, m.set[i], found = strings.Join(names, " "), s, true
		}
	}
	if !found {
		return fmt.Errorf("it stands in other places: %s", strings.Join(stands, ", "))
	}
	return nil
}

func called[K comparable](words map[K]string, word string) (K, bool) {
	for k, v := range words {
		if v == word {
			return k, true
		}
	}
	var none K
	return none, false
}

func didYouMean[K comparable](word string, words map[K]string) string {
	near := record.Near(word, slices.Sorted(maps.Values(words)))
	if len(near) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(near, " or ") + "?"
}

// readKeys reads the names of keys.
func readKeys(texts []string) ([]string, error) {
	var names []string
	for _, text := range texts {
		name, err := readKey(text)
		if err != nil {
			return nil, err
		}
		if slices.Contains(names, name) {
			return nil, fmt.Errorf("%s stands twice", name)
		}
		names = append(names, name)
	}
	return names, nil
}

// readKey reads the name of a key: one sign, or a name such as f5 or ctrl+r.
func readKey(text string) (string, error) {
	if text == " " {
		return blank, nil
	}
	if r, size := utf8.DecodeRuneInString(text); text != "" && size == len(text) && unicode.IsPrint(r) {
		return text, nil
	}
	if head, rest, several := strings.Cut(text, "+"); several && strings.EqualFold(head, "alt") {
		name, err := readKey(rest)
		if err == nil && (name == blank || strings.HasPrefix(name, "alt+")) {
			err = noKey(text)
		}
		return "alt+" + name, err
	}
	name := strings.ToLower(text)
	if instead, unsafe := unsafeKeys[name]; unsafe {
		return "", fmt.Errorf("%s %s", name, instead)
	}
	if !slices.Contains(namedKeys(), name) {
		return "", noKey(text)
	}
	return name, nil
}

func noKey(text string) error {
	near := record.Near(text, namedKeys())
	if len(near) == 0 {
		return fmt.Errorf("no key is called %q; a key is one letter or sign, or a name such as space, f5, ctrl+r, alt+x or pgup", text)
	}
	return fmt.Errorf("no key is called %q; did you mean %s?", text, strings.Join(near, " or "))
}

// unsafeKeys never come, or come as others, and what to do about that.
var unsafeKeys = map[string]string{
	"ctrl+i": "comes as tab: take tab", "ctrl+m": "comes as enter: take enter", "ctrl+h": "comes as backspace from many terminals",
	"ctrl+[": "comes as esc: take esc", "ctrl+q": "is kept by terminals, which go on with it", `ctrl+\`: "is kept by terminals, which end programs with it",
	"ctrl+@": "does not come from many terminals",
}

// namedKeys are the keys that are no signs, as bubbletea names them.
var namedKeys = sync.OnceValue(func() []string {
	names := []string{blank}
	for t := tea.KeyType(-128); t < 128; t++ {
		if name := t.String(); len(name) > 1 && t != tea.KeyRunes && unsafeKeys[name] == "" {
			names = append(names, name)
		}
	}
	return names
})
