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

// page is an answer of 8 kB, different for each number, of which 4 kB are kept.
func page(n int) []byte {
	return fmt.Appendf(nil, "<p>%d</p>%s", n, bytes.Repeat([]byte("<br>"), 2000))
}

// refused are the messages of a batch, each refused with its answer.
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

// answers are the lengths of the answers that attempts show, in the order of
// their messages, and the number of texts that are stored for them.
func (w *Store) answers(t *testing.T) (lengths []int64, stored int64) {
	t.Helper()
	lengths, err := appdb.QueryAll(t.Context(), w.db, appdb.ScanInt, `SELECT COALESCE(LEN(AnswerText), 0) FROM whd.WH_MessageResponseView ORDER BY MessageItemNo, ItemNo`)
	if !w.db.IsServer() {
		lengths, err = appdb.QueryAll(t.Context(), w.db, appdb.ScanInt, `SELECT COALESCE(LENGTH(AnswerText), 0) FROM WH_MessageResponseView ORDER BY MessageItemNo, ItemNo`)
	}
	n, err2 := appdb.QueryOne(t.Context(), w.db, appdb.ScanInt, `SELECT COUNT(*) FROM whd.WH_ResponseText`)
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	return lengths, *n
}

// Answers that are equal are stored once, whatever batch they come with; those of
// earlier versions and short ones are read from their attempts.
func TestEqualAnswersAreStoredOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, w *Store) {
		r, l := subscribed(t, w)
		write := func(first int64, answer []byte) {
			t.Helper()
			b := hookBatch(w.mustVersion(t), first, 20, r, l, "{}")
			b.Outcomes = refused(b, hookNoon, func(int) []byte { return answer })
			if err := w.Write(t.Context(), b); err != nil {
				t.Fatal(err)
			}
		}
		write(11, page(1))
		write(111, page(1))
		write(211, page(2))
		write(311, []byte("no"))
		if _, err := w.db.Exec(t.Context(), `UPDATE whd.SY_WebhookMessageResponse SET TextHash = NULL, AnswerText = 'early' WHERE MessageID = 12`); err != nil {
			t.Fatal(err)
		}
		lengths, stored := w.answers(t)
		if stored != 2 || len(lengths) != 80 || lengths[0] != 5 || lengths[1] != maxResponse || lengths[79] != 2 {
			t.Errorf("%d texts are stored; the attempts have %d", stored, lengths)
		}
		expectRows(t, w.db, `COUNT(*) FROM whd.WH_MessageResponseView WHERE AnswerText LIKE '<P>2%'`, "20") // as if it were a column
	})
}

// A file of 1,000 refusals grows by their rows and one page of text.
func TestRefusalsTakeLittleRoom(t *testing.T) {
	w := hooksInFile(t)
	r, l := subscribed(t, w)
	b := hookBatch(w.mustVersion(t), 11, 1000, r, l, "{}")
	b.Outcomes = refused(b, hookNoon, func(int) []byte { return page(1) })
	if err := w.Write(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	size, err := appdb.SizeOf(w.writer.(*fileWriter).conn)
	if bytes := size.Pages * size.Page; err != nil || bytes > 2<<20 {
		t.Errorf("1,000 refusals take %d bytes (%v)", bytes, err)
	}
}

// Beyond the bound the oldest texts go with the batch that brings others, and the
// attempts stay. A text that is used again on another day is not among the oldest.
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
		if err := w.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		expectRows(t, w.db, `CASE WHEN Next = (SELECT SUM(Size) FROM WH_ResponseText) AND Next BETWEEN 75000 AND 80000 THEN 'kept' ELSE Next END
FROM WH_Number WHERE Name = 'ResponseTextSize'`, "kept")
	}
	lengths, stored := w.answers(t)
	if len(lengths) != 60 || lengths[18] != 0 || lengths[19] != maxResponse || lengths[38] != 0 || lengths[39] != maxResponse || lengths[41] != 0 || lengths[42] != maxResponse {
		t.Errorf("of %d texts are left %d", stored, lengths)
	}
}

// The janitor removes texts that no attempt refers to, but not today's, and the
// oldest where all take too much.
func TestReclaimTexts(t *testing.T) {
	onBoth(t, func(t *testing.T, w *Store) {
		r, l := subscribed(t, w)
		b := hookBatch(w.mustVersion(t), 11, 30, r, l, "{}")
		b.Outcomes = refused(b, time.Date(2020, 1, 2, 12, 0, 0, 0, time.UTC), page)
		b.Outcomes[29].Began = time.Now().UTC()
		if err := w.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		reclaim := func(max int64, left int64) {
			t.Helper()
			for more := true; more; {
				got, err := w.Reclaim(t.Context(), 4, max)
				if more = got.More; err != nil {
					t.Fatal(err)
				}
			}
			if _, stored := w.answers(t); stored != left {
				t.Errorf("%d texts are left, want %d", stored, left)
			}
		}
		reclaim(0, 30)
		if _, err := w.db.Exec(t.Context(), `DELETE FROM whd.SY_WebhookMessageResponse WHERE MessageID < 32 OR MessageID = 70`); err != nil {
			t.Fatal(err)
		}
		reclaim(0, 20)
		reclaim(12*textSize(string(page(0)[:maxResponse])), 12)
	})
}

// A file shrinks after a removal, in steps, down to a share that it will write to
// again. One that was made without the means for it ends the steps.
func TestFileShrinks(t *testing.T) {
	for _, made := range []string{"INCREMENTAL", "NONE"} {
		t.Run(made, func(t *testing.T) {
			dir := t.TempDir()
			w := openedIn(t, dir, made)
			r, l := subscribed(t, w)
			b := hookBatch(w.mustVersion(t), 11, 1000, r, l, strings.Repeat("x", 8000))
			b.Outcomes = succeeded(b)
			if err := w.Write(t.Context(), b); err != nil {
				t.Fatal(err)
			}
			conn := w.writer.(*fileWriter).conn
			before, err := appdb.SizeOf(conn)
			if err != nil {
				t.Fatal(err)
			}
			for p := (delivery.Prune{Limit: 1000, Successful: hookNoon.AddDate(0, 0, 1)}); ; {
				got, err := w.Prune(t.Context(), p)
				if err != nil {
					t.Fatal(err)
				}
				if p.After = got.Last; !got.More {
					break
				}
			}
			steps := 0
			for more := true; more; steps++ {
				got, err := w.Reclaim(t.Context(), 100, 0)
				if more = got.More; err != nil {
					t.Fatal(err)
				}
			}
			after, err := appdb.SizeOf(conn)
			if err != nil {
				t.Fatal(err)
			}
			if made == "NONE" {
				if after.Pages != before.Pages || steps > 2 {
					t.Errorf("%d pages became %d in %d steps", before.Pages, after.Pages, steps)
				}
				if err := errors.Join(w.Close(), w.db.Close()); err != nil {
					t.Fatal(err)
				}
				was, is, err := appdb.Compact(t.Context(), filepath.Join(dir, appdb.FileName))
				if err != nil || was < 8_000_000 || is > 500_000 {
					t.Errorf("compacted from %d to %d bytes (%v)", was, is, err)
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
			if err != nil || info.Size() > after.Pages*after.Page {
				t.Errorf("the file has %d bytes for %d pages (%v)", info.Size(), after.Pages, err)
			}
		})
	}
}

// openedIn opens webhooks whose file of own tables was made with a kind of
// auto_vacuum.
func openedIn(t *testing.T, dir, vacuum string) *Store {
	t.Helper()
	if vacuum == "NONE" { // as programs before this one made it
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

// expectVacuum looks whether the file can shrink now.
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
