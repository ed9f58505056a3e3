package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

func termArg(term time.Duration) sql.NamedArg { return sql.Named("Term", term.Milliseconds()) }

// Lease is webhook.Store's. Of several partitions it takes the oldest, so that
// a daemon that is alone has the same one each time.
func (w *Webhooks) Lease(ctx context.Context, term time.Duration) (delivery.Lease, error) {
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
func (w *Webhooks) addPartition(ctx context.Context) error {
	_, err := w.own.exec(ctx, `INSERT INTO whd.WH_Partition (PartitionID, Fence, LeaseUntil)
SELECT COALESCE(MAX(p.PartitionID), 0) + 1, 0, @Until FROM whd.WH_Partition p`, sql.Named("Until", stamp(time.Time{})))
	if executor.IsDuplicate(err) {
		return nil
	}
	return w.own.fault(err, "making a partition")
}

// TakeOver is webhook.Store's.
func (w *Webhooks) TakeOver(ctx context.Context, term time.Duration) ([]delivery.Lease, error) {
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
func (w *Webhooks) lapsed(ctx context.Context, which string, term time.Duration) ([]delivery.Lease, error) {
	all, err := list(ctx, w.own, scanLease, `SELECT p.PartitionID, p.Fence, `+w.own.clockAfter()+` FROM whd.WH_Partition p
WHERE p.LeaseUntil <= `+w.own.clock()+which+` ORDER BY p.PartitionID`, termArg(term))
	return all, w.own.fault(err, "looking for partitions")
}

// take leases a partition unless somebody else was faster.
func (w *Webhooks) take(ctx context.Context, l *delivery.Lease, term time.Duration) (bool, error) {
	n, err := w.own.exec(ctx, `UPDATE whd.WH_Partition SET Fence = Fence + 1, Holder = @Holder, WatchedUntil = NULL, LeaseUntil = `+w.own.clockAfter()+`
WHERE PartitionID = @Partition AND Fence = @Fence AND LeaseUntil <= `+w.own.clock(),
		append(leaseArgs(*l), termArg(term), w.own.holderArg())...)
	l.Fence++
	return n > 0, w.own.fault(err, "leasing a partition")
}

func leaseArgs(l delivery.Lease) []any {
	return []any{sql.Named("Partition", l.Partition), sql.Named("Fence", l.Fence)}
}

// Renew is webhook.Store's.
func (w *Webhooks) Renew(ctx context.Context, leases []delivery.Lease, term time.Duration) ([]delivery.Lease, error) {
	until, err := found(ctx, w.own, scanMoment, `SELECT `+w.own.clockAfter(), termArg(term))
	if err != nil {
		return nil, w.own.fault(err, "renewing a lease")
	}
	var held []delivery.Lease
	for _, l := range leases {
		n, err := w.own.exec(ctx, `UPDATE whd.WH_Partition SET LeaseUntil = `+w.own.clockAfter()+`
WHERE PartitionID = @Partition AND Fence = @Fence`, append(leaseArgs(l), termArg(term))...)
		if err != nil {
			return nil, w.own.fault(err, "renewing a lease")
		}
		if l.Until = *until; n > 0 {
			held = append(held, l)
		}
	}
	return held, nil
}

// Release is webhook.Store's. The fence stays, so that what is still under way
// may be written until somebody else takes the partition.
func (w *Webhooks) Release(ctx context.Context, leases []delivery.Lease) error {
	for _, l := range leases {
		_, err := w.own.exec(ctx, `UPDATE whd.WH_Partition SET LeaseUntil = @Until WHERE PartitionID = @Partition AND Fence = @Fence`,
			append(leaseArgs(l), sql.Named("Until", stamp(time.Time{})))...)
		if err != nil {
			return w.own.fault(err, "giving a lease back")
		}
	}
	return nil
}

func scanLease(row scanner) (l delivery.Lease, err error) {
	err = row.Scan(&l.Partition, &l.Fence, (*moment)(&l.Until))
	return l, err
}
