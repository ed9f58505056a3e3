// Package sqlstore keeps subscribers, subscriptions, events and messages in the
// tables of appdb: for the engine of deliveries and for administrators.
package sqlstore

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/sqlite"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// Store keeps subscribers, subscriptions and messages.
type Store struct {
	own    *appdb.DB
	writer batchWriter
}

// batchWriter writes what the engine collects.
type batchWriter interface {
	write(ctx context.Context, b *delivery.Batch) error
	// remove removes messages and tells which it has not come to.
	remove(ctx context.Context, all []deletion) (left []deletion, r delivery.Removed, err error)
	close() error
}

var _ delivery.Store = (*Store)(nil)

// fault is what those who asked may know of an error of our own tables, and what
// the engine has to.
func (w *Store) fault(err error, doing string) error {
	return w.own.Fault(engineError(err), doing)
}

// engineError adds the engine's name of an error to it.
func engineError(err error) error {
	switch {
	case errors.Is(err, appdb.ErrReplaced):
		return errors.Join(delivery.ErrFenced, err)
	case sqlite.IsDamaged(err):
		return errors.Join(delivery.ErrDamaged, err)
	}
	return err
}

// Open gives what is stored of webhooks in db, whose file is at a path
// unless it is on a server.
func Open(db *appdb.DB, path string) (*Store, error) {
	if db.IsServer() {
		return &Store{db, &serverWriter{db}}, nil
	}
	writer, err := openFileWriter(db, path)
	if err != nil {
		return nil, err
	}
	return &Store{db, writer}, nil
}

// Close ends the writing of batches. The database stays open.
func (w *Store) Close() error { return w.writer.close() }

// The numbers in WH_Number.
const (
	lastNumber          = `ID`
	subscriptionVersion = `SubscriptionVersion`
	defaultRetries      = `MaxRetries`
)

// Now is delivery.Store's.
func (w *Store) Now(ctx context.Context) (time.Time, error) {
	now, err := appdb.QueryOne(ctx, w.own, appdb.ScanTime, `SELECT `+w.own.Clock())
	if err != nil {
		return time.Time{}, w.fault(err, "reading the store's clock")
	}
	return *now, nil
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

// AllocateIDs is delivery.Store's.
func (w *Store) AllocateIDs(ctx context.Context, n int) (first int64, err error) {
	statement := fileNumbers
	if w.own.IsServer() {
		statement = serverNumbers
	}
	err = executor.Retry(ctx, executor.IsDeadlock, func(ctx context.Context) error {
		leave, err := w.own.Lock(ctx)
		if err != nil {
			return err
		}
		defer leave()
		first, err = w.own.QueryInt(ctx, statement, sql.Named("Count", n), sql.Named("Name", lastNumber))
		return err
	})
	return first, w.fault(err, "setting numbers aside")
}

// SetDefaultRetries notes how many retries messages have whose subscription has
// no schedule of its own. It is only shown.
func (w *Store) SetDefaultRetries(ctx context.Context, n int) error {
	_, err := w.own.Exec(ctx, `UPDATE whd.WH_Number SET Next = @Count WHERE Name = @Name AND Next <> @Count`,
		sql.Named("Count", n), sql.Named("Name", defaultRetries))
	return w.fault(err, "noting the number of retries")
}

// Version is delivery.Store's.
func (w *Store) Version(ctx context.Context) (int64, error) {
	n, err := appdb.QueryOne(ctx, w.own, appdb.ScanInt, `SELECT Next FROM whd.WH_Number WHERE Name = @Name`, sql.Named("Name", subscriptionVersion))
	if err != nil || n == nil {
		return 0, w.fault(err, "reading the version of the subscriptions")
	}
	return *n, nil
}

// raised is the first step of every transaction that changes subscriptions, so
// that these come one after another.
func raised() appdb.Step {
	return appdb.MustHit(`UPDATE whd.WH_Number SET Next = Next + 1 WHERE Name = @Name`, sql.Named("Name", subscriptionVersion))
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
func (w *Store) noted(which string, args ...any) []appdb.Step {
	args = append([]any{sql.Named("Name", subscriptionVersion)}, args...)
	return []appdb.Step{
		appdb.MustHit(`INSERT INTO whd.WH_Nudge (Number, SubscriptionID, Kind, Holder, AddedDateTime)
SELECT n.Next, COALESCE(c.ID, 0), @Kind, @Holder, `+w.own.Clock()+` FROM whd.WH_Number n
LEFT JOIN whd.SY_WebhookSubscription c ON c.ID IN (SELECT ID FROM whd.SY_WebhookSubscription`+which+`) WHERE n.Name = @Name`,
			append(args, sql.Named("Kind", changedKind), w.own.HolderArg())...),
		appdb.Statement(`DELETE FROM whd.WH_Nudge WHERE Kind = @Kind AND Number <= (SELECT n.Next - @Kept FROM whd.WH_Number n WHERE n.Name = @Name)
	AND Number >= (SELECT n.Next - 2 * @Kept FROM whd.WH_Number n WHERE n.Name = @Name)`,
			sql.Named("Kind", changedKind), sql.Named("Kept", changesKept), sql.Named("Name", subscriptionVersion)),
	}
}

// Changed is delivery.Store's. A version that no row speaks of was made by an
// older program, or its rows are gone.
func (w *Store) Changed(ctx context.Context, after, version int64) (changed map[int64]*webhook.Subscription, whole bool, err error) {
	versions := make(map[int64]bool)
	changed = make(map[int64]*webhook.Subscription)
	_, err = appdb.QueryAll(ctx, w.own, func(row appdb.Row) (_ struct{}, err error) {
		var version, id int64
		err = row.Scan(&version, &id)
		versions[version], changed[id] = true, nil
		return struct{}{}, err
	}, `SELECT n.Number, n.SubscriptionID FROM whd.WH_Nudge n WHERE n.Kind = @Kind AND n.Number > @After AND n.Number <= @Version`,
		sql.Named("Kind", changedKind), sql.Named("After", after), sql.Named("Version", version))
	if err != nil {
		return nil, false, w.fault(err, "looking for changed subscriptions")
	}
	where, args := ` WHERE s.ID IN `+w.own.InList(), []any{w.own.ListArg(slices.Collect(maps.Keys(changed)))}
	if whole = version <= after || int64(len(versions)) < version-after; whole {
		where, args = ``, nil
	}
	all, err := w.registrations(ctx, where, args...)
	for _, r := range all {
		changed[r.ID] = subscriptionOf(r)
	}
	return changed, whole, w.fault(err, "reading changed subscriptions")
}

// Snapshot is the subscriptions as an engine has them. The version is read first:
// a change that comes after it is in the snapshot already or makes it stale.
func (w *Store) Snapshot(ctx context.Context) (*webhook.Snapshot, error) {
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

// ticks is a duration in the unit that is stored.
func ticks(d time.Duration) int64 { return int64(d / 100) }

// newRowHash is a value that a row has not had before.
func newRowHash() []byte {
	b := make([]byte, 8)
	_, _ = rand.Read(b) // never fails
	return b
}
