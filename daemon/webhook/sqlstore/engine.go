package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/delivery"
	"github.com/bizhook/whd/daemon/webhook/stats"
)

// Engine is the storage of the delivery engine: messages with their events and
// attempts, and everything in Peers.
type Engine struct {
	Peers
	writer  batchWriter
	remover remover
	expiry  expiry
	blocks  messageBlocks
}

// batchWriter writes the batches of the engine.
type batchWriter interface {
	// write writes a batch, and the blocks of its messages.
	write(ctx context.Context, b *delivery.Batch, blocks []messageBlock) error
	close() error
}

// remover makes room in the tables.
type remover interface {
	// remove removes messages, and returns those that it has not processed.
	remove(ctx context.Context, messages []deletion) (left []deletion, r delivery.Removed, err error)
	// shrink returns some free space to the file system.
	shrink(ctx context.Context) (delivery.Removed, error)
}

// Close stops writing batches. The database stays open.
func (e *Engine) Close() error { return e.writer.close() }

func (e *Engine) Now(ctx context.Context) (time.Time, error) { return e.now(ctx) }

// AllocateIDs reserves n IDs and returns the first.
func (e *Engine) AllocateIDs(ctx context.Context, n int) (int64, error) {
	first, err := e.allocateIDs(ctx, n)
	if err == nil {
		e.blocks.allocate(first, int64(n))
	}
	return first, err
}

// MarkImported stores that messages up to an ID may have GUIDs that do not start with their time. It
// is called before these are written.
func (e *Engine) MarkImported(ctx context.Context, last int64) error {
	const doing = "marking imported messages"
	args := []any{sql.Named("Name", importedMessage), sql.Named("Last", last)}
	_, err := e.db.Exec(ctx, `INSERT INTO whd.WH_Number (Name, Next)
SELECT @Name, 0 WHERE NOT EXISTS (SELECT 1 FROM whd.WH_Number n WHERE n.Name = @Name)`, args[:1]...)
	if err != nil {
		return e.fault(err, doing)
	}
	_, err = e.db.Exec(ctx, `UPDATE whd.WH_Number SET Next = @Last WHERE Name = @Name AND Next < @Last`, args...)
	return e.fault(err, doing)
}

// SetDefaultRetries stores how many retries messages have if their subscription has
// no schedule. The number is only displayed.
func (e *Engine) SetDefaultRetries(ctx context.Context, n int) error {
	_, err := e.db.Exec(ctx, `UPDATE whd.WH_Number SET Next = @Count WHERE Name = @Name AND Next <> @Count`,
		sql.Named("Count", n), sql.Named("Name", defaultRetries))
	return e.fault(err, "storing the default number of retries")
}

// PrepareFile repairs a file after its host's clock was ahead and was set back. It is called
// before the engine starts, and does nothing on a server.
func (e *Engine) PrepareFile(ctx context.Context) error {
	f, ok := e.writer.(*fileWriter)
	if !ok {
		return nil
	}
	return e.fault(f.repairTimes(ctx), "repairing times in the store")
}

// Write does not change existing rows: a batch may be written again if the outcome of the
// first attempt is unknown.
func (e *Engine) Write(ctx context.Context, b delivery.Batch) error {
	b.Leases = distinct(b.Leases)
	if !covered(&b) {
		return delivery.ErrFenced
	}
	if duplicateKeys(b.Keys) {
		return delivery.ErrKeyTaken
	}
	blocks := e.blocks.changed(b.Messages)
	err := engineError(e.writer.write(ctx, &b, blocks))
	if err == nil {
		e.blocks.store(blocks)
	}
	for _, rejection := range rejections {
		if errors.Is(err, rejection) {
			return rejection
		}
	}
	return e.fault(err, "writing events and outcomes")
}

// rejections are the errors of a batch that are not failures of the store.
var rejections = []error{
	delivery.ErrStale,
	delivery.ErrFenced,
	delivery.ErrKeyTaken,
	delivery.ErrOutboxTaken,
	delivery.ErrCaptureLost,
}

