package sqlstore

import (
	"context"
	"slices"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/webhook/stats"
)

// The open messages are counted by an index that has all that is asked of them,
// and in its order. It is the one that grows and shrinks with them, so that a
// long history costs nothing. The oldest has the lowest number.
const backlogRows = `SELECT g.SubscriptionID, g.Messages, g.Retries, m.AddedDateTime
FROM (SELECT PartitionID, SubscriptionID, COUNT(*) AS Messages, SUM(CASE WHEN Status = 2 THEN 1 ELSE 0 END) AS Retries, MIN(ID) AS FirstID
	FROM whd.SY_WebhookMessage WHERE NextAttemptDateTime IS NOT NULL GROUP BY PartitionID, SubscriptionID) g
JOIN whd.SY_WebhookSubscription s ON s.ID = g.SubscriptionID
LEFT JOIN whd.SY_WebhookMessage m ON m.ID = g.FirstID`

// Backlog is delivery.Store's. Nobody who writes waits for it.
func (w *Store) Backlog(ctx context.Context) ([]stats.Backlog, error) {
	parts, err := appdb.QueryAll(ctx, w.own, scanBacklog, backlogRows)
	if err != nil {
		return nil, w.fault(err, "counting open messages")
	}
	return joined(parts), nil
}

func scanBacklog(row appdb.Row) (b stats.Backlog, err error) {
	var messages int64
	err = row.Scan(&b.Subscription, &messages, &b.RetryPending, (*appdb.Time)(&b.Oldest))
	b.NotSent = messages - b.RetryPending
	return b, err
}

// joined adds up the parts that each subscription has in different partitions.
func joined(parts []stats.Backlog) []stats.Backlog {
	slices.SortFunc(parts, func(a, b stats.Backlog) int { return int(a.Subscription - b.Subscription) })
	var all []stats.Backlog
	for _, p := range parts {
		if n := len(all); n > 0 && all[n-1].Subscription == p.Subscription {
			all[n-1].Add(p)
			continue
		}
		all = append(all, p)
	}
	return all
}
