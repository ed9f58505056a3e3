package sqlstore

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// pruneWindow is how many messages are looked at in one step. It is more than
// the numbers that a daemon sets aside at once: where one uses them up slowly,
// messages of today stand before others of last month.
const pruneWindow = 5000

// Prune is delivery.Store's. No index knows which messages are old, since every
// delivery would pay for it: they are walked over in the order of their numbers,
// which grow with time, up to where all are young.
func (e *Engine) Prune(ctx context.Context, p delivery.Prune) (delivery.Removed, error) {
	old, r, err := outlived(ctx, e.db, p)
	if err != nil {
		return delivery.Removed{}, e.fault(err, "looking for old messages")
	}
	if len(old) == 0 {
		return r, nil
	}
	left, removed, err := e.writer.remove(ctx, old)
	if err != nil {
		return delivery.Removed{}, e.fault(err, "removing old messages")
	}
	removed.More, removed.Last = r.More, r.Last
	if len(left) > 0 {
		removed.More, removed.Last = true, left[0].id-1
	}
	return removed, nil
}

// outlived reads on behind a place, until it has found enough messages that are
// to go. The removal holds how far it came and whether more may follow.
func outlived(ctx context.Context, db *appdb.DB, p delivery.Prune) (old []deletion, r delivery.Removed, err error) {
	err = db.Query(ctx, func(rows *sql.Rows) error {
		old, r = nil, delivery.Removed{Last: p.After}
		seen, aged := 0, false
		for len(old) < p.Limit && rows.Next() {
			var d deletion
			var goes, isAged bool
			if err := rows.Scan(append(deletionFields(&d), &goes, &isAged)...); err != nil {
				return err
			}
			if seen++; goes {
				old = append(old, d)
			}
			if goes || isAged { // the young ones behind are looked at again
				aged, r.Last = true, d.id
			}
		}
		r.More = len(old) == p.Limit || aged && seen == pruneWindow
		return nil
	}, `SELECT `+deletionColumns.names()+`,
	CASE WHEN Status = 1 AND LastSavedDateTime < @Successful OR Status = 3 AND LastSavedDateTime < @Failed THEN 1 ELSE 0 END,
	CASE WHEN AddedDateTime < @Successful OR AddedDateTime < @Failed THEN 1 ELSE 0 END
FROM whd.SY_WebhookMessage WHERE ID > @After ORDER BY ID`+db.Limit,
		sql.Named("Successful", appdb.Timestamp(p.Successful)), sql.Named("Failed", appdb.Timestamp(p.Failed)), sql.Named("After", p.After), sql.Named("Limit", pruneWindow))
	return old, r, err
}

// sweepPause is how long a removed subscription is remembered: a batch that was
// being written when it was removed may add messages for as long as it runs.
const sweepPause = 4 * executor.StatementLimit

// Sweep is delivery.Store's.
func (e *Engine) Sweep(ctx context.Context, limit int) (delivery.Removed, error) {
	gone, err := appdb.QueryAll(ctx, e.db, appdb.ScanInt, `SELECT SubscriptionID FROM whd.WH_SubscriptionRemoved ORDER BY SubscriptionID`)
	if err != nil {
		return delivery.Removed{}, e.fault(err, "looking for removed subscriptions")
	}
	for _, subscription := range gone { // the oldest messages first
		all, err := appdb.QueryAll(ctx, e.db, into(deletionFields), `SELECT `+deletionColumns.names()+` FROM whd.SY_WebhookMessage
WHERE SubscriptionID = @Subscription ORDER BY ID`+e.db.Limit, sql.Named("Subscription", subscription), sql.Named("Limit", limit))
		if err != nil || len(all) > 0 {
			r := delivery.Removed{}
			if err == nil {
				_, r, err = e.writer.remove(ctx, all)
				r.More = true
			}
			return r, e.fault(err, "removing messages")
		}
	}
	r, err := e.forget(ctx, limit)
	return r, e.fault(err, "removing what has ended")
}

