package encode

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/row"
)

// totals returns a row of SO_Totals as read from the embedded store.
func totals() (Shape, []row.Cell) {
	kind, _ := record.Builtin().Lookup("SO_Totals")
	s := Shape{Operation: kind.Operation(), Record: kind.Name}
	for _, f := range kind.Fields {
		s.Columns = append(s.Columns, Column{f.Name, f.Type})
	}
	var cells []row.Cell
	for _, t := range []string{
		"INV-0000012345", "12345.6700", "15.5000", "1.5500", "0.0000",
		"0.0000", "120.0000", "12.0000",
	} {
		cells = append(cells, row.Cell{Data: []byte(t)})
	}
	return s, cells
}

// totalsStruct is the same row for encoding/json.
type totalsStruct struct {
	InvoiceID        *string      `json:",omitempty"`
	InvoiceTotal     *json.Number `json:",omitempty"`
	Cartage1Total    *json.Number `json:",omitempty"`
	Cartage1TaxTotal *json.Number `json:",omitempty"`
	Cartage2Total    *json.Number `json:",omitempty"`
	Cartage2TaxTotal *json.Number `json:",omitempty"`
	Cartage3Total    *json.Number `json:",omitempty"`
	Cartage3TaxTotal *json.Number `json:",omitempty"`
}

func newTotalsStruct(cells []row.Cell) *totalsStruct {
	id, n := string(cells[0].Data), make([]json.Number, len(cells))
	for i, c := range cells {
		n[i] = json.Number(c.Data)
	}
	return &totalsStruct{&id, &n[1], &n[2], &n[3], &n[4], &n[5], &n[6], &n[7]}
}

func BenchmarkRow(b *testing.B) {
	s, cells := totals()
	for _, f := range Formats() {
		b.Run(f.Name, func(b *testing.B) {
			e := f.New(s)
			dst := e.Begin(make([]byte, 0, 1<<16), Head{})
			b.ReportAllocs()
			for rows := int64(0); b.Loop(); rows++ {
				if f.MaxRows > 0 && rows%f.MaxRows == 0 {
					e = f.New(s)
					dst = e.Begin(dst[:0], Head{})
				}
				dst = e.Row(dst[:0], cells)
			}
		})
	}
}

// BenchmarkAgainstEncodingJSON alternates with encoding/json on the same row and
// reports the ratio of the times for each format.
func BenchmarkAgainstEncodingJSON(b *testing.B) {
	const turn = 1000
	s, cells := totals()
	theirs := newTotalsStruct(cells)
	for _, f := range Formats() {
		b.Run(f.Name, func(b *testing.B) {
			e := f.New(s)
			dst := e.Begin(make([]byte, 0, 1<<16), Head{})
			var ourTime, theirTime time.Duration
			for b.Loop() {
				start := time.Now()
				for range turn {
					dst = e.Row(dst[:0], cells)
				}
				middle := time.Now()
				for range turn {
					if _, err := json.Marshal(theirs); err != nil {
						b.Fatal(err)
					}
				}
				ourTime += middle.Sub(start)
				theirTime += time.Since(middle)
			}
			b.ReportMetric(float64(ourTime)/float64(b.N*turn), "ns/row")
			b.ReportMetric(float64(theirTime)/float64(ourTime), "ratio")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkNew measures the setup cost of every request before its first row.
func BenchmarkNew(b *testing.B) {
	s, _ := totals()
	for _, f := range Formats() {
		b.Run(f.Name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f.New(s)
			}
		})
	}
}
