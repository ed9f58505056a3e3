package tui_test

import (
	"testing"
	"time"

	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/tuitest"
	"github.com/bizhook/whd/tui/ui"
)

// Clocks that differ are told of, and ages are those of the service's clock.
func TestClocksDiffer(t *testing.T) {
	d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{})
	at := d.Clock.Add(-time.Minute)
	for ahead, want := range map[time.Duration]string{0: "", 1900 * time.Millisecond: "", 3 * time.Second: " +3s there", -2 * time.Hour: " -2h there"} {
		d.Live(tui.LiveMsg{Connected: true, Beat: true, Ahead: ahead})
		if got := d.App.Clocks(); got != want {
			t.Errorf("%v ahead: %q, want %q", ahead, got, want)
		}
		if got, want := d.App.TimeText(at), ui.Age(time.Minute+ahead); got != want {
			t.Errorf("%v ahead: %s ago, want %s", ahead, got, want)
		}
	}
	d.Live(tui.LiveMsg{Connected: true, Beat: true, Ahead: 3 * time.Second})
	d.WantText("+3s there")
}
