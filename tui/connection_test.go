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
	addedAt := d.Clock.Add(-time.Minute)
	for offset, want := range map[time.Duration]string{
		0:                       "",
		1900 * time.Millisecond: "",
		3 * time.Second:         " +3s service",
		-2 * time.Hour:          " -2h service",
	} {
		d.Live(tui.LiveMsg{Connected: true, Beat: true, ServerOffset: offset})
		if got := d.App.ClockDifference(); got != want {
			t.Errorf("service %v ahead: the difference is shown as %q, want %q", offset, got, want)
		}
		if got, want := d.App.Session.TimeText(addedAt), ui.Age(time.Minute+offset); got != want {
			t.Errorf("service %v ahead: the age is %s, want %s", offset, got, want)
		}
	}
	d.Live(tui.LiveMsg{Connected: true, Beat: true, ServerOffset: 3 * time.Second})
	d.WantText("+3s service")
}
