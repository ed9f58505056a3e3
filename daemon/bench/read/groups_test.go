package read

import (
	"testing"

	"github.com/bizhook/whd/daemon/encode"
)

// groups measures the sums by an indexed field against the raw loop over the same rows, in the
// order of the index.
func groups(s *stage, b *testing.B) {
	for _, size := range []struct {
		name string
		fill func() (data, error)
	}{{"100k", s.small}, {"1M", s.large}} {
		b.Run(size.name, func(b *testing.B) {
			d, err := size.fill()
			if err != nil {
				b.Fatal(err)
			}
			s.sumsByField(b, size.name, d)
		})
	}
}

func (s *stage) sumsByField(b *testing.B, name string, d data) {
	l := open(b, d)
	json, _ := encode.ByName("json") // one of the service's formats
	sums := func() error {
		_, err := l.answer(`{"GroupBy":"Cartage3Total","Include":"SUM(InvoiceTotal),COUNT(*)"}`, json)
		return err
	}
	raw := func() error {
		return l.step(`SELECT Cartage3Total, InvoiceTotal FROM SO_Totals ORDER BY Cartage3Total`)
	}
	s.table.times(b, "sums of "+name+" rows by an indexed field", d.perRow(b, sums, raw), 1.5)
}
