package changes

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/bench/benchtest"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/sqlite"
)

// benchDaemon is a daemon with its own data directory, a subscriber, and records that this
// process changes.
type benchDaemon struct {
	*daemontest.Process
	dir        string
	args       []string
	key        string // API key of an administrator
	records    *sqlite.Conn
	admin      *client.Client
	subscriber string
}

// testTimeout is the time limit for expected results.
const testTimeout = 30 * time.Minute

// posted is the name of an event that no kind publishes.
const posted = "bench.posted"

// kindText returns the declaration of a record kind with eight fields.
func kindText(name, members string) string {
	return fmt.Sprintf("[%s]\nkey = [\"DebtorID\"]\n%s\n[%[1]s.fields]\n", name, members) + `DebtorID = "string"
Name = "string"
City = "string?"
CreditLimit = "decimal"
Rating = "double"
IsActive = "bool"
LastSaved = "DateTime"
RowID = "Guid"
`
}

// createTable returns the statements that create the table of a kind with rows.
func createTable(name string, rows int) []string {
	const columns = ` (
		DebtorID TEXT COLLATE TSQL NOT NULL PRIMARY KEY,
		Name TEXT COLLATE TSQL,
		City TEXT COLLATE TSQL,
		CreditLimit TEXT,
		Rating REAL,
		IsActive INTEGER,
		LastSaved TEXT,
		RowID TEXT
	)`
	const insert = `
		WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
		INSERT INTO %s SELECT
			printf('D%%07d', i),
			'Debtor number ' || i,
			'City ' || (i %% 1000),
			printf('%%d.%%02d', i, i %% 100),
			i / 7.0,
			i %% 2,
			printf('2026-01-%%02dT10:%%02d:00.0000000', 1 + i %% 28, i %% 60),
			printf('%%08x-0000-4000-8000-%%012x', i, i)
		FROM n`
	return []string{
		"CREATE TABLE " + name + columns,
		"BEGIN",
		fmt.Sprintf(insert, rows-1, name),
		"COMMIT",
	}
}

// prepare creates a data directory with records of the kinds in a file of kinds.
func prepare(b *testing.B, kinds string, statements ...string) *benchDaemon {
	b.Helper()
	h := &benchDaemon{dir: b.TempDir()}
	file := filepath.Join(h.dir, "kinds.toml")
	h.args = []string{"--webhooks-allow-targets", "127.0.0.0/8", "--erp-kinds", file, "--webhooks-events", posted}
	err := os.WriteFile(file, []byte(kinds), 0o600)
	if err != nil {
		b.Fatal(err)
	}
	h.records, err = sqlite.Open(filepath.Join(h.dir, "records.db"), sqlite.Options{BusyTimeout: time.Minute})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { h.records.Close() })
	h.exec(b, append(statements, "CREATE TABLE Elsewhere (N INTEGER)")...)
	i, err := daemontest.Open(h.dir, "--changes-share", "0.001") // nothing is captured yet
	if err != nil {
		b.Fatal(err)
	}
	h.key = i.Key(b, "admin")
	if err := i.Stop(); err != nil {
		b.Fatal(err)
	}
	return h
}

// exec runs statements in the ERP's database.
func (h *benchDaemon) exec(b *testing.B, statements ...string) {
	b.Helper()
	for _, statement := range statements {
		if err := h.records.Exec(statement); err != nil {
			b.Fatalf("%s: %v", statement, err)
		}
	}
}

// launch starts the daemon in its own process; the returned function stops it.
func (h *benchDaemon) launch(b *testing.B, args ...string) (stop func()) {
	b.Helper()
	process, err := daemontest.Launch(h.dir, append(args, h.args...)...)
	if err != nil {
		b.Fatal(err)
	}
	h.Process = process
	if err := h.Await(); err != nil {
		b.Fatal(err)
	}
	h.admin, err = client.New(client.Options{URL: h.URL, Token: h.key})
	if err != nil {
		b.Fatal(err)
	}
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		if err := h.Stop(); err != nil {
			b.Error(err)
		}
	}
	b.Cleanup(stop)
	return stop
}

// subscribe creates a subscription.
func (h *benchDaemon) subscribe(b *testing.B, event, url string, enabled bool) {
	b.Helper()
	if h.subscriber == "" {
		name := "bench"
		s, err := h.admin.AddSubscriber(context.Background(), wire.SubscriberRequest{Name: &name})
		if err != nil {
			b.Fatal(err)
		}
		h.subscriber = s.RecID
	}
	request := wire.SubscriptionRequest{EventName: &event, URL: &url, IsEnabled: &enabled}
	if _, err := h.admin.AddSubscription(context.Background(), h.subscriber, request); err != nil {
		b.Fatal(err)
	}
}

// captures returns the state of the captures, by kind.
func (h *benchDaemon) captures(b *testing.B) map[string]wire.Capture {
	b.Helper()
	list, err := h.admin.Captures(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	all := make(map[string]wire.Capture)
	for _, c := range list {
		if c.Phase == "stopped" {
			b.Fatalf("the capture of %s has stopped: %s", c.Kind, c.Reason)
		}
		all[c.Kind] = c
	}
	return all
}

// await waits until the state of the captures meets a condition.
func (h *benchDaemon) await(b *testing.B, failure string, met func(map[string]wire.Capture) bool) {
	b.Helper()
	for began := time.Now(); !met(h.captures(b)); time.Sleep(50 * time.Millisecond) {
		if time.Since(began) > testTimeout {
			b.Fatalf("%s: %+v", failure, h.captures(b))
		}
	}
}

// awaitFirstLook waits until all rows of n kinds are known.
func (h *benchDaemon) awaitFirstLook(b *testing.B, n int) {
	b.Helper()
	h.await(b, "the first look does not end", func(all map[string]wire.Capture) bool {
		looked := 0
		for _, c := range all {
			if c.Phase == "capturing" {
				looked++
			}
		}
		return looked == n
	})
}

// size returns the size of files of the daemon with their logs, in MB.
func (h *benchDaemon) size(b *testing.B, names ...string) float64 {
	b.Helper()
	files, err := os.ReadDir(h.dir)
	if err != nil {
		b.Fatal(err)
	}
	var total int64
	for _, f := range files {
		for _, name := range names {
			if info, err := f.Info(); err == nil && strings.HasPrefix(f.Name(), name) {
				total += info.Size()
			}
		}
	}
	return float64(total) / 1e6
}

// cpuUsed returns the CPU time that the daemon uses while f runs.
func (h *benchDaemon) cpuUsed(b *testing.B, f func()) time.Duration {
	b.Helper()
	return benchtest.CPUUsed(b, h.PID(), f)
}

// peak returns by how much the memory of the daemon grows while f runs, above now and in
// all, in MB.
func (h *benchDaemon) peak(b *testing.B, f func()) (grown, total float64) {
	b.Helper()
	now, _, err := benchtest.Memory(h.PID())
	if err != nil {
		b.Fatal(err)
	}
	if err := benchtest.ResetPeak(h.PID()); err != nil {
		b.Fatal(err)
	}
	f()
	_, peak, err := benchtest.Memory(h.PID())
	if err != nil {
		b.Fatal(err)
	}
	return peak - now, peak
}
