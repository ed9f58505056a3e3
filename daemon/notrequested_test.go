package daemon_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
)

// TestCaptureThatNothingRequests subscribes in ways that start no capture: the replies, the list of
// captures, whd check and the history of a key show it, and how to start it.
func TestCaptureThatNothingRequests(t *testing.T) {
	t.Parallel()
	s := newCaptureStory(t, "")
	s.exec(debtors...)
	s.start(eventKinds)
	ctx := t.Context()
	shop := s.subscriber()
	reader := s.with("reader")
	anonymous, err := client.New(client.Options{URL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(anonymous.Close)

	for _, tt := range []struct {
		name    string
		c       *client.Client
		pattern string
		want    string
		not     string
	}{
		{"SubscriberID alone", anonymous, "debtor.*", "with a SubscriberID alone", "Debtor"},
		{"SubscriberID alone", anonymous, "*", "", ""},
		{"reader", reader, "*", "changes of Debtor are not captured", ""},
		{"reader", reader, "*", "subscribe to debtor.*", ""},
	} {
		sub, _ := s.subscribe(tt.c, shop, tt.pattern)
		isNoticed := strings.Contains(sub.Notice, tt.want) && (tt.want != "" || sub.Notice == "")
		if !isNoticed || tt.not != "" && strings.Contains(sub.Notice, tt.not) {
			t.Errorf("%s subscribes to %s: the notice is %q, want %q", tt.name, tt.pattern, sub.Notice, tt.want)
		}
	}

	const way = "subscribe to debtor.*"
	c := s.capture("Debtor")
	if c.Phase != wire.CaptureNotRequested || c.Mode != record.CaptureOnDemand || !strings.Contains(c.Reason, way) {
		t.Errorf("the capture is %+v, want the phase %q and a reason with %q", c, wire.CaptureNotRequested, way)
	}
	why, err := s.admin.Why(ctx, "D1")
	if err != nil || !hasStep(why, wire.WhyNotCaptured, "Debtor") || !hasStep(why, wire.WhyNotCaptured, way) {
		t.Errorf("the history of D1 is %+v (%v), want a step that Debtor is not captured, with %q", why, err, way)
	}
	if hasStep(why, wire.WhyNoChange, "changes are captured of Debtor") {
		t.Errorf("the history of D1 has Debtor as captured: %+v", why)
	}
	kinds := filepath.Join(s.dir, "kinds")
	checkOf(t, s.dir, 0, "changes", "ok", "Debtor: nothing requests its changes", "--erp-kinds", kinds)

	named, _ := s.subscribe(reader, shop, "debtor.*")
	if named.Notice != "" {
		t.Errorf("a subscription to debtor.* has the notice %q, want none", named.Notice)
	}
	s.capturing("Debtor")
	all, _ := s.subscribe(reader, shop, "*")
	if all.Notice != "" {
		t.Errorf("a subscription to * has the notice %q although Debtor is captured, want none", all.Notice)
	}
	why, err = s.admin.Why(ctx, "unknown")
	if err != nil || !hasStep(why, wire.WhyNoChange, "changes are captured of Debtor") ||
		hasStep(why, wire.WhyNotCaptured, "") {
		t.Errorf("the history of an unknown key is %+v (%v), want that changes of Debtor are captured", why, err)
	}
}

// hasStep reports whether a history has a step with a text.
func hasStep(why *wire.Why, step, text string) bool {
	for _, s := range why.Steps {
		if s.Step == step && strings.Contains(s.Text, text) {
			return true
		}
	}
	return false
}

// TestNoticesHideKinds subscribes as a reader to events of a kind that only writers may read: the
// kind is not named.
func TestNoticesHideKinds(t *testing.T) {
	t.Parallel()
	s := newCaptureStory(t, "")
	s.exec(debtors...)
	s.start(strings.Replace(eventKinds, "[Debtor.fields]", "role = 'writer'\n[Debtor.fields]", 1))
	shop := s.subscriber()
	reader := s.with("reader")
	for pattern, want := range map[string]string{"*": "", "debtor.*": "its owner may not read the records"} {
		sub, _ := s.subscribe(reader, shop, pattern)
		isNoticed := strings.Contains(sub.Notice, want) && (want != "" || sub.Notice == "")
		if !isNoticed || strings.Contains(sub.Notice, "Debtor") {
			t.Errorf("the notice of a reader's subscription to %s is %q, want %q without the kind",
				pattern, sub.Notice, want)
		}
	}
	sub, _ := s.subscribe(s.with("writer"), shop, "*")
	if !strings.Contains(sub.Notice, "Debtor") {
		t.Errorf("the notice of a writer's subscription to * is %q, want one that names Debtor", sub.Notice)
	}
}
