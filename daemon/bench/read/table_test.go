package read

import (
	"fmt"
	"io"
	"testing"

	"github.com/bizhook/whd/daemon/bench/benchtest"
)

// table collects the results.
type table struct{ benchtest.Table }

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

func (s *samples) ratio() float64 { return benchtest.Ratio(s.whd, s.base) }

// times adds a result with a multiple of its base as the limit.
func (t *table) times(b *testing.B, name string, s samples, atMost float64) {
	t.measured(b, name, s, fmt.Sprintf("%.2f times", atMost), s.ratio() <= atMost)
}

// below adds a result with an absolute limit; its base is for comparison.
func (t *table) below(b *testing.B, name string, s samples, atMost float64) {
	t.measured(b, name, s, fmt.Sprintf("%g %s", atMost, s.unit), benchtest.Median(s.whd) <= atMost)
}

// above adds a result limited to its base plus a number of units.
func (t *table) above(b *testing.B, name string, s samples, atMost float64) {
	t.measured(b, name, s, fmt.Sprintf("+ %.0f %s", atMost, s.unit), benchtest.Median(s.whd)-benchtest.Median(s.base) <= atMost)
}

func (t *table) measured(b *testing.B, name string, s samples, bound string, holds bool) {
	whd, base := benchtest.Median(s.whd), benchtest.Median(s.base)
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

func (t *table) add(b *testing.B, name, whd, base, ratio, bound string, holds bool) {
	verdict := "over"
	if holds {
		verdict = "holds"
	}
	t.Add(b, name, whd, base, ratio, bound, verdict)
}

func (t *table) print(w io.Writer) {
	t.Print(w, "The client shares the processors with the servers. Compare the ratios: absolute values depend on the load of the machine.",
		"figure", "ours", "against", "ratio", "bound", "")
}
