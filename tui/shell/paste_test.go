package shell

import (
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// startOfTest is later than the zero time by more than any pause of a paste.
var startOfTest = time.Date(2026, 7, 1, 14, 0, 0, 0, time.UTC)

// typed returns the message with characters that arrive together.
func typed(text string) tea.KeyMsg {
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(text)}
}

// Marked pastes and messages with many characters are pastes, and so are keys right after them.
func TestDetectPaste(t *testing.T) {
	var d pasteDetector
	now := startOfTest
	for _, step := range []struct {
		name  string
		after int // milliseconds after the previous step
		key   tea.KeyMsg
		want  bool
	}{
		{"a key", 1000, typed("D"), false},
		{"a key typed fast", 200, typed("y"), false},
		{"a marked paste", 200, tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("DDyy"), Paste: true}, true},
		{"a key right after the paste", 100, typed("y"), true},
		{"a key later", 1000, typed("y"), false},
		{"many characters at once", 1000, typed("DELETE"), true},
		{"a held key over a slow line", 1000, typed("jjjjjjj"), false},
	} {
		now = now.Add(time.Duration(step.after) * time.Millisecond)
		if got := d.pasted(step.key, now, false); got != step.want {
			t.Errorf("%s: pasted is %v, want %v", step.name, got, step.want)
		}
	}
}

// Short words of an unbracketed paste are keys until there are pasteKeys of them.
func TestDetectPasteInShortMessages(t *testing.T) {
	enter := tea.KeyMsg{Type: tea.KeyEnter}
	space := tea.KeyMsg{Type: tea.KeySpace, Runes: []rune{' '}}
	for name, messages := range map[string][]tea.KeyMsg{
		"words":               {typed("to"), space, typed("be")},
		"lines":               {typed("10"), enter, typed("20")},
		"a long last message": {typed("T"), typed("rows")},
		"a line break at end": {typed("row"), space, enter},
		"single characters":   {typed("D"), typed("D"), typed("D"), typed("D"), typed("D")},
	} {
		t.Run(name, func(t *testing.T) {
			var d pasteDetector
			now := startOfTest
			for i, message := range messages {
				now = now.Add(5 * time.Millisecond)
				isLast := i == len(messages)-1
				if got := d.pasted(message, now, false); got != isLast {
					t.Errorf("message %d of %d: pasted is %v, want %v", i+1, len(messages), got, isLast)
				}
			}
		})
	}
}

// Keys of a slow line that arrive in groups are not a paste.
func TestGroupsOfKeysAreNoPaste(t *testing.T) {
	var d pasteDetector
	now := startOfTest
	for _, group := range []string{"4r", "jj", "!jr", "y"} {
		now = now.Add(300 * time.Millisecond)
		if d.pasted(typed(group), now, false) {
			t.Errorf("%s, 300 ms after the previous keys: pasted is true, want false", group)
		}
	}
}

// The keys after an unbracketed paste is detected belong to it; navigation keys may be as fast.
func TestFastKeysArePastedUnlessTheyNavigate(t *testing.T) {
	var typing, scrolling pasteDetector
	now := startOfTest
	for i := range 6 {
		now = now.Add(5 * time.Millisecond)
		want := i >= pasteKeys-1
		if got := typing.pasted(typed("D"), now, false); got != want {
			t.Errorf("key %d of an unbracketed paste: pasted is %v, want %v", i+1, got, want)
		}
		if scrolling.pasted(typed("j"), now, true) {
			t.Errorf("fast navigation key %d: pasted is true, want false", i+1)
		}
	}
}
