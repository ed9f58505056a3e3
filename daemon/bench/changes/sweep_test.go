package changes

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/bench/benchtest"
	"github.com/bizhook/whd/daemon/sqlite"
)

// alone are the settings with which a daemon sweeps as fast as it can.
var alone = []string{"--changes-share", "1", "--changes-sweep", "1s"}

const always = `capture = "always"`

// unchangedSweep measures sweeps of a table without changes, against a loop that steps the
// statement of all rows once and throws the values away. Something else in the file changes:
// otherwise there is no sweep.
func unchangedSweep(s *suite, b *testing.B) {
	if !s.table.UsageAvailable(b) {
		return
	}
	h := prepare(b, kindText("Swept", always), createTable("Swept", *rowCount)...)
	stop := h.launch(b, alone...)
	h.awaitFirstLook(b, 1)
	stop()
	h.launch(b, alone...) // without the memory of the first look
	h.awaitFirstLook(b, 1)
	cpu := result{
		title:    fmt.Sprintf("sweep of %d unchanged rows, CPU", *rowCount),
		metric:   "sweep-cpu-s",
		unit:     "s",
		digits:   2,
		baseline: "raw loop",
		limit:    3 * float64(*rowCount) / 1e6,
	}
	grown := result{title: "growth of memory to its peak in the sweeps", metric: "sweep-MB", unit: "MB", limit: 64}
	took := result{title: "the sweep's duration", metric: "sweep-s", unit: "s", digits: 2}
	growth, _ := h.peak(b, func() {
		for range rounds {
			began := time.Now()
			used := h.cpuUsed(b, func() { h.sweepOnce(b, "Swept") })
			took.values = append(took.values, time.Since(began).Seconds())
			cpu.values = append(cpu.values, used.Seconds())
			cpu.base = append(cpu.base, h.rawLoop(b, "Swept").Seconds())
		}
	})
	grown.values = append(grown.values, growth)
	if c := h.captures(b)["Swept"]; c.Rows != int64(*rowCount) || c.Created+c.Updated+c.Deleted > 0 {
		b.Errorf("unchanged rows have changed: %+v", c)
	}
	s.table.add(b, cpu)
	s.table.add(b, grown)
	s.table.add(b, took)
}

// sweepOnce lets the daemon sweep a kind once, and waits for the end.
func (h *benchDaemon) sweepOnce(b *testing.B, kind string) {
	b.Helper()
	before := h.captures(b)[kind]
	h.exec(b, "INSERT INTO Elsewhere VALUES (1)")
	h.await(b, "a sweep does not end", func(all map[string]wire.Capture) bool {
		return time.Time(all[kind].Swept).After(time.Time(before.Swept)) && all[kind].SweptRows >= before.SweptRows+int64(*rowCount)
	})
}

// rawLoop returns the CPU time of reading all rows in this process.
func (h *benchDaemon) rawLoop(b *testing.B, table string) time.Duration {
	b.Helper()
	before, err := benchtest.CPUTime(os.Getpid())
	if err != nil {
		b.Fatal(err)
	}
	conn, err := sqlite.Open(filepath.Join(h.dir, "records.db"), sqlite.Options{ReadOnly: true})
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	if err := conn.Query("SELECT DebtorID, Name, City, CreditLimit, Rating, IsActive, LastSaved, RowID FROM "+table+" ORDER BY DebtorID", func(*sqlite.Stmt) error { return nil }); err != nil {
		b.Fatal(err)
	}
	after, err := benchtest.CPUTime(os.Getpid())
	if err != nil {
		b.Fatal(err)
	}
	return after - before
}

// firstLook measures the first look at a table, which fills the shadow.
func firstLook(s *suite, b *testing.B) {
	h := prepare(b, kindText("Looked", always), createTable("Looked", *rowCount)...)
	before := h.size(b, "whd.db")
	began := time.Now()
	h.launch(b, alone...)
	took := result{
		title:  fmt.Sprintf("first look at %d rows, duration with a share of 1", *rowCount),
		metric: "look-s",
		unit:   "s",
		digits: 1,
	}
	if !s.table.UsageAvailable(b) {
		return
	}
	cpu := result{title: "its CPU", metric: "look-cpu-s", unit: "s", digits: 1}
	grown := result{title: "growth of memory to its peak", metric: "look-MB", unit: "MB"}
	var used time.Duration
	growth, _ := h.peak(b, func() { used = h.cpuUsed(b, func() { h.awaitFirstLook(b, 1) }) })
	took.values = []float64{time.Since(began).Seconds()}
	cpu.values = []float64{used.Seconds()}
	grown.values = []float64{growth}
	if c := h.captures(b)["Looked"]; c.Rows != int64(*rowCount) {
		b.Errorf("the first look has found %d rows", c.Rows)
	}
	s.table.add(b, took)
	s.table.add(b, cpu)
	s.table.add(b, grown)
	s.table.add(b, result{
		title:  "shadow.db, for each row",
		metric: "shadow-bytes",
		unit:   "bytes",
		values: []float64{h.size(b, "shadow.db") * 1e6 / float64(*rowCount)},
	})
	s.table.add(b, result{
		title:  "growth of whd.db",
		metric: "store-MB",
		unit:   "MB",
		digits: 1,
		values: []float64{h.size(b, "whd.db") - before},
	})
}
