package tui

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/bizhook/whd/tui/state"
	"github.com/bizhook/whd/tui/ui"
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
	a := &App{Session: &ui.Session{State: store}}
	for i, want := range []bool{true, false} {
		store.AddCommand(fmt.Sprint("command ", i))
		if reported := a.writeState()() != nil; reported != want {
			t.Errorf("write %d: reported %v", i, reported)
		}
	}
	if err := os.Remove(blocked); err != nil {
		t.Fatal(err)
	}
	if m := a.writeState()(); m != nil || store.Due() {
		t.Errorf("%v, due %v", m, store.Due())
	}
	if read, err := state.Open(blocked, ""); err != nil || len(read.Commands) != 2 {
		t.Errorf("%v holds %q", err, read.Commands)
	}
}
