package changes

import (
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/bench/benchtest"
)

// table collects the results.
type table struct{ benchtest.Table }

// result is a measurement with its required value.
type result struct {
	title    string
	metric   string // name in the benchmark's own line
	unit     string
	digits   int // decimal places
	values   []float64
	baseline string    // name of the baseline; empty for none
	base     []float64 // values of the baseline, in the same rounds
	limit    float64   // 0 for none
	times    bool      // the limit is a multiple of the baseline
}

func (r *result) ratio() float64 { return benchtest.Ratio(r.values, r.base) }

// percentile returns a percentile in ms.
func percentile(waits []time.Duration, p int) float64 {
	sorted := slices.Sorted(slices.Values(waits))
	return sorted[min(len(sorted)-1, len(sorted)*p/100)].Seconds() * 1000
}

// add adds a line for a result, with the load of the machine at its end.
func (t *table) add(b *testing.B, r result) {
	b.Helper()
	value, unit := benchtest.Median(r.values), r.unit
	b.ReportMetric(value, r.metric)
	measured := fmt.Sprintf("%.*f %s", r.digits, value, r.unit)
	var against, ratio, verdict string
	if len(r.base) > 0 {
		against = fmt.Sprintf("%s %.*f %s", r.baseline, r.digits, benchtest.Median(r.base), r.unit)
		ratio = fmt.Sprintf("%.2f times", r.ratio())
	}
	if r.times {
		value, unit = r.ratio(), "times"
	}
	if r.limit > 0 {
		verdict = fmt.Sprintf("<= %g %s: holds", r.limit, unit)
		if value > r.limit {
			verdict = fmt.Sprintf("<= %g %s: over", r.limit, unit)
		}
	}
	t.Add(b, r.title, measured, against, ratio, verdict, load())
}

// load returns the load average of the machine over the last minute.
func load() string {
	averages, err := benchtest.Load()
	if err != nil {
		return "unknown"
	}
	return averages[0]
}

func (t *table) print(w io.Writer) {
	t.Print(w, "Writers, publishers and receivers share the processors with the daemon. Absolute times depend on the load of the machine.",
		"measurement", "daemon", "baseline", "ratio", "limit", "load")
}
