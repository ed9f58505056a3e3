package tui_test

import (
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/screens/home"
	"github.com/bizhook/whd/tui/tuitest"
	"github.com/bizhook/whd/tui/ui"
)

// busyHour fills the hour of the chart that ends with a time; the test data covers only a
// second, and its durations differ. The hour of the service ends a minute later if one has passed
// since.
func busyHour(h *home.Screen, end time.Time) {
	s := h.Stats
	for i := range h.Failures {
		h.Failures[i].LastSavedDateTime = wire.Timestamp(end)
	}
	for i := range h.Groups {
		h.Groups[i].Newest.LastSavedDateTime = wire.Timestamp(end)
		h.Groups[i].Oldest = end
	}
	for i := range s.Queues { // the attempts may be of the six minutes before
		q := &s.Queues[i]
		q.Attempts = []int64{0, 0, 2, 5, 3, 0, 1, 4, 2, 1}
		if q.LastFailure != nil {
			q.LastFailure.At = wire.Timestamp(end)
		}
	}
	if s.Depth != nil {
		s.Depth.OldestDateTime = wire.Timestamp(end)
	}
	s.Latency = wire.Latency{P50: wire.TimeSpan(4 * time.Millisecond), P95: wire.TimeSpan(27 * time.Millisecond)}
	s.Minutes.From = wire.Timestamp(end.Truncate(time.Minute).Add(-59 * time.Minute))
	s.SinceDateTime = wire.Timestamp{}
	s.Minutes.Delivered = make([]int64, 60)
	s.Minutes.Failed = make([]int64, 60)
	s.Minutes.GivenUp = make([]int64, 60)
	for i := range 60 {
		s.Minutes.Delivered[i] = int64(i * i % 41)
		if i%13 > 9 {
			s.Minutes.Failed[i] = int64(i % 17)
		}
	}
}

func TestWebhookScreenGoldens(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	tuitest.ForAppearances(t, func(t *testing.T, appearance string, o tui.Options) {
		d := s.Open(t, o)
		busyHour(d.App.Front().(*home.Screen), s.Latest)
		d.Golden("S01-home", appearance)
		d.Press("3")
		d.Golden("S07-subscribers", appearance)
		d.Press("enter")
		d.Golden("S07-subscriptions", appearance)
		d.Press("n", "'salesorder.u")
		d.Golden("S08-subscription", appearance)
		d.Press("esc", "esc", "4")
		d.Golden("S09-messages", appearance)
		d.Press("!", "j", "r")
		d.Golden("S11-retry", appearance)
		d.Press("esc", "a", "r")
		d.Golden("S11-retry-all", appearance)
		d.Press("esc")
		impact := []string{" 1204  hooks.acme.test/erp/in   last 503", "Each is sent again, oldest first."}
		ui.OpenConfirmMany(d.App, 1204, "Retry 1,204 messages?", "retry 1,204", impact, nil)
		d.Press("'12")
		d.Golden("S11-retry-many", appearance)
		d.Press("esc", "esc", "enter")
		d.Golden("S10-message", appearance)
		d.Press("tab")
		d.Golden("S10-message-body", appearance)
		d.Press("tab")
		d.Golden("S10-message-headers", appearance)
		d.Press("tab")
		d.Golden("S10-message-response", appearance)
		d.Press("tab")
		d.Golden("S10-message-curl", appearance)
		d.Press("5", "/", "'stock", "enter")
		d.Golden("S00-events", appearance)
	})
}

// A read-only session sends no change for any key.
func TestReadOnlyRejectsDelete(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.Open(t, tui.Options{ReadOnly: true})
	d.WantText(" RO  LIVE")
	d.Press("4", "r")
	d.WantText("read-only")
	d.Press("y", "D", "y", "3", "o", "y", "n", "esc", "enter", "T", "y", "D", "y")
	page, err := s.Client.AllMessages(t.Context(), nil)
	if err != nil || page.Total != 8 {
		t.Errorf("there are %d messages, %v", page.Total, err)
	}
	if strings.Contains(s.Log.String(), "DELETE") {
		t.Error("a message was deleted")
	}
}
