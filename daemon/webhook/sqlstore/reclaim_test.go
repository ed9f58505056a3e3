package sqlstore

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
// response. response gets the index of the message.
func refused(b delivery.Batch, at time.Time, response func(i int) []byte) []webhook.AttemptResult {
	var results []webhook.AttemptResult
	for i, m := range b.Messages {
		results = append(results, webhook.AttemptResult{
			Message: m,
			After:   webhook.State{Status: webhook.Failed, Attempts: m.Attempts + 1},
			Outcome: webhook.Outcome{
				Code:  403,
				Text:  response(i),
				Began: at.Add(time.Duration(i) * time.Millisecond),
			},
		})
	}
	return results
}

// onBoth runs a test with a file and with a server.
func onBoth(t *testing.T, test func(*testing.T, *Store)) {
	t.Run("file", func(t *testing.T) { test(t, hooksInFile(t)) })
	t.Run("server", func(t *testing.T) { test(t, hooksOnServer(t, mssqltest.Database(t))) })
}

// answers returns the lengths of the responses that attempts show, in the order of
// their messages, and the number of stored texts.
func (w *Store) answers(t *testing.T) (lengths []int64, stored int64) {
	t.Helper()
	length := `LENGTH`
	if w.Admin.db.IsServer() {
		length = `LEN`
	}
	lengths, err := appdb.QueryAll(t.Context(), w.Admin.db, appdb.ScanInt,
		`SELECT COALESCE(`+length+`(AnswerText), 0) FROM whd.WH_MessageResponseView ORDER BY MessageItemNo, ItemNo`)
	if err != nil {
		t.Fatal(err)
	}
	n, err := appdb.QueryOne(t.Context(), w.Admin.db, appdb.ScanInt, `SELECT COUNT(*) FROM whd.WH_ResponseText`)
	if err != nil {
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
			w.mustWrite(t, b)
		}
		write(11, page(1))
		write(111, page(1))
		write(211, page(2))
		write(311, []byte("no"))
		w.mustExec(t, `UPDATE whd.SY_WebhookMessageResponse SET TextHash = NULL, AnswerText = 'early' WHERE MessageID = 12`)

		lengths, stored := w.answers(t)
		if stored != 2 {
			t.Errorf("%d texts are stored, want 2", stored)
		}
		want := slices.Concat(
			[]int64{int64(len("early"))},
			slices.Repeat([]int64{webhook.MaxResponseText}, 59),
			slices.Repeat([]int64{int64(len("no"))}, 20))
		if !slices.Equal(lengths, want) {
			t.Errorf("the responses of the attempts have %d characters, want %d", lengths, want)
		}
		// The column of the view can be filtered.
		expectRows(t, w.Admin.db, `COUNT(*) FROM whd.WH_MessageResponseView WHERE AnswerText LIKE '<P>2%'`, "20")
	})
}

// TestRefusalsAreStoredCompactly checks that 1,000 equal refusals share one text.
func TestRefusalsAreStoredCompactly(t *testing.T) {
	w := hooksInFile(t)
	r, l := subscribed(t, w)
	b := hookBatch(w.mustVersion(t), 11, 1000, r, l, "{}")
	b.Outcomes = refused(b, hookNoon, func(int) []byte { return page(1) })
	w.mustWrite(t, b)

	size, err := appdb.SizeOf(w.fileWriter().conn)
	if err != nil {
		t.Fatal(err)
	}
	const limit = 2 << 20
	if used := size.Pages * size.PageSize; used > limit {
		t.Errorf("1,000 refusals use %d bytes, want at most %d", used, limit)
	}
}

// TestAnswersAreBounded checks that a batch deletes the oldest texts above the
// limit but not the attempts, and that a text used again on a later day is not
// among the oldest.
func TestAnswersAreBounded(t *testing.T) {
	w := hooksInFile(t)
	r, l := subscribed(t, w)
	const days, perDay = 3, 20
	const bound = 80_000 // bytes
	for day := range days {
		b := hookBatch(w.mustVersion(t), int64(11+100*day), perDay, r, l, "{}")
		b.MaxTextSize = bound
		b.Outcomes = refused(b, hookNoon.AddDate(0, 0, day), func(i int) []byte {
			if i == perDay-1 {
				return page(0) // the same one on each day
			}
			return page(100*day + i)
		})
		w.mustWrite(t, b)
		expectRows(t, w.Admin.db, `CASE WHEN Next = (SELECT SUM(Size) FROM WH_ResponseText) AND Next BETWEEN 75000 AND 80000
	THEN 'kept' ELSE Next END
FROM WH_Number WHERE Name = 'ResponseTextSize'`, "kept")
	}

	lengths, stored := w.answers(t)
	if len(lengths) != days*perDay {
		t.Fatalf("%d attempts are left, want %d", len(lengths), days*perDay)
	}
	// The text that is used each day is left on all of them, and the last texts of the last day.
	for i, want := range map[int]int64{
		18: 0,
		19: webhook.MaxResponseText,
		38: 0,
		39: webhook.MaxResponseText,
		41: 0,
		42: webhook.MaxResponseText,
	} {
		if lengths[i] != want {
			t.Errorf("%d texts are left; attempt %d shows %d characters, want %d", stored, i, lengths[i], want)
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
		w.mustWrite(t, b)
		expectAfterReclaim := func(max int64, want int64) {
			t.Helper()
			_, before := w.answers(t)
			_, removed := w.reclaimAll(t, 4, max)
			if int64(removed) != before-want {
				t.Errorf("the steps have removed %d rows, want the %d texts", removed, before-want)
			}
			if _, stored := w.answers(t); stored != want {
				t.Errorf("with a limit of %d bytes, %d texts are left, want %d", max, stored, want)
			}
		}

		expectAfterReclaim(0, 30)
		w.mustExec(t, `DELETE FROM whd.SY_WebhookMessageResponse WHERE MessageID < 32 OR MessageID = 70`)
		expectAfterReclaim(0, 20)
		expectAfterReclaim(12*textSize(string(page(0)[:webhook.MaxResponseText])), 12)
	})
}