// distinct returns the leases ordered by partition, without duplicates. All daemons
// lock rows in this order.
func distinct(leases []delivery.Lease) []delivery.Lease {
	leases = slices.Clone(leases)
	slices.SortFunc(leases, func(a, b delivery.Lease) int { return cmp.Compare(a.Partition, b.Partition) })
	return slices.CompactFunc(leases, func(a, b delivery.Lease) bool {
		return a.Partition == b.Partition && a.Fence == b.Fence
	})
}

// covered reports whether the batch has the leases of all partitions it touches.
// New messages may go to another daemon's partition if there is a peer event for
// it.
func covered(b *delivery.Batch) bool {
	held := make(map[int64]bool)
	for _, lease := range b.Leases {
		held[lease.Partition] = true
	}
	notified := make(map[int64]bool)
	for _, event := range b.PeerEvents {
		notified[event.Subscription] = true
	}

	for _, m := range b.Messages {
		if !held[m.Partition] && !notified[m.Subscription] {
			return false
		}
	}
	for _, r := range b.Outcomes {
		if !held[r.Message.Partition] {
			return false
		}
	}
	return true
}

// messageTables joins messages with their subscription in every query: messages of
// a deleted subscription are invisible, even before they are deleted.
const messageTables = `
FROM whd.SY_WebhookMessage m
JOIN whd.WH_Event e ON e.EventID = m.EventID
JOIN whd.SY_WebhookSubscription s ON s.ID = m.SubscriptionID`

// messageRead is the SELECT list of a message and its event, without the body.
var messageRead = messageColumns.list(func(c column[*webhook.Message]) string { return "m." + c.name }) + `, e.RecID, e.EventName`

// scanMessage returns a function that scans a message; body returns the destination
// of the last column, the event's body or its size.
func scanMessage(body func(*webhook.Event) any) func(appdb.Row) (*webhook.Message, error) {
	return func(row appdb.Row) (*webhook.Message, error) {
		m := &webhook.Message{Event: &webhook.Event{}}
		fields := make([]any, 0, len(messageFields)+3)
		for _, c := range messageFields {
			fields = append(fields, destination(c.pointer(m)))
		}
		err := row.Scan(append(fields, &m.Event.GUID, &m.Event.Name, body(m.Event))...)
		m.Next, m.Replay = readDue(m.Next)
		return m, err
	}
}

const openMessages = ` WHERE m.PartitionID = @Partition AND m.SubscriptionID = @Subscription
	AND m.NextAttemptDateTime IS NOT NULL`

// openWithKey are the open messages with a key, after an ID. The signs make SQLite use the
// index by key: with that by subscription it would read all that follow the ID.
const openWithKey = ` WHERE m.EventKey = @Key AND m.ID > @ID AND +m.PartitionID = @Partition AND +m.SubscriptionID = @Subscription
	AND m.NextAttemptDateTime IS NOT NULL ORDER BY m.ID`

// OpenMessages reads messages that are due at the time of the last one but have a higher ID
// separately from those that are due later: with one condition for both, the database would
// scan all that are due at that time.
func (e *Engine) OpenMessages(ctx context.Context, p delivery.Page) ([]*webhook.Message, error) {
	switch {
	case p.Key != "":
		return e.page(ctx, p, openWithKey)
	case p.InOrder:
		return e.page(ctx, p, openMessages+` AND m.ID > @ID ORDER BY m.ID`)
	case p.After.ID == 0: // IDs are positive
		return e.page(ctx, p, openMessages+` AND m.NextAttemptDateTime >= @Next`+dueUntil)
	}

	same, err := e.page(ctx, p, openMessages+` AND m.NextAttemptDateTime = @Next AND m.NextAttemptDateTime <= @Until
	AND m.ID > @ID ORDER BY m.ID`)
	if err != nil || len(same) >= p.Limit {
		return same, err
	}
	p.Limit -= len(same)
	later, err := e.page(ctx, p, openMessages+` AND m.NextAttemptDateTime > @Next`+dueUntil)
	if err != nil {
		return nil, err
	}
	return append(same, later...), nil
}

// dueUntil are the messages that are due by @Until, in the order of their due times.
const dueUntil = ` AND m.NextAttemptDateTime <= @Until ORDER BY m.NextAttemptDateTime, m.ID`

