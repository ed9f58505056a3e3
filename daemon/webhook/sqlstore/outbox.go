package sqlstore

import (
	"context"
	"database/sql"

	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// The bounds of what is read of the outbox at once.
const (
	outboxBytes   = 1 << 20 // of bodies, after which no other row is read
	outboxPerByte = 2       // bytes that a server counts for one of UTF-8, at most
)

// Outbox is delivery.Store's. Rows that somebody has locked are passed over:
// their transaction has not ended, and others need not wait for it. A file has
// no outbox, since nobody else writes to it. Without the CAST, Babelfish gives
// out what a CASE holds as varchar.
func (w *Store) Outbox(ctx context.Context, limit int) (all []delivery.OutboxEvent, err error) {
	if !w.own.IsServer() {
		return nil, ctx.Err()
	}
	err = w.own.Query(ctx, func(rows *sql.Rows) error {
		size := 0
		for all = nil; size < outboxBytes && rows.Next(); {
			var r delivery.OutboxEvent
			if err := rows.Scan(&r.ID, &r.Name, &r.Body); err != nil {
				return err
			}
			r.TooLarge = r.Body == nil || len(r.Body) > delivery.MaxBodySize
			size += len(r.Body)
			all = append(all, r)
		}
		return nil
	}, `SELECT OutboxID, EventName, CAST(CASE WHEN DATALENGTH(Body) <= @Most THEN Body END AS nvarchar(max))
FROM whd.WH_Outbox WITH (READPAST) WHERE RefusedReason IS NULL ORDER BY OutboxID`+w.own.Limit(),
		sql.Named("Most", outboxPerByte*delivery.MaxBodySize), sql.Named("Limit", limit))
	return all, w.fault(err, "reading the outbox")
}

// RefuseOutbox is delivery.Store's.
func (w *Store) RefuseOutbox(ctx context.Context, id int64, reason string) error {
	_, err := w.own.Exec(ctx, `UPDATE whd.WH_Outbox SET RefusedReason = @Reason WHERE OutboxID = @ID`,
		sql.Named("Reason", readable(reason, mostDisabled)), sql.Named("ID", id))
	return w.fault(err, "refusing a row of the outbox")
}
