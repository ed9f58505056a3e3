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

// The overview is fetched again after changes, at most every two seconds, and after
// a minute without changes.
func TestHomeRefreshIsLimited(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.Open(t, tui.Options{})
	h := d.App.Front().(*home.Screen)
	change := tui.LiveMsg{Beat: true, Changes: []wire.MessageChange{{MessageID: "new", Status: 1, At: wire.Timestamp(d.Clock)}}}
	d.Wait(ui.PollInterval)
	d.Live(change)
	requestedAt := h.RequestedAt
	d.Clock = d.Clock.Add(500 * time.Millisecond)
	d.Live(change)
	if h.RequestedAt != requestedAt {
		t.Error("the statistics are fetched more often than every two seconds")
	}
	for range 3 {
		d.Wait(time.Second)
		d.Heartbeat()
	}
	if h.RequestedAt == requestedAt {
		t.Error("the second change is not fetched")
	}
	requestedAt = h.RequestedAt
	for range 61 {
		d.Heartbeat()
		d.Wait(time.Second)
	}
	if h.RequestedAt == requestedAt {
		t.Error("the statistics are not fetched again after a minute")
	}
}

// A failure opens on top of the list of failed messages.
func TestHomeOpensFailure(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.Open(t, tui.Options{})
	h := d.App.Front().(*home.Screen)
	if len(h.Entries()) != 2+4 {
		t.Fatalf("%d entries:\n%s", len(h.Entries()), d.Text())
	}
	d.Press("G")
	last := h.Failures[3].MessageID
	if h.SelectedKey != "message "+last {
		t.Errorf("%s is selected", h.SelectedKey)
	}
	d.Press("R")
	if h.SelectedIndex != 5 {
		t.Errorf("a refresh without changes selects entry %d", h.SelectedIndex)
	}
	d.Press("enter")
	d.WantText("Messages › "+ui.ShortID(last), "503 Service Unavailable")
	d.Press("esc")
	d.WantText("[failed or retrying]")
	if one, ok := d.App.Front().(*messages.List).Selected(); !ok || one.MessageID != last {
		t.Errorf("the list selects %s, want %s:\n%s", one.MessageID, last, d.Text())
	}
	d.Press("-", "-", "1")
	d.WantText("Recent failures")
}

// If the selected entry disappears, the index is kept; if it is back, it is selected
// again.
func TestHomeKeepsSelection(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.Open(t, tui.Options{})
	h := d.App.Front().(*home.Screen)
	d.Press("G", "up")
	kept := h.SelectedKey
	failures := h.Failures
	h.Failures = failures[2:]
	h.RestoreSelection()
	if h.SelectedKey != kept || h.Entries()[h.SelectedIndex].Key != kept {
		t.Errorf("entry %d of %d, %s for %s", h.SelectedIndex, len(h.Entries()), h.SelectedKey, kept)
	}
	h.Failures = nil
	h.RestoreSelection()
	if h.SelectedIndex != 1 {
		t.Errorf("entry %d of %d", h.SelectedIndex, len(h.Entries()))
	}
	h.Failures = failures
	h.RestoreSelection()
	if h.Entries()[h.SelectedIndex].Key != kept {
		t.Errorf("%s is not selected again", kept)
	}
}

// The share bar shows small shares of failures too.
func TestShareBarShowsSmallShares(t *testing.T) {
	d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{Appearance: tui.Appearance{ASCII: true, Theme: theme.Mono}})
	h := d.App.Front().(*home.Screen)
	for want, queue := range map[string]wire.Queue{
		"            ": {},
		"%%%%%%%%%%%%": {Delivered: 7},
		"xxxxxxxxxxxx": {Failed: 5, GivenUp: 2},
		"%%%%%%xxxxxx": {Delivered: 5, Failed: 4, GivenUp: 1},
		"%%%%%%%%%%%x": {Delivered: 9999, GivenUp: 1},
	} {
		var got strings.Builder
		for _, s := range h.Share(queue) {
			got.WriteString(s.Text)
		}
		if got.String() != want {
			t.Errorf("%d delivered, %d failed: %q, want %q", queue.Delivered, queue.Failed+queue.GivenUp, got.String(), want)
		}
	}
}

// Key i opens the subscription of the selected endpoint or failure.
func TestHomeOpensSubscription(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.Open(t, tui.Options{})
	d.Press("i")
	d.WantText("Subscribers › acme-shop › debtor.*", s.Receiver+"/bad/erp", "20h, 20h")
	d.Press("esc")
	if one, ok := d.App.Front().(*webhooks.Subscriptions).Selected(); !ok || one.RecID != s.Failing {
		t.Errorf("the subscription is not selected in the list:\n%s", d.Text())
	}
	d.Press("1", "G", "i")
	d.WantText("Subscribers › acme-shop › debtor.*")
}

// Missing or shorter series of the chart are padded.
func TestChartPadsShortSeries(t *testing.T) {
	d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{})
	h := d.App.Front().(*home.Screen)
	d.Respond(h, nil, func(error) tea.Cmd {
		return h.OnFetched(home.Overview{Stats: &wire.Stats{Minutes: wire.Minutes{Delivered: []int64{1, 2, 3}, GivenUp: []int64{1, 2, 3, 4}}}}, nil)
	})
	d.CheckScreen()
	if m := h.Stats.Minutes; len(m.Delivered) != 4 || len(m.Failed) != 4 || m.Delivered[3] != 3 || m.Delivered[0] != 0 {
		t.Errorf("%+v", m)
	}
}
