package home_test

import (
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/screens/home"
	"github.com/bizhook/whd/tui/screens/messages"
	"github.com/bizhook/whd/tui/screens/webhooks"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/tuitest"
	"github.com/bizhook/whd/tui/ui"
)

// What changes right after the figures were fetched is fetched too, and so are
// figures that are a minute old: the last hour is another one then.
func TestHomeStaysUpToDate(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.Open(t, tui.Options{})
	h := d.App.Front().(*home.Screen)
	change := tui.LiveMsg{Beat: true, Changes: []wire.MessageChange{{MessageID: "new", Status: 1, At: wire.Timestamp(d.Clock)}}}
	d.Wait(ui.PollInterval)
	d.Live(change)
	asked := h.Asked
	d.Clock = d.Clock.Add(500 * time.Millisecond)
	d.Live(change)
	if h.Asked != asked {
		t.Error("the figures are fetched more often than every two seconds")
	}
	for range 3 {
		d.Wait(time.Second)
		d.Heartbeat()
	}
	if h.Asked == asked {
		t.Error("the second change is not fetched")
	}
	asked = h.Asked
	for range 61 {
		d.Heartbeat()
		d.Wait(time.Second)
	}
	if h.Asked == asked {
		t.Error("the figures of an hour are as they were a minute ago")
	}
}

// A failure on the first screen is opened where it stands, over the list of all
// that failed, in which one can go on.
func TestFailureFromTheFirstScreen(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.Open(t, tui.Options{})
	h := d.App.Front().(*home.Screen)
	if len(h.Entries()) != 2+4 {
		t.Fatalf("%d entries:\n%s", len(h.Entries()), d.Text())
	}
	d.Press("G")
	last := h.Failures[3].MessageID
	if h.Chosen != "message "+last {
		t.Errorf("%s is chosen", h.Chosen)
	}
	d.Press("R")
	if h.At != 5 {
		t.Errorf("the same figures again choose entry %d", h.At)
	}
	d.Press("enter")
	d.WantText("Messages › "+ui.ShortID(last), "503 Service Unavailable")
	d.Press("esc")
	d.WantText("[problems]")
	if one, ok := d.App.Front().(*messages.List).Selected(); !ok || one.MessageID != last {
		t.Errorf("the list is at %s, not at %s:\n%s", one.MessageID, last, d.Text())
	}
	d.Press("-", "-", "1")
	d.WantText("Recent failures")
}

// Entries that go leave the selection where it was; a list that is there again
// selects what was chosen.
func TestChosenEntryStays(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.Open(t, tui.Options{})
	h := d.App.Front().(*home.Screen)
	d.Press("G", "up")
	kept := h.Chosen
	failures := h.Failures
	h.Failures = failures[2:]
	h.KeepChosen()
	if h.Chosen != kept || h.Entries()[h.At].Key != kept {
		t.Errorf("entry %d of %d, %s for %s", h.At, len(h.Entries()), h.Chosen, kept)
	}
	h.Failures = nil
	h.KeepChosen()
	if h.At != 1 {
		t.Errorf("entry %d of %d", h.At, len(h.Entries()))
	}
	h.Failures = failures
	h.KeepChosen()
	if h.Entries()[h.At].Key != kept {
		t.Errorf("%s is not chosen again", kept)
	}
}

// A bar tells what failed at an endpoint, also where that is little.
func TestShareOfFailures(t *testing.T) {
	d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{Appearance: tui.Appearance{ASCII: true, Theme: theme.Mono}})
	h := d.App.Front().(*home.Screen)
	for want, lane := range map[string]wire.Queue{
		"            ": {},
		"%%%%%%%%%%%%": {Delivered: 7},
		"xxxxxxxxxxxx": {Failed: 5, GivenUp: 2},
		"%%%%%%xxxxxx": {Delivered: 5, Failed: 4, GivenUp: 1},
		"%%%%%%%%%%%x": {Delivered: 9999, GivenUp: 1},
	} {
		var got strings.Builder
		for _, s := range h.Share(lane) {
			got.WriteString(s.Text)
		}
		if got.String() != want {
			t.Errorf("%d delivered, %d failed: %q, want %q", lane.Delivered, lane.Failed+lane.GivenUp, got.String(), want)
		}
	}
}

// Why an endpoint is as it is, is one key away from the first screen.
func TestSubscriptionFromTheFirstScreen(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.Open(t, tui.Options{})
	d.Press("i")
	d.WantText("Subscribers › acme-shop › debtor.*", s.Receiver+"/bad/erp", "20h, 20h")
	d.Press("esc")
	if one, ok := d.App.Front().(*webhooks.Subscriptions).Selected(); !ok || one.RecID != s.Failing {
		t.Errorf("the list is not at the subscription:\n%s", d.Text())
	}
	d.Press("1", "G", "i")
	d.WantText("Subscribers › acme-shop › debtor.*")
}

// A service that leaves series of the chart out does not end the program.
func TestUnevenMinutes(t *testing.T) {
	d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{})
	h := d.App.Front().(*home.Screen)
	d.Respond(h, nil, func(error) tea.Cmd {
		return h.Took(home.Figures{Stats: &wire.Stats{Minutes: wire.Minutes{Delivered: []int64{1, 2, 3}, GivenUp: []int64{1, 2, 3, 4}}}}, nil)
	})
	d.CheckScreen()
	if m := h.Stats.Minutes; len(m.Delivered) != 4 || len(m.Failed) != 4 || m.Delivered[3] != 3 || m.Delivered[0] != 0 {
		t.Errorf("%+v", m)
	}
}
