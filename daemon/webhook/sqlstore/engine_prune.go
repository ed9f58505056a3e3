package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// pruneWindow is how many messages one step reads at most. It exceeds the number of IDs
// that a daemon allocates at once: a daemon that uses them slowly adds new messages
// with lower IDs than older messages of others.
const pruneWindow = 5000

// Prune scans the messages by ID, which grows with time, up to a window without old messages. Behind
// it are older ones only if the clock was ahead for some time: Beyond is where they may begin.
// There is no index on the age, since every delivery would have to maintain it.
func (e *Engine) Prune(ctx context.Context, p delivery.Prune) (delivery.Removed, error) {
	if p.SkipBlocks {
		first, err := e.firstOfOldBlock(ctx, p)
		if err != nil || first == 0 {
			return delivery.Removed{Last: p.After}, err
		}
		p.After = max(p.After, first-1)
	}
	messages, r, err := expired(ctx, e.db, p)
	if err != nil {
		return delivery.Removed{}, e.fault(err, "reading old messages")
	}
	if len(messages) == 0 {
		return r, nil
	}
	left, removed, err := e.remover.remove(ctx, messages)
	if err != nil {
		return delivery.Removed{}, e.fault(err, "removing old messages")
	}
	removed.More = r.More
	removed.Last = r.Last
	if len(left) > 0 {
		removed.More = true
		removed.Last = left[0].id - 1
	}
	return removed, nil
}

// firstOfOldBlock returns the first ID of the next block that Prune does not skip; 0 if there is none.
//
// A message that was added while the clock was ahead may have been saved before. After its time has
// come, it is found when its block is old: at most as late as the clock was ahead. The margin of new
// blocks is left out, or all messages of the last minute would be read again.
func (e *Engine) firstOfOldBlock(ctx context.Context, p delivery.Prune) (int64, error) {
	cutoff := p.Successful
	if p.Failed.After(cutoff) {
		cutoff = p.Failed
	}
	return e.queryInt(ctx, "finding old messages", `SELECT COALESCE(MIN(FirstID), 0) FROM whd.WH_MessageBlock
WHERE LastID > @After AND (AddedSince < @Cutoff OR AddedUntil > @Ahead)`,
		sql.Named("After", p.After),
		sql.Named("Cutoff", appdb.Timestamp(cutoff)),
		sql.Named("Ahead", appdb.Timestamp(p.Now.Add(marginAfter))))
}

// expired returns messages with an expired retention, from p.After on. The Removed has the ID of the
// last old one, whether there may be more, and where a window without old messages ends.
func expired(ctx context.Context, db *appdb.DB, p delivery.Prune) ([]deletion, delivery.Removed, error) {
	var messages []deletion
	var r delivery.Removed
	err := db.Query(ctx, func(rows *sql.Rows) error {
		messages = nil
		r = delivery.Removed{Last: p.After}
		scanned, hasOld := 0, false
		lastID := int64(0)
		var d deletion
		var isExpired, isOld bool
		fields := append(deletionFields(&d), &isExpired, &isOld) // of all rows: nearly all of them stay
		for len(messages) < p.Limit && rows.Next() {
			if err := rows.Scan(fields...); err != nil {
				return err
			}
			scanned++
			lastID = d.id
			if isExpired {
				messages = append(messages, d)
			}
			if isExpired || isOld { // the next scan starts after the last old one
				hasOld = true
				r.Last = d.id
			}
		}
		isFull := scanned == pruneWindow
		isLimited := len(messages) == p.Limit
		r.More = isLimited || (hasOld && isFull)
		if isFull && !r.More {
			r.Beyond = lastID
		}
		return nil
	}, `SELECT `+deletionColumns.names()+`,
	CASE WHEN Status = @Delivered AND LastSavedDateTime < @Successful
		OR Status = @GivenUp AND LastSavedDateTime < @Failed THEN 1 ELSE 0 END,
	CASE WHEN AddedDateTime < @Successful OR AddedDateTime < @Failed THEN 1 ELSE 0 END
FROM whd.SY_WebhookMessage WHERE ID > @After ORDER BY ID`+db.Limit,
		sql.Named("Delivered", int64(webhook.Successful)),
		sql.Named("GivenUp", int64(webhook.Failed)),
		sql.Named("Successful", appdb.Timestamp(p.Successful)),
		sql.Named("Failed", appdb.Timestamp(p.Failed)),
		sql.Named("After", p.After),
		sql.Named("Limit", pruneWindow))
	return messages, r, err
}

