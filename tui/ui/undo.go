package ui

import (
	"time"

	"github.com/bizhook/whd/tui/keymap"
)

// UndoDelay is the time during which a delayed change can be undone; see Host.Delay.
const UndoDelay = 5 * time.Second

// UndoAction returns the key that undoes a delayed change, and the words for it.
func UndoAction() (key, words string) {
	return keymap.KeyFor(keymap.Everywhere, keymap.Undo), "undo"
}

// UndoHint explains in a confirmation how to undo the change.
func UndoHint() string {
	key, words := UndoAction()
	return "Press " + key + " within " + Age(UndoDelay) + " to " + words + "."
}

// NothingToUndo explains that no change is delayed.
func NothingToUndo() string {
	return "nothing to undo: only deletes of messages can be undone, for " + Age(UndoDelay)
}

// Undone is the notice that a change was undone.
func Undone(name string) string { return name + ": undone, nothing was sent" }

// DelayedText returns the name of a delayed change and the time until it is sent, rounded up.
func DelayedText(name string, wait time.Duration) string {
	return name + " in " + Age((wait + time.Second - 1).Truncate(time.Second))
}