// page reads the messages of a page that a condition selects.
func (e *Engine) page(ctx context.Context, p delivery.Page, where string) ([]*webhook.Message, error) {
	query := `SELECT ` + messageRead + `, ` + e.db.Size + `(e.Body)` + messageTables + where + e.db.Limit
	args := append(pageArgs(p),
		sql.Named("Until", appdb.Timestamp(storedDue(p.Until, p.Replays))),
		sql.Named("Key", p.Key),
		sql.Named("Limit", p.Limit),
	)
	messages, err := appdb.QueryAll(ctx, e.db, scanMessage(bodySize), query, args...)
	return messages, e.fault(err, "reading messages")
}

// bodySize is the destination of a message's last column in page.
func bodySize(event *webhook.Event) any { return &event.Size }

func pageArgs(p delivery.Page) []any {
	next := storedDue(p.After.Next, p.Replays)
	if !p.Replays && next.Before(replaysBefore) {
		next = replaysBefore
	}
	return []any{
		sql.Named("Partition", p.Partition),
		sql.Named("Subscription", p.Subscription),
		sql.Named("Next", appdb.Timestamp(next)),
		sql.Named("ID", p.After.ID),
	}
}

func (e *Engine) LateRetries(
	ctx context.Context, subscription int64, after time.Time, limit int,
) ([]*webhook.Message, error) {
	query := `SELECT ` + messageRead + `, ` + e.db.Size + `(e.Body)` + messageTables + `
WHERE m.PartitionID IN (SELECT p.PartitionID FROM whd.WH_Partition p) AND m.SubscriptionID = @Subscription
	AND m.Status = 2 AND m.NextAttemptDateTime > @After ORDER BY m.NextAttemptDateTime DESC` + e.db.Limit
	messages, err := appdb.QueryAll(ctx, e.db, scanMessage(bodySize), query,
		sql.Named("Subscription", subscription),
		sql.Named("After", appdb.Timestamp(after)),
		sql.Named("Limit", limit),
	)
	return messages, e.fault(err, "reading messages that wait for a retry")
}

// MakeDue searches before it writes: a search that finds nothing, or only a few of many messages
// that were attempted since, does not block other writers.
func (e *Engine) MakeDue(
	ctx context.Context, subscription, partition int64, moved, now time.Time, limit int,
) (int64, error) {
	due := sql.Named("Now", appdb.Timestamp(now))
	messages, err := appdb.QueryAll(ctx, e.db, appdb.ScanInt, `SELECT m.ID FROM whd.SY_WebhookMessage m
WHERE m.PartitionID = @Partition AND m.SubscriptionID = @Subscription AND m.NextAttemptDateTime > @Now
AND (m.LastSavedDateTime <= @Moved
	OR m.URL`+e.db.Exact+` <> (SELECT s.URL FROM whd.SY_WebhookSubscription s WHERE s.ID = @Subscription))
ORDER BY m.NextAttemptDateTime, m.ID`+e.db.Limit,
		due,
		sql.Named("Moved", appdb.Timestamp(moved)),
		sql.Named("Partition", partition),
		sql.Named("Subscription", subscription),
		sql.Named("Limit", limit))
	if err != nil || len(messages) == 0 {
		return 0, e.fault(err, "reading messages for an earlier URL")
	}
	_, err = e.db.Exec(ctx, `UPDATE whd.SY_WebhookMessage SET NextAttemptDateTime = @Now
WHERE ID IN `+e.db.InList+` AND NextAttemptDateTime > @Now`, e.db.ListArg(messages), due)
	return int64(len(messages)), e.fault(err, "making messages due")
}

func eventBodyFields(event *webhook.Event) []any { return []any{&event.ID, &event.Body} }

func (e *Engine) Bodies(ctx context.Context, events []int64) (map[int64][]byte, error) {
	rows, err := appdb.QueryAll(ctx, e.db, scanInto(eventBodyFields),
		`SELECT e.EventID, e.Body FROM whd.WH_Event e WHERE e.EventID IN `+e.db.InList, e.db.ListArg(events))
	if err != nil {
		return nil, e.fault(err, "reading the bodies of events")
	}

	bodies := make(map[int64][]byte, len(rows))
	for _, event := range rows {
		bodies[event.ID] = event.Body
	}
	return bodies, nil
}

