package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// Peers is the storage through which daemons that share a store coordinate: leases,
// peer events and changes of messages.
type Peers struct {
	tables
	partitions partitions
}

// Lease prefers the oldest partition, so that a single daemon always has the same partition.
func (p *Peers) Lease(ctx context.Context, term time.Duration) (delivery.Lease, error) {
	for {
		leased, err := p.partitions.takeFree(ctx, ``, term, 1)
		if err != nil {
			return delivery.Lease{}, err
		}
		if len(leased) > 0 {
			return leased[0], nil
		}
		// Another daemon may create or lease the partition first.
		_, err = p.db.Exec(ctx, `INSERT INTO whd.WH_Partition (PartitionID, Fence, LeaseUntil)
SELECT COALESCE(MAX(p.PartitionID), 0) + 1, 0, @Until FROM whd.WH_Partition p`, sql.Named("Until", appdb.Timestamp(time.Time{})))
		if err != nil && !executor.IsDuplicate(err) {
			return delivery.Lease{}, p.fault(err, "creating a partition")
		}
	}
}

func (p *Peers) TakeOver(ctx context.Context, term time.Duration) ([]delivery.Lease, error) {
	return p.partitions.takeFree(ctx, orphaned, term, -1)
}

func (p *Peers) Renew(ctx context.Context, leases []delivery.Lease, term time.Duration) ([]delivery.Lease, error) {
	until, err := appdb.QueryOne(ctx, p.db, appdb.ScanTime, `SELECT `+p.db.ClockAfter, termArg(term))
	if err != nil {
		return nil, p.fault(err, "renewing a lease")
	}
	var held []delivery.Lease
	for _, l := range leases {
		n, err := p.partitions.set(ctx, l, `LeaseUntil = `+p.db.ClockAfter, termArg(term))
		if err != nil {
			return nil, p.fault(err, "renewing a lease")
		}
		if n > 0 {
			l.Until = *until
			held = append(held, l)
		}
	}
	return held, nil
}

// Release leaves the fence, so that pending results can be written until another daemon leases
// the partition.
func (p *Peers) Release(ctx context.Context, leases []delivery.Lease) error {
	past := sql.Named("Until", appdb.Timestamp(time.Time{}))
	for _, l := range leases {
		if _, err := p.partitions.set(ctx, l, `LeaseUntil = @Until`, past); err != nil {
			return p.fault(err, "releasing a lease")
		}
	}
	return nil
}

func (p *Peers) Watch(ctx context.Context, home delivery.Lease, term time.Duration) error {
	_, err := p.partitions.set(ctx, home, `WatchedUntil = `+p.db.ClockAfter, termArg(term))
	return p.fault(err, "storing that changes are read")
}

// PeerEvents reads few rows if nothing has happened.
func (p *Peers) PeerEvents(ctx context.Context, after int64) (delivery.PeerEvents, error) {
	var events delivery.PeerEvents
	err := p.readCounters(ctx, &events)
	if err != nil {
		return events, p.fault(err, "reading the counters of peer events")
	}
	watched, err := p.partitions.watched(ctx)
	if err != nil {
		return events, p.fault(err, "reading other daemons")
	}
	events.Daemons = max(1, len(watched))
	events.Watched = slices.Contains(watched, true)
	orphans, err := p.partitions.free(ctx, orphaned, 0)
	if err != nil {
		return events, err
	}
	events.Orphans = len(orphans) > 0
	if after < 0 || after >= events.Last {
		return events, nil
	}

	events.Events, err = appdb.QueryAll(ctx, p.db, scanInto(peerEventFields),
		`SELECT DISTINCT n.SubscriptionID, n.Kind FROM whd.WH_Nudge n
WHERE n.Number > @After AND n.Number <= @Last AND n.Kind <> @Changed AND n.Holder <> @Holder ORDER BY n.Kind, n.SubscriptionID`,
		sql.Named("After", after),
		sql.Named("Last", events.Last),
		sql.Named("Changed", changedKind),
		p.db.HolderArg())
	return events, p.fault(err, "reading peer events")
}

// readCounters reads the version of the subscriptions and the last peer event.
func (p *Peers) readCounters(ctx context.Context, events *delivery.PeerEvents) error {
	numbers := map[string]*int64{
		subscriptionVersion: &events.Version,
		lastPeerEvent:       &events.Last,
	}
	return p.db.Query(ctx, func(rows *sql.Rows) error {
		for rows.Next() {
			var name string
			var next int64
			err := rows.Scan(&name, &next)
			if err != nil {
				return err
			}
			if number := numbers[name]; number != nil {
				*number = next
			}
		}
		return nil
	}, `SELECT Name, Next FROM whd.WH_Number`)
}

