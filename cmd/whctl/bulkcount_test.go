//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// TestRetryWithoutQuestion retries messages with --yes: one that is attempted after the count is not
// left out, since no number was confirmed.
func TestRetryWithoutQuestion(t *testing.T) {
	service := countingService(t, "2026-07-01T00:00:00.0000000/60")
	out, err := adminProcess(t, service.URL, "messages", "retry", "--yes", "--status", "failed").CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if got, want := service.changes(), []bounds{{take: "3"}}; !slices.Equal(got, want) {
		t.Errorf("the retry has the bounds %+v, want %+v\n%s", got, want, out)
	}
}

// TestBulkChangesNoMoreThanCounted deletes messages by a filter that other messages match after
// the count: the change is bounded to the messages that were counted, and to their number.
func TestBulkChangesNoMoreThanCounted(t *testing.T) {
	for _, tt := range []struct {
		name   string
		extent string // as the service returns it; an older one does not
		args   []string
		take   string
	}{
		{name: "a filter", extent: "2026-07-01T00:00:00.0000000/60", take: "3"},
		{name: "a number", extent: "2026-07-01T00:00:00.0000000/60", args: []string{"--take", "2"}, take: "2"},
		{name: "an older service", take: "3"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			service := countingService(t, tt.extent)
			args := append([]string{"messages", "delete", "--yes", "--status", "failed"}, tt.args...)
			out, err := adminProcess(t, service.URL, args...).CombinedOutput()
			if err != nil {
				t.Errorf("whctl %q: %v\n%s", args, err, out)
			}
			want := []bounds{{take: tt.take, extent: tt.extent}}
			if got := service.changes(); !slices.Equal(got, want) {
				t.Errorf("whctl %q sent changes with the bounds %+v, want %+v\n%s", args, got, want, out)
			}
		})
	}
}

// bounds are the members of a change that bound it.
type bounds struct{ take, extent string }

// bulkService is a service with three messages that match any filter.
type bulkService struct {
	*httptest.Server
	received chan bounds // of changes
}

// countingService starts a service that returns a text for Counted in a dry run.
func countingService(t *testing.T, extent string) bulkService {
	s := bulkService{received: make(chan bounds, 10)}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		result := "Deleted"
		if strings.HasSuffix(r.URL.Path, "/Messages/Retry") {
			result = "Retried"
		} else if !strings.HasSuffix(r.URL.Path, "/Messages/Delete") {
			http.NotFound(w, r)
			return
		}
		var members map[string]string
		if err := json.NewDecoder(r.Body).Decode(&members); err != nil {
			t.Error(err)
		}
		if members["DryRun"] == "true" {
			fmt.Fprintf(w, `{"Matched":3,%q:3,"DryRun":true,"Counted":%q}`, result, extent)
			return
		}
		s.received <- bounds{take: members["Take"], extent: members["Counted"]}
		fmt.Fprintf(w, `{"Matched":3,%q:3}`, result)
	}))
	t.Cleanup(s.Server.Close)
	return s
}

// changes returns the bounds of the changes so far.
func (s bulkService) changes() []bounds {
	var changes []bounds
	for len(s.received) > 0 {
		changes = append(changes, <-s.received)
	}
	return changes
}
