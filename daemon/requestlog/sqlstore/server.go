// Package sqlstore keeps the entries of the request log: in a file of their own,
// or in the tables of appdb on a server.
package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/requestlog"
)

// OnServer keeps the entries of the request log in the tables of db, on a server.
func OnServer(db *appdb.DB) requestlog.Store { return &logTable{db: db} }

// pruneBatch is how many entries are removed at a time, so that it takes
// moments.
const pruneBatch = 256

// logTicks is a duration as it is stored.
func logTicks(d time.Duration) int64 { return int64(d / 100) }

// logTable is the request log on a server. Several daemons write to it.
type logTable struct {
	db       *appdb.DB
	measured time.Time // when excess was found out
	excess   int64     // rows that are too many, as far as known
}

// Append adds entries by one statement: an array of arrays in JSON.
func (l *logTable) Append(ctx context.Context, entries []requestlog.Entry) error {
	_, err := l.db.Exec(ctx, logInsert, sql.Named("Rows", string(logRows(entries))))
	return l.db.Fault(err, "writing the request log")
}

// logInsert numbers the rows in their order, since that of their ids follows.
var logInsert = func() string {
	into := []string{"DateTime", "StatusCode", "RequestDuration", "Bytes"}
	items := []string{"n int", "c0 datetime2(7)", "c1 int", "c2 bigint", "c3 int"}
	values := []string{"c0", "c1", "c2", "c3"}
	for i := range requestlog.Texts {
		into = append(into, requestlog.Column(i))
		items = append(items, fmt.Sprintf("t%d nvarchar(max)", i))
		values = append(values, fmt.Sprintf("REPLACE(REPLACE(REPLACE(t%d, '^1', '\"'), '^2', '\\'), '^0', '^')", i))
	}
	for i := range items {
		items[i] += fmt.Sprintf(" '$[%d]'", i)
	}
	return "INSERT INTO whd.WH_RequestLog (" + strings.Join(into, ", ") + ")\nSELECT " + strings.Join(values, ", ") +
		"\nFROM OPENJSON(@Rows) WITH (" + strings.Join(items, ", ") + ") ORDER BY n"
}()

// escapeLog spells what JSON would have to escape, which Babelfish does not undo.
// The statement takes it back.
var escapeLog = strings.NewReplacer("^", "^0", `"`, "^1", `\`, "^2")

// logRows is the JSON of entries. Of control characters only spaces are left.
func logRows(entries []requestlog.Entry) []byte {
	b := []byte{'['}
	for n := range entries {
		e := &entries[n]
		if n > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, `[%d,"%s",%d,%d,%d`, n, appdb.Timestamp(e.At), e.Status, logTicks(e.Duration), e.Size())
		for _, text := range e.Texts {
			if text == "" {
				b = append(b, ",null"...)
				continue
			}
			b = append(b, `,"`...)
			b = append(b, escapeLog.Replace(strings.Map(spaced, text))...)
			b = append(b, '"')
		}
		b = append(b, ']')
	}
	return append(b, ']')
}

func spaced(r rune) rune {
	if r < ' ' {
		return ' '
	}
	return r
}

const logPrune = `DELETE FROM whd.WH_RequestLog
WHERE Id IN (SELECT TOP (@Batch) Id FROM whd.WH_RequestLog ORDER BY Id) AND (DateTime < CAST(@Before AS datetime2(7)) OR @TooMany > 0)`

const logMeasure = `SELECT COUNT_BIG(*), COALESCE(SUM(CAST(Bytes AS bigint)), 0) FROM whd.WH_RequestLog`

// Prune removes the oldest rows that are too old or too many. How many those
// are is found out by an index now and then.
func (l *logTable) Prune(ctx context.Context, before time.Time, maxBytes int64) (bool, error) {
	if err := l.measure(ctx, maxBytes); err != nil {
		return false, l.db.Fault(err, "measuring the request log")
	}
	n, err := l.db.Exec(ctx, logPrune,
		sql.Named("Batch", pruneBatch), sql.Named("Before", appdb.Timestamp(before)), sql.Named("TooMany", l.excess))
	l.excess = max(0, l.excess-n)
	return n == pruneBatch, l.db.Fault(err, "pruning the request log")
}

// measureEvery is between two times of adding up what all rows take.
const measureEvery = 10 * time.Minute

func (l *logTable) measure(ctx context.Context, maxBytes int64) error {
	if maxBytes == 0 || time.Since(l.measured) < measureEvery {
		return nil
	}
	type extent struct{ rows, bytes int64 }
	all, err := appdb.QueryOne(ctx, l.db, func(row appdb.Row) (e extent, err error) { return e, row.Scan(&e.rows, &e.bytes) }, logMeasure)
	if err != nil {
		return err
	}
	l.measured, l.excess = time.Now(), 0
	if all.bytes > maxBytes {
		l.excess = max(1, all.rows*(all.bytes-maxBytes)/all.bytes)
	}
	return nil
}