func peerEventFields(e *delivery.PeerEvent) []any { return []any{&e.Subscription, &e.Kind} }

// maxChangeBatches is how many batches of a partition are read at once.
const maxChangeBatches = 200

// scanned is a pseudo partition in marks: it records that the partitions have been
// read before.
const scanned = 0

// PeerChanges relies on the batches of one partition being written one after another: a reader
// of one has not missed an earlier one.
func (p *Peers) PeerChanges(ctx context.Context, home int64, marks map[int64]int64) ([]webhook.Change, error) {
	firstRead := len(marks) == 0
	marks[scanned] = 0
	partitions, err := appdb.QueryAll(ctx, p.db, appdb.ScanInt,
		`SELECT PartitionID FROM whd.WH_Partition WHERE PartitionID <> @Home ORDER BY PartitionID`, sql.Named("Home", home))
	if err != nil {
		return nil, p.fault(err, "reading other daemons")
	}

	var changes []webhook.Change
	for _, partition := range partitions {
		mark, isKnown := marks[partition]
		if firstRead && !isKnown {
			last, err := p.lastChange(ctx, partition)
			if err != nil {
				return changes, err
			}
			marks[partition] = last
			continue
		}
		batches, err := p.changesAfter(ctx, partition, mark)
		if err != nil {
			return changes, err
		}
		for _, batch := range batches {
			marks[partition] = batch.number
			changes = append(changes, batch.changes...)
		}
	}
	return changes, nil
}

const readingChanges = "reading the changes of other daemons"

// lastChange returns the number of the last batch of changes of a partition, 0 if there is none.
func (p *Peers) lastChange(ctx context.Context, partition int64) (int64, error) {
	return p.queryInt(ctx, readingChanges,
		`SELECT COALESCE(MAX(Number), 0) FROM whd.WH_Change WHERE PartitionID = @Partition`,
		sql.Named("Partition", partition))
}

// changesAfter returns the first batches of changes of a partition that follow a number.
func (p *Peers) changesAfter(ctx context.Context, partition, number int64) ([]storedChanges, error) {
	batches, err := appdb.QueryAll(ctx, p.db, scanChanges,
		`SELECT Number, Changes FROM whd.WH_Change WHERE PartitionID = @Partition AND Number > @Mark ORDER BY Number`+p.db.Limit,
		sql.Named("Partition", partition),
		sql.Named("Mark", number),
		sql.Named("Limit", maxChangeBatches))
	return batches, p.fault(err, readingChanges)
}

// storedChanges is a batch of changes.
type storedChanges struct {
	number  int64
	changes []webhook.Change
}

func scanChanges(row appdb.Row) (storedChanges, error) {
	var c storedChanges
	var text []byte
	if err := row.Scan(&c.number, &text); err != nil {
		return c, err
	}
	if err := json.Unmarshal(text, &c.changes); err != nil {
		return c, fmt.Errorf("decoding stored changes: %w", err)
	}
	return c, nil
}

// changesText returns the stored form of a batch's changes.
func changesText(b *delivery.Batch) string {
	text, err := json.Marshal(b.Changes)
	if err != nil {
		panic("sqlstore: " + err.Error()) // texts, numbers and times can always be encoded
	}
	return string(text)
}

// How long peer events and changes are retained. Daemons read them every second; a
// daemon that could not for longer starts over.
const (
	peerEventRetention = 10 * time.Minute
	changeRetention    = 2 * time.Minute
	pruneLimit         = 500 // rows deleted at a time
)

func (p *Peers) PrunePeerEvents(ctx context.Context) error {
	err := prune(ctx, p.db, `DELETE FROM whd.WH_Change WHERE AddedDateTime < `+p.db.ClockAfter+` AND Number IN (
	SELECT c.Number FROM whd.WH_Change c ORDER BY c.AddedDateTime`+p.db.Limit+`)`, changeRetention)
	if err != nil {
		return p.fault(err, "deleting old peer events")
	}
	err = prune(ctx, p.db, `DELETE FROM whd.WH_Nudge WHERE AddedDateTime < `+p.db.ClockAfter+` AND Kind <> @Changed AND Number IN (
	SELECT n.Number FROM whd.WH_Nudge n WHERE n.Kind <> @Changed ORDER BY n.Number`+p.db.Limit+`)`,
		peerEventRetention, sql.Named("Changed", changedKind))
	return p.fault(err, "deleting old peer events")
}

// prune deletes expired rows in steps, until few are left.
func prune(ctx context.Context, db *appdb.DB, statement string, retention time.Duration, args ...any) error {
	args = append(args, termArg(-retention), sql.Named("Limit", pruneLimit))
	for {
		n, err := db.Exec(ctx, statement, args...)
		if err != nil || n < pruneLimit/2 {
			return err
		}
	}
}
