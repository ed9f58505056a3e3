package sqlstore

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
	"github.com/bizhook/whd/daemon/sqlite"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// page returns a response of 8 kB, different for each number; 4 kB are stored.
func page(n int) []byte {
	return fmt.Appendf(nil, "<p>%d</p>%s", n, bytes.Repeat([]byte("<br>"), 2000))
}

// refused returns results for the messages of a batch, each refused with a
// response.
func refused(b delivery.Batch, at time.Time, answer func(i int) []byte) (all []webhook.AttemptResult) {
	for i, m := range b.Messages {
		all = append(all, webhook.AttemptResult{
			Message: m, After: webhook.State{Status: webhook.Failed, Attempts: m.Attempts + 1},
			Outcome: webhook.Outcome{Code: 403, Text: answer(i), Began: at.Add(time.Duration(i) * time.Millisecond)},
		})
	}
	return all
}

func onBoth(t *testing.T, test func(*testing.T, *Store)) {
	t.Run("file", func(t *testing.T) { test(t, hooksInFile(t)) })
	t.Run("server", func(t *testing.T) { test(t, hooksOnServer(t, mssqltest.Database(t))) })
}

// answers returns the lengths of the responses that attempts show, in the order of
// their messages, and the number of stored texts.
func (w *Store) answers(t *testing.T) (lengths []int64, stored int64) {
	t.Helper()
	lengths, err := appdb.QueryAll(t.Context(), w.Admin.db, appdb.ScanInt, `SELECT COALESCE(LEN(AnswerText), 0) FROM whd.WH_MessageResponseView ORDER BY MessageItemNo, ItemNo`)
	if !w.Admin.db.IsServer() {
		lengths, err = appdb.QueryAll(t.Context(), w.Admin.db, appdb.ScanInt, `SELECT COALESCE(LENGTH(AnswerText), 0) FROM WH_MessageResponseView ORDER BY MessageItemNo, ItemNo`)
	}
	n, err2 := appdb.QueryOne(t.Context(), w.Admin.db, appdb.ScanInt, `SELECT COUNT(*) FROM whd.WH_ResponseText`)
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	return lengths, *n
}

// TestEqualAnswersAreStoredOnce checks that equal responses are stored once, also
// across batches, and that those of earlier versions and short ones are read from
// their attempts.
func TestEqualAnswersAreStoredOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, w *Store) {
		r, l := subscribed(t, w)
		write := func(first int64, answer []byte) {
			t.Helper()
			b := hookBatch(w.mustVersion(t), first, 20, r, l, "{}")
			b.Outcomes = refused(b, hookNoon, func(int) []byte { return answer })
			if err := w.Engine.Write(t.Context(), b); err != nil {
				t.Fatal(err)
			}
		}
		write(11, page(1))
		write(111, page(1))
		write(211, page(2))
		write(311, []byte("no"))
		if _, err := w.Admin.db.Exec(t.Context(), `UPDATE whd.SY_WebhookMessageResponse SET TextHash = NULL, AnswerText = 'early' WHERE MessageID = 12`); err != nil {
			t.Fatal(err)
		}
		lengths, stored := w.answers(t)
		if stored != 2 || len(lengths) != 80 || lengths[0] != 5 || lengths[1] != maxResponse || lengths[79] != 2 {
			t.Errorf("%d texts are stored; the attempts have %d", stored, lengths)
		}
		expectRows(t, w.Admin.db, `COUNT(*) FROM whd.WH_MessageResponseView WHERE AnswerText LIKE '<P>2%'`, "20") // the column of the view can be filtered
	})
}

