package home_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/screens/home"
	"github.com/bizhook/whd/tui/screens/messages"
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
	message := wire.MessageChange{
		MessageID: "new",
		Status:    ui.StatusDelivered,
		At:        wire.Timestamp(d.Clock),
	}
	change := tui.LiveMsg{Beat: true, Changes: []wire.MessageChange{message}}
	d.Wait(ui.PollInterval)
	d.Live(change)
	first := h.RequestedAt
	d.Clock = d.Clock.Add(500 * time.Millisecond)
	d.Live(change)
	if h.RequestedAt != first {
		t.Errorf("half a second after a request, a change: requested at %v, want no request after %v",
			h.RequestedAt, first)
	}

	for range 3 {
		d.Wait(time.Second)
		d.Heartbeat()
	}
	second := h.RequestedAt
	if second == first {
		t.Errorf("three seconds after the second change: last request at %v, want a later one", second)
	}

	for range 61 {
		d.Heartbeat()
		d.Wait(time.Second)
	}
	if h.RequestedAt == second {
		t.Errorf("a minute after the last change: last request at %v, want a later one", h.RequestedAt)
	}
}

// A failure opens on top of the list of failed messages.
func TestHomeOpensFailure(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.Open(t, tui.Options{})
	d.Resize(120, 40)
	h := d.App.Front().(*home.Screen)
	const before, failures = 4, 4 // two endpoints and two groups are before the failures
	if n := len(h.Entries()); n != before+failures {
		t.Fatalf("there are %d entries, want %d:\n%s", n, before+failures, d.Text())
	}
	d.Press("G")
	last := h.Failures[failures-1].MessageID
	if want := "message " + last; h.SelectedKey != want {
		t.Errorf("G selects %s, want %s", h.SelectedKey, want)
	}
	d.Press("R")
	if want := before + failures - 1; h.SelectedIndex != want {
		t.Errorf("a refresh without changes selects entry %d, want %d", h.SelectedIndex, want)
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
	d.Resize(120, 40)
	d.Press("G", "up")
	selected := h.SelectedKey
	failures := h.Failures
	selectedEntry := func() string { return h.Entries()[h.SelectedIndex].Key }

	h.Failures = failures[2:]
	h.RestoreSelection()
	if got := selectedEntry(); h.SelectedKey != selected || got != selected {
		t.Errorf("without the first failures, %s is selected, want %s", got, selected)
	}
	h.Failures = nil
	h.RestoreSelection()
	if h.SelectedIndex != 3 {
		t.Errorf("without failures, entry %d of %d is selected, want 3, the last one", h.SelectedIndex, len(h.Entries()))
	}
	h.Failures = failures
	h.RestoreSelection()
	if got := selectedEntry(); got != selected {
		t.Errorf("with all failures, %s is selected, want %s", got, selected)
	}
}

// TestHomeGroupsFailures checks that failed messages are grouped by endpoint and answer, also after a
// restart of the service, which keeps its statistics. Enter opens those of a group.
func TestHomeGroupsFailures(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	s.Instance = daemontest.StartIn(t, s.Dir, "--webhooks-allow-targets", "127.0.0.0/8")
	s.Client = tuitest.Connect(t, s.Instance)
	d := s.Open(t, tui.Options{})
	d.Resize(120, 40)
	d.WantText("80.0 %", "waiting 3 (3 retrying)", "✗ 1 failed", "✓ 4 delivered", "2 of 3 in trouble", "2 groups")
	line := d.LineWith("debtor.updated")
	if !regexp.MustCompile(`↻ +3 +503 upstream is down +debtor.updated +acme-shop +next in \d+h`).MatchString(line) {
		t.Errorf("the group is %q, want 3 messages with answer 503", line)
	}
	d.Press("j", "enter")
	d.WantText("LastMessageResponseHTTPCode=503")
}

// A few failures are visible below thousands of deliveries, on a scale of their own.
func TestChartShowsFewFailures(t *testing.T) {
	appearance := tui.Appearance{ASCII: true, Theme: theme.Mono}
	d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{Appearance: appearance})
	h := d.App.Front().(*home.Screen)
	from := d.Clock.Truncate(time.Minute).Add(-59 * time.Minute)
	stats := wire.Stats{Minutes: wire.Minutes{From: wire.Timestamp(from), Delivered: make([]int64, 60)}}
	for i := range stats.Minutes.Delivered {
		stats.Minutes.Delivered[i] = 4000
	}
	stats.SuccessRate = new(0.99)
	stats.Subscriptions = 1
	stats.Minutes.GivenUp = make([]int64, 60)
	stats.Minutes.GivenUp[0], stats.Minutes.GivenUp[20] = 1, 16
	d.Respond(h, nil, func(error) tea.Cmd {
		return h.OnFetched(home.Overview{Stats: &stats}, nil)
	})
	d.WantText("4.0k a minute +"+strings.Repeat("#", 60),
		"x failed +."+strings.Repeat(".", 19)+"#"+strings.Repeat(".", 39))
}

