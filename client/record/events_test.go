package record

import (
	"slices"
	"testing"
)

func TestEventsAreThoseOfTheInterface(t *testing.T) {
	events := Events()
	if len(events) != 42 {
		t.Errorf("%d events, want 42", len(events))
	}
	seen := make(map[string]bool)
	for _, e := range events {
		if seen[e.Name] || e.Description == "" {
			t.Errorf("%+v is there twice or says nothing", e)
		}
		seen[e.Name] = true
	}
	for _, name := range []string{"bookin.created", "inventory.stocklevel", "salesorder.updated", "warehousetransferout.updated"} {
		if !seen[name] {
			t.Errorf("%s is missing", name)
		}
	}
	if slices.ContainsFunc(events, func(e Event) bool { return e.Name == "salesorder.deleted" }) {
		t.Error("salesorder.deleted is not published")
	}
}

func TestEventPattern(t *testing.T) {
	events := Events()
	for text, want := range map[string]string{
		"debtor.updated":   "debtor.updated",
		" Debtor.UPDATED ": "debtor.updated",
		"DEBTOR.*":         "debtor.*",
		"*":                "*",
		"debtor":           "",
		"debt*":            "",
		"nothing.*":        "",
		"":                 "",
		"salesorder.gone":  "",
	} {
		if got, ok := EventPattern(events, text); got != want || ok != (want != "") {
			t.Errorf("%q: %q, %v", text, got, ok)
		}
	}
}
