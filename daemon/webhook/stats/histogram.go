package stats

import (
	"math"
	"slices"
	"time"

	"github.com/bizhook/whd/client/wire"
)

// bounds are the most that the buckets of a histogram hold, each about half as
// much again as the one before, so that a quantile is a good guess. What takes
// longer is in one more bucket.
var bounds = [...]time.Duration{
	1 * time.Millisecond, 1500 * time.Microsecond, 2 * time.Millisecond, 3 * time.Millisecond, 5 * time.Millisecond, 7 * time.Millisecond,
	10 * time.Millisecond, 15 * time.Millisecond, 20 * time.Millisecond, 30 * time.Millisecond, 50 * time.Millisecond, 70 * time.Millisecond,
	100 * time.Millisecond, 150 * time.Millisecond, 200 * time.Millisecond, 300 * time.Millisecond, 500 * time.Millisecond, 700 * time.Millisecond,
	1 * time.Second, 1500 * time.Millisecond, 2 * time.Second, 3 * time.Second, 5 * time.Second, 7 * time.Second,
	10 * time.Second, 15 * time.Second, 30 * time.Second, time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour,
}

const buckets = len(bounds) + 1

// bucketOf is the bucket that a duration belongs to.
func bucketOf(d time.Duration) int {
	i, _ := slices.BinarySearch(bounds[:], d)
	return i
}

// histogram counts durations by bucket.
type histogram [buckets]uint32

// sum is a histogram of any size.
type sum [buckets]uint64

func (s *sum) add(h *histogram) {
	for i, n := range h {
		s[i] += uint64(n)
	}
}

func (s *sum) count() (n uint64) {
	for _, in := range s {
		n += in
	}
	return n
}

// quantile is how long the given part of what was counted took at most, guessed
// as if each bucket were filled evenly. It is 0 where nothing was counted.
func (s *sum) quantile(part float64) time.Duration {
	rank := uint64(math.Ceil(part * float64(s.count())))
	var below uint64
	for i, n := range s {
		if n > 0 && below+n >= rank {
			from, to := edges(i)
			guess := from + time.Duration(float64(to-from)*float64(rank-below)/float64(n))
			return (guess + precision - 1) / precision * precision
		}
		below += n
	}
	return 0
}

// precision is that of a guess. All bounds are multiples of it.
const precision = 100 * time.Microsecond

// edges are what a bucket holds: more than from, and up to to. Of the last it is
// only known where it begins.
func edges(bucket int) (from, to time.Duration) {
	if bucket > 0 {
		from = bounds[bucket-1]
	}
	return from, bounds[min(bucket, len(bounds)-1)]
}

// latency is how long what was counted took.
func (s *sum) latency() wire.Latency {
	return wire.Latency{P50: wire.TimeSpan(s.quantile(0.50)), P95: wire.TimeSpan(s.quantile(0.95)), P99: wire.TimeSpan(s.quantile(0.99))}
}

// Durations are how long things took since the engine's start.
type Durations struct {
	Buckets map[float64]uint64 // how many took at most so many seconds
	Count   uint64
	Total   time.Duration
}

// totalHistogram is the histogram behind Durations.
type totalHistogram struct {
	sum
	total time.Duration
}

func (l *totalHistogram) note(bucket int, d time.Duration) {
	l.sum[bucket]++
	l.total += d
}

func (l *totalHistogram) durations() Durations {
	d := Durations{Buckets: make(map[float64]uint64, len(bounds)), Total: l.total}
	for i, n := range l.sum {
		if d.Count += n; i < len(bounds) {
			d.Buckets[bounds[i].Seconds()] = d.Count
		}
	}
	return d
}
