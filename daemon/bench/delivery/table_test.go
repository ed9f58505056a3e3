package delivery

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/bench/benchtest"
)

// table collects the results.
type table struct{ benchtest.Table }

// samples are the values of one measurement, one for each round.
type samples struct {
	title        string
	metric       string // name in the benchmark's own line
	unit         string
	digits       int // decimal places
	values       []float64
	baselineName string    // name of the baseline; empty for "floor"
	baseline     []float64 // of the floor or another baseline
}

// limits are the required value of a measurement and the goal.
type limits struct {
	limit, goal   float64
	moreIsBetter  bool // larger values are better
	timesBaseline bool // limits are multiples of the baseline
}

func (s *samples) add(value, baseline float64) {
	s.values, s.baseline = append(s.values, value), append(s.baseline, baseline)
}

func (s *samples) ratio() float64 { return benchtest.Ratio(s.values, s.baseline) }

// addSamples adds a line for samples.
func (t *table) addSamples(b *testing.B, s samples, w limits) {
	value, unit := benchtest.Median(s.values), s.unit
	b.ReportMetric(value, s.metric)
	if w.timesBaseline {
		value, unit = s.ratio(), "times"
	}
	against, ratio := "", ""
	if len(s.baseline) > 0 {
		if s.baselineName == "" {
			s.baselineName = "floor"
		}
		against = fmt.Sprintf("%s %.*f %s", s.baselineName, s.digits, benchtest.Median(s.baseline), s.unit)
		ratio = fmt.Sprintf("%.2f times", s.ratio())
	}
	t.Add(b, s.title, fmt.Sprintf("%.*f %s", s.digits, benchtest.Median(s.values), s.unit), against, ratio, w.verdict(value, w.limit, unit), w.verdict(value, w.goal, unit))
}

// addProbe adds a line for a program that the daemon is not compared with.
func (t *table) addProbe(b *testing.B, s samples) {
	b.ReportMetric(benchtest.Median(s.values), s.metric)
	t.Add(b, s.title, fmt.Sprintf("%.*f %s", s.digits, benchtest.Median(s.values), s.unit))
}

// verdict returns a limit and whether a value meets it.
func (w limits) verdict(value, bound float64, unit string) string {
	verdict, sign := "over", "<="
	if w.moreIsBetter {
		verdict, sign = "under", ">="
	}
	if value == bound || value > bound == w.moreIsBetter {
		verdict = "holds"
	}
	return fmt.Sprintf("%s %g %s: %s", sign, bound, unit, verdict)
}

func (t *table) print(w io.Writer) {
	introduction := "Publishers and receivers share the processors with the daemon. Absolute values depend on the load of the machine; ratios to the floor do less."
	if load, err := benchtest.Load(); err == nil {
		introduction += "\nLoad of the machine at the end: " + strings.Join(load, " ")
	}
	t.Print(w, introduction, "measurement", "daemon", "baseline", "ratio", "limit", "goal")
}
