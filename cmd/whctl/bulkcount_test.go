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

// TestBulkChangesNoMoreThanCounted deletes messages by a filter that more messages match after
// the count: only as many as were counted are deleted, and they are the oldest.
func TestBulkChangesNoMoreThanCounted(t *testing.T) {
	const counted = 3
	takes := make(chan string, 10) // Take of each change
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if !strings.HasSuffix(r.URL.Path, "/Messages/Delete") {
			http.NotFound(w, r)
			return
		}
		var members map[string]any
		if err := json.NewDecoder(r.Body).Decode(&members); err != nil {
			t.Error(err)
		}
		if fmt.Sprint(members["DryRun"]) != "true" {
			takes <- fmt.Sprint(members["Take"])
		}
		fmt.Fprintf(w, `{"Matched":%d,"Deleted":%[1]d}`, counted)
	}))
	defer service.Close()

	for _, tt := range []struct {
		args []string
		want string // Take
	}{
		{args: []string{"--status", "failed"}, want: fmt.Sprint(counted)},
		{args: []string{"--status", "failed", "--take", "2"}, want: "2"},
	} {
		cmd := adminProcess(t, service.URL, append([]string{"messages", "delete", "--yes"}, tt.args...)...)
		out, err := cmd.CombinedOutput()
		var sent []string
		for len(takes) > 0 {
			sent = append(sent, <-takes)
		}
		if err != nil || !slices.Equal(sent, []string{tt.want}) {
			t.Errorf("whctl messages delete %q: sent changes with Take %q, error %v; want one with %s\n%s",
				tt.args, sent, err, tt.want, out)
		}
	}
}
