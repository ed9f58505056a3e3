package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// Webhooks keeps subscribers, subscriptions and messages.
type Webhooks struct {
	own    *ownDB
	writer batchWriter
}

// batchWriter writes what the engine collects.
type batchWriter interface {
	write(ctx context.Context, b *delivery.Batch) error
	// remove removes messages and tells which it has not come to.
	remove(ctx context.Context, all []condemned) (left []condemned, r delivery.Removed, err error)
	close() error
}

var _ delivery.Store = (*Webhooks)(nil)

// Webhooks are the stored subscriptions and their messages.
func (s *Store) Webhooks() *Webhooks { return &Webhooks{s.own, s.batches} }

// The numbers in WH_Number.
const (
	lastNumber          = `ID`
	subscriptionVersion = `SubscriptionVersion`
	defaultRetries      = `MaxRetries`
)

// Now is webhook.Store's.
func (w *Webhooks) Now(ctx context.Context) (time.Time, error) {
	now, err := found(ctx, w.own, scanMoment, `SELECT `+w.own.clock())
	if err != nil {
		return time.Time{}, w.own.fault(err, "reading the store's clock")
	}
	return *now, nil
}

// clock is the expression for the store's time: a server's own, so that all
// daemons have the same, or the host's.
func (o *ownDB) clock() string {
	if o.schema != "" {
		return `SYSUTCDATETIME()`
	}
	return `strftime('%Y-%m-%dT%H:%M:%f0000', 'now')`
}

// clockAfter is the expression for the time after @Term, in milliseconds.
func (o *ownDB) clockAfter() string {
	if o.schema != "" {
		return `DATEADD(millisecond, @Term, SYSUTCDATETIME())`
	}
	return `strftime('%Y-%m-%dT%H:%M:%f0000', 'now', (@Term / 1000.0) || ' seconds')`
}

// first ends a statement with ORDER BY, of whose rows it gives @Limit.
func (o *ownDB) first() string {
	if o.schema != "" {
		return ` OFFSET 0 ROWS FETCH NEXT @Limit ROWS ONLY`
	}
	return ` LIMIT @Limit`
}

const (
	fileNumbers = `UPDATE whd.WH_Number SET Next = Next + @Count WHERE Name = @Name RETURNING Next - @Count`
	// Not by OUTPUT, by which Babelfish gives two who come at once the same.
	serverNumbers = `SET XACT_ABORT ON;
BEGIN TRANSACTION;
UPDATE whd.WH_Number SET Next = Next + @Count WHERE Name = @Name;
SELECT Next - @Count FROM whd.WH_Number WHERE Name = @Name;
COMMIT TRANSACTION;`
)

// Numbers is webhook.Store's.
func (w *Webhooks) Numbers(ctx context.Context, n int) (first int64, err error) {
	statement := fileNumbers
	if w.own.schema != "" {
		statement = serverNumbers
	}
	err = executor.Retry(ctx, executor.IsDeadlock, func(ctx context.Context) error {
		leave, err := w.own.enter(ctx)
		if err != nil {
			return err
		}
		defer leave()
		first, err = w.own.answer(ctx, statement, sql.Named("Count", n), sql.Named("Name", lastNumber))
		return err
	})
	return first, w.own.fault(err, "setting numbers aside")
}

// answer runs a statement that changes something and gives one number. It reads
// to the end: that is where a transaction is committed.
func (o *ownDB) answer(ctx context.Context, statement string, args ...any) (n int64, err error) {
	rows, err := o.pool.QueryContext(ctx, o.text(statement), args...)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(&n); err != nil {
			return 0, err
		}
	}
	return n, rows.Err()
}

// SetDefaultRetries notes how many retries messages have whose subscription has
// no schedule of its own. It is only shown.
func (w *Webhooks) SetDefaultRetries(ctx context.Context, n int) error {
	_, err := w.own.exec(ctx, `UPDATE whd.WH_Number SET Next = @Count WHERE Name = @Name AND Next <> @Count`,
		sql.Named("Count", n), sql.Named("Name", defaultRetries))
	return w.own.fault(err, "noting the number of retries")
}

// Version is webhook.Store's.
func (w *Webhooks) Version(ctx context.Context) (int64, error) {
	n, err := found(ctx, w.own, scanInt, `SELECT Next FROM whd.WH_Number WHERE Name = @Name`, sql.Named("Name", subscriptionVersion))
	if err != nil || n == nil {
		return 0, w.own.fault(err, "reading the version of the subscriptions")
	}
	return *n, nil
}

// raised is the first step of every transaction that changes subscriptions, so
// that these come one after another.
func raised() step {
	return step{`UPDATE whd.WH_Number SET Next = Next + 1 WHERE Name = @Name`, []any{sql.Named("Name", subscriptionVersion)}, true}
}

// changedKind is the kind of the rows of WH_Nudge that say which subscriptions
// a transaction has changed. Their number is the version that it made. Where it
// has changed none, there is a row for subscription 0.
const changedKind = 4

