package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// lastNudge is the number in WH_Number of the last nudge.
const lastNudge = `Nudge`

// nudged are the steps of a transaction that tell other daemons about messages
// of subscriptions. The first locks the number until the transaction ends: the
// numbers come in the order of the commits, so that nobody who has read one has
// missed a lower one.
func (w *Store) nudged(all ...delivery.PeerEvent) []appdb.Step {
	if len(all) == 0 {
		return nil
	}
	steps := []appdb.Step{appdb.Statement(`UPDATE whd.WH_Number SET Next = Next + 1 WHERE Name = @Name`, sql.Named("Name", lastNudge))}
	for _, n := range all {
		steps = append(steps, appdb.Statement(`INSERT INTO whd.WH_Nudge (Number, SubscriptionID, Kind, Holder, AddedDateTime)
SELECT n.Next, @Subscription, @Kind, @Holder, `+w.own.Clock()+` FROM whd.WH_Number n WHERE n.Name = @Name`,
			sql.Named("Subscription", n.Subscription), sql.Named("Kind", int64(n.Kind)), w.own.HolderArg(), sql.Named("Name", lastNudge)))
	}
	return steps
}

// PeerEvents is delivery.Store's. Where nothing has happened it reads a few rows.
func (w *Store) PeerEvents(ctx context.Context, after int64) (news delivery.PeerEvents, err error) {
	numbers, err := appdb.QueryAll(ctx, w.own, scanNumber, `SELECT Name, Next FROM whd.WH_Number`)
	if err != nil {
		return news, w.fault(err, "looking for news")
	}
	for _, n := range numbers {
		switch n.name {
		case subscriptionVersion:
			news.Version = n.next
		case lastNudge:
			news.Last = n.next
		}
	}
	holders, err := appdb.QueryAll(ctx, w.own, scanHolder, `SELECT p.Holder, MAX(CASE WHEN p.WatchedUntil > `+w.own.Clock()+` THEN 1 ELSE 0 END)
FROM whd.WH_Partition p WHERE p.LeaseUntil > `+w.own.Clock()+` GROUP BY p.Holder`)
	if err != nil {
		return news, w.fault(err, "looking for other daemons")
	}
	news.Daemons = max(1, len(holders))
	for _, h := range holders {
		news.Watched = news.Watched || h.watched && h.holder != w.own.Holder
	}
	orphans, err := w.lapsed(ctx, ` AND `+orphan, 0)
	if err != nil {
		return news, err
	}
	news.Orphans = len(orphans) > 0
	if after >= 0 && after < news.Last {
		news.Events, err = appdb.QueryAll(ctx, w.own, scanNudge, `SELECT DISTINCT n.SubscriptionID, n.Kind FROM whd.WH_Nudge n
WHERE n.Number > @After AND n.Number <= @Last AND n.Kind <> @Changed AND n.Holder <> @Holder ORDER BY n.Kind, n.SubscriptionID`,
			sql.Named("After", after), sql.Named("Last", news.Last), sql.Named("Changed", changedKind), w.own.HolderArg())
	}
	return news, w.fault(err, "reading nudges")
}

type storedNumber struct {
	name string
	next int64
}

func scanNumber(row appdb.Row) (n storedNumber, err error) {
	err = row.Scan(&n.name, &n.next)
	return n, err
}

type holder struct {
	holder  string
	watched bool
}

func scanHolder(row appdb.Row) (h holder, err error) {
	var name sql.NullString
	err = row.Scan(&name, &h.watched)
	h.holder = name.String
	return h, err
}

func scanNudge(row appdb.Row) (n delivery.PeerEvent, err error) {
	err = row.Scan(&n.Subscription, &n.Kind)
	return n, err
}

// Watch is delivery.Store's.
func (w *Store) Watch(ctx context.Context, home delivery.Lease, term time.Duration) error {
	_, err := w.own.Exec(ctx, `UPDATE whd.WH_Partition SET WatchedUntil = `+w.own.ClockAfter()+`
WHERE PartitionID = @Partition AND Fence = @Fence`, append(leaseArgs(home), termArg(term))...)
	return w.fault(err, "noting that changes are read")
}

// changesAtOnce is how many batches of a partition are read at once.
const changesAtOnce = 200

