package tui_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/browse"
	"github.com/bizhook/whd/tui/grid"
	"github.com/bizhook/whd/tui/tuitest"
	"github.com/bizhook/whd/tui/ui"
)

// quantile returns a quantile of durations.
func quantile(times []time.Duration, part float64) time.Duration {
	sorted := slices.Sorted(slices.Values(times))
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(int(part*float64(len(sorted))), len(sorted)-1)]
}

// wideKind returns a kind with 24 fields, like the widest business records.
func wideKind() record.Kind {
	kind := record.Kind{Name: "SO_Wide", Area: "Sales", Summary: "Wide", Table: "SO_Wide"}
	for i := range 24 {
		f := record.Field{
			Name:   fmt.Sprintf("Column%02dTotal", i),
			Type:   record.Text,
			Filter: record.TextFilter,
			Null:   record.Nullable,
		}
		if i%3 == 1 {
			f.Type = record.Decimal
			f.Filter = record.OrderedFilter
		}
		if i == 0 {
			f.Null = record.NotNull
		}
		kind.Fields = append(kind.Fields, f)
	}
	return kind
}

// widePage returns a page of its rows with non-Latin text and nulls.
func widePage(t testing.TB, kind *record.Kind, number int) []client.Row {
	t.Helper()
	var rows []client.Row
	for n := number * grid.PageRows; n < (number+1)*grid.PageRows; n++ {
		members := make(map[string]any)
		for i, f := range kind.Fields {
			switch {
			case i == 0:
				members[f.Name] = fmt.Sprintf("D%05d", n)
			case f.Type == record.Decimal:
				members[f.Name] = json.Number(fmt.Sprintf("%d.%02d", n*7919%100000, i))
			case i%7 == 2:
				members[f.Name] = fmt.Sprintf("Müller & Söhne №%d 世界株式会社", n)
			case i%7 != 5:
				members[f.Name] = fmt.Sprintf("text %d of row %d", i, n)
			}
		}
		text, err := json.Marshal(members)
		if err != nil {
			t.Fatal(err)
		}
		row, err := client.ParseRow(text)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

// wideBrowser is an app at 200x60 that shows 12,000 rows of 24 columns.
type wideBrowser struct {
	app  *tui.App
	b    *browse.Browser
	kind *record.Kind
}

const wideRows = 12_000

func newWideBrowser(t testing.TB) *wideBrowser {
	t.Helper()
	registry, err := record.NewRegistry(wideKind())
	if err != nil {
		t.Fatal(err)
	}
	kind, _ := registry.Lookup("SO_Wide")
	d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{Kinds: tui.Kinds{Known: registry}, Output: nil})
	w := &wideBrowser{app: d.App, b: browse.New(d.App, kind, nil, browse.Options{}), kind: kind}
	d.App.PushIn(tui.RecordsTab, w.b)
	d.Resize(200, 60)
	w.b.Rows.Pages.SetTotal(w.b.Rows.Pages.Generation(), wideRows)
	w.feed(t)
	return w
}

// feed loads the missing pages near the selected row.
func (w *wideBrowser) feed(t testing.TB) {
	t.Helper()
	first, last := w.b.Grid.Window()
	for number := first / grid.PageRows; number <= min(last, wideRows-1)/grid.PageRows; number++ {
		if w.b.Rows.Pages.Row(number*grid.PageRows) == nil {
			w.app.Update(ui.Response{To: w.b, Apply: func() tea.Cmd {
				return w.b.Put(w.b.Rows.Pages.Generation(), number, browse.FetchedRows{Rows: widePage(t, w.kind, number)}, nil)
			}})
		}
	}
}

// BenchmarkHeap measures the memory of the app after all 12,000 rows were visible.
func BenchmarkHeap(b *testing.B) {
	for range b.N {
		before := heap()
		w := newWideBrowser(b)
		for row := 0; row < wideRows; row += 50 {
			w.b.Grid.GoTo(row)
			w.feed(b)
			w.app.Update(tea.KeyMsg{Type: tea.KeyDown})
			_ = w.app.View()
		}
		b.ReportMetric(float64(heap()-before)/(1<<20), "heap-MB")
		runtime.KeepAlive(w)
	}
}

// heap returns the bytes in use after a garbage collection.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
