package read

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
)

// table collects the figures.
type table struct{ lines []string }

// samples are what was measured of one thing, one value for each round.
type samples struct {
	metric string // what it is called in the benchmark's own line
	unit   string
	digits int    // after the point
	named  string // what the base is, such as floor
	ours   []float64
	base   []float64
}

func (s *samples) add(ours, base float64) {
	s.ours, s.base = append(s.ours, ours), append(s.base, base)
}

// ratio is the median of the rounds' ratios: a round's two values were measured
// side by side, so what else the machine did then drops out.
func (s *samples) ratio() float64 {
	ratios := make([]float64, len(s.ours))
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

// times notes a figure that is bound to a multiple of its base.
func (t *table) times(b *testing.B, what string, s samples, atMost float64) {
	t.measured(b, what, s, fmt.Sprintf("%.2f times", atMost), s.ratio() <= atMost)
}

// below notes a figure that is bound to so many of its unit; its base is
// context.
func (t *table) below(b *testing.B, what string, s samples, atMost float64) {
	t.measured(b, what, s, fmt.Sprintf("%.0f %s", atMost, s.unit), median(s.ours) <= atMost)
}

// above notes a figure that may be so many of its unit larger than its base.
func (t *table) above(b *testing.B, what string, s samples, atMost float64) {
	t.measured(b, what, s, fmt.Sprintf("+ %.0f %s", atMost, s.unit), median(s.ours)-median(s.base) <= atMost)
}

func (t *table) measured(b *testing.B, what string, s samples, bound string, holds bool) {
	ours, base := median(s.ours), median(s.base)
	b.ReportMetric(ours, s.metric+"-"+s.unit)
	b.ReportMetric(s.ratio(), s.metric+"-times")
	t.add(b, what,
		fmt.Sprintf("%.*f %s", s.digits, ours, s.unit),
		fmt.Sprintf("%s %.*f %s", s.named, s.digits, base, s.unit),
		fmt.Sprintf("%.2f times", s.ratio()), bound, holds)
}

// checked notes a figure that is true or false.
func (t *table) checked(b *testing.B, what, found, bound string, holds bool) {
	t.add(b, what, found, "", "", bound, holds)
}

// skipped notes a figure that this machine cannot show.
func (t *table) skipped(b *testing.B, why string) {
	t.lines = append(t.lines, strings.Join([]string{number(b), "not measured: " + why, "", "", "", "", ""}, "\t"))
}

func (t *table) add(b *testing.B, what, ours, base, ratio, bound string, holds bool) {
	verdict := "over"
	if holds {
		verdict = "holds"
	}
	t.lines = append(t.lines, strings.Join([]string{number(b), what, ours, base, ratio, bound, verdict}, "\t"))
}

// number is the figure's number, the second part of the benchmark's name.
func number(b *testing.B) string { return strings.Split(b.Name(), "/")[1] }

func (t *table) print(w io.Writer) {
	fmt.Fprintln(w, "\nThe client shares the processors with the servers. Ratios are what counts: absolute figures drift with the machine.")
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(columns, "\tfigure\tours\tagainst\tratio\tbound\t")
	for _, line := range t.lines {
		fmt.Fprintln(columns, line)
	}
	columns.Flush()
}
