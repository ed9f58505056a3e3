package record

import (
	"encoding/json"
	"slices"
	"testing"
)

func TestEventsMatchPublishedInterface(t *testing.T) {
	events := Events()
	if len(events) != 42 {
		t.Errorf("%d events, want 42", len(events))
	}
	seen := make(map[string]bool)
	for _, e := range events {
		if seen[e.Name] || e.Description == "" {
			t.Errorf("%+v: duplicate, or no description", e)
		}
		seen[e.Name] = true
	}
	for _, name := range []string{
		"bookin.created",
		"inventory.stocklevel",
		"salesorder.updated",
		"warehousetransferout.updated",
	} {
		if !seen[name] {
			t.Errorf("%s is missing", name)
		}
	}
	if slices.ContainsFunc(events, func(e Event) bool { return e.Name == "salesorder.deleted" }) {
		t.Error("salesorder.deleted is not published")
	}
}

func TestEventPatternNormalizesCase(t *testing.T) {
	events := Events()
	for text, want := range map[string]string{
		"debtor.updated":     "debtor.updated",
		" Debtor.UPDATED ":   "debtor.updated",
		"DEBTOR.*":           "debtor.*",
		"*":                  "*",
		"debtor":             "",
		"debt*":              "",
		"unknown.*":          "",
		"":                   "",
		"salesorder.unknown": "",
	} {
		if got, ok := EventPattern(events, text); got != want || ok != (want != "") {
			t.Errorf("EventPattern(%q) = %q, %v, want %q", text, got, ok, want)
		}
	}
}

func TestMatchesEvent(t *testing.T) {
	for pattern, want := range map[string]bool{
		"*":                true,
		"debtor.*":         true,
		"Debtor.updated":   true,
		"debtor.created":   false,
		"debtorcategory.*": false,
		"debt.*":           false,
	} {
		if got := MatchesEvent(pattern, "debtor.updated"); got != want {
			t.Errorf("MatchesEvent(%q, debtor.updated) = %t, want %t", pattern, got, want)
		}
	}
}

func TestSampleBodyNamesEvent(t *testing.T) {
	for _, e := range append(Events(), Event{Name: "job.created"}) {
		var sample struct {
			EventName string
			Test      bool
		}
		body := SampleBody(e.Name)
		if err := json.Unmarshal([]byte(body), &sample); err != nil {
			t.Errorf("SampleBody(%s) = %s: %v", e.Name, body, err)
		}
		if sample.EventName != e.Name || !sample.Test {
			t.Errorf("SampleBody(%s) = %s, want the name and the mark of a test", e.Name, body)
		}
	}
}

func TestSentEvent(t *testing.T) {
	for name, want := range map[string]struct {
		sent string
		test bool
	}{
		"debtor.updated":                 {"debtor.updated", false},
		TestEvent:                        {TestEvent, true},
		TestEventFor("debtor.updated"):   {"debtor.updated", true},
		"webhooks.testing":               {"webhooks.testing", false},
		"webhooks.subscription.disabled": {SubscriptionDisabled, false},
	} {
		if sent, test := SentEvent(name); sent != want.sent || test != want.test {
			t.Errorf("SentEvent(%q) = %q, %v, want %+v", name, sent, test, want)
		}
	}
}
