package read

import (
	"io"
	"testing"

	"github.com/bizhook/whd/daemon/bench/benchtest"
)

// workbooks measures the CPU time of an export as a workbook against that of CSV.
func workbooks(s *stage, b *testing.B) {
	both, err := s.largeServers()
	if err != nil {
		b.Fatal(err)
	}
	if _, err := benchtest.CPUTime(both.whd.PID()); err != nil {
		s.table.Skip(b, err.Error())
		return
	}
	export := func(format string) float64 {
		used, err := cpuOf(both.whd.PID(), func() error {
			_, err := dialled(b, both.whd).send(both.data.get("/Queries/SO_Totals?format="+format), io.Discard)
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
		return used.Seconds()
	}
	got := samples{metric: "cpu", unit: "s", digits: 3, named: "csv"}
	rounds(b, minRounds, func(n int) {
		var xlsx, csv float64
		benchtest.InTurns(n, func() { xlsx = export("xlsx") }, func() { csv = export("csv") })
		got.add(xlsx, csv)
	})
	s.table.times(b, "export of 1M rows as a workbook, CPU", got, 3.5)
}
