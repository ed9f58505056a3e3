package sqlstore

import (
	"database/sql"
	"fmt"
	"strings"
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
	// The messages are 12, 14 and 16 of the events 11, 13 and 15, and 20 of the event 13, too.
	r, l := subscribed(t, w)
	b := hookBatch(w.mustVersion(t), 11, 3, r, l, "{}")
	second := *b.Messages[1]
	second.ID = 20
	second.GUID = hookGUID(20)
	b.Messages = append(b.Messages, &second)
	w.mustWrite(t, b)
	delivered := delivery.Batch{Version: b.Version, Leases: b.Leases, Outcomes: succeeded(b)[:2]}
	delivered.Outcomes[1].Began = hookNoon.Add(time.Hour)
	w.mustWrite(t, delivered)

	expect := func(messages, responses, events string) {
		t.Helper()
		for column, want := range map[string]string{
			`ID FROM whd.SY_WebhookMessage ORDER BY ID`:                       messages,
			`MessageID FROM whd.SY_WebhookMessageResponse ORDER BY MessageID`: responses,
			`EventID FROM whd.WH_Event ORDER BY EventID`:                      events,
		} {
			ids, err := appdb.QueryAll(t.Context(), w.Admin.db, appdb.ScanInt, `SELECT `+column)
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(ids); got != want {
				t.Errorf("%s: %s, want %s", column, got, want)
			}
		}
	}
	prune := func(before time.Time) {
		t.Helper()
		_, err := w.Engine.Prune(t.Context(), delivery.Prune{Limit: 10, Successful: before})
		if err != nil {
			t.Error(err)
		}
	}

	prune(hookNoon.Add(time.Minute))
	expect("[14 16 20]", "[14]", "[13 15]")
	prune(hookNoon.Add(24 * time.Hour))
	expect("[16 20]", "[]", "[13 15]") // the other message still needs its event

	changed := []deletion{
		{id: 16, event: 15, status: int64(webhook.Successful)},
		{id: 20, event: 13, attempts: 1},
	}
	_, removed, err := w.Engine.remover.remove(t.Context(), changed)
	if err != nil || removed.Rows != 0 {
		t.Errorf("removed %d changed messages (%v), want none", removed.Rows, err)
	}
	expect("[16 20]", "[]", "[13 15]")

	_, err = w.Admin.RemoveSubscription(t.Context(), r.Subscriber, r.GUID, hookNoon)
	if err != nil {
		t.Fatal(err)
	}
	swept, err := w.Engine.Sweep(t.Context(), 10)
	if err != nil || swept.Rows != 2 {
		t.Errorf("swept %d messages (%v), want 2", swept.Rows, err)
	}
	expect("[]", "[]", "[]")
}

// TestRemovalYieldsToWriters checks that a removal stops if another writer waits, but not before half
// of the step, and that the next step continues with the other messages.
func TestRemovalYieldsToWriters(t *testing.T) {
	w := hooksInFile(t)
	r, l := subscribed(t, w)
	const messages = 30
	b := hookBatch(w.mustVersion(t), 11, messages, r, l, "{}")
	b.Outcomes = succeeded(b)
	w.mustWrite(t, b)
	p := delivery.Prune{Limit: 25, Successful: hookNoon.Add(time.Hour)}
	step := func(rows int, isMore bool) {
		t.Helper()
		got, err := w.Engine.Prune(t.Context(), p)
		if err != nil || got.Rows != rows || got.More != isMore {
			t.Errorf("pruned %+v (%v), want %d rows, more %v", got, err, rows, isMore)
		}
		p.After = got.Last
	}

	w.Admin.db.WriteLock.Waiting.Add(1) // another writer waits
	removed := max(minRemoved, p.Limit/2)
	step(removed, true)
	w.Admin.db.WriteLock.Waiting.Add(-1)
	step(messages-removed, false)
}

