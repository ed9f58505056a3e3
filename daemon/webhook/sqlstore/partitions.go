package sqlstore

import (
	"context"
	"database/sql"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// partitions are the rows that daemons lease.
type partitions struct{ tables }

func termArg(term time.Duration) sql.NamedArg { return sql.Named("Term", term.Milliseconds()) }

func leaseArgs(l delivery.Lease) []any {
	return []any{sql.Named("Partition", l.Partition), sql.Named("Fence", l.Fence)}
}

// orphaned is a condition on the partitions that may be leased: it selects those
// that must be leased, which are the first one and those with open messages.
const orphaned = ` AND (p.PartitionID = 1 OR EXISTS (SELECT 1 FROM whd.SY_WebhookMessage m
	WHERE m.PartitionID = p.PartitionID AND m.NextAttemptDateTime IS NOT NULL))`

// free returns the partitions that may be leased. Until is when a lease of duration
// term would end.
func (p partitions) free(ctx context.Context, which string, term time.Duration) ([]delivery.Lease, error) {
	free, err := appdb.QueryAll(ctx, p.db, scanInto(leaseFields),
		`SELECT p.PartitionID, p.Fence, `+p.db.ClockAfter+` FROM whd.WH_Partition p
WHERE p.LeaseUntil <= `+p.db.Clock+which+` ORDER BY p.PartitionID`, termArg(term))
	return free, p.fault(err, "reading free partitions")
}

func leaseFields(l *delivery.Lease) []any {
	return []any{&l.Partition, &l.Fence, (*appdb.Time)(&l.Until)}
}

// takeFree leases at most limit of the selected partitions, all if limit is
// negative. Partitions that another daemon leases first are skipped.
func (p partitions) takeFree(ctx context.Context, which string, term time.Duration, limit int) ([]delivery.Lease, error) {
	free, err := p.free(ctx, which, term)
	if err != nil {
		return nil, err
	}
	var leased []delivery.Lease
	for _, l := range free {
		n, err := p.db.Exec(ctx, `UPDATE whd.WH_Partition SET Fence = Fence + 1, Holder = @Holder, WatchedUntil = NULL, LeaseUntil = `+p.db.ClockAfter+`
WHERE PartitionID = @Partition AND Fence = @Fence AND LeaseUntil <= `+p.db.Clock,
			append(leaseArgs(l), termArg(term), p.db.HolderArg())...)
		if err != nil {
			return leased, p.fault(err, "leasing a partition")
		}
		if n > 0 {
			l.Fence++
			leased = append(leased, l)
		}
		if len(leased) == limit {
			break
		}
	}
	return leased, nil
}

// set changes the row of a partition if the lease is held.
func (p partitions) set(ctx context.Context, l delivery.Lease, sets string, args ...any) (int64, error) {
	return p.db.Exec(ctx, `UPDATE whd.WH_Partition SET `+sets+`
WHERE PartitionID = @Partition AND Fence = @Fence`, append(leaseArgs(l), args...)...)
}

// watched returns an element for each daemon that holds a lease. It is true if the daemon is
// another one and has an open stream.
func (p partitions) watched(ctx context.Context) ([]bool, error) {
	return appdb.QueryAll(ctx, p.db, scanInto(func(watched *bool) []any { return []any{watched} }),
		`SELECT MAX(CASE WHEN p.WatchedUntil > `+p.db.Clock+` AND p.Holder <> @Holder THEN 1 ELSE 0 END)
FROM whd.WH_Partition p WHERE p.LeaseUntil > `+p.db.Clock+` GROUP BY p.Holder`, p.db.HolderArg())
}
