package sqlstore

import (
	"context"
	"database/sql"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

func termArg(term time.Duration) sql.NamedArg { return sql.Named("Term", term.Milliseconds()) }

// Lease is delivery.Store's. Of several partitions it takes the oldest, so that
// a daemon that is alone has the same one each time.
func (w *Store) Lease(ctx context.Context, term time.Duration) (delivery.Lease, error) {
	for {
		free, err := w.lapsed(ctx, ``, term)
		if err != nil {
			return delivery.Lease{}, err
		}
		for _, l := range free {
			taken, err := w.take(ctx, &l, term)
			if err != nil || taken {
				return l, err
			}
		}
		if err := w.addPartition(ctx); err != nil {
			return delivery.Lease{}, err
		}
	}
}

// addPartition makes a partition that is free. Another daemon may be faster to
// make it, or to take it.
func (w *Store) addPartition(ctx context.Context) error {
	_, err := w.own.Exec(ctx, `INSERT INTO whd.WH_Partition (PartitionID, Fence, LeaseUntil)
SELECT COALESCE(MAX(p.PartitionID), 0) + 1, 0, @Until FROM whd.WH_Partition p`, sql.Named("Until", appdb.Stamp(time.Time{})))
	if executor.IsDuplicate(err) {
		return nil
	}
	return w.fault(err, "making a partition")
}

// TakeOver is delivery.Store's.
func (w *Store) TakeOver(ctx context.Context, term time.Duration) ([]delivery.Lease, error) {
	free, err := w.lapsed(ctx, ` AND `+orphan, term)
	if err != nil {
		return nil, err
	}
	var mine []delivery.Lease
	for _, l := range free {
		taken, err := w.take(ctx, &l, term)
		if err != nil {
			return mine, err
		}
		if taken {
			mine = append(mine, l)
		}
	}
	return mine, nil
}

// orphan picks, of the partitions that may be leased, those that somebody must
// lease: where messages are open, and the first.
const orphan = `(p.PartitionID = 1 OR EXISTS (SELECT 1 FROM whd.SY_WebhookMessage m
	WHERE m.PartitionID = p.PartitionID AND m.NextAttemptDateTime IS NOT NULL))`

// lapsed are the partitions that may be leased, until when they would be.
func (w *Store) lapsed(ctx context.Context, which string, term time.Duration) ([]delivery.Lease, error) {
	all, err := appdb.QueryAll(ctx, w.own, scanLease, `SELECT p.PartitionID, p.Fence, `+w.own.ClockAfter()+` FROM whd.WH_Partition p
WHERE p.LeaseUntil <= `+w.own.Clock()+which+` ORDER BY p.PartitionID`, termArg(term))
	return all, w.fault(err, "looking for partitions")
}

// take leases a partition unless somebody else was faster.
func (w *Store) take(ctx context.Context, l *delivery.Lease, term time.Duration) (bool, error) {
	n, err := w.own.Exec(ctx, `UPDATE whd.WH_Partition SET Fence = Fence + 1, Holder = @Holder, WatchedUntil = NULL, LeaseUntil = `+w.own.ClockAfter()+`
WHERE PartitionID = @Partition AND Fence = @Fence AND LeaseUntil <= `+w.own.Clock(),
		append(leaseArgs(*l), termArg(term), w.own.HolderArg())...)
	l.Fence++
	return n > 0, w.fault(err, "leasing a partition")
}

func leaseArgs(l delivery.Lease) []any {
	return []any{sql.Named("Partition", l.Partition), sql.Named("Fence", l.Fence)}
}

// Renew is delivery.Store's.
func (w *Store) Renew(ctx context.Context, leases []delivery.Lease, term time.Duration) ([]delivery.Lease, error) {
	until, err := appdb.QueryOne(ctx, w.own, appdb.ScanTime, `SELECT `+w.own.ClockAfter(), termArg(term))
	if err != nil {
		return nil, w.fault(err, "renewing a lease")
	}
	var held []delivery.Lease
	for _, l := range leases {
		n, err := w.own.Exec(ctx, `UPDATE whd.WH_Partition SET LeaseUntil = `+w.own.ClockAfter()+`
WHERE PartitionID = @Partition AND Fence = @Fence`, append(leaseArgs(l), termArg(term))...)
		if err != nil {
			return nil, w.fault(err, "renewing a lease")
		}
		if l.Until = *until; n > 0 {
			held = append(held, l)
		}
	}
	return held, nil
}

// Release is delivery.Store's. The fence stays, so that what is still under way
// may be written until somebody else takes the partition.
func (w *Store) Release(ctx context.Context, leases []delivery.Lease) error {
	for _, l := range leases {
		_, err := w.own.Exec(ctx, `UPDATE whd.WH_Partition SET LeaseUntil = @Until WHERE PartitionID = @Partition AND Fence = @Fence`,
			append(leaseArgs(l), sql.Named("Until", appdb.Stamp(time.Time{})))...)
		if err != nil {
			return w.fault(err, "giving a lease back")
		}
	}
	return nil
}

func scanLease(row appdb.Row) (l delivery.Lease, err error) {
	err = row.Scan(&l.Partition, &l.Fence, (*appdb.Time)(&l.Until))
	return l, err
}
