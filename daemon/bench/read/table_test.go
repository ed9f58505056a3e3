package read

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
)

// table collects the results.
type table struct{ lines []string }

// samples are the values of one measurement, one for each round.
type samples struct {
	metric string // name in the output of the benchmark
	unit   string
	digits int    // decimals
	named  string // name of the base, such as floor
	whd    []float64
	base   []float64
}

func (s *samples) add(whd, base float64) {
	s.whd, s.base = append(s.whd, whd), append(s.base, base)
}

// ratio returns the median of the rounds' ratios: the two values of a round were
// measured under the same load of the machine.
func (s *samples) ratio() float64 {
	ratios := make([]float64, len(s.whd))
	for i := range ratios {
		ratios[i] = s.whd[i] / s.base[i]
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

// times adds a result with a multiple of its base as the limit.
func (t *table) times(b *testing.B, name string, s samples, atMost float64) {
	t.measured(b, name, s, fmt.Sprintf("%.2f times", atMost), s.ratio() <= atMost)
}

// below adds a result with an absolute limit; its base is for comparison.
func (t *table) below(b *testing.B, name string, s samples, atMost float64) {
	t.measured(b, name, s, fmt.Sprintf("%g %s", atMost, s.unit), median(s.whd) <= atMost)
}

// above adds a result limited to its base plus a number of units.
func (t *table) above(b *testing.B, name string, s samples, atMost float64) {
	t.measured(b, name, s, fmt.Sprintf("+ %.0f %s", atMost, s.unit), median(s.whd)-median(s.base) <= atMost)
}

func (t *table) measured(b *testing.B, name string, s samples, bound string, holds bool) {
	whd, base := median(s.whd), median(s.base)
	b.ReportMetric(whd, s.metric+"-"+s.unit)
	b.ReportMetric(s.ratio(), s.metric+"-times")
	t.add(b, name,
		fmt.Sprintf("%.*f %s", s.digits, whd, s.unit),
		fmt.Sprintf("%s %.*f %s", s.named, s.digits, base, s.unit),
		fmt.Sprintf("%.2f times", s.ratio()), bound, holds)
}

// checked adds a result that passes or fails.
func (t *table) checked(b *testing.B, name, found, bound string, holds bool) {
	t.add(b, name, found, "", "", bound, holds)
}

// skipped adds a result that this machine cannot measure.
func (t *table) skipped(b *testing.B, why string) {
	t.lines = append(t.lines, strings.Join([]string{number(b), "not measured: " + why, "", "", "", "", ""}, "\t"))
}

func (t *table) add(b *testing.B, name, whd, base, ratio, bound string, holds bool) {
	verdict := "over"
	if holds {
		verdict = "holds"
	}
	t.lines = append(t.lines, strings.Join([]string{number(b), name, whd, base, ratio, bound, verdict}, "\t"))
}

// number returns the result's number, the second part of the benchmark's name.
func number(b *testing.B) string { return strings.Split(b.Name(), "/")[1] }

func (t *table) print(w io.Writer) {
	fmt.Fprintln(w, "\nThe client shares the processors with the servers. Compare the ratios: absolute values depend on the load of the machine.")
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(columns, "\tfigure\tours\tagainst\tratio\tbound\t")
	for _, line := range t.lines {
		fmt.Fprintln(columns, line)
	}
	columns.Flush()
}
