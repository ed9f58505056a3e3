package changes_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Reading takes a tenth of the time, also with several kinds.
func TestShareOfTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const readTime = 200 * time.Millisecond
		var reads atomic.Int64
		first := newTable(newKind("Kind0"))
		second := newTable(newKind("Kind1")).byTime()
		for _, table := range []*table{first, second} {
			for i := range 500 {
				table.set(fmt.Sprintf("k%05d", i), "1", "x")
			}
			table.delay = func() time.Duration {
				reads.Add(1)
				return readTime
			}
		}
		r := newRig(t, first)
		r.config.Share = 0.1
		r.config.Sweep = time.Second
		r.source = sources{"Kind0": first, "Kind1": second}
		r.kinds = append(r.kinds, first.kind, second.kind)

		const duration = 10 * time.Minute
		_, end := r.start(nil)
		time.Sleep(duration)
		end()
		busy := time.Duration(reads.Load()) * readTime
		share := busy.Seconds() / duration.Seconds()
		if share > 0.102 || share < 0.05 {
			t.Errorf("reading took %.3f of the time, want between 0.05 and 0.102", share)
		}
	})
}
