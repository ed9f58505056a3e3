// Package benchtest has the parts that the benchmarks of daemon/bench share: rounds, the table
// of their results, a receiver of deliveries, and the CPU time and memory of processes.
package benchtest

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
)

// Table collects results.
type Table struct{ lines []string }

// Add adds a line, which starts with the number of the measurement: the second part of the
// benchmark's name.
func (t *Table) Add(b *testing.B, cells ...string) {
	t.lines = append(t.lines, strings.Join(append([]string{strings.Split(b.Name(), "/")[1]}, cells...), "\t"))
}

// Append adds the lines of another table.
func (t *Table) Append(other *Table) { t.lines = append(t.lines, other.lines...) }

// Print writes an introduction and the lines below their headings.
func (t *Table) Print(w io.Writer, introduction string, headings ...string) {
	fmt.Fprintln(w, "\n"+introduction)
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, line := range append([]string{"\t" + strings.Join(headings, "\t")}, t.lines...) {
		fmt.Fprintln(columns, line+strings.Repeat("\t", max(0, len(headings)-strings.Count(line, "\t"))))
	}
	columns.Flush()
}

// Median returns the median of values.
func Median(values []float64) float64 {
	values = slices.Sorted(slices.Values(values))
	half := len(values) / 2
	if len(values)%2 == 1 {
		return values[half]
	}
	return (values[half-1] + values[half]) / 2
}

// Ratio returns the median of the ratios of the rounds. The two values of a round are
// measured one after the other, so that other load on the machine affects both.
func Ratio(values, base []float64) float64 {
	ratios := make([]float64, len(base))
	for i := range ratios {
		ratios[i] = values[i] / base[i]
	}
	return Median(ratios)
}