// Key i opens the subscription of the selected endpoint or failure. Esc returns to Home, not to the list
// of subscriptions, which the user has not opened.
func TestHomeOpensSubscription(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.Open(t, tui.Options{})
	d.Press("j", "i")
	d.WantText("Subscribers › acme-shop › debtor.*", s.Receiver+"/bad/erp", "20h, 20h")
	d.Press("esc")
	if _, isHome := d.App.Front().(*home.Screen); !isHome {
		t.Errorf("esc goes to %s, want Home", d.App.Front().Title())
	}
	d.Press("G", "i")
	d.WantText("Subscribers › acme-shop › debtor.*")
}

// A screen that was opened from Home has Home as its previous location, not the list below it, which
// the user has not seen.
func TestHomeIsPreviousLocation(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.Open(t, tui.Options{})
	d.Resize(120, 40)
	for _, c := range []struct{ key, opened string }{
		{"enter", "Messages › "},
		{"i", "Subscribers › acme-shop › debtor.*"},
	} {
		d.Press("G", c.key)
		d.WantText(c.opened)
		d.Press("-")
		d.WantText("Recent failures")
		d.Press("-")
		d.WantText(c.opened)
		d.Press("1")
	}
}

// Missing or shorter series of the chart are padded.
func TestChartPadsShortSeries(t *testing.T) {
	d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{})
	h := d.App.Front().(*home.Screen)
	minutes := wire.Minutes{Delivered: []int64{1, 2, 3}, GivenUp: []int64{1, 2, 3, 4}}
	stats := wire.Stats{Minutes: minutes, Subscriptions: 1, SuccessRate: new(0.5)}
	d.Respond(h, nil, func(error) tea.Cmd { return h.OnFetched(home.Overview{Stats: &stats}, nil) })
	d.CheckScreen()
	if got, want := h.Stats.Minutes.Delivered, []int64{0, 1, 2, 3}; !slices.Equal(got, want) {
		t.Errorf("the series of delivered messages is %v, want %v", got, want)
	}
}

// Esc returns to Home from the screens opened there, one after the other.
func TestEscReturnsToHome(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	for name, keys := range map[string][]string{
		"a group":                     {"enter", "esc"},
		"a failure and its list":      {"G", "enter", "esc", "esc"},
		"a subscription and its list": {"i", "esc", "esc"},
		"all problems":                {"!", "enter", "esc", "esc"},
	} {
		d := s.Open(t, tui.Options{})
		d.Resize(120, 40)
		d.Press(keys...)
		if _, isHome := d.App.Front().(*home.Screen); !isHome {
			t.Errorf("%s: after %q, the screen is\n%s\nwant Home", name, keys, d.Text())
		}
	}
	d := s.Open(t, tui.Options{})
	d.Press("enter", "5", "4", "esc")
	if d.App.Front().Title() != "Messages" {
		t.Errorf("after the tab was opened, esc leaves it:\n%s", d.Text())
	}
}