// Changes is delivery.Store's. The batches of one partition are written one after
// another, so that nobody who has read one has missed an earlier one.
func (w *Store) Changes(ctx context.Context, home int64, marks map[int64]int64) (all []webhook.Change, err error) {
	begins := len(marks) == 0
	marks[nowhere] = 0
	partitions, err := appdb.QueryAll(ctx, w.own, appdb.ScanInt, `SELECT PartitionID FROM whd.WH_Partition WHERE PartitionID <> @Home ORDER BY PartitionID`, sql.Named("Home", home))
	if err != nil {
		return nil, w.fault(err, "looking for other daemons")
	}
	for _, partition := range partitions {
		some, err := w.changesOf(ctx, partition, marks, begins)
		if err != nil {
			return all, w.fault(err, "reading the changes of other daemons")
		}
		all = append(all, some...)
	}
	return all, nil
}

// nowhere is no partition. Its mark says that the others have been looked for.
const nowhere = 0

func (w *Store) changesOf(ctx context.Context, partition int64, marks map[int64]int64, begins bool) (all []webhook.Change, err error) {
	of := sql.Named("Partition", partition)
	mark, known := marks[partition]
	if !known && begins {
		last, err := appdb.QueryOne(ctx, w.own, appdb.ScanInt, `SELECT COALESCE(MAX(Number), 0) FROM whd.WH_Change WHERE PartitionID = @Partition`, of)
		if err != nil {
			return nil, err
		}
		marks[partition] = *last
		return nil, nil
	}
	rows, err := appdb.QueryAll(ctx, w.own, scanChanges, `SELECT Number, Changes FROM whd.WH_Change WHERE PartitionID = @Partition AND Number > @Mark ORDER BY Number`+w.own.Limit(),
		of, sql.Named("Mark", mark), sql.Named("Limit", changesAtOnce))
	for _, row := range rows {
		marks[partition] = row.number
		all = append(all, row.changes...)
	}
	return all, err
}

type storedChanges struct {
	number  int64
	changes []webhook.Change
}

func scanChanges(row appdb.Row) (c storedChanges, err error) {
	var text string
	if err := row.Scan(&c.number, &text); err != nil {
		return c, err
	}
	if err := json.Unmarshal([]byte(text), &c.changes); err != nil {
		return c, fmt.Errorf("stored changes: %w", err)
	}
	return c, nil
}

// changesText is the changes of a batch as they are stored.
func changesText(b *delivery.Batch) string {
	text, err := json.Marshal(b.Changes)
	if err != nil {
		panic("store: " + err.Error()) // texts, numbers and times can always be written
	}
	return string(text)
}

// How long nudges and changes are kept. Daemons read them every second; one that
// could not for longer begins anew.
const (
	nudgeLife  = 10 * time.Minute
	changeLife = 2 * time.Minute
	tidyRows   = 500 // at once
)

// PrunePeerEvents is delivery.Store's.
func (w *Store) PrunePeerEvents(ctx context.Context) error {
	err := w.tidy(ctx, `DELETE FROM whd.WH_Change WHERE AddedDateTime < `+w.own.ClockAfter()+` AND Number IN (
	SELECT c.Number FROM whd.WH_Change c ORDER BY c.AddedDateTime`+w.own.Limit()+`)`, changeLife)
	if err == nil {
		err = w.tidy(ctx, `DELETE FROM whd.WH_Nudge WHERE AddedDateTime < `+w.own.ClockAfter()+` AND Kind <> @Changed AND Number IN (
	SELECT n.Number FROM whd.WH_Nudge n WHERE n.Kind <> @Changed ORDER BY n.Number`+w.own.Limit()+`)`, nudgeLife, sql.Named("Changed", changedKind))
	}
	return w.fault(err, "removing what everybody has read")
}

// tidy removes some rows after others, until there are no more that are old.
func (w *Store) tidy(ctx context.Context, statement string, life time.Duration, args ...any) error {
	args = append(args, termArg(-life), sql.Named("Limit", tidyRows))
	for {
		n, err := w.own.Exec(ctx, statement, args...)
		if err != nil || n < tidyRows/2 {
			return err
		}
	}
}

// Succeeded is delivery.Store's.
func (w *Store) Succeeded(ctx context.Context, subscription int64, since time.Time) (bool, error) {
	n, err := appdb.QueryOne(ctx, w.own, appdb.ScanInt, `SELECT CASE WHEN EXISTS (SELECT 1 FROM whd.SY_WebhookMessage m
	WHERE m.SubscriptionID = @Subscription AND m.Status = 1 AND m.LastSavedDateTime > @Since) THEN 1 ELSE 0 END`,
		sql.Named("Subscription", subscription), sql.Named("Since", appdb.Stamp(since)))
	if err != nil || n == nil {
		return false, w.fault(err, "looking for a success")
	}
	return *n > 0, nil
}
