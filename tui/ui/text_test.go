package ui_test

import (
	"slices"
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/ui"
)

// An empty answer does not hide the error.
func TestAnswerText(t *testing.T) {
	for _, test := range []struct {
		attempt wire.Attempt
		want    string
	}{
		{wire.Attempt{}, ""},
		{wire.Attempt{AnswerText: new("answer"), Detail: new("error")}, "answer"},
		{wire.Attempt{AnswerText: new(""), Detail: new("error")}, "error"},
		{wire.Attempt{Detail: new("error")}, "error"},
	} {
		if got := ui.AnswerText(test.attempt); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

// Names of endpoints are short.
func TestEndpointNames(t *testing.T) {
	for url, want := range map[string]string{
		"https://billing.test/creditors": "billing.test /creditors",
		"https://billing.test/":          "billing.test",
		"https://a.test:8443/x/y?key=1":  "a.test:8443 /x/y?..",
	} {
		if got := ui.EndpointName(url); got != want {
			t.Errorf("the endpoint %s is %q, want %q", url, got, want)
		}
	}
}

// Times are an age, or a time of day with the date of another day.
func TestShortTimes(t *testing.T) {
	now := time.Date(2026, 7, 1, 14, 2, 0, 0, time.UTC)
	c := ui.Clock{Now: now, Zone: time.UTC}
	earlier := now.Add(-2 * time.Minute)
	later := now.Add(6 * time.Minute)
	unknown := time.Time{}
	relative := []string{
		c.ShortSince(earlier), c.NextText("next", later), c.NextText("", later), c.NextText("next", now),
		c.NextText("next", unknown),
	}
	if want := []string{"2m ago", "next in 6m", "in 6m", "due now", ""}; !slices.Equal(relative, want) {
		t.Errorf("relative times are %q, want %q", relative, want)
	}
	c.Times = ui.Local
	old := now.Add(-48 * time.Hour)
	got := []string{
		c.ShortSince(earlier), c.NextText("next", later), c.NextText("next", earlier),
		c.NextText("next", unknown), c.ShortSince(old), c.ShortTime(unknown),
	}
	want := []string{"14:00", "next at 14:08", "due now", "", "06-29 14:02", "-"}
	if !slices.Equal(got, want) {
		t.Errorf("local times are %q, want %q", got, want)
	}
}
