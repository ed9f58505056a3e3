package query

import (
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/dialect"
)

// BenchmarkRequest measures everything done for a query before its statement runs.
func BenchmarkRequest(b *testing.B) {
	totals, _ := registry.Lookup("SO_Totals")
	for name, body := range map[string]string{
		"key": `{"InvoiceID":"D100418"}`,
		"ten": `{"InvoiceIDStartsWith":"D1","InvoiceTotalGreaterThan":100.50,"InvoiceTotalLessThan":2000,` +
			`"Cartage1Total":0,"Cartage2TotalBetween":[0,12.5],"InvoiceIDIn":["D100418","D100419","D100420"],` +
			`"OrderBy":"InvoiceID","Skip":100,"Take":50,"Include":"Total"}`,
	} {
		for _, d := range []*dialect.Dialect{dialect.SQLite(), dialect.TSQL()} {
			b.Run(name+"/"+d.Name, func(b *testing.B) {
				source := string(d.Quote(nil, "SO_Totals"))
				b.ReportAllocs()
				for b.Loop() {
					members, err := ReadJSON([]byte(body))
					if err != nil {
						b.Fatal(err)
					}
					request, err := Parse(totals, members, Options{Zone: time.UTC})
					if err != nil {
						b.Fatal(err)
					}
					plan, err := NewPlan(request, true)
					if err != nil {
						b.Fatal(err)
					}
					if _, err := Compile(plan, d, source); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