func (e *Engine) NextDue(ctx context.Context, p delivery.Page) (time.Time, error) {
	for _, condition := range []string{
		` AND m.NextAttemptDateTime = @Next AND m.ID > @ID`,
		` AND m.NextAttemptDateTime > @Next`,
	} {
		query := `SELECT MIN(m.NextAttemptDateTime) FROM whd.SY_WebhookMessage m` + openMessages + condition + `
	AND EXISTS (SELECT 1 FROM whd.SY_WebhookSubscription s WHERE s.ID = @Subscription)`
		due, err := appdb.QueryOne(ctx, e.db, appdb.ScanTime, query, pageArgs(p)...)
		if err != nil {
			return time.Time{}, e.fault(err, "reading the next due message")
		}
		if !due.IsZero() {
			return *due, nil
		}
	}
	return time.Time{}, nil
}

func (e *Engine) OpenSubscriptions(ctx context.Context, partition int64) ([]int64, error) {
	open, err := appdb.QueryAll(ctx, e.db, appdb.ScanInt, `SELECT s.ID FROM whd.SY_WebhookSubscription s WHERE EXISTS (
	SELECT 1 FROM whd.SY_WebhookMessage m
	WHERE m.PartitionID = @Partition AND m.SubscriptionID = s.ID AND m.NextAttemptDateTime IS NOT NULL) ORDER BY s.ID`,
		sql.Named("Partition", partition))
	return open, e.fault(err, "reading open messages")
}

// Succeeded takes a message as delivered even if a replay of it has failed.
func (e *Engine) Succeeded(ctx context.Context, subscription int64, since time.Time) (bool, error) {
	n, err := e.queryInt(ctx, "reading successful messages", `SELECT CASE WHEN EXISTS (SELECT 1 FROM whd.SY_WebhookMessage m
	WHERE m.SubscriptionID = @Subscription AND m.Status = 1 AND m.LastSavedDateTime > @Since AND m.HTTPCode < 300) THEN 1 ELSE 0 END`,
		sql.Named("Subscription", subscription), sql.Named("Since", appdb.Timestamp(since)))
	return n > 0, err
}

// backlogRows counts the open messages with a covering index, which contains open
// messages only, so that a long history costs nothing. The oldest message has the
// lowest ID.
const backlogRows = `SELECT g.SubscriptionID, g.Messages, g.Retries, m.AddedDateTime
FROM (SELECT PartitionID, SubscriptionID, COUNT(*) AS Messages, SUM(CASE WHEN Status = 2 THEN 1 ELSE 0 END) AS Retries, MIN(ID) AS FirstID
	FROM whd.SY_WebhookMessage WHERE NextAttemptDateTime IS NOT NULL GROUP BY PartitionID, SubscriptionID) g
JOIN whd.SY_WebhookSubscription s ON s.ID = g.SubscriptionID
LEFT JOIN whd.SY_WebhookMessage m ON m.ID = g.FirstID`

// Backlog does not block writers.
func (e *Engine) Backlog(ctx context.Context) ([]stats.Backlog, error) {
	parts, err := appdb.QueryAll(ctx, e.db, scanInto(backlogFields), backlogRows)
	if err != nil {
		return nil, e.fault(err, "counting open messages")
	}
	slices.SortFunc(parts, func(a, b stats.Backlog) int { return cmp.Compare(a.Subscription, b.Subscription) })
	var backlogs []stats.Backlog
	for _, p := range parts { // of different partitions
		p.NotSent -= p.RetryPending
		n := len(backlogs)
		if n > 0 && backlogs[n-1].Subscription == p.Subscription {
			backlogs[n-1].Add(p)
			continue
		}
		backlogs = append(backlogs, p)
	}
	return backlogs, nil
}

func backlogFields(b *stats.Backlog) []any {
	return []any{&b.Subscription, &b.NotSent, &b.RetryPending, (*appdb.Time)(&b.Oldest)}
}
