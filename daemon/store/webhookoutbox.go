package store

import (
	"context"
	"database/sql"

	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// The bounds of what is read of the outbox at once.
const (
	outboxBytes   = 1 << 20 // of bodies, after which no other row is read
	outboxPerByte = 2       // bytes that a server counts for one of UTF-8, at most
)

// Outbox is webhook.Store's. Rows that somebody has locked are passed over:
// their transaction has not ended, and others need not wait for it. A file has
// no outbox, since nobody else writes to it. Without the CAST, Babelfish gives
// out what a CASE holds as varchar.
func (w *Webhooks) Outbox(ctx context.Context, limit int) (all []delivery.Raised, err error) {
	if w.own.schema == "" {
		return nil, ctx.Err()
	}
	err = executor.Retry(ctx, executor.MayReadAgain, func(ctx context.Context) error {
		rows, err := w.own.pool.QueryContext(ctx, w.own.text(`SELECT OutboxID, EventName, CAST(CASE WHEN DATALENGTH(Body) <= @Most THEN Body END AS nvarchar(max))
FROM whd.WH_Outbox WITH (READPAST) WHERE RefusedReason IS NULL ORDER BY OutboxID`+w.own.first()),
			sql.Named("Most", outboxPerByte*delivery.MaxBodySize), sql.Named("Limit", limit))
		if err != nil {
			return err
		}
		defer rows.Close()
		size := 0
		for all = nil; size < outboxBytes && rows.Next(); {
			var r delivery.Raised
			if err := rows.Scan(&r.ID, &r.Name, &r.Body); err != nil {
				return err
			}
			r.TooLarge = r.Body == nil || len(r.Body) > delivery.MaxBodySize
			size += len(r.Body)
			all = append(all, r)
		}
		return rows.Err()
	})
	return all, w.own.fault(err, "reading the outbox")
}

// RefuseOutbox is webhook.Store's.
func (w *Webhooks) RefuseOutbox(ctx context.Context, id int64, reason string) error {
	_, err := w.own.exec(ctx, `UPDATE whd.WH_Outbox SET RefusedReason = @Reason WHERE OutboxID = @ID`,
		sql.Named("Reason", readable(reason, mostDisabled)), sql.Named("ID", id))
	return w.own.fault(err, "refusing a row of the outbox")
}

// The rows of the outbox that become events. None may have been taken by another
// daemon, nor be overtaken: a transaction of somebody else that ends while rows
// are read may show its later ones first.
const serverOutbox = `DELETE o FROM whd.WH_Outbox o WITH (READPAST)
JOIN OPENJSON(@Outbox) WITH (ID bigint '$[0]') n ON n.ID = o.OutboxID
WHERE o.RefusedReason IS NULL;
IF @@ROWCOUNT <> @OutboxCount SET @Result = 4;
IF EXISTS (SELECT 1 FROM whd.WH_Outbox o WITH (READPAST) WHERE o.OutboxID < @OutboxLast AND o.RefusedReason IS NULL) SET @Result = 4;
`

// outbox adds the removal of the rows that a batch makes events of.
func (w *batchText) outbox(ids []int64) {
	rows, last := make([][]any, len(ids)), int64(0)
	for i, id := range ids {
		rows[i] = []any{id}
		last = max(last, id)
	}
	w.part(serverOutbox, "Outbox", rows)
	w.arg("OutboxCount", len(ids))
	w.arg("OutboxLast", last)
}
