package tui_test

import (
	"strings"
	"testing"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/tuitest"
)

// If there is not enough room, the start of the breadcrumbs is cut.
func TestBreadcrumbsAreTruncated(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.Open(t, tui.Options{})
	d.Press("3", "enter", "down", "enter", "enter")
	d.Resize(120, 24)
	d.WantText("Subscribers › ", " › Messages › ")
	d.Resize(70, 24)
	line := strings.Split(d.Text(), "\n")[2]
	for _, want := range []string{" … › ", "[debtor.updated]", "[↻ retrying]", "[att. 1/3]"} {
		if !strings.Contains(line, want) {
			t.Errorf("%q is not in %q", want, line)
		}
	}
	if strings.Contains(line, "Subscribers") || strings.Count(line, "…") != 1 {
		t.Errorf("the breadcrumbs are %q, want one ellipsis instead of their start", line)
	}
	d.CheckScreen()
}

// The time zone is shown with the time.
func TestHeaderShowsTimeZone(t *testing.T) {
	d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{})
	if first := strings.Split(d.Text(), "\n")[0]; strings.Contains(first, "UTC") {
		t.Errorf("the header is %q, want local time", first)
	}
	d.Press("t", "t")
	if first := strings.Split(d.Text(), "\n")[0]; !strings.HasSuffix(strings.TrimSpace(first), " UTC") {
		t.Errorf("the header is %q, want UTC at its end", first)
	}
}

// A long title is cut, so that the badges after it are visible.
func TestLongTitleKeepsBadges(t *testing.T) {
	s := tuitest.StartReceiver(t, nil)
	name := "A subscriber with a name that is as long as the terminal is wide, and then some"
	request := wire.SubscriberRequest{Name: &name}
	if _, err := s.Client.UpdateSubscriber(t.Context(), s.Subscriber, request); err != nil {
		t.Fatal(err)
	}
	d := s.Open(t, tui.Options{})
	d.Press("3", "enter")
	d.WantText("A subscriber with a name", "[enabled]")
	d.CheckScreen()
}