// changesKept is for how many versions these rows are kept. A daemon that is
// further behind reads all subscriptions.
const changesKept = 1000

// noted are the steps of a transaction that say which subscriptions it changes.
// They come before the removal of these, and after everything that adds them.
func (w *Webhooks) noted(which string, args ...any) []step {
	args = append([]any{sql.Named("Name", subscriptionVersion)}, args...)
	return []step{
		{`INSERT INTO whd.WH_Nudge (Number, SubscriptionID, Kind, Holder, AddedDateTime)
SELECT n.Next, COALESCE(c.ID, 0), @Kind, @Holder, ` + w.own.clock() + ` FROM whd.WH_Number n
LEFT JOIN whd.SY_WebhookSubscription c ON c.ID IN (SELECT ID FROM whd.SY_WebhookSubscription` + which + `) WHERE n.Name = @Name`,
			append(args, sql.Named("Kind", changedKind), w.own.holderArg()), true},
		{`DELETE FROM whd.WH_Nudge WHERE Kind = @Kind AND Number <= (SELECT n.Next - @Kept FROM whd.WH_Number n WHERE n.Name = @Name)
	AND Number >= (SELECT n.Next - 2 * @Kept FROM whd.WH_Number n WHERE n.Name = @Name)`,
			[]any{sql.Named("Kind", changedKind), sql.Named("Kept", changesKept), sql.Named("Name", subscriptionVersion)}, false},
	}
}

// Changed is webhook.Store's. A version that no row speaks of was made by an
// older program, or its rows are gone.
func (w *Webhooks) Changed(ctx context.Context, after, version int64) (changed map[int64]*webhook.Subscription, whole bool, err error) {
	versions := make(map[int64]bool)
	changed = make(map[int64]*webhook.Subscription)
	_, err = list(ctx, w.own, func(row scanner) (_ struct{}, err error) {
		var version, id int64
		err = row.Scan(&version, &id)
		versions[version], changed[id] = true, nil
		return struct{}{}, err
	}, `SELECT n.Number, n.SubscriptionID FROM whd.WH_Nudge n WHERE n.Kind = @Kind AND n.Number > @After AND n.Number <= @Version`,
		sql.Named("Kind", changedKind), sql.Named("After", after), sql.Named("Version", version))
	if err != nil {
		return nil, false, w.own.fault(err, "looking for changed subscriptions")
	}
	where, args := ` WHERE s.ID IN `+w.own.listed(), []any{w.own.listArg(slices.Collect(maps.Keys(changed)))}
	if whole = version <= after || int64(len(versions)) < version-after; whole {
		where, args = ``, nil
	}
	all, err := w.registrations(ctx, where, args...)
	for _, r := range all {
		changed[r.ID] = subscriptionOf(r)
	}
	return changed, whole, w.own.fault(err, "reading changed subscriptions")
}

// Snapshot is the subscriptions as an engine has them. The version is read first:
// a change that comes after it is in the snapshot already or makes it stale.
func (w *Webhooks) Snapshot(ctx context.Context) (*webhook.Snapshot, error) {
	version, err := w.Version(ctx)
	if err != nil {
		return nil, err
	}
	changed, _, err := w.Changed(ctx, version, version)
	return webhook.NewSnapshot(version, changed), err
}

// subscriptionOf is what the engine knows of a subscription.
func subscriptionOf(r admin.Subscription) *webhook.Subscription {
	secrets := []string{r.Secret}
	if r.OldSecret != "" {
		secrets = append(secrets, r.OldSecret)
	}
	reason := r.DisabledReason
	if reason == "" && r.Enabled && !r.SubscriberOn {
		reason = "its subscriber is disabled"
	}
	return &webhook.Subscription{
		ID: r.ID, GUID: r.GUID, Subscriber: r.Subscriber, SubscriberName: r.SubscriberName, Pattern: r.Pattern, URL: r.URL, Headers: r.Headers, Secrets: secrets, OldUntil: r.OldSecretUntil,
		Enabled: r.Enabled && r.SubscriberOn, DisabledReason: reason, Ordered: r.Ordered, Private: r.Private, Schedule: r.Schedule, FailingSince: r.FailingSince,
	}
}

func scanMoment(row scanner) (t time.Time, err error) {
	err = row.Scan((*moment)(&t))
	return t, err
}

// ticks is a duration in the unit that is stored.
func ticks(d time.Duration) int64 { return int64(d / 100) }

// nullableStamp is a time that may be absent.
func nullableStamp(t time.Time) sql.NullString {
	if t.IsZero() {
		return sql.NullString{}
	}
	return sql.NullString{String: t.UTC().Format(wire.DateLayout), Valid: true}
}

// newGUID makes a random GUID, the form that ids of records have. Nobody can
// guess one.
func newGUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	text := hex.EncodeToString(b[:])
	return strings.Join([]string{text[:8], text[8:12], text[12:16], text[16:20], text[20:]}, "-")
}

// newRowHash is a value that a row has not had before.
func newRowHash() []byte {
	b := make([]byte, 8)
	_, _ = rand.Read(b) // never fails
	return b
}
