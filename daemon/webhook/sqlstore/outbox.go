package sqlstore

import (
	"context"
	"database/sql"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// ReadOutbox skips rows locked by transactions that have not ended. A file has no outbox, since no
// other program writes to it. The CAST is for Babelfish, which returns a CASE expression as varchar.
func (e *Engine) ReadOutbox(ctx context.Context, limit int, _ []string) ([]delivery.OutboxEvent, error) {
	if !e.db.IsServer() {
		return nil, ctx.Err()
	}
	var events []delivery.OutboxEvent
	err := e.db.Query(ctx, func(rows *sql.Rows) error {
		events = nil
		size := 0
		for size < delivery.OutboxBytes && rows.Next() {
			var r delivery.OutboxEvent
			if err := rows.Scan(&r.ID, &r.Name, &r.Body); err != nil {
				return err
			}
			r.TooLarge = r.Body == nil || len(r.Body) > delivery.MaxEventBody
			size += len(r.Body)
			events = append(events, r)
		}
		return nil
	}, `SELECT OutboxID, EventName, CAST(CASE WHEN DATALENGTH(Body) <= @Most THEN Body END AS nvarchar(max))
FROM whd.WH_Outbox WITH (READPAST, READCOMMITTEDLOCK) WHERE RefusedReason IS NULL ORDER BY OutboxID`+e.db.Limit,
		sql.Named("Most", mssql.NvarcharSize(delivery.MaxEventBody)), sql.Named("Limit", limit))
	return events, e.fault(err, "reading the outbox")
}

func (e *Engine) RefuseOutbox(ctx context.Context, r delivery.OutboxEvent, reason string) error {
	_, err := e.db.Exec(ctx, `UPDATE whd.WH_Outbox SET RefusedReason = @Reason WHERE OutboxID = @ID`,
		sql.Named("Reason", sanitize(reason, maxDisabledReason)), sql.Named("ID", r.ID))
	return e.fault(err, "rejecting a row of the outbox")
}

func (e *Engine) OutboxMarks(ctx context.Context, source string) ([]string, error) {
	marks, err := appdb.QueryAll(ctx, e.db, scanInto(func(guid *string) []any { return []any{guid} }),
		`SELECT EventGUID FROM whd.WH_OutboxTaken WHERE Source = @Source`, sql.Named("Source", source))
	return marks, e.fault(err, "reading the marks of the outbox")
}

func (e *Engine) RemoveOutboxMarks(ctx context.Context, source string, guids []string) error {
	_, err := e.db.Exec(ctx, `DELETE FROM whd.WH_OutboxTaken WHERE Source = @Source AND EventGUID IN `+textList(e.db, 36),
		sql.Named("Source", source), e.db.ListArg(guids))
	return e.fault(err, "removing marks of the outbox")
}
