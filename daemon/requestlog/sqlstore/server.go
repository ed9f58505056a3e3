// Package sqlstore stores the request log, in a file of its own or in the tables of
// package appdb on SQL Server.
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

// OnServer returns the request log in the tables of db on SQL Server.
func OnServer(db *appdb.DB) requestlog.Store { return &serverLog{db: db} }

// pruneBatch is how many entries are deleted at a time, small enough to be fast.
const pruneBatch = 256

// ticks returns a duration in the stored unit of 100 ns.
func ticks(d time.Duration) int64 { return int64(d / 100) }

// serverLog is the request log on SQL Server. Several daemons may write to it.
type serverLog struct {
	db        *appdb.DB
	measured  time.Time // when excess and anonymous were measured
	excess    int64     // estimated number of rows to delete
	anonymous int64     // estimated number of anonymous rows among them
	first     int64     // no anonymous row has a lower ID
}

// Append adds entries with one statement. Its parameter is a JSON array of arrays.
func (l *serverLog) Append(ctx context.Context, entries []requestlog.Entry) error {
	_, err := l.db.Exec(ctx, insertRows, sql.Named("Rows", string(logRows(entries))))
	return l.db.Fault(err, "writing the request log")
}

// insertRows numbers the rows, so that their IDs have the order of the entries. REPLACE uses
// the collation of its text, which is that of the database: most of them ignore the width of
// characters, and some accents, so that they would also replace "＾１" in a text.
var insertRows = func() string {
	const unescaped = `REPLACE(REPLACE(REPLACE(t%d COLLATE Latin1_General_BIN2,` +
		` N'^1', N'"'), N'^2', N'\'), N'^0', N'^')`
	columns := []string{"DateTime", "StatusCode", "RequestDuration", "Bytes"}
	values := []string{"c0", "c1", "c2", "c3"}
	items := []string{"n int", "c0 datetime2(7)", "c1 int", "c2 bigint", "c3 int"}
	for i := range requestlog.Texts {
		columns = append(columns, requestlog.Column(i))
		values = append(values, fmt.Sprintf(unescaped, i))
		items = append(items, fmt.Sprintf("t%d nvarchar(max)", i))
	}
	for i := range items {
		items[i] += fmt.Sprintf(" '$[%d]'", i)
	}
	return "INSERT INTO whd.WH_RequestLog (" + strings.Join(columns, ", ") + ")" +
		"\nSELECT " + strings.Join(values, ", ") +
		"\nFROM OPENJSON(@Rows) WITH (" + strings.Join(items, ", ") + ") ORDER BY n"
}()

// escapeLog replaces the characters that JSON would have to escape, since Babelfish
// does not unescape them. The statement reverses it.
var escapeLog = strings.NewReplacer("^", "^0", `"`, "^1", `\`, "^2")

// logRows returns entries as JSON. Control characters become spaces.
func logRows(entries []requestlog.Entry) []byte {
	b := []byte{'['}
	for n := range entries {
		e := &entries[n]
		if n > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, `[%d,"%s",%d,%d,%d`,
			n, appdb.Timestamp(e.At), e.Status, ticks(e.Duration), e.Size())
		for _, text := range e.Texts {
			if text == "" {
				b = append(b, ",null"...)
				continue
			}
			b = append(b, `,"`...)
			b = append(b, escapeLog.Replace(strings.Map(controlToSpace, text))...)
			b = append(b, '"')
		}
		b = append(b, ']')
	}
	return append(b, ']')
}

func controlToSpace(r rune) rune {
	if r < ' ' {
		return ' '
	}
	return r
}

// Statements that delete a few rows: those that are too old, found with the index on their times,
// or the first ones if the log is too large. If the clock was ahead for some time, the first rows
// are not the oldest ones.
const (
	pruneOldOnServer = `DELETE FROM whd.WH_RequestLog WHERE Id IN (
	SELECT TOP (@Batch) Id FROM whd.WH_RequestLog
	WHERE DateTime < CAST(@Before AS datetime2(7)) ORDER BY DateTime)`

	pruneFirstOnServer = `DELETE FROM whd.WH_RequestLog WHERE Id IN (
	SELECT TOP (@Batch) Id FROM whd.WH_RequestLog ORDER BY Id)`
)

