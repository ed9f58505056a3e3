package client_test

import (
	"io"
	"net/http"
	"testing"
	"time"
)

// TestStatsReadsDeprecatedMembers reads the reply of an earlier daemon, which has the
// queues in Lanes only.
func TestStatsReadsDeprecatedMembers(t *testing.T) {
	for _, body := range []string{`{"LaneWindow":"PT5M","Lanes":[{"URL":"a"}],"OtherLanes":2}`, `{"QueueWindow":"PT5M","Queues":[{"URL":"a"}],"OtherQueues":2,"Lanes":[],"OtherLanes":0}`} {
		c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			io.WriteString(w, body)
		})
		stats, err := c.Stats(t.Context(), 0)
		if err != nil || len(stats.Queues) != 1 || stats.Queues[0].URL != "a" || stats.OtherQueues != 2 || time.Duration(stats.QueueWindow) != 5*time.Minute {
			t.Errorf("%s: %+v, %v", body, stats, err)
		}
	}
}
