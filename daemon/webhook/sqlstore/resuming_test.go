package sqlstore

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
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
	version, f := w.mustVersion(t), w.Engine.writer.(*fileWriter)
	write := func(b delivery.Batch) {
		t.Helper()
		if err := w.Engine.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	const messages = 20
	b := hookBatch(version, 1, messages, r, l, "body")
	write(b)
	for range 2 {
		retry := delivery.Batch{Version: version, Leases: b.Leases}
		for _, m := range b.Messages {
			m.Attempts++
			retry.Outcomes = append(retry.Outcomes, webhook.AttemptResult{Message: m, After: webhook.State{Status: webhook.RetryPending, Attempts: m.Attempts, Next: hookNoon},
				Outcome: webhook.Outcome{Code: 500, Began: hookNoon}})
		}
		write(retry)
	}
	restart := func() bool {
		unlock, err := f.db.Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer unlock()
		return f.wal.restart(f.conn, 10*time.Second)
	}
	for n, q := range []struct {
		kind    string
		columns string
		take    string
	}{{"Message", "", ""}, {"Message", "EventName,MessageID", "7"}, {"Attempt", "", ""}, {"Attempt", "MessageResponseID", ""}} {
		kind, _ := record.System().Lookup(q.kind)
		members := query.Members{}
		if q.columns != "" {
			members = append(members, query.Member{Name: "Fields", Texts: strings.Split(q.columns, ","), List: true})
		}
		if q.take != "" {
			members = append(members, query.Member{Name: "Take", Texts: []string{q.take}})
		}
		req, err := query.Parse(kind, members, query.Options{Zone: time.UTC})
		if err != nil {
			t.Fatal(err)
		}
		plan, err := query.NewPlan(req, false)
		if err != nil {
			t.Fatal(err)
		}
		read := func(step func()) (rows []string) {
			t.Helper()
			result, err := executor.Select(t.Context(), w.Admin.db, func() executor.Limits { return executor.Limits{} }, plan)
			if err != nil {
				t.Fatal(err)
			}
			defer result.Close()
			for {
				values, err := result.Next()
				if err != nil {
					t.Fatal(err)
				}
				if values == nil {
					return rows
				}
				text := make([]string, len(values))
				for i, c := range values {
					text[i] = c.Text(plan.Types()[i])
				}
				rows = append(rows, fmt.Sprint(text))
				step()
			}
		}
		all := read(func() {})
		restarted, rowsRead := make(chan bool, 1), 0
		rows := read(func() {
			rowsRead++
			switch rowsRead {
			case 3:
				since := hookNoon.Add(time.Duration(n) * time.Hour)
				health := []delivery.Health{{Subscription: r.ID, Since: since, Replace: true}}
				write(delivery.Batch{Version: version, Leases: b.Leases, Health: health})
				go func() { restarted <- restart() }()
				for f.db.Drain.Requested() == nil && len(restarted) == 0 {
					time.Sleep(time.Millisecond)
				}
			case 6:
				if !<-restarted {
					t.Errorf("%+v: the WAL does not restart during the read", q)
				}
			}
		})
		if !slices.Equal(rows, all) {
			t.Errorf("%+v: with restarts:\n%s\nwithout:\n%s", q, strings.Join(rows, "\n"), strings.Join(all, "\n"))
		}
	}
}
