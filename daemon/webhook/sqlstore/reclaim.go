package sqlstore

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// Reclaim is delivery.Store's. A text without attempts stays for the day that it
// was used on and the next: a batch that is being written may refer to it.
func (w *Store) Reclaim(ctx context.Context, limit int, max int64) (delivery.Removed, error) {
	now, err := w.Now(ctx)
	if err != nil {
		return delivery.Removed{}, err
	}
	r, err := w.removeTexts(ctx, limit, `UsedDateTime < @Before
	AND NOT EXISTS (SELECT 1 FROM whd.SY_WebhookMessageResponse r WHERE r.TextHash = WH_ResponseText.TextHash)`,
		sql.Named("Before", appdb.Stamp(now.Add(-2*24*time.Hour))))
	if err != nil || r.More {
		return r, w.fault(err, "removing texts of answers")
	}
	size, err := appdb.QueryOne(ctx, w.own, appdb.ScanInt, `SELECT COALESCE(SUM(CAST(Size AS bigint)), 0) FROM whd.WH_ResponseText`)
	if err == nil && max > 0 && *size > max {
		r, err = w.removeTexts(ctx, limit, `1 = 1`)
		r.More = true
	}
	if err != nil || r.More {
		return r, w.fault(err, "removing the oldest texts of answers")
	}
	if f, is := w.writer.(*fileWriter); is { // a server's files are its own affair
		r, err = f.shrink(ctx)
	}
	return r, w.fault(err, "giving room back")
}

// removeTexts removes texts that meet a condition, the one first whose last use
// is the longest ago. They are looked for before the file is locked.
func (w *Store) removeTexts(ctx context.Context, limit int, condition string, args ...any) (r delivery.Removed, err error) {
	all, err := appdb.QueryAll(ctx, w.own, scanText, `SELECT TextHash FROM whd.WH_ResponseText WHERE `+condition+` ORDER BY UsedDateTime`+w.own.Limit(),
		append(args, sql.Named("Limit", limit))...)
	if err != nil || len(all) == 0 {
		return r, err
	}
	these := strings.NewReplacer("bigint", "nvarchar(32)", "j.ID", "j.ID COLLATE Latin1_General_BIN2").Replace(w.own.InList())
	began := time.Now()
	_, err = w.own.Exec(ctx, `DELETE FROM whd.WH_ResponseText WHERE TextHash IN `+these+` AND `+condition, append(args, w.own.ListArg(all))...)
	return delivery.Removed{Took: time.Since(began), More: len(all) == limit}, err
}

func scanText(row appdb.Row) (text string, err error) {
	err = row.Scan(&text)
	return text, err
}

const (
	shrinkPages = 200 // that are given back at a time
)

// shrink gives pages back that the file does not need. Only a file that was made
// with auto_vacuum, or was compacted since, can.
func (f *fileWriter) shrink(ctx context.Context) (r delivery.Removed, err error) {
	ctx, cancel := context.WithTimeout(ctx, executor.StatementLimit)
	defer cancel()
	err = f.inTurn(ctx, func() error {
		began := time.Now()
		size, err := appdb.SizeOf(f.conn)
		if err != nil || size.Free < size.Pages/appdb.ShrinkShare+shrinkPages {
			return err
		}
		err = f.loosely(func() (err error) {
			r.More, err = appdb.Shrink(f.conn, size, shrinkPages)
			return err
		})
		r.Took = time.Since(began)
		return err
	})
	return r, err
}
