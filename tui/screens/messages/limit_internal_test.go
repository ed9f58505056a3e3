package messages

import (
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
)

// More matches than the sample are limited by the time at which the newest was added.
func TestManyMatchesAreLimitedByTime(t *testing.T) {
	added := time.Date(2026, 7, 1, 14, 2, 6, 120_000_000, time.UTC)
	newest := make([]wire.Message, impactSample)
	newest[0].AddedDateTime = wire.Timestamp(added)
	limit := limitTo(newest)
	until, err := wire.ParseDate(limit.Get("Until"), time.UTC)
	if err != nil {
		t.Fatalf("the limit is %v: %v", limit, err)
	}
	if want := added.Add(time.Millisecond).Format(wire.DateLayout); until != want || len(limit) != 1 {
		t.Errorf("the limit is %v, want Until %s", limit, want)
	}
}