// Sweep removes the oldest messages of a removed subscription first. Without any, it removes
// expired rows.
func (e *Engine) Sweep(ctx context.Context, limit int) (delivery.Removed, error) {
	removedSubscriptions, err := appdb.QueryAll(ctx, e.db, appdb.ScanInt,
		`SELECT SubscriptionID FROM whd.WH_SubscriptionRemoved ORDER BY SubscriptionID`)
	if err != nil {
		return delivery.Removed{}, e.fault(err, "reading removed subscriptions")
	}
	oldest := `SELECT ` + deletionColumns.names() + `
FROM whd.SY_WebhookMessage WHERE SubscriptionID = @Subscription ORDER BY ID` + e.db.Limit
	for _, subscription := range removedSubscriptions {
		messages, err := appdb.QueryAll(ctx, e.db, scanInto(deletionFields), oldest,
			sql.Named("Subscription", subscription),
			sql.Named("Limit", limit))
		if err != nil {
			return delivery.Removed{}, e.fault(err, "reading the messages of a removed subscription")
		}
		if len(messages) > 0 {
			_, r, err := e.remover.remove(ctx, messages)
			r.More = true
			return r, e.fault(err, "removing the messages of a removed subscription")
		}
	}
	r, err := e.expiry.remove(ctx, limit)
	return r, e.fault(err, "removing expired rows")
}

// Reclaim does one thing a step, so that the time and the rows of a step belong together: it removes
// texts without attempts, or the oldest ones above maxSize bytes, or shrinks the file.
//
// A text without attempts is retained for the day it was used on and the next day: a batch that is
// being written may refer to it. One above maxSize is not: its attempts are then shown without a text.
func (e *Engine) Reclaim(ctx context.Context, limit int, maxSize int64) (delivery.Removed, error) {
	now, err := e.Now(ctx)
	if err != nil {
		return delivery.Removed{}, err
	}
	r, err := removeTexts(ctx, e.db, limit, `UsedDateTime < @Before
	AND NOT EXISTS (SELECT 1 FROM whd.SY_WebhookMessageResponse r WHERE r.TextHash = WH_ResponseText.TextHash)`,
		sql.Named("Before", appdb.Timestamp(now.Add(-2*24*time.Hour))))
	if err != nil || r.More {
		return r, e.fault(err, "removing response texts")
	}

	const oldest = "removing the oldest response texts"
	size, err := e.queryInt(ctx, oldest, `SELECT COALESCE(SUM(CAST(Size AS bigint)), 0) FROM whd.WH_ResponseText`)
	if err != nil {
		return delivery.Removed{}, err
	}
	if maxSize > 0 && size > maxSize {
		r, err = removeTexts(ctx, e.db, limit, `1 = 1`)
		r.More = true
		return r, e.fault(err, oldest)
	}

	r, err = e.remover.shrink(ctx)
	return r, e.fault(err, "shrinking the file")
}

// textList returns the texts of the parameter @List, with up to size characters. The list of the
// dialect has numbers: on a server, their type is replaced, and texts are compared exactly.
func textList(db *appdb.DB, size int) string {
	replacer := strings.NewReplacer(
		"bigint", fmt.Sprintf("nvarchar(%d)", size),
		"j.ID", "j.ID COLLATE Latin1_General_BIN2",
	)
	return replacer.Replace(db.InList)
}

// removeTexts removes the texts that meet a condition, least recently used first. It reads them
// before it locks the file. More is true if it has tried to remove any.
func removeTexts(
	ctx context.Context, db *appdb.DB, limit int, condition string, args ...any,
) (delivery.Removed, error) {
	hashes, err := appdb.QueryAll(ctx, db, scanInto(func(hash *string) []any { return []any{hash} }),
		`SELECT TextHash FROM whd.WH_ResponseText WHERE `+condition+` ORDER BY UsedDateTime`+db.Limit,
		append(args, sql.Named("Limit", limit))...)
	if err != nil || len(hashes) == 0 {
		return delivery.Removed{}, err
	}
	started := time.Now()
	removed, err := db.Exec(ctx,
		`DELETE FROM whd.WH_ResponseText WHERE TextHash IN `+textList(db, 32)+` AND `+condition,
		append(args, db.ListArg(hashes))...)
	return delivery.Removed{Rows: int(removed), Took: time.Since(started), More: true}, err
}
