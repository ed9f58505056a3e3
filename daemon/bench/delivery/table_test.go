package delivery

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
)

// table collects the results.
type table struct{ lines []string }

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

// ratio returns the median of the rounds' ratios. The two values of a round are
// measured one after the other, so that other load on the machine affects both.
func (s *samples) ratio() float64 {
	ratios := make([]float64, len(s.baseline))
	for i := range ratios {
		ratios[i] = s.values[i] / s.baseline[i]
	}
	return median(ratios)
}

func median(values []float64) float64 {
	values = slices.Sorted(slices.Values(values))
	half := len(values) / 2
	if len(values)%2 == 1 {
		return values[half]
	}
	return (values[half-1] + values[half]) / 2
}

// addSamples adds a line for samples.
func (t *table) addSamples(b *testing.B, s samples, w limits) {
	value, unit := median(s.values), s.unit
	if b.ReportMetric(value, s.metric); w.timesBaseline {
		value, unit = s.ratio(), "times"
	}
	against, ratio := "", ""
	if len(s.baseline) > 0 {
		if s.baselineName == "" {
			s.baselineName = "floor"
		}
		against = fmt.Sprintf("%s %.*f %s", s.baselineName, s.digits, median(s.baseline), s.unit)
		ratio = fmt.Sprintf("%.2f times", s.ratio())
	}
	t.add(number(b), s.title, fmt.Sprintf("%.*f %s", s.digits, median(s.values), s.unit), against, ratio, w.verdict(value, w.limit, unit), w.verdict(value, w.goal, unit))
}

// addProbe adds a line for a program that the daemon is not compared with.
func (t *table) addProbe(b *testing.B, s samples) {
	b.ReportMetric(median(s.values), s.metric)
	t.add(number(b), s.title, fmt.Sprintf("%.*f %s", s.digits, median(s.values), s.unit), "", "", "", "")
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

// addSkipped adds a line for a measurement that is not available here.
func (t *table) addSkipped(b *testing.B, reason string) {
	t.add(number(b), "not measured: "+reason, "", "", "", "", "")
}

func (t *table) add(cells ...string) { t.lines = append(t.lines, strings.Join(cells, "\t")) }

// number returns the measurement's number, the second part of the benchmark's name.
func number(b *testing.B) string { return strings.Split(b.Name(), "/")[1] }

func (t *table) print(w io.Writer) {
	fmt.Fprintln(w, "\nPublishers and receivers share the processors with the daemon. Absolute values depend on the load of the machine; ratios to the floor do less.")
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		fmt.Fprintf(w, "Load of the machine at the end: %s", load)
	}
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(columns, "\tmeasurement\tdaemon\tbaseline\tratio\tlimit\tgoal")
	for _, line := range t.lines {
		fmt.Fprintln(columns, line)
	}
	columns.Flush()
}
