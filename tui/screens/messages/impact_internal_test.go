package messages

import (
	"slices"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/ui"
)

// recordingList is a list and its app, and records the confirmations and notifications of impacts.
type recordingList struct {
	inFront bool
	shown   []string
}

func (l *recordingList) Send(ui.Change) tea.Cmd { return nil }

func (l *recordingList) Delay(string, []string, func() tea.Cmd) tea.Cmd { return nil }

func (l *recordingList) Confirm(_ int, question, _ string, _ []string, _ func() tea.Cmd) *ui.Confirm {
	l.shown = append(l.shown, question)
	return new(ui.Confirm)
}

func (l *recordingList) InFront() bool { return l.inFront }

func (l *recordingList) Notify(_ ui.Level, text string) { l.shown = append(l.shown, text) }

func (l *recordingList) ShowError(action string, _ error) { l.shown = append(l.shown, action) }

// A confirmation opens only while the list is in front: otherwise its keys would be those of
// another screen.
func TestConfirmationRequiresListInFront(t *testing.T) {
	for _, test := range []struct {
		inFront bool
		want    string
	}{
		{true, "Delete 4 messages?"},
		{false, "delete cancelled: the screen changed"},
	} {
		list := &recordingList{inFront: test.inFront}
		counted := Impact{Of: &ImpactQuery{Action: keymap.Delete, All: true, Cancel: func() {}}, Matched: 4, Done: 4}
		s := &impacts{host: list, list: list, session: new(ui.Session)}
		s.Show(counted, nil)
		if !slices.Equal(list.shown, []string{test.want}) {
			t.Errorf("after a count with the list in front %v, %q is shown, want %q", test.inFront, list.shown, test.want)
		}
	}
}
