package sqlstore

import (
	"fmt"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// TestRemovalIsComplete checks that no row of a removed message is left, and all
// rows of the others.
func TestRemovalIsComplete(t *testing.T) {
	t.Run("file", func(t *testing.T) { removalIsComplete(t, hooksInFile(t)) })
	t.Run("server", func(t *testing.T) { removalIsComplete(t, hooksOnServer(t, mssqltest.Database(t))) })
}

func removalIsComplete(t *testing.T, w *Store) {
	r, l := subscribed(t, w)
	b := hookBatch(w.mustVersion(t), 11, 3, r, l, "{}")
	twin := *b.Messages[1]
	twin.ID = 20
	twin.GUID = "00000000-0000-7000-8000-000000000020"
	b.Messages = append(b.Messages, &twin)
	if err := w.Engine.Write(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	done := delivery.Batch{Version: b.Version, Leases: b.Leases, Outcomes: succeeded(b)[:2]}
	done.Outcomes[1].Began = hookNoon.Add(time.Hour)
	if err := w.Engine.Write(t.Context(), done); err != nil {
		t.Fatal(err)
	}
	expect := func(messages, responses, events string) {
		t.Helper()
		for column, want := range map[string]string{
			`ID FROM whd.SY_WebhookMessage ORDER BY ID`:                       messages,
			`MessageID FROM whd.SY_WebhookMessageResponse ORDER BY MessageID`: responses,
			`EventID FROM whd.WH_Event ORDER BY EventID`:                      events,
		} {
			ids, err := appdb.QueryAll(t.Context(), w.Admin.db, appdb.ScanInt, `SELECT `+column)
			if got := fmt.Sprint(ids); err != nil || got != want {
				t.Errorf("%s: %s (%v), want %s", column, got, err, want)
			}
		}
	}
	prune := func(before time.Time) {
		t.Helper()
		if _, err := w.Engine.Prune(t.Context(), delivery.Prune{Limit: 10, Successful: before}); err != nil {
			t.Error(err)
		}
	}
	prune(hookNoon.Add(time.Minute))
	expect("[14 16 20]", "[14]", "[13 15]")
	prune(hookNoon.Add(24 * time.Hour))
	expect("[16 20]", "[]", "[13 15]") // the other message still needs its event
	changed := []deletion{{id: 16, event: 15, status: int64(webhook.Successful)}, {id: 20, event: 13, attempts: 1}}
	if _, got, err := w.Engine.remover.remove(t.Context(), changed); err != nil || got.Rows != 0 {
		t.Errorf("removed changed messages: %+v (%v)", got, err)
	}
	expect("[16 20]", "[]", "[13 15]")
	if _, err := w.Admin.RemoveSubscription(t.Context(), r.Subscriber, r.GUID, hookNoon); err != nil {
		t.Fatal(err)
	}
	if got, err := w.Engine.Sweep(t.Context(), 10); err != nil || got.Rows != 2 {
		t.Errorf("swept %+v (%v)", got, err)
	}
	expect("[]", "[]", "[]")
}

// TestRemovalYieldsToWriters checks that a removal stops if another writer waits,
// after a minimum of rows, and continues with the rest in the next step.
func TestRemovalYieldsToWriters(t *testing.T) {
	w := hooksInFile(t)
	r, l := subscribed(t, w)
	b := hookBatch(w.mustVersion(t), 11, 30, r, l, "{}")
	b.Outcomes = succeeded(b)
	if err := w.Engine.Write(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	p := delivery.Prune{Limit: 25, Successful: hookNoon.Add(time.Hour)}
	step := func(rows int, isMore bool) {
		t.Helper()
		got, err := w.Engine.Prune(t.Context(), p)
		if err != nil || got.Rows != rows || got.More != isMore {
			t.Errorf("%+v (%v), want %d rows, more %v", got, err, rows, isMore)
		}
		p.After = got.Last
	}
	w.Admin.db.WriteLock.Waiting.Add(1)
	step(12, true)
	w.Admin.db.WriteLock.Waiting.Add(-1)
	step(18, false)
}

// TestRemovalRestoresSync checks that transactions after a removal are synced, also
// if the removal failed.
func TestRemovalRestoresSync(t *testing.T) {
	w := hooksInFile(t)
	r, l := subscribed(t, w)
	b := hookBatch(w.mustVersion(t), 11, 2, r, l, "{}")
	b.Outcomes = succeeded(b)
	if err := w.Engine.Write(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	f := w.Engine.writer.(*fileWriter)
	p := delivery.Prune{Limit: 25, Successful: hookNoon.Add(time.Hour)}
	expectSynced := func(when string) {
		t.Helper()
		s, err := f.conn.Prepare("PRAGMA synchronous")
		if err != nil {
			t.Fatal(err)
		}
		defer s.Reset()
		const full = 2
		if _, err := s.Step(); err != nil || s.Int(0) != full {
			t.Errorf("after %s synchronous is %d (%v), want %d", when, s.Int(0), err, full)
		}
	}
	if err := f.conn.Exec("ALTER TABLE WH_Event RENAME TO Elsewhere"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Engine.Prune(t.Context(), p); err == nil {
		t.Error("a removal without the events' table succeeded")
	}
	expectSynced("a removal that failed")
	if err := f.conn.Exec("ALTER TABLE Elsewhere RENAME TO WH_Event"); err != nil {
		t.Fatal(err)
	}
	if got, err := w.Engine.Prune(t.Context(), p); err != nil || got.Rows != 2 {
		t.Errorf("removed %+v (%v)", got, err)
	}
	expectSynced("a removal")
}
