package shell

import (
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

func TestDetectPaste(t *testing.T) {
	var b pasteDetector
	var clock time.Time
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
		{"key after a paste", 100, typed("y"), true},
		{"later", 1000, typed("y"), false},
		{"many at once", 1000, typed("DELETE"), true},
		{"a held key over a slow line", 1000, typed("jjjjjjj"), false},
	} {
		clock = clock.Add(time.Duration(test.after) * time.Millisecond)
		if got := b.pasted(test.key, clock, false); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
	// Short words of an unbracketed paste are keys until there are five.
	enter, space := tea.KeyMsg{Type: tea.KeyEnter}, tea.KeyMsg{Type: tea.KeySpace, Runes: []rune{' '}}
	for name, keys := range map[string][]tea.KeyMsg{
		"words":      {typed("to"), space, typed("be")},
		"lines":      {typed("10"), enter, typed("20")},
		"a long one": {typed("T"), typed("rows")},
		"at the end": {typed("row"), space, enter},
	} {
		clock, b = clock.Add(time.Second), pasteDetector{}
		for i, key := range keys {
			clock = clock.Add(5 * time.Millisecond)
			if got := b.pasted(key, clock, false); got != (i == len(keys)-1) {
				t.Errorf("%s, message %d: %v", name, i+1, got)
			}
		}
	}
	// Keys of a slow line that arrive in groups are not a paste.
	for _, group := range []string{"4r", "jj", "!jr", "y"} {
		clock = clock.Add(300 * time.Millisecond)
		if b.pasted(typed(group), clock, false) {
			t.Errorf("%s is ignored", group)
		}
	}
	b = pasteDetector{}
	for i := range 6 {
		clock = clock.Add(5 * time.Millisecond)
		if got := b.pasted(typed("D"), clock, false); got != (i >= 4) {
			t.Errorf("key %d of an unbracketed paste: %v", i+1, got)
		}
	}
}
