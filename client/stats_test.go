package client_test

import (
	"net/http"
	"testing"
	"time"
)

// TestStatsReadsDeprecatedMembers reads the reply of an earlier daemon, which has the
// queues in Lanes only, like the reply of a present one.
func TestStatsReadsDeprecatedMembers(t *testing.T) {
	for name, body := range map[string]string{
		"earlier daemon": `{"LaneWindow":"PT5M","Lanes":[{"URL":"a"}],"OtherLanes":2}`,
		"present daemon": `{"QueueWindow":"PT5M","Queues":[{"URL":"a"}],"OtherQueues":2,"Lanes":[],"OtherLanes":0}`,
	} {
		t.Run(name, func(t *testing.T) {
			c := serve(t, respond(http.StatusOK, "application/json; charset=utf-8", body))
			stats, err := c.Stats(t.Context(), 0)
			if err != nil {
				t.Fatal(err)
			}
			if len(stats.Queues) != 1 || stats.Queues[0].URL != "a" {
				t.Errorf("the queues are %+v, want that of the URL a", stats.Queues)
			}
			if stats.OtherQueues != 2 {
				t.Errorf("%d other queues, want 2", stats.OtherQueues)
			}
			if window := time.Duration(stats.QueueWindow); window != 5*time.Minute {
				t.Errorf("the window of the queues is %v, want 5m", window)
			}
		})
	}
}
