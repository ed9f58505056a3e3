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
	const size = 256
	body := `{"DebtorNo":"` + strings.Repeat("x", 480) + `"}`
	run := func(name string, batch func(made delivery.Batch, before *delivery.Batch) []delivery.Batch) {
		b.Run(name, func(b *testing.B) {
			w := open(b)
			r, l := subscribed(b, w)
			version, rows := w.mustVersion(b), 0
			var before *delivery.Batch
			for n := 0; b.Loop(); n++ {
				b.StopTimer()
				made := hookBatch(version, int64(1+2*size*n), size, r, l, body)
				all := batch(made, before)
				for _, unmeasured := range all[:len(all)-1] {
					if err := w.Engine.Write(b.Context(), unmeasured); err != nil {
						b.Fatal(err)
					}
				}
				last := all[len(all)-1]
				b.StartTimer()
				if err := w.Engine.Write(b.Context(), last); err != nil {
					b.Fatal(err)
				}
				rows += len(last.Events) + len(last.Messages) + len(last.Outcomes)
				before = &made
			}
			b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
		})
	}
	run("events", func(made delivery.Batch, _ *delivery.Batch) []delivery.Batch { return []delivery.Batch{made} })
	run("outcomes", func(made delivery.Batch, _ *delivery.Batch) []delivery.Batch {
		return []delivery.Batch{made, {Version: made.Version, Leases: made.Leases, Outcomes: succeeded(made)}}
	})
	run("mixed", func(made delivery.Batch, before *delivery.Batch) []delivery.Batch {
		if before != nil {
			made.Outcomes = succeeded(*before)
		}
		return []delivery.Batch{made}
	})
}

// BenchmarkWebhookPage reads pages of a backlog.
func BenchmarkWebhookPage(b *testing.B) {
	w := hooksInFile(b)
	r, l := subscribed(b, w)
	version := w.mustVersion(b)
	for n := range int64(40) {
		if err := w.Engine.Write(b.Context(), hookBatch(version, 1+512*n, 256, r, l, strings.Repeat("x", 500))); err != nil {
			b.Fatal(err)
		}
	}
	p := delivery.Page{Partition: l.Partition, Subscription: r.ID, Until: hookNoon, Limit: 128}
	for b.Loop() {
		page, err := w.Engine.OpenMessages(b.Context(), p)
		if err != nil {
			b.Fatal(err)
		}
		p.After = delivery.Position{}
		if len(page) == p.Limit {
			p.After = delivery.Position{Next: page[127].Next, ID: page[127].ID}
		}
	}
}