// reclaimAll reclaims space step by step, until there is no more. It returns the number of steps
// and that of removed rows.
func (w *Store) reclaimAll(t *testing.T, limit int, max int64) (steps, rows int) {
	t.Helper()
	for {
		step, err := w.Engine.Reclaim(t.Context(), limit, max)
		if err != nil {
			t.Fatal(err)
		}
		steps++
		rows += step.Rows
		if step.Rows > 0 && step.Took <= 0 {
			t.Errorf("step %d has removed %d rows in %v, want the time of a write", steps, step.Rows, step.Took)
		}
		if !step.More {
			return steps, rows
		}
	}
}

// TestFileShrinks checks that a file shrinks in steps after a removal, and keeps a
// share of free pages. A file without auto_vacuum does not shrink.
func TestFileShrinks(t *testing.T) {
	t.Run("INCREMENTAL", func(t *testing.T) {
		dir := t.TempDir()
		w := openedIn(t, dir, "INCREMENTAL")
		before, after, steps := emptyFile(t, w)
		if steps < 5 || after.Pages > before.Pages/8+2*shrinkPages {
			t.Errorf("%d pages became %d in %d steps, want an eighth in at least 5", before.Pages, after.Pages, steps)
		}

		if _, _, _, err := runCheckpoint(w.fileWriter().conn, "TRUNCATE"); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(filepath.Join(dir, appdb.FileName))
		if err != nil {
			t.Fatal(err)
		}
		if limit := after.Pages * after.PageSize; info.Size() > limit {
			t.Errorf("the file has %d bytes for %d pages, want at most %d", info.Size(), after.Pages, limit)
		}
	})
	t.Run("NONE", func(t *testing.T) {
		dir := t.TempDir()
		w := openedIn(t, dir, "NONE")
		before, after, steps := emptyFile(t, w)
		if after.Pages != before.Pages || steps > 2 {
			t.Errorf("%d pages became %d in %d steps, want the same number in at most 2", before.Pages, after.Pages, steps)
		}

		if err := errors.Join(w.Engine.Close(), w.Admin.db.Close()); err != nil {
			t.Fatal(err)
		}
		size, compacted, err := appdb.Compact(t.Context(), filepath.Join(dir, appdb.FileName))
		if err != nil || size < 8_000_000 || compacted > 500_000 {
			t.Errorf("compacted from %d to %d bytes (%v), want from at least 8 MB to at most 500 kB", size, compacted, err)
		}
		expectVacuum(t, dir)
	})
}

// emptyFile writes 8 MB of messages, removes them, and reclaims the space. It returns the sizes of
// the file before and after, and the number of steps to reclaim the space.
func emptyFile(t *testing.T, w *Store) (before, after appdb.Size, steps int) {
	t.Helper()
	const messages, size = 1000, 8000
	r, l := subscribed(t, w)
	b := hookBatch(w.mustVersion(t), 11, messages, r, l, strings.Repeat("x", size))
	b.Outcomes = succeeded(b)
	w.mustWrite(t, b)
	before, err := appdb.SizeOf(w.fileWriter().conn)
	if err != nil {
		t.Fatal(err)
	}

	p := delivery.Prune{Limit: messages, Successful: hookNoon.AddDate(0, 0, 1)}
	for isDone := false; !isDone; {
		step, err := w.Engine.Prune(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		p.After = step.Last
		isDone = !step.More
	}
	steps, _ = w.reclaimAll(t, 100, 0)
	after, err = appdb.SizeOf(w.fileWriter().conn)
	if err != nil {
		t.Fatal(err)
	}
	return before, after, steps
}

// openedIn opens webhooks in a file with an auto_vacuum mode.
func openedIn(t *testing.T, dir, vacuum string) *Store {
	t.Helper()
	path := filepath.Join(dir, appdb.FileName)
	if vacuum == "NONE" { // as earlier versions did
		conn, err := sqlite.Open(path, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		err = errors.Join(conn.Exec("CREATE TABLE Early (x); DROP TABLE Early"), conn.Close())
		if err != nil {
			t.Fatal(err)
		}
	}
	return openedHooks(t, path)
}

// expectVacuum checks that the file can shrink.
func expectVacuum(t *testing.T, dir string) {
	t.Helper()
	db, err := appdb.OpenFile(filepath.Join(dir, appdb.FileName))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	mode, err := appdb.QueryOne(t.Context(), db, appdb.ScanInt, `PRAGMA auto_vacuum`)
	if err != nil {
		t.Fatal(err)
	}
	const incremental = 2
	if *mode != incremental {
		t.Errorf("auto_vacuum is %d, want %d", *mode, incremental)
	}
}
