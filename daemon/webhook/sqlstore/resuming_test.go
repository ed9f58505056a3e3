package sqlstore

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// TestLongReadsYieldToCheckpoints queries messages, and their attempts, of which
// each has two, while the WAL restarts after each row. Each row is returned once,
// and the WAL restarts.
func TestLongReadsYieldToCheckpoints(t *testing.T) {
	w := openedHooks(t, filepath.Join(t.TempDir(), appdb.FileName))
	r, l := subscribed(t, w)
	writeRetried(t, w, r, l)

	for n, q := range []struct {
		kind, columns, take string // without columns: all; without take: all
	}{
		{"Message", "", ""},
		{"Message", "EventName,MessageID", "7"},
		{"Attempt", "", ""},
		{"Attempt", "MessageResponseID", ""},
	} {
		plan := planOfQuery(t, q.kind, pageOf(q.columns, q.take)...)
		want := readRows(t, w, plan, func(int) {})

		// The restart waits for the read, which continues with another snapshot after a few rows.
		restarted := make(chan bool, 1)
		got := readRows(t, w, plan, func(row int) {
			switch row {
			case 3:
				since := hookNoon.Add(time.Duration(n) * time.Hour)
				w.mustWrite(t, delivery.Batch{
					Version: w.mustVersion(t),
					Leases:  []delivery.Lease{l},
					Health:  []delivery.Health{{Subscription: r.ID, Since: since, Replace: true}},
				})
				go func() { restarted <- restartWAL(t, w.fileWriter()) }()
				awaitDrain(w.fileWriter(), restarted)
			case 6:
				if !<-restarted {
					t.Errorf("%+v: the WAL does not restart during the read", q)
				}
			}
		})
		if !slices.Equal(got, want) {
			t.Errorf("%+v: with restarts:\n%s\nwithout:\n%s", q, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// writeRetried writes messages with two attempts each.
func writeRetried(t *testing.T, w *Store, r webhook.Subscription, l delivery.Lease) {
	t.Helper()
	const messages = 20
	version := w.mustVersion(t)
	b := hookBatch(version, 1, messages, r, l, "body")
	w.mustWrite(t, b)
	for range 2 {
		retries := delivery.Batch{Version: version, Leases: b.Leases}
		for _, m := range b.Messages {
			m.Attempts++
			retries.Outcomes = append(retries.Outcomes, webhook.AttemptResult{
				Message: m,
				After:   webhook.State{Status: webhook.RetryPending, Attempts: m.Attempts, Next: hookNoon},
				Outcome: webhook.Outcome{Code: 500, Began: hookNoon},
			})
		}
		w.mustWrite(t, retries)
	}
}

// pageOf returns the members of a query for some columns, "" for all, and a number of rows, "" for all.
func pageOf(columns, take string) query.Members {
	var members query.Members
	if columns != "" {
		members = append(members, query.Member{Name: "Fields", Texts: strings.Split(columns, ","), List: true})
	}
	if take != "" {
		members = append(members, query.Member{Name: "Take", Texts: []string{take}})
	}
	return members
}

// planOfQuery returns the plan of a query of the service's own records.
func planOfQuery(t *testing.T, kindName string, members ...query.Member) *query.Plan {
	t.Helper()
	request, err := query.Parse(systemKind(t, kindName), members, query.Options{Zone: time.UTC})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := query.NewPlan(request, false)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// readRows returns the rows of a plan as texts. It calls after with the number of each row, from 1,
// before it reads the next.
func readRows(t *testing.T, w *Store, plan *query.Plan, after func(row int)) []string {
	t.Helper()
	noLimits := func() executor.Limits { return executor.Limits{} }
	result, err := executor.Select(t.Context(), w.Admin.db, noLimits, plan)
	if err != nil {
		t.Fatal(err)
	}
	defer result.Close()
	types := plan.Types()
	var rows []string
	for {
		cells, err := result.Next()
		if err != nil {
			t.Fatal(err)
		}
		if cells == nil {
			return rows
		}
		texts := make([]string, len(cells))
		for i, c := range cells {
			texts[i] = c.Text(types[i])
		}
		rows = append(rows, fmt.Sprint(texts))
		after(len(rows))
	}
}

// restartWAL waits for readers, and reports whether the WAL can restart.
func restartWAL(t *testing.T, f *fileWriter) bool {
	unlock, err := f.db.Lock(t.Context())
	if err != nil {
		t.Error(err)
		return false
	}
	defer unlock()
	return f.wal.restart(f.conn, 10*time.Second)
}

// awaitDrain waits until reads are requested to end, or the WAL has restarted without that.
func awaitDrain(f *fileWriter, restarted chan bool) {
	for f.db.Drain.Requested() == nil && len(restarted) == 0 {
		time.Sleep(time.Millisecond)
	}
}
