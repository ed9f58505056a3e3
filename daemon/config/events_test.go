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
	config := WebhooksConfig{Events: EventNames{"JOB.created", "job.closed", "debtor.created"}}
	events, captured := config.PublishedEvents(kinds)

	counts := make(map[string]int)
	for _, e := range events {
		counts[e.Name]++
	}
	for _, name := range []string{
		"Debtor.created", "Debtor.updated", "Debtor.deleted",
		"job.created", "job.updated", "job.deleted", "job.closed",
		"creditor.created",
	} {
		if counts[name] != 1 {
			t.Errorf("%s is published %d times, want once", name, counts[name])
		}
	}
	const ofJob = 4
	if want := len(record.Events()) + ofJob; len(events) != want {
		t.Errorf("got %d events, want %d", len(events), want)
	}

	for name, want := range map[string]string{
		"debtor.created":   "DB_Main",
		"job.created":      "JB_Main",
		"job.deleted":      "JB_Main",
		"job.closed":       "",
		"creditor.created": "",
	} {
		got := ""
		if kind := captured[name]; kind != nil {
			got = kind.Name
		}
		if got != want {
			t.Errorf("the kind of %s: got %q, want %q", name, got, want)
		}
	}
}
