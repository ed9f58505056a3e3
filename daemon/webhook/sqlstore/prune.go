package sqlstore

import (
	"context"
	"database/sql"
	"slices"
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
func (w *Store) Prune(ctx context.Context, p delivery.Prune) (delivery.Removed, error) {
	old, r, err := w.outlived(ctx, p)
	if err != nil {
		return delivery.Removed{}, w.fault(err, "looking for old messages")
	}
	if len(old) == 0 {
		return r, nil
	}
	left, removed, err := w.writer.remove(ctx, old)
	if err != nil {
		return delivery.Removed{}, w.fault(err, "removing old messages")
	}
	removed.More, removed.Last = r.More, r.Last
	if len(left) > 0 {
		removed.More, removed.Last = true, left[0].id-1
	}
	return removed, nil
}

// outlived reads on behind a place, until it has found enough messages that are
// to go. The removal tells how far it came and whether more may follow.
func (w *Store) outlived(ctx context.Context, p delivery.Prune) (old []deletion, r delivery.Removed, err error) {
	err = w.own.Query(ctx, func(rows *sql.Rows) error {
		old, r = nil, delivery.Removed{Last: p.After}
		seen, aged := 0, false
		for len(old) < p.Limit && rows.Next() {
			var c deletion
			var goes, isAged bool
			if err := rows.Scan(&c.id, &c.event, &c.status, &c.attempts, &goes, &isAged); err != nil {
				return err
			}
			if seen++; goes {
				old = append(old, c)
			}
			if goes || isAged { // the young ones behind are looked at again
				aged, r.Last = true, c.id
			}
		}
		r.More = len(old) == p.Limit || aged && seen == pruneWindow
		return nil
	}, `SELECT ID, EventID, Status, Attempts,
	CASE WHEN Status = 1 AND LastSavedDateTime < @Successful OR Status = 3 AND LastSavedDateTime < @Failed THEN 1 ELSE 0 END,
	CASE WHEN AddedDateTime < @Successful OR AddedDateTime < @Failed THEN 1 ELSE 0 END
FROM whd.SY_WebhookMessage WHERE ID > @After ORDER BY ID`+w.own.Limit(), pruneArgs(p)...)
	return old, r, err
}

func pruneArgs(p delivery.Prune) []any {
	return []any{sql.Named("Successful", appdb.Stamp(p.Successful)), sql.Named("Failed", appdb.Stamp(p.Failed)),
		sql.Named("After", p.After), sql.Named("Limit", pruneWindow)}
}

// sweepPause is how long a removed subscription is remembered: a batch that was
// being written when it was removed may add messages for as long as it runs.
const sweepPause = 4 * executor.StatementLimit

// Sweep is delivery.Store's.
func (w *Store) Sweep(ctx context.Context, limit int) (delivery.Removed, error) {
	gone, err := appdb.QueryAll(ctx, w.own, appdb.ScanInt, `SELECT SubscriptionID FROM whd.WH_SubscriptionRemoved ORDER BY SubscriptionID`)
	if err != nil {
		return delivery.Removed{}, w.fault(err, "looking for removed subscriptions")
	}
	for _, subscription := range gone {
		r, err := w.sweepMessages(ctx, subscription, limit)
		if err != nil || r.More {
			return r, w.fault(err, "removing messages")
		}
	}
	r, err := w.forget(ctx, limit)
	return r, w.fault(err, "removing what has ended")
}

// sweepMessages removes some messages of one subscription, the oldest first.
func (w *Store) sweepMessages(ctx context.Context, subscription int64, limit int) (delivery.Removed, error) {
	all, err := appdb.QueryAll(ctx, w.own, scanCondemned, `SELECT ID, EventID, Status, Attempts FROM whd.SY_WebhookMessage
WHERE SubscriptionID = @Subscription ORDER BY ID`+w.own.Limit(), sql.Named("Subscription", subscription), sql.Named("Limit", limit))
	if err != nil || len(all) == 0 {
		return delivery.Removed{}, err
	}
	_, r, err := w.writer.remove(ctx, all)
	r.More = true
	return r, err
}

// forget removes what has ended by the store's clock.
func (w *Store) forget(ctx context.Context, limit int) (r delivery.Removed, err error) {
	clock, began := w.own.Clock(), time.Now()
	keys, err := w.own.Exec(ctx, `DELETE FROM whd.WH_IdempotencyKey WHERE ExpiryDateTime <= `+clock+` AND KeyHash IN (
	SELECT k.KeyHash FROM whd.WH_IdempotencyKey k ORDER BY k.ExpiryDateTime`+w.own.Limit()+`)`, sql.Named("Limit", limit))
	if r = (delivery.Removed{Rows: int(keys), Took: time.Since(began), More: int(keys) == limit}); err != nil || r.More {
		return r, err
	}
	_, err = w.own.Exec(ctx, `DELETE FROM whd.WH_SubscriptionRemoved WHERE RemovedDateTime < `+w.own.ClockAfter()+`
	AND NOT EXISTS (SELECT 1 FROM whd.SY_WebhookMessage m WHERE m.SubscriptionID = WH_SubscriptionRemoved.SubscriptionID)`, termArg(-sweepPause))
	if err != nil {
		return r, err
	}
	now, err := w.Now(ctx)
	if err != nil {
		return r, err
	}
	const over = ` WHERE OldSecretUntil <= @Now`
	at := sql.Named("Now", appdb.Stamp(now))
	_, err = w.own.Run(ctx, slices.Concat([]appdb.Step{raised()}, w.noted(over, at), []appdb.Step{
		appdb.MustHit(`UPDATE whd.SY_WebhookSubscription SET OldSecret = NULL, OldSecretUntil = NULL`+over, at)})...)
	return r, err
}
