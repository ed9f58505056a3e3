package stats

import (
	"math"
	"slices"
	"time"

	"github.com/bizhook/whd/client/wire"
)

// bounds are the upper bounds of the histogram buckets. Up to 15 seconds they
// grow by a factor of about 1.5, so that quantiles are good estimates; above, they are
// coarse. One more bucket holds longer durations.
var bounds = [...]time.Duration{
	1 * time.Millisecond, 1500 * time.Microsecond, 2 * time.Millisecond,
	3 * time.Millisecond, 5 * time.Millisecond, 7 * time.Millisecond,
	10 * time.Millisecond, 15 * time.Millisecond, 20 * time.Millisecond,
	30 * time.Millisecond, 50 * time.Millisecond, 70 * time.Millisecond,
	100 * time.Millisecond, 150 * time.Millisecond, 200 * time.Millisecond,
	300 * time.Millisecond, 500 * time.Millisecond, 700 * time.Millisecond,
	1 * time.Second, 1500 * time.Millisecond, 2 * time.Second, 3 * time.Second, 5 * time.Second, 7 * time.Second,
	10 * time.Second, 15 * time.Second, 30 * time.Second, time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour,
}

const bucketCount = len(bounds) + 1

// bucketOf returns the bucket of a duration.
func bucketOf(d time.Duration) int {
	i, _ := slices.BinarySearch(bounds[:], d)
	return i
}

// histogram counts durations by bucket.
type histogram [bucketCount]uint32

// histogramSum is a sum of histograms.
type histogramSum [bucketCount]uint64

func (s *histogramSum) add(h *histogram) {
	for i, n := range h {
		s[i] += uint64(n)
	}
}

func (s *histogramSum) count() (n uint64) {
	for _, in := range s {
		n += in
	}
	return n
}

// quantile estimates the duration that the given fraction of the counted durations does
// not exceed, assuming a uniform distribution within each bucket. It is at most the last
// bound, and 0 if the histogram is empty.
func (s *histogramSum) quantile(fraction float64) time.Duration {
	rank := uint64(math.Ceil(fraction * float64(s.count())))
	var below uint64
	for i, n := range s {
		if n > 0 && below+n >= rank {
			from, to := bucketBounds(i)
			estimate := from + time.Duration(float64(to-from)*float64(rank-below)/float64(n))
			return (estimate + quantilePrecision - 1) / quantilePrecision * quantilePrecision
		}
		below += n
	}
	return 0
}

// quantilePrecision is the resolution of estimates. All bounds are multiples of it.
const quantilePrecision = 100 * time.Microsecond

// bucketBounds returns the bounds of a bucket, which holds the durations in (from, to]. For
// the last bucket, which has no upper bound, from and to are equal.
func bucketBounds(bucket int) (from, to time.Duration) {
	if bucket > 0 {
		from = bounds[bucket-1]
	}
	return from, bounds[min(bucket, len(bounds)-1)]
}

// latency returns the quantiles of the counted durations.
func (s *histogramSum) latency() wire.Latency {
	return wire.Latency{
		P50: wire.TimeSpan(s.quantile(0.50)),
		P95: wire.TimeSpan(s.quantile(0.95)),
		P99: wire.TimeSpan(s.quantile(0.99)),
	}
}

// DurationHistogram is a distribution of durations since the engine's start.
type DurationHistogram struct {
	Buckets map[float64]uint64 // cumulative counts by upper bound in seconds
	Count   uint64
	Total   time.Duration
}

// totalHistogram is a histogram with the sum of its durations.
type totalHistogram struct {
	histogramSum
	total time.Duration
}

func (h *totalHistogram) observe(bucket int, d time.Duration) {
	h.histogramSum[bucket]++
	h.total += d
}

func (h *totalHistogram) durations() DurationHistogram {
	d := DurationHistogram{Buckets: make(map[float64]uint64, len(bounds)), Total: h.total}
	for i, n := range h.histogramSum {
		d.Count += n
		if i < len(bounds) {
			d.Buckets[bounds[i].Seconds()] = d.Count
		}
	}
	return d
}
