package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/wire"
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

// TestStatsBeforeCount checks that messages that have not been counted are not shown as none.
func TestStatsBeforeCount(t *testing.T) {
	for _, test := range []struct{ members, screen, script string }{
		{"", "Waiting       not counted yet, 2 in flight", `"GivenUp":0,"InFlight":2`},
		{
			`,"DepthMessage":"the store is busy"`,
			"Waiting       not counted (the store is busy), 2 in flight",
			`"GivenUp":0,"InFlight":2,"OpenBreakers":0,"Subscriptions":0,"Disabled":0,"Daemons":0,` +
				`"DepthMessage":"the store is busy"`,
		},
		{
			`,"Depth":{"NotSent":0,"RetryPending":4}`,
			"Waiting       0 not sent, 4 retrying, 2 in flight",
			`"NotSent":0,"RetryPending":4`,
		},
	} {
		reply := `{"Totals":{},"InHand":{"InFlight":2}` + test.members + "}"
		inv := invocation{
			width: 120,
			handler: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				io.WriteString(w, reply)
			},
		}
		script := inv.run(t, "stats", "--ndjson")
		if !strings.Contains(script.stdout, test.script) {
			t.Errorf("%s: whctl stats --ndjson prints %v, want %s", reply, script, test.script)
		}
		inv.terminal = true
		screen := inv.run(t, "stats")
		if !strings.Contains(screen.stdout, test.screen) {
			t.Errorf("%s: whctl stats prints %v, want %s", reply, screen, test.screen)
		}
	}
}

// TestOtherQueues checks that queues that the service leaves out are not said to have no problems if some have.
func TestOtherQueues(t *testing.T) {
	for _, test := range []struct {
		troubled int
		want     string
	}{
		{0, "600 more queues have no problems"},
		{100, "600 more queues are not listed, 100 of them with problems"},
	} {
		stats := &wire.Stats{OtherQueues: 600, OtherTroubled: test.troubled}
		if got := otherQueues(stats); got != test.want {
			t.Errorf("with %d in trouble: %q, want %q", test.troubled, got, test.want)
		}
	}
}
