package grid

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"
)

// wideRows returns rows like records: 24 columns, some with non-Latin text.
func wideRows(n int) ([]Column, []*Row) {
	var all []Column
	for i := range 24 {
		all = append(all, Column{Name: fmt.Sprintf("Column%02dTotal", i), Right: i%3 == 1})
	}
	rows := numberedRows(n, 24)
	for i, r := range rows {
		r.Cells[2].Text = fmt.Sprintf("Müller & Söhne №%d 世界株式会社", i)
		r.Cells[5].Text = fmt.Sprintf("line %d\nand another, which is longer than the column will ever be", i)
		r.Cells[7] = Cell{Null: true}
	}
	return all, rows
}

// BenchmarkKey measures a key press and the following redraw at 200x60 with 12,000 rows
// of 24 columns that are loaded in pages.
func BenchmarkKey(b *testing.B) {
	for _, test := range []struct {
		name string
		key  func(g *Grid, i int)
	}{
		{"down", func(g *Grid, i int) { g.GoTo(i % 12000) }},
		{"page", func(g *Grid, i int) { g.GoTo(i * 57 % 12000) }},
		{"jump", func(g *Grid, i int) { g.GoTo(i * 7919 % 12000) }},
		{"column", func(g *Grid, i int) { g.Columns.GoTo(i % 24) }},
	} {
		b.Run(test.name, func(b *testing.B) { benchmarkKey(b, test.key) })
	}
}

func benchmarkKey(b *testing.B, key func(g *Grid, i int)) {
	all, rows := wideRows(12000)
	pages := NewPages()
	pages.SetTotal(pages.Generation(), len(rows))
	g := New(colourTheme, false)
	g.Columns.Set(all, 1)
	g.SetSize(200, 60)
	g.SetRows(pages)
	took := make([]time.Duration, 0, b.N)
	b.ReportAllocs()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for i := range b.N {
		start := threadTime()
		key(g, i)
		first, last := g.Window()
		if wanted := pages.Request(first, last); len(wanted) > 0 {
			for _, number := range wanted {
				pages.Put(pages.Generation(), number, pageRows(rows, number))
			}
			g.Sync()
		}
		_ = g.View()
		took = append(took, threadTime()-start)
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "cpu-p99-µs")
	b.ReportMetric(float64(took[len(took)-1].Microseconds()), "cpu-max-µs")
}

// BenchmarkMemory measures the memory of 12,000 rows of 24 columns after all were
// visible.
func BenchmarkMemory(b *testing.B) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	pages := NewPages()
	pages.SetTotal(pages.Generation(), 12000)
	all, _ := wideRows(0)
	g := New(colourTheme, false)
	g.Columns.Set(all, 1)
	g.SetSize(200, 60)
	g.SetRows(pages)
	for range b.N {
		for row := 0; row < 12000; row += 55 {
			g.GoTo(row)
			first, last := g.Window()
			for _, number := range pages.Request(first, last) {
				_, rows := wideRows(PageRows)
				pages.Put(pages.Generation(), number, rows)
			}
			g.Sync()
			_ = g.View()
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(1<<20), "MB")
	runtime.KeepAlive(g)
}

// BenchmarkHostile measures a screen full of one-megabyte texts with control
// characters.
func BenchmarkHostile(b *testing.B) {
	long := make([]byte, 0, 1<<20)
	for len(long) < 1<<20 {
		long = append(long, "\x1b[31m世\u0301\u202e"...)
	}
	text := string(long)
	var rows []*Row
	for i := range 60 {
		r := &Row{ID: fmt.Sprint(i)}
		for range 24 {
			r.Cells = append(r.Cells, Cell{Text: text})
		}
		rows = append(rows, r)
	}
	all, _ := wideRows(0)
	for range b.N {
		g := New(colourTheme, false)
		g.Columns.Set(all, 1)
		g.SetSize(200, 60)
		g.SetRows(NewList(rows))
		_ = g.View()
	}
}