// TestRefusalsAreStoredCompactly checks that 1,000 equal refusals share one text.
func TestRefusalsAreStoredCompactly(t *testing.T) {
	w := hooksInFile(t)
	r, l := subscribed(t, w)
	b := hookBatch(w.mustVersion(t), 11, 1000, r, l, "{}")
	b.Outcomes = refused(b, hookNoon, func(int) []byte { return page(1) })
	if err := w.Engine.Write(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	size, err := appdb.SizeOf(w.Engine.writer.(*fileWriter).conn)
	if bytes := size.Pages * size.PageSize; err != nil || bytes > 2<<20 {
		t.Errorf("1,000 refusals use %d bytes (%v)", bytes, err)
	}
}

// TestAnswersAreBounded checks that a batch deletes the oldest texts above the
// limit but not the attempts, and that a text used again on a later day is not
// among the oldest.
func TestAnswersAreBounded(t *testing.T) {
	w := hooksInFile(t)
	r, l := subscribed(t, w)
	const bound = 80_000
	for day := range 3 {
		b := hookBatch(w.mustVersion(t), int64(11+100*day), 20, r, l, "{}")
		b.MaxTextSize = bound
		b.Outcomes = refused(b, hookNoon.AddDate(0, 0, day), func(i int) []byte {
			if i == 19 {
				return page(0)
			}
			return page(100*day + i)
		})
		if err := w.Engine.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		expectRows(t, w.Admin.db, `CASE WHEN Next = (SELECT SUM(Size) FROM WH_ResponseText) AND Next BETWEEN 75000 AND 80000 THEN 'kept' ELSE Next END
FROM WH_Number WHERE Name = 'ResponseTextSize'`, "kept")
	}
	lengths, stored := w.answers(t)
	if len(lengths) != 60 {
		t.Fatalf("of %d texts are left %d", stored, lengths)
	}
	for i, want := range map[int]int64{18: 0, 19: maxResponse, 38: 0, 39: maxResponse, 41: 0, 42: maxResponse} {
		if lengths[i] != want {
			t.Errorf("of %d texts are left %d; number %d must have %d", stored, lengths, i, want)
		}
	}
}

// TestReclaimTexts checks that the janitor removes texts without attempts, except
// today's, and the oldest ones above the limit.
func TestReclaimTexts(t *testing.T) {
	onBoth(t, func(t *testing.T, w *Store) {
		r, l := subscribed(t, w)
		b := hookBatch(w.mustVersion(t), 11, 30, r, l, "{}")
		b.Outcomes = refused(b, time.Date(2020, 1, 2, 12, 0, 0, 0, time.UTC), page)
		b.Outcomes[29].Began = time.Now().UTC()
		if err := w.Engine.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		reclaim := func(max int64, left int64) {
			t.Helper()
			for isDone := false; !isDone; {
				got, err := w.Engine.Reclaim(t.Context(), 4, max)
				if err != nil {
					t.Fatal(err)
				}
				isDone = !got.More
			}
			if _, stored := w.answers(t); stored != left {
				t.Errorf("%d texts are left, want %d", stored, left)
			}
		}
		reclaim(0, 30)
		if _, err := w.Admin.db.Exec(t.Context(), `DELETE FROM whd.SY_WebhookMessageResponse WHERE MessageID < 32 OR MessageID = 70`); err != nil {
			t.Fatal(err)
		}
		reclaim(0, 20)
		reclaim(12*textSize(string(page(0)[:maxResponse])), 12)
	})
}

// TestFileShrinks checks that a file shrinks in steps after a removal, and keeps a
// share of free pages. A file without auto_vacuum does not shrink.
func TestFileShrinks(t *testing.T) {
	for _, made := range []string{"INCREMENTAL", "NONE"} {
		t.Run(made, func(t *testing.T) {
			dir := t.TempDir()
			w := openedIn(t, dir, made)
			r, l := subscribed(t, w)
			b := hookBatch(w.mustVersion(t), 11, 1000, r, l, strings.Repeat("x", 8000))
			b.Outcomes = succeeded(b)
			if err := w.Engine.Write(t.Context(), b); err != nil {
				t.Fatal(err)
			}
			conn := w.Engine.writer.(*fileWriter).conn
			before, err := appdb.SizeOf(conn)
			if err != nil {
				t.Fatal(err)
			}
			p := delivery.Prune{Limit: 1000, Successful: hookNoon.AddDate(0, 0, 1)}
			for isDone := false; !isDone; {
				got, err := w.Engine.Prune(t.Context(), p)
				if err != nil {
					t.Fatal(err)
				}
				p.After = got.Last
				isDone = !got.More
			}
			steps := 0
			for isDone := false; !isDone; steps++ {
				got, err := w.Engine.Reclaim(t.Context(), 100, 0)
				if err != nil {
					t.Fatal(err)
				}
				isDone = !got.More
			}
			after, err := appdb.SizeOf(conn)
			if err != nil {
				t.Fatal(err)
			}
			if made == "NONE" {
				if after.Pages != before.Pages || steps > 2 {
					t.Errorf("%d pages became %d in %d steps", before.Pages, after.Pages, steps)
				}
				if err := errors.Join(w.Engine.Close(), w.Admin.db.Close()); err != nil {
					t.Fatal(err)
				}
				before, after, err := appdb.Compact(t.Context(), filepath.Join(dir, appdb.FileName))
				if err != nil || before < 8_000_000 || after > 500_000 {
					t.Errorf("compacted from %d to %d bytes (%v)", before, after, err)
				}
				expectVacuum(t, dir)
				return
			}
			if steps < 5 || after.Pages > before.Pages/8+2*shrinkPages {
				t.Errorf("%d pages became %d in %d steps", before.Pages, after.Pages, steps)
			}
			if _, _, _, err := runCheckpoint(conn, "TRUNCATE"); err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(filepath.Join(dir, appdb.FileName))
			if err != nil || info.Size() > after.Pages*after.PageSize {
				t.Errorf("the file has %d bytes for %d pages (%v)", info.Size(), after.Pages, err)
			}
		})
	}
}

// openedIn opens webhooks in a file with an auto_vacuum mode.
func openedIn(t *testing.T, dir, vacuum string) *Store {
	t.Helper()
	if vacuum == "NONE" { // as earlier versions did
		conn, err := sqlite.Open(filepath.Join(dir, appdb.FileName), sqlite.Options{})
		if err == nil {
			err = errors.Join(conn.Exec("CREATE TABLE Early (x); DROP TABLE Early"), conn.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return openedHooks(t, filepath.Join(dir, appdb.FileName))
}

// expectVacuum checks that the file can shrink.
func expectVacuum(t *testing.T, dir string) {
	t.Helper()
	db, err := appdb.OpenFile(filepath.Join(dir, appdb.FileName))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	const incremental = 2
	if mode, err := appdb.QueryOne(t.Context(), db, appdb.ScanInt, `PRAGMA auto_vacuum`); err != nil || *mode != incremental {
		t.Errorf("auto_vacuum is %v (%v)", mode, err)
	}
}
