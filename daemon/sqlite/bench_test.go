package sqlite

import (
	"fmt"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/row"
)

const benchRows = 100_000

// totals opens a database with a table like SO_Totals: one text and seven decimals.
func totals(tb testing.TB) *Conn {
	c := open(tb)
	exec(tb, c, `CREATE TABLE SO_Totals (
		InvoiceID TEXT COLLATE TSQL, InvoiceTotal TEXT_DECIMAL COLLATE DEC,
		Cartage1Total TEXT_DECIMAL COLLATE DEC, Cartage1TaxTotal TEXT_DECIMAL COLLATE DEC,
		Cartage2Total TEXT_DECIMAL COLLATE DEC, Cartage2TaxTotal TEXT_DECIMAL COLLATE DEC,
		Cartage3Total TEXT_DECIMAL COLLATE DEC, Cartage3TaxTotal TEXT_DECIMAL COLLATE DEC);
		BEGIN`)
	s, err := c.Prepare("INSERT INTO SO_Totals VALUES (?,?,?,?,?,?,?,?)")
	if err != nil {
		tb.Fatal(err)
	}
	for i := range benchRows {
		s.BindText(1, fmt.Sprintf("INV-%07d", i*7919%benchRows))
		for column := range 7 {
			s.BindText(column+2, fmt.Sprintf("%d.%04d", i*(column+3)%100_003, i%10_000))
		}
		if _, err := s.Step(); err != nil {
			tb.Fatal(err)
		}
		s.Reset()
	}
	exec(tb, c, "COMMIT")
	return c
}

var totalsTypes = []record.Type{
	record.Text, record.Decimal, record.Decimal, record.Decimal,
	record.Decimal, record.Decimal, record.Decimal, record.Decimal,
}

// BenchmarkScan compares stepping only with reading every cell of every row.
func BenchmarkScan(b *testing.B) {
	c := totals(b)
	scan := func(name string, each func(*Stmt)) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				steps(b, c, "SELECT * FROM SO_Totals", each)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchRows, "ns/row")
		})
	}
	cells := make([]row.Cell, len(totalsTypes))
	scan("bare", func(*Stmt) {})
	scan("cells", func(s *Stmt) { s.ReadRow(cells, totalsTypes) })
}

// BenchmarkStatement measures the cost per row of each rule of package tsql.
func BenchmarkStatement(b *testing.B) {
	c := totals(b)
	for _, test := range []struct{ name, sql string }{
		{"bare", "SELECT count(*) FROM SO_Totals WHERE length(InvoiceID) > 99"},
		{"like", "SELECT count(*) FROM SO_Totals WHERE InvoiceID LIKE '%[4-6]_7%'"},
		{"contains", "SELECT count(*) FROM SO_Totals WHERE InvoiceID LIKE '%0047%'"},
		{"equal text", "SELECT count(*) FROM SO_Totals WHERE InvoiceID = 'inv-0004711'"},
		{"range of decimals", "SELECT count(*) FROM SO_Totals WHERE InvoiceTotal > '5000.5'"},
		{"sum", "SELECT dec_sum(InvoiceTotal) FROM SO_Totals"},
		{"sort by text", "SELECT InvoiceID FROM SO_Totals ORDER BY InvoiceID"},
		{"sort by decimal", "SELECT InvoiceID FROM SO_Totals ORDER BY InvoiceTotal"},
	} {
		b.Run(test.name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				steps(b, c, test.sql, func(*Stmt) {})
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchRows, "ns/row")
		})
	}
}

func steps(tb testing.TB, c *Conn, sql string, each func(*Stmt)) {
	s, err := c.Prepare(sql)
	if err != nil {
		tb.Fatal(err)
	}
	defer s.Reset()
	for {
		hasRow, err := s.Step()
		if err != nil {
			tb.Fatal(err)
		}
		if !hasRow {
			return
		}
		each(s)
	}
}

// BenchmarkMixed reads a column with values of every storage class as several types.
func BenchmarkMixed(b *testing.B) {
	c := open(b)
	exec(b, c, `CREATE TABLE Mixed (V);
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
		INSERT INTO Mixed SELECT CASE i % 5
			WHEN 0 THEN i
			WHEN 1 THEN i / 8.0
			WHEN 2 THEN 'x' || i
			WHEN 3 THEN CAST(i AS TEXT)
			ELSE CAST('b' || i AS BLOB)
			END FROM n`)
	for _, t := range []record.Type{record.Text, record.Int, record.Double, record.Decimal, record.DateTime, record.Guid} {
		b.Run(t.String(), func(b *testing.B) {
			cells := make([]row.Cell, 1)
			b.ReportAllocs()
			for range b.N {
				steps(b, c, "SELECT V FROM Mixed", func(s *Stmt) { s.ReadRow(cells, []record.Type{t}) })
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchRows, "ns/row")
		})
	}
}
