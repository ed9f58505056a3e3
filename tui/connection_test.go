package tui_test

import (
	"testing"
	"time"

	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/tuitest"
	"github.com/bizhook/whd/tui/ui"
)

// A clock difference is shown, and ages are computed with the clock of the service.
func TestClockDifferenceIsShown(t *testing.T) {
	d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{})
	at := d.Clock.Add(-time.Minute)
	for ahead, want := range map[time.Duration]string{0: "", 1900 * time.Millisecond: "", 3 * time.Second: " +3s service", -2 * time.Hour: " -2h service"} {
		d.Live(tui.LiveMsg{Connected: true, Beat: true, ServerOffset: ahead})
		if got := d.App.ClockDifference(); got != want {
			t.Errorf("%v ahead: %q, want %q", ahead, got, want)
		}
		if got, want := d.App.Session.TimeText(at), ui.Age(time.Minute+ahead); got != want {
			t.Errorf("%v ahead: %s ago, want %s", ahead, got, want)
		}
	}
	d.Live(tui.LiveMsg{Connected: true, Beat: true, ServerOffset: 3 * time.Second})
	d.WantText("+3s service")
}
