package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestStatsShowWaitInZone checks that the end of a wait requested by Retry-After is in the time
// zone of the settings, as all other times are.
func TestStatsShowWaitInZone(t *testing.T) {
	reply := fmt.Sprintf(`{"Totals":{},"Queues":[{"URL":"https://shop.example/hook","WaitUntilDateTime":%q}]}`, at(0))
	got := invocation{
		config:   writeConfig(t, "profile = 'prod'\n[profiles.prod]\ntime_zone = 'Asia/Tokyo'\n"),
		terminal: true,
		width:    120,
		handler: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, reply)
		},
	}.run(t, "stats")

	const wait = "to wait until 18:10" // 09:10:11 in UTC
	if got.code != 0 || strings.Count(got.stdout, wait) != 2 {
		t.Errorf("whctl stats: got exit code %d and %q, want 0 and %q of all and of the endpoint",
			got.code, got.stdout, wait)
	}
}
