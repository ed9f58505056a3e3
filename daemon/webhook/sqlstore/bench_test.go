package sqlstore

import (
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/mssql/mssqltest"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// BenchmarkWebhookWrite measures batches of 256: on a file, with every commit
// synced, and on SQL Server if there is one.
func BenchmarkWebhookWrite(b *testing.B) {
	b.Run("file", func(b *testing.B) { benchmarkWrite(b, hooksInFile) })
	b.Run("server", func(b *testing.B) {
		dsn := mssqltest.Database(b)
		benchmarkWrite(b, func(tb testing.TB) *Store { return hooksOnServer(tb, dsn) })
	})
}

func benchmarkWrite(b *testing.B, open func(testing.TB) *Store) {
	b.Run("events", func(b *testing.B) {
		measureWrites(b, open(b), func(made delivery.Batch, _ *delivery.Batch) (before, measured *delivery.Batch) {
			return nil, &made
		})
	})
	b.Run("outcomes", func(b *testing.B) {
		measureWrites(b, open(b), func(made delivery.Batch, _ *delivery.Batch) (before, measured *delivery.Batch) {
			return &made, &delivery.Batch{Version: made.Version, Leases: made.Leases, Outcomes: succeeded(made)}
		})
	})
	b.Run("mixed", func(b *testing.B) {
		measureWrites(b, open(b), func(made delivery.Batch, last *delivery.Batch) (before, measured *delivery.Batch) {
			if last != nil {
				made.Outcomes = succeeded(*last)
			}
			return nil, &made
		})
	})
}

// measureWrites measures writes of batches. batches gets a batch of new messages, and the last one
// if there is one; it returns the batch to measure, and one to write before it if that is necessary.
func measureWrites(
	b *testing.B, w *Store, batches func(made delivery.Batch, last *delivery.Batch) (before, measured *delivery.Batch),
) {
	const size = 256
	body := `{"DebtorNo":"` + strings.Repeat("x", 480) + `"}`
	r, l := subscribed(b, w)
	version := w.mustVersion(b)
	rows := 0
	var last *delivery.Batch
	for n := 0; b.Loop(); n++ {
		b.StopTimer()
		made := hookBatch(version, int64(1+2*size*n), size, r, l, body)
		before, measured := batches(made, last)
		if before != nil {
			w.mustWrite(b, *before)
		}
		b.StartTimer()

		w.mustWrite(b, *measured)
		rows += len(measured.Events) + len(measured.Messages) + len(measured.Outcomes)
		last = &made
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
}

// BenchmarkWebhookPage reads pages of a backlog.
func BenchmarkWebhookPage(b *testing.B) {
	w := hooksInFile(b)
	r, l := subscribed(b, w)
	version := w.mustVersion(b)
	for n := range int64(40) {
		w.mustWrite(b, hookBatch(version, 1+512*n, 256, r, l, strings.Repeat("x", 500)))
	}
	p := delivery.Page{Partition: l.Partition, Subscription: r.ID, Until: hookNoon, Limit: 128}
	for b.Loop() {
		page, err := w.Engine.OpenMessages(b.Context(), p)
		if err != nil {
			b.Fatal(err)
		}
		p.After = delivery.Position{}
		if len(page) == p.Limit {
			last := page[len(page)-1]
			p.After = delivery.Position{Next: last.Next, ID: last.ID}
		}
	}
}
