package tui_test

import (
	"testing"

	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/tuitest"
)

// TestAbbreviatedCommands: a command that is found by a part of its name requires its argument, as
// under its whole name.
func TestAbbreviatedCommands(t *testing.T) {
	for text, want := range map[string]string{
		"chang": `unknown record kind: ""`,
		"wh":    "give the key of an event or record, or the ID of a message",
		"sav":   "enter a name, such as :save failed-today",
		"dro":   "no saved views; add one with :save NAME",
	} {
		d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{})
		d.App.TypeCommand(text)
		d.Press("enter")
		d.WantText(want)
	}
}

func TestAbbreviatedCommandRuns(t *testing.T) {
	d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{})
	d.App.TypeCommand("erro")
	d.Press("enter")
	d.WantText("Errors")
}