// lastAnonymousRow selects the last of the anonymous rows to delete.
const lastAnonymousRow = `SELECT COALESCE(MAX(r.Id), 0) FROM (
	SELECT TOP (@Batch) Id FROM whd.WH_RequestLog WHERE UserAuthId IS NULL AND Id >= @First ORDER BY Id) r`

const pruneAnonymousOnServer = `DELETE FROM whd.WH_RequestLog WHERE UserAuthId IS NULL AND Id >= @First AND Id <= @Last`

const (
	measureRows          = `SELECT COUNT_BIG(*), COALESCE(SUM(CAST(Bytes AS bigint)), 0) FROM whd.WH_RequestLog`
	measureAnonymousRows = measureRows + ` WHERE UserAuthId IS NULL`
)

// Prune deletes the oldest rows that are too old or exceed the size: anonymous ones if those
// exceed their share. How many rows exceed it is measured at intervals, with an index.
func (l *serverLog) Prune(ctx context.Context, before time.Time, maxBytes int64) (bool, error) {
	if err := l.measure(ctx, maxBytes); err != nil {
		return false, l.db.Fault(err, "measuring the request log")
	}
	if l.anonymous > 0 {
		n, err := l.pruneAnonymous(ctx)
		if n > 0 || err != nil {
			return n > 0, l.db.Fault(err, "pruning the request log")
		}
		l.anonymous = 0 // other daemons have deleted them
	}
	statement := pruneOldOnServer
	args := []any{sql.Named("Batch", pruneBatch), sql.Named("Before", appdb.Timestamp(before))}
	if l.excess > 0 {
		statement = pruneFirstOnServer
		args = args[:1]
	}
	n, err := l.db.Exec(ctx, statement, args...)
	l.excess = max(0, l.excess-n)
	return n == pruneBatch, l.db.Fault(err, "pruning the request log")
}

// pruneAnonymous deletes the oldest anonymous rows.
func (l *serverLog) pruneAnonymous(ctx context.Context) (int64, error) {
	first := sql.Named("First", l.first)
	last, err := appdb.QueryOne(ctx, l.db, appdb.ScanInt, lastAnonymousRow, first,
		sql.Named("Batch", min(pruneBatch, l.anonymous)))
	if err != nil || *last == 0 {
		return 0, err
	}
	n, err := l.db.Exec(ctx, pruneAnonymousOnServer, first, sql.Named("Last", *last))
	if err != nil {
		return 0, err
	}
	l.first = *last
	l.anonymous = max(0, l.anonymous-n)
	l.excess = max(0, l.excess-n)
	return n, nil
}

// measureInterval is the interval between measurements of the size of all rows.
const measureInterval = 10 * time.Minute

// measure estimates how many rows exceed the size, unless it has done so recently.
func (l *serverLog) measure(ctx context.Context, maxBytes int64) error {
	if maxBytes == 0 || time.Since(l.measured) < measureInterval {
		return nil
	}
	total, err := l.extent(ctx, measureRows)
	if err != nil {
		return err
	}
	l.measured = time.Now()
	l.excess = total.over(maxBytes)
	l.anonymous = 0
	if total.bytes <= maxBytes/requestlog.AnonymousShare {
		return nil
	}
	anonymous, err := l.extent(ctx, measureAnonymousRows)
	if err != nil {
		return err
	}
	l.anonymous = anonymous.over(maxBytes / requestlog.AnonymousShare)
	return nil
}

// extent is a number of rows and their size.
type extent struct{ rows, bytes int64 }

// over returns the estimated number of rows beyond a size.
func (e extent) over(maxBytes int64) int64 {
	if e.bytes <= maxBytes {
		return 0
	}
	return max(1, e.rows*(e.bytes-maxBytes)/e.bytes)
}

func (l *serverLog) extent(ctx context.Context, statement string) (extent, error) {
	scan := func(row appdb.Row) (extent, error) {
		var e extent
		err := row.Scan(&e.rows, &e.bytes)
		return e, err
	}
	e, err := appdb.QueryOne(ctx, l.db, scan, statement)
	if err != nil {
		return extent{}, err
	}
	return *e, nil
}
