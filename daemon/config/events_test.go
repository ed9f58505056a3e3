package config

import (
	"testing"

	"github.com/bizhook/whd/client/record"
)

// TestPublishedEvents checks that each name of an event has one source.
func TestPublishedEvents(t *testing.T) {
	field := []record.Field{{Name: "ID", Type: record.Int, Filter: record.Int.Filter()}}
	kinds, err := record.NewRegistry(
		record.Kind{Name: "DB_Main", Fields: field, Capture: record.CaptureOnDemand, Events: "Debtor"},
		record.Kind{Name: "JB_Main", Fields: field, Capture: record.CaptureAlways, Events: "job"},
		record.Kind{Name: "JB_Other", Fields: field, Capture: record.CaptureAlways, Events: "job"},
		record.Kind{Name: "CR_Main", Fields: field, Events: "creditor"},
		record.Kind{Name: "SO_Main", Fields: field, Capture: record.CaptureAlways},
	)
	if err != nil {
		t.Fatal(err)
	}
	events, captured := WebhooksConfig{Events: EventNames{"JOB.created", "job.closed", "debtor.created"}}.PublishedEvents(kinds)
	names := make(map[string]int)
	for _, e := range events {
		names[e.Name]++
	}
	for _, name := range []string{"Debtor.created", "Debtor.updated", "Debtor.deleted", "job.created", "job.updated", "job.deleted", "job.closed", "creditor.created"} {
		if names[name] != 1 {
			t.Errorf("%s: %d times", name, names[name])
		}
	}
	if want := len(record.Events()) + 4; len(events) != want { // those of job
		t.Errorf("%d events, want %d", len(events), want)
	}
	for name, want := range map[string]string{"debtor.created": "DB_Main", "job.created": "JB_Main", "job.deleted": "JB_Main", "job.closed": "", "creditor.created": ""} {
		kind := captured[name]
		if kind == nil && want != "" || kind != nil && kind.Name != want {
			t.Errorf("%s is of %v, want %q", name, kind, want)
		}
	}
}
