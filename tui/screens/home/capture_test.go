package home_test

import (
	"testing"

	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/tuitest"
)

// Captures that have stopped or lag by more than two sweeps are listed with the reason, and
// open their changes.
func TestLateCapturesGoldens(t *testing.T) {
	c := tuitest.CannedDaemon(t, tuitest.DemoDaemon(t), map[string]string{"/Changes": `[
		{"Kind":"IN_Colours","Phase":"capturing","Lag":"PT10M","Reason":"a lock"},
		{"Kind":"SO_Totals","Phase":"capturing","Lag":"PT1M50S","Reason":"slow"},
		{"Kind":"CR_Main","Phase":"stopped","Reason":"read as empty","Lag":"PT1S","Manual":true}]`})
	tuitest.ForAppearances(t, func(t *testing.T, appearance string, o tui.Options) {
		d := tuitest.Drive(t, c, o)
		d.AwaitLive()
		d.WantText("IN_Colours 10m late, a lock", "CR_Main stopped, read as empty")
		d.WantNoText("SO_Totals")
		d.Golden("S01-home-late", appearance)
		d.Press("enter")
		d.WantText("Changes of IN_Colours")
	})
}
