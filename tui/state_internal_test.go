package tui

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/tui/state"
)

// A failed write is reported once, and its data is written by the next successful
// write.
func TestStateWriteFailureIsReportedOnce(t *testing.T) {
	dir := t.TempDir()
	blocked := filepath.Join(dir, "state")
	store, err := state.Open(blocked, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	write := func() tea.Msg { return writeState(store, func(string, error) {})() }
	for i, want := range []bool{true, false} {
		store.AddCommand(fmt.Sprint("command ", i))
		if reported := write() != nil; reported != want {
			t.Errorf("write %d: reported %v", i, reported)
		}
	}
	if err := os.Remove(blocked); err != nil {
		t.Fatal(err)
	}
	if m := write(); m != nil || store.Due() {
		t.Errorf("%v, due %v", m, store.Due())
	}
	if read, err := state.Open(blocked, ""); err != nil || len(read.Commands) != 2 {
		t.Errorf("%v holds %q", err, read.Commands)
	}
}
