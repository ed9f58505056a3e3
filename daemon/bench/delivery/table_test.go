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

// table collects the figures.
type table struct{ lines []string }

// samples are what was measured of one thing, one value for each round.
type samples struct {
	what   string
	metric string // in the benchmark's own line
	unit   string
	digits int // after the point
	ours   []float64
	named  string    // what the base is, "floor" unless given
	base   []float64 // of the floor, or what else a figure is held against
}

// bounds are what a figure must be and what we aim for.
type bounds struct {
	must, aim float64
	more      bool // more is better
	times     bool // of the base, not of the unit
}

func (s *samples) add(ours, base float64) {
	s.ours, s.base = append(s.ours, ours), append(s.base, base)
}

// ratio is the median of the rounds' ratios: a round's two values were measured
// side by side, so what else the machine did then drops out.
func (s *samples) ratio() float64 {
	ratios := make([]float64, len(s.base))
	for i := range ratios {
		ratios[i] = s.ours[i] / s.base[i]
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

// note adds a line about samples.
func (t *table) note(b *testing.B, s samples, w bounds) {
	value, unit := median(s.ours), s.unit
	if b.ReportMetric(value, s.metric); w.times {
		value, unit = s.ratio(), "times"
	}
	against, ratio := "", ""
	if len(s.base) > 0 {
		if s.named == "" {
			s.named = "floor"
		}
		against = fmt.Sprintf("%s %.*f %s", s.named, s.digits, median(s.base), s.unit)
		ratio = fmt.Sprintf("%.2f times", s.ratio())
	}
	t.add(number(b), s.what, fmt.Sprintf("%.*f %s", s.digits, median(s.ours), s.unit), against, ratio, w.say(value, w.must, unit), w.say(value, w.aim, unit))
}

// say is a bound and whether a value keeps it.
func (w bounds) say(value, bound float64, unit string) string {
	verdict, sign := "over", "<="
	if w.more {
		verdict, sign = "under", ">="
	}
	if value == bound || value > bound == w.more {
		verdict = "holds"
	}
	return fmt.Sprintf("%s %g %s: %s", sign, bound, unit, verdict)
}

// skipped notes a figure that cannot be shown here.
func (t *table) skipped(b *testing.B, why string) {
	t.add(number(b), "not measured: "+why, "", "", "", "", "")
}

func (t *table) add(cells ...string) { t.lines = append(t.lines, strings.Join(cells, "\t")) }

// number is the figure's number, the second part of the benchmark's name.
func number(b *testing.B) string { return strings.Split(b.Name(), "/")[1] }

func (t *table) print(w io.Writer) {
	fmt.Fprintln(w, "\nPublishers and receivers share the processors with the daemon. Absolute figures drift with the machine; ratios to the floor do less.")
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		fmt.Fprintf(w, "Load of the machine at the end: %s", load)
	}
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(columns, "\tfigure\tours\tagainst\tratio\tmust\taim")
	for _, line := range t.lines {
		fmt.Fprintln(columns, line)
	}
	columns.Flush()
}
