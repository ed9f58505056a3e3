package read

import (
	"strings"
	"testing"
)

// ordered100 is a page in the order of a field that is not the key.
var ordered100 = question{path: "/ordered100", body: `{"InvoiceTotalGreaterThan":5000,"OrderBy":"InvoiceTotal","Take":100,"Include":"NoTotal"}`}

func pageOrdered(s *stage, b *testing.B) {
	s.belowFloor(b, "page of 100 in the order of a field, CPU", ordered100, ordered100, 0.6)
}

func pageOrderedWithTotal(s *stage, b *testing.B) {
	s.belowFloor(b, "the same with total, data unchanged, CPU", ordered100.withTotal(), ordered100, 1)
}

func pageWithTotal(s *stage, b *testing.B) {
	q := page100.withTotal()
	q.body = strings.Replace(q.body, "%s", invoiceID(0), 1) // one filter
	s.belowFloor(b, "page of 100 with total, data unchanged, CPU", q, page100, 0.25)
}

func (q question) withTotal() question {
	q.body = strings.Replace(q.body, "NoTotal", "Total", 1)
	return q
}

// belowFloor measures the CPU time for a question against that of the floor for one
// without total, with an absolute limit in ms.
func (s *stage) belowFloor(b *testing.B, name string, q, base question, atMost float64) {
	got, ok := s.cpuTimes(b, q, base, 1200)
	if ok {
		s.table.below(b, name, got, atMost)
	}
}
