package stats

import (
	"slices"
	"time"
)

// bounds are the upper bounds of the buckets of the metrics' histograms. Up to 15 seconds they
// grow by a factor of about 1.5; above, they are coarse. One more bucket holds longer durations.
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

// DurationHistogram is a distribution of durations since the engine's start.
type DurationHistogram struct {
	Buckets map[float64]uint64 // cumulative counts by upper bound in seconds
	Count   uint64
	Total   time.Duration
}

// histogram counts durations by bucket.
type histogram struct {
	buckets [bucketCount]uint64
	total   time.Duration
}

func (h *histogram) observe(d time.Duration) {
	h.buckets[bucketOf(d)]++
	h.total += d
}

func (h *histogram) durations() DurationHistogram {
	d := DurationHistogram{Buckets: make(map[float64]uint64, len(bounds)), Total: h.total}
	for i, n := range h.buckets {
		d.Count += n
		if i < len(bounds) {
			d.Buckets[bounds[i].Seconds()] = d.Count
		}
	}
	return d
}