// forget removes what has ended by the store's clock.
func (e *Engine) forget(ctx context.Context, limit int) (r delivery.Removed, err error) {
	clock, began := e.db.Clock, time.Now()
	keys, err := e.db.Exec(ctx, `DELETE FROM whd.WH_IdempotencyKey WHERE ExpiryDateTime <= `+clock+` AND KeyHash IN (
	SELECT k.KeyHash FROM whd.WH_IdempotencyKey k ORDER BY k.ExpiryDateTime`+e.db.Limit+`)`, sql.Named("Limit", limit))
	if r = (delivery.Removed{Rows: int(keys), Took: time.Since(began), More: int(keys) == limit}); err != nil || r.More {
		return r, err
	}
	_, err = e.db.Exec(ctx, `DELETE FROM whd.WH_SubscriptionRemoved WHERE RemovedDateTime < `+e.db.ClockAfter+`
	AND NOT EXISTS (SELECT 1 FROM whd.SY_WebhookMessage m WHERE m.SubscriptionID = WH_SubscriptionRemoved.SubscriptionID)`, termArg(-sweepPause))
	if err != nil {
		return r, err
	}
	now, err := e.Now(ctx)
	if err != nil {
		return r, err
	}
	const over = ` WHERE OldSecretUntil <= @Now`
	at := sql.Named("Now", appdb.Timestamp(now))
	_, err = e.db.Run(ctx, slices.Concat([]appdb.Step{raiseVersion()}, e.changedSteps(over, at), []appdb.Step{
		appdb.MustAffect(`UPDATE whd.SY_WebhookSubscription SET OldSecret = NULL, OldSecretUntil = NULL`+over, at)})...)
	return r, err
}

// Reclaim is delivery.Store's. A text without attempts stays for the day that it
// was used on and the next: a batch that is being written may refer to it.
func (e *Engine) Reclaim(ctx context.Context, limit int, max int64) (delivery.Removed, error) {
	now, err := e.Now(ctx)
	if err != nil {
		return delivery.Removed{}, err
	}
	r, err := removeTexts(ctx, e.db, limit, `UsedDateTime < @Before
	AND NOT EXISTS (SELECT 1 FROM whd.SY_WebhookMessageResponse r WHERE r.TextHash = WH_ResponseText.TextHash)`,
		sql.Named("Before", appdb.Timestamp(now.Add(-2*24*time.Hour))))
	if err != nil || r.More {
		return r, e.fault(err, "removing texts of answers")
	}
	const oldest = "removing the oldest texts of answers"
	size, err := e.number(ctx, oldest, `SELECT COALESCE(SUM(CAST(Size AS bigint)), 0) FROM whd.WH_ResponseText`)
	if err != nil {
		return r, err
	}
	if max > 0 && size > max {
		r, err = removeTexts(ctx, e.db, limit, `1 = 1`)
		r.More = true
		return r, e.fault(err, oldest)
	}
	r, err = e.writer.shrink(ctx)
	return r, e.fault(err, "giving room back")
}

// removeTexts removes texts that meet a condition, the one first whose last use
// is the longest ago. They are looked for before the file is locked.
func removeTexts(ctx context.Context, db *appdb.DB, limit int, condition string, args ...any) (r delivery.Removed, err error) {
	all, err := appdb.QueryAll(ctx, db, into(func(hash *string) []any { return []any{hash} }),
		`SELECT TextHash FROM whd.WH_ResponseText WHERE `+condition+` ORDER BY UsedDateTime`+db.Limit, append(args, sql.Named("Limit", limit))...)
	if err != nil || len(all) == 0 {
		return r, err
	}
	these := strings.NewReplacer("bigint", "nvarchar(32)", "j.ID", "j.ID COLLATE Latin1_General_BIN2").Replace(db.InList)
	began := time.Now()
	_, err = db.Exec(ctx, `DELETE FROM whd.WH_ResponseText WHERE TextHash IN `+these+` AND `+condition, append(args, db.ListArg(all))...)
	return delivery.Removed{Took: time.Since(began), More: len(all) == limit}, err
}
