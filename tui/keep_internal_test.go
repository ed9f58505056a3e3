package tui

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/bizhook/whd/tui/state"
	"github.com/bizhook/whd/tui/ui"
)

// What cannot be written is told once, and is in the file when that can be
// written again.
func TestKeepingThatFails(t *testing.T) {
	dir := t.TempDir()
	blocked := filepath.Join(dir, "state")
	k, err := state.Open(blocked, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	a := &App{Session: &ui.Session{State: k}}
	for i, want := range []bool{true, false} {
		k.AddCommand(fmt.Sprint("command ", i))
		if told := a.writeState()() != nil; told != want {
			t.Errorf("write %d: told %v", i, told)
		}
	}
	if err := os.Remove(blocked); err != nil {
		t.Fatal(err)
	}
	if m := a.writeState()(); m != nil || k.Due() {
		t.Errorf("%v, due %v", m, k.Due())
	}
	if had, err := state.Open(blocked, ""); err != nil || len(had.Commands) != 2 {
		t.Errorf("%v holds %q", err, had.Commands)
	}
}
