package stats

import (
	"math"
	"slices"
	"time"

	"github.com/bizhook/whd/client/wire"
)

// tookBounds are the upper bounds of the stored classes of durations. Up to 1.5 seconds they grow
// by a factor of about 2.5, so that medians and 95th percentiles are good estimates; the last one
// is the default limit of an attempt. The numbers of the classes are stored: a change needs a
// migration.
var tookBounds = [TookBuckets - 1]time.Duration{
	1 * time.Millisecond, 2500 * time.Microsecond, 6 * time.Millisecond,
	15 * time.Millisecond, 40 * time.Millisecond, 100 * time.Millisecond,
	250 * time.Millisecond, 600 * time.Millisecond, 1500 * time.Millisecond,
	4 * time.Second, 15 * time.Second,
}

// longestTook is the upper bound of estimates. Longer durations are in the last bucket, too.
const longestTook = time.Minute

// TookBuckets is the number of classes of durations.
const TookBuckets = 12

// Took counts durations by class.
type Took [TookBuckets]int64

// TookBucket returns the class of a duration.
func TookBucket(d time.Duration) int {
	i, _ := slices.BinarySearch(tookBounds[:], d)
	return i
}

// Add adds other counts.
func (t *Took) Add(other *Took) {
	for i, n := range other {
		t[i] += n
	}
}

func (t *Took) count() (n int64) {
	for _, in := range t {
		n += in
	}
	return n
}

// quantile estimates the duration that the given fraction of the counted durations does
// not exceed, assuming a uniform distribution within each class. It is at most
// longestTook, and 0 if nothing was counted.
func (t *Took) quantile(fraction float64) time.Duration {
	rank := int64(math.Ceil(fraction * float64(t.count())))
	var below int64
	for i, n := range t {
		if n > 0 && below+n >= rank {
			shortest, longest := tookRange(i)
			estimate := shortest + time.Duration(float64(longest-shortest)*float64(rank-below)/float64(n))
			return (estimate + quantilePrecision - 1) / quantilePrecision * quantilePrecision
		}
		below += n
	}
	return 0
}

// quantilePrecision is the resolution of estimates. All bounds are multiples of it.
const quantilePrecision = 100 * time.Microsecond

// tookRange returns the bounds of a class, which holds the durations in (from, to].
func tookRange(bucket int) (from, to time.Duration) {
	to = longestTook
	if bucket > 0 {
		from = tookBounds[bucket-1]
	}
	if bucket < len(tookBounds) {
		to = tookBounds[bucket]
	}
	return from, to
}

// latency returns the quantiles of the counted durations.
func (t *Took) latency() wire.Latency {
	return wire.Latency{
		P50: wire.TimeSpan(t.quantile(0.50)),
		P95: wire.TimeSpan(t.quantile(0.95)),
		P99: wire.TimeSpan(t.quantile(0.99)),
	}
}
