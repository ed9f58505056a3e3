package home_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
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
	if selected, ok := d.App.Front().(*messages.List).Selected(); !ok || selected.MessageID != last {
		t.Errorf("the list selects %s, want %s:\n%s", selected.MessageID, last, d.Text())
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

// Failed messages are grouped by endpoint and answer, also after a restart of the service,
// which forgets its statistics. Enter opens those of a group.
func TestHomeGroupsFailures(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	s.Instance = daemontest.StartIn(t, s.Dir, "--webhooks-allow-targets", "127.0.0.0/8")
	s.Client = tuitest.Connect(t, s.Instance)
	d := s.Open(t, tui.Options{})
	d.Resize(120, 40)
	d.WantText("no attempts", "~ RETRYING 3", "x FAILED 1", "✓ DELIVERED 4")
	if line := d.LineWith("bad/erp"); !regexp.MustCompile(` 3  503 .*11m .*upstream is down`).MatchString(line) {
		t.Errorf("no group of three messages: %s", line)
	}
	d.Resize(60, 15)
	d.WantText("endpoint, 1 of 2")
	d.Resize(120, 40)
	d.Press("j", "enter")
	d.WantText("row 1 of 3", "LastMessageResponseHTTPCode=503")
}

// A few failures are visible below thousands of deliveries, on a scale of their own.
func TestChartShowsFewFailures(t *testing.T) {
	d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{Appearance: tui.Appearance{ASCII: true, Theme: theme.Mono}})
	h := d.App.Front().(*home.Screen)
	from := d.Clock.Truncate(time.Minute).Add(-59 * time.Minute)
	stats := wire.Stats{Minutes: wire.Minutes{From: wire.Timestamp(from), Delivered: make([]int64, 60)}}
	for i := range stats.Minutes.Delivered {
		stats.Minutes.Delivered[i] = 4000
	}
	var failures []wire.Message
	for i := range 17 {
		failures = append(failures, wire.Message{MessageID: fmt.Sprint(i), LastSavedDateTime: wire.Timestamp(from.Add(time.Duration(min(i, 1)) * 20 * time.Minute))})
	}
	d.Respond(h, nil, func(error) tea.Cmd { return h.OnFetched(home.Overview{Stats: &stats, Failures: failures}, nil) })
	d.WantText("+  4,000 "+strings.Repeat("%", 60), "x     16 ."+strings.Repeat(" ", 19)+"%"+strings.Repeat(" ", 39))
}

// Key i opens the subscription of the selected endpoint or failure.
func TestHomeOpensSubscription(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.Open(t, tui.Options{})
	d.Press("j", "i")
	d.WantText("Subscribers › acme-shop › debtor.*", s.Receiver+"/bad/erp", "20h, 20h")
	d.Press("esc")
	if selected, ok := d.App.Front().(*webhooks.Subscriptions).Selected(); !ok || selected.RecID != s.Failing {
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
	if m := h.Stats.Minutes; len(m.Delivered) != 4 || m.Delivered[3] != 3 || m.Delivered[0] != 0 {
		t.Errorf("%+v", m)
	}
}
