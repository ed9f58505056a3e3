package sqlstore

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// expiry removes rows that have expired.
type expiry struct{ tables }

// sweepPause is how long a removed subscription is remembered: a batch written
// concurrently may add messages to it as long as its statement runs.
const sweepPause = 4 * executor.StatementLimit

// remove removes keys, removed subscriptions and old secrets that have expired by the store's
// clock, and blocks without messages, and adds messages of an older program to the blocks of a file.
// Removed.Took is the time of the whole step: nearly all of its statements write.
func (x expiry) remove(ctx context.Context, limit int) (delivery.Removed, error) {
	started := time.Now()
	r, err := x.removeExpired(ctx, limit)
	r.Took = time.Since(started)
	return r, err
}

// removeExpired is remove without the measurement of the time.
func (x expiry) removeExpired(ctx context.Context, limit int) (delivery.Removed, error) {
	keys, err := x.db.Exec(ctx, `DELETE FROM whd.WH_IdempotencyKey WHERE ExpiryDateTime <= `+x.db.Clock+` AND KeyHash IN (
	SELECT k.KeyHash FROM whd.WH_IdempotencyKey k ORDER BY k.ExpiryDateTime`+x.db.Limit+`)`, sql.Named("Limit", limit))
	r := delivery.Removed{Rows: int(keys), More: int(keys) == limit}
	if err != nil || r.More {
		return r, err
	}
	_, err = x.db.Exec(ctx, `DELETE FROM whd.WH_SubscriptionRemoved WHERE RemovedDateTime < `+x.db.ClockAfter+`
	AND NOT EXISTS (SELECT 1 FROM whd.SY_WebhookMessage m WHERE m.SubscriptionID = WH_SubscriptionRemoved.SubscriptionID)`, termArg(-sweepPause))
	if err != nil {
		return r, err
	}
	_, err = x.db.Exec(ctx, `DELETE FROM whd.WH_MessageBlock WHERE LastID < (SELECT MIN(m.ID) FROM whd.SY_WebhookMessage m)`)
	if err != nil {
		return r, err
	}
	if !x.db.IsServer() {
		r.More, err = x.maintainBlocks(ctx)
		if err != nil || r.More {
			return r, err
		}
	}
	now, err := x.now(ctx)
	if err != nil {
		return r, err
	}
	err = x.removeLastSecrets(ctx, now)
	if err == nil {
		err = x.removeEarlierSecrets(ctx, now)
	}
	return r, err
}

// maintainBlocks adds the next messages to their blocks if these are more than the writer of batches
// leaves: after an upgrade, none is in a block. It reports whether there may be more to add.
// Otherwise it removes old blocks.
func (x expiry) maintainBlocks(ctx context.Context) (hasMore bool, err error) {
	n, err := x.queryInt(ctx, "counting messages without blocks", `SELECT COUNT(*) FROM `+unnamed)
	if err != nil {
		return false, err
	}
	if n < maxNamed {
		_, err := x.db.Exec(ctx, oldBlocks)
		return false, err
	}
	return x.db.Run(ctx, appdb.Statement(nameBlocks), appdb.Statement(moveNamed))
}

// removeLastSecrets removes expired secrets that were replaced last.
func (x expiry) removeLastSecrets(ctx context.Context, now time.Time) error {
	const expired = ` WHERE OldSecretUntil <= @Now`
	arg := sql.Named("Now", appdb.Timestamp(now))
	// This reads all subscriptions: if possible, without a lock.
	n, err := x.queryInt(ctx, "finding expired secrets", `SELECT COUNT(*) FROM whd.SY_WebhookSubscription`+expired, arg)
	if err != nil || n == 0 {
		return err
	}
	steps := []appdb.Step{increment(subscriptionVersion)}
	steps = append(steps, x.changedSteps(expired, arg)...)
	steps = append(steps, appdb.MustAffect(`UPDATE whd.SY_WebhookSubscription SET OldSecret = NULL, OldSecretUntil = NULL`+expired, arg))
	_, err = x.db.Run(ctx, steps...)
	return err
}

// removeEarlierSecrets removes expired secrets that were replaced before the last one.
func (x expiry) removeEarlierSecrets(ctx context.Context, now time.Time) error {
	holders, err := appdb.QueryAll(ctx, x.db, scanInto(secretHolderFields),
		`SELECT ID, EarlierSecrets FROM whd.SY_WebhookSubscription WHERE EarlierSecrets IS NOT NULL`)
	if err != nil {
		return err
	}
	for _, h := range holders {
		before := h.secrets.stored()
		valid := slices.DeleteFunc(h.secrets, func(r webhook.ReplacedSecret) bool { return !now.Before(r.Until) })
		if valid.stored() == before {
			continue
		}
		const unchanged = ` WHERE ID = @ID AND EarlierSecrets = @Before`
		args := []any{sql.Named("ID", h.id), sql.Named("Before", before)}
		steps := []appdb.Step{increment(subscriptionVersion)}
		steps = append(steps, x.changedSteps(unchanged, args...)...)
		steps = append(steps, appdb.MustAffect(`UPDATE whd.SY_WebhookSubscription SET EarlierSecrets = @Left`+unchanged,
			append(args, sql.Named("Left", valid.stored()))...))
		if _, err := x.db.Run(ctx, steps...); err != nil {
			return err
		}
	}
	return nil
}

// secretHolder is a subscription with secrets that were replaced before the last one.
type secretHolder struct {
	id      int64
	secrets earlierSecrets
}

func secretHolderFields(h *secretHolder) []any { return []any{&h.id, &h.secrets} }
