package read

import (
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/bench/benchtest"
)

// newFilter100 is a page of a filter that differs in each request, with the default Total.
var newFilter100 = question{body: `{"InvoiceIDBetween":["%s","E"],"InvoiceTotalGreaterThan":5000,"OrderBy":"InvoiceID","Take":100}`}

// newFilters measures pages of new filters among a million rows, against the same pages without a
// total.
func newFilters(s *stage, b *testing.B) {
	both, err := s.largeServers()
	if err != nil {
		b.Fatal(err)
	}
	if _, err := benchtest.CPUTime(both.whd.PID()); err != nil {
		s.table.Skip(b, err.Error())
		return
	}
	withoutTotal := newFilter100
	withoutTotal.body = strings.Replace(withoutTotal.body, `"Take"`, `"Include":"NoTotal","Take"`, 1)
	c := newClients(b, both.data, both.whd)
	got := samples{metric: "cpu", unit: "ms", digits: 3, named: "no total"}
	rounds(b, 5, func(n int) {
		var total, none float64
		benchtest.InTurns(n,
			func() { total = c.cpu(b, newFilter100, connections*(10+n)) }, // other filters in each round
			func() { none = c.cpu(b, withoutTotal, 800) })
		got.add(total, none)
	})
	s.table.below(b, "page of a new filter among 1M rows, default Total, CPU", got, 25)
}