// TestRemovalRestoresSync checks that transactions after a removal are synced, also
// if the removal failed.
func TestRemovalRestoresSync(t *testing.T) {
	w := hooksInFile(t)
	r, l := subscribed(t, w)
	b := hookBatch(w.mustVersion(t), 11, 2, r, l, "{}")
	b.Outcomes = succeeded(b)
	w.mustWrite(t, b)
	f := w.Engine.writer.(*fileWriter)
	p := delivery.Prune{Limit: 25, Successful: hookNoon.Add(time.Hour)}
	expectSynced := func(when string) {
		t.Helper()
		s, err := f.conn.Prepare("PRAGMA synchronous")
		if err != nil {
			t.Fatal(err)
		}
		defer s.Reset()
		if _, err := s.Step(); err != nil {
			t.Fatal(err)
		}
		const full = 2
		if got := s.Int(0); got != full {
			t.Errorf("after %s synchronous is %d, want %d", when, got, full)
		}
	}

	if err := f.conn.Exec("ALTER TABLE WH_Event RENAME TO Elsewhere"); err != nil {
		t.Fatal(err)
	}
	_, err := w.Engine.Prune(t.Context(), p)
	const want = "removing old messages"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("a removal without the table of events: got error %v, want %q", err, want)
	}
	expectSynced("a removal that failed")

	if err := f.conn.Exec("ALTER TABLE Elsewhere RENAME TO WH_Event"); err != nil {
		t.Fatal(err)
	}
	got, err := w.Engine.Prune(t.Context(), p)
	if err != nil || got.Rows != 2 {
		t.Errorf("removed %d messages (%v), want 2", got.Rows, err)
	}
	expectSynced("a removal")
}

// TestPruningSkipsBlocks checks that Prune with SkipBlocks reads only blocks with old messages, or with
// some of a clock that was ahead.
func TestPruningSkipsBlocks(t *testing.T) {
	t.Run("file", func(t *testing.T) { pruningSkipsBlocks(t, hooksInFile(t)) })
	t.Run("server", func(t *testing.T) { pruningSkipsBlocks(t, hooksOnServer(t, mssqltest.Database(t))) })
}

func pruningSkipsBlocks(t *testing.T, w *Store) {
	r, l := subscribed(t, w)
	b := hookBatch(w.mustVersion(t), 11, 3, r, l, "{}")
	w.mustWrite(t, b)
	w.mustWrite(t, delivery.Batch{Version: b.Version, Leases: b.Leases, Outcomes: succeeded(b)})

	cutoff := hookNoon.Add(time.Hour)
	now := hookNoon.Add(24 * time.Hour)
	young, ahead := cutoff.Add(time.Hour), now.Add(time.Hour)
	for _, c := range []struct {
		name         string
		since, until time.Time // period of the blocks, independent of the times of their messages
		after        int64
		rows         int
	}{
		{"young blocks", young, young, 0, 0},
		{"new blocks, which end later", young, now.Add(marginAfter), 0, 0},
		{"behind the blocks", hookNoon, young, 1 << 40, 0},
		{"blocks of a clock that was ahead", young, ahead, 0, 1},
		{"old blocks", hookNoon, young, 0, 1},
	} {
		w.mustExec(t, `UPDATE whd.WH_MessageBlock SET AddedSince = @Since, AddedUntil = @Until`,
			sql.Named("Since", appdb.Timestamp(c.since)), sql.Named("Until", appdb.Timestamp(c.until)))
		p := delivery.Prune{After: c.after, Limit: 1, Successful: cutoff, SkipBlocks: true, Now: now}
		got, err := w.Engine.Prune(t.Context(), p)
		isEnd := !got.More && got.Beyond == 0
		if err != nil || got.Rows != c.rows || isEnd != (c.rows == 0) {
			t.Errorf("%s: pruned %+v (%v), want %d rows, and more of them if there are any", c.name, got, err, c.rows)
		}
	}
}
