package sqlstore

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/sqlite"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// tables are the service's tables, with the operations that several stores share.
type tables struct{ db *appdb.DB }

// fault wraps an error of the tables for clients and for the engine.
func (t tables) fault(err error, doing string) error { return t.db.Fault(engineError(err), doing) }

// engineError adds the corresponding error of package delivery.
func engineError(err error) error {
	if errors.Is(err, appdb.ErrReplaced) || errors.Is(err, appdb.ErrUnsynced) {
		return errors.Join(delivery.ErrFenced, err)
	}
	if sqlite.IsDamaged(err) {
		return errors.Join(delivery.ErrDamaged, err)
	}
	return err
}

// now returns the time of the store's clock.
func (t tables) now(ctx context.Context) (time.Time, error) {
	now, err := appdb.QueryOne(ctx, t.db, appdb.ScanTime, `SELECT `+t.db.Clock)
	if err != nil {
		return time.Time{}, t.fault(err, "reading the store's clock")
	}
	return *now, nil
}

// queryInt returns the number that a statement selects, or 0 if it selects no row.
func (t tables) queryInt(ctx context.Context, doing, statement string, args ...any) (int64, error) {
	n, err := appdb.QueryOne(ctx, t.db, appdb.ScanInt, statement, args...)
	if err != nil || n == nil {
		return 0, t.fault(err, doing)
	}
	return *n, nil
}

// scanInto returns a function that scans a row into the destinations that fields
// returns.
func scanInto[T any](fields func(*T) []any) func(appdb.Row) (T, error) {
	return func(row appdb.Row) (T, error) {
		var v T
		err := row.Scan(fields(&v)...)
		return v, err
	}
}

// Names of the counters in WH_Number.
const (
	lastID              = `ID`
	subscriptionVersion = `SubscriptionVersion`
	defaultRetries      = `MaxRetries`
	lastPeerEvent       = `Nudge`
)

const (
	allocateInFile = `UPDATE whd.WH_Number SET Next = Next + @Count WHERE Name = @Name RETURNING Next - @Count`
	// Not with OUTPUT: with it, Babelfish returns the same number to concurrent
	// callers.
	allocateOnServer = `SET XACT_ABORT ON;
BEGIN TRANSACTION;
UPDATE whd.WH_Number SET Next = Next + @Count WHERE Name = @Name;
SELECT Next - @Count FROM whd.WH_Number WHERE Name = @Name;
COMMIT TRANSACTION;`
)

// allocateIDs reserves n IDs and returns the first.
func (t tables) allocateIDs(ctx context.Context, n int) (int64, error) {
	statement := allocateInFile
	if t.db.IsServer() {
		statement = allocateOnServer
	}
	var first int64
	err := executor.Retry(ctx, executor.IsDeadlock, func(ctx context.Context) error {
		unlock, err := t.db.Lock(ctx)
		if err != nil {
			return err
		}
		defer unlock()
		first, err = t.db.QueryInt(ctx, statement, sql.Named("Count", n), sql.Named("Name", lastID))
		return err
	})
	return first, t.fault(err, "allocating IDs")
}

// changedKind is the kind of the rows of WH_Nudge that list the subscriptions a
// transaction changed. Their number is the version that the transaction created. A
// transaction that changed none adds a row for subscription 0.
const changedKind = 4

// maxChangedVersions is for how many versions these rows are retained. A daemon
// that is further behind reads all subscriptions.
const maxChangedVersions = 1000

// increment increments a counter. Incrementing subscriptionVersion is the first step of
// every transaction that changes subscriptions, and serializes them.
func increment(counter string) appdb.Step {
	return appdb.MustAffect(`UPDATE whd.WH_Number SET Next = Next + 1 WHERE Name = @Name`, sql.Named("Name", counter))
}

// newID is the ID that increment(lastID) allocates in the same transaction.
const newID = `(SELECT n.Next - 1 FROM whd.WH_Number n WHERE n.Name = '` + lastID + `')`

// changedSteps returns the steps that list the subscriptions a transaction changes.
// They must precede steps that remove these subscriptions, and follow steps that
// add them.
func (t tables) changedSteps(which string, args ...any) []appdb.Step {
	args = append([]any{sql.Named("Name", subscriptionVersion)}, args...)
	return []appdb.Step{
		appdb.MustAffect(`INSERT INTO whd.WH_Nudge (Number, SubscriptionID, Kind, Holder, AddedDateTime)
SELECT n.Next, COALESCE(c.ID, 0), @Kind, @Holder, `+t.db.Clock+` FROM whd.WH_Number n
LEFT JOIN whd.SY_WebhookSubscription c ON c.ID IN (SELECT ID FROM whd.SY_WebhookSubscription`+which+`) WHERE n.Name = @Name`,
			append(args, sql.Named("Kind", changedKind), t.db.HolderArg())...),
		appdb.Statement(`DELETE FROM whd.WH_Nudge WHERE Kind = @Kind AND Number <= (SELECT n.Next - @Kept FROM whd.WH_Number n WHERE n.Name = @Name)
	AND Number >= (SELECT n.Next - 2 * @Kept FROM whd.WH_Number n WHERE n.Name = @Name)`,
			sql.Named("Kind", changedKind), sql.Named("Kept", maxChangedVersions), sql.Named("Name", subscriptionVersion)),
	}
}

// tick is the unit of stored durations.
const tick = 100 * time.Nanosecond

// ticks returns a duration as it is stored.
func ticks(d time.Duration) int64 { return int64(d / tick) }

// fromTicks reverses ticks.
func fromTicks(stored int64) time.Duration { return time.Duration(stored) * tick }

// newRowHash returns a random row hash.
func newRowHash() []byte {
	b := make([]byte, 8)
	_, _ = rand.Read(b) // never fails
	return b
}
