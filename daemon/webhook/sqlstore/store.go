// Package sqlstore keeps subscribers, subscriptions, events and messages in the
// tables of appdb: for the engine of deliveries, for what it hears of other
// daemons, and for administrators.
package sqlstore

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/sqlite"
	"github.com/bizhook/whd/daemon/webhook/admin"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// Store is all that is kept of webhooks.
type Store struct {
	*Admin
	*Engine
	db *appdb.DB
}

var (
	_ admin.Store    = (*Admin)(nil)
	_ delivery.Store = (*Engine)(nil)
)

// Open gives what is stored of webhooks in db, whose file is at a path
// unless it is on a server.
func Open(db *appdb.DB, path string) (*Store, error) {
	t := tables{db}
	engine := &Engine{Peers: Peers{t}}
	if db.IsServer() {
		engine.writer = &serverWriter{db}
	} else {
		f := &fileWriter{db: db, path: path, wal: checkpointer{drain: db.Drain}}
		if err := f.open(); err != nil {
			return nil, err
		}
		engine.writer = f
	}
	return &Store{&Admin{t}, engine, db}, nil
}

// tables are our own tables, with what is done to them for several stores.
type tables struct{ db *appdb.DB }

// fault is what those who asked may know of an error of our own tables, and what
// the engine has to.
func (t tables) fault(err error, doing string) error { return t.db.Fault(engineError(err), doing) }

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

// missing is the failure where a thing was looked for that is not there.
func (t tables) missing(err error, thing string) error {
	if err != nil {
		return t.fault(err, "finding a "+thing)
	}
	return fault.New(fault.NotFound, "There is no such %s", thing)
}

// number is the one that a statement finds, or 0.
func (t tables) number(ctx context.Context, doing, statement string, args ...any) (int64, error) {
	n, err := appdb.QueryOne(ctx, t.db, appdb.ScanInt, statement, args...)
	if err != nil || n == nil {
		return 0, t.fault(err, doing)
	}
	return *n, nil
}

// into is a scan of rows into what fields point at.
func into[T any](fields func(*T) []any) func(appdb.Row) (T, error) {
	return func(row appdb.Row) (one T, err error) {
		err = row.Scan(fields(&one)...)
		return one, err
	}
}

// The numbers in WH_Number.
const (
	lastNumber          = `ID`
	subscriptionVersion = `SubscriptionVersion`
	defaultRetries      = `MaxRetries`
	lastPeerEvent       = `Nudge`
)

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
func (t tables) AllocateIDs(ctx context.Context, n int) (first int64, err error) {
	statement := fileNumbers
	if t.db.IsServer() {
		statement = serverNumbers
	}
	err = executor.Retry(ctx, executor.IsDeadlock, func(ctx context.Context) error {
		leave, err := t.db.Lock(ctx)
		if err != nil {
			return err
		}
		defer leave()
		first, err = t.db.QueryInt(ctx, statement, sql.Named("Count", n), sql.Named("Name", lastNumber))
		return err
	})
	return first, t.fault(err, "setting numbers aside")
}

// changedKind is the kind of the rows of WH_Nudge that say which subscriptions
// a transaction has changed. Their number is the version that it made. Where it
// has changed none, there is a row for subscription 0.
const changedKind = 4

// changesKept is for how many versions these rows are kept. A daemon that is
// further behind reads all subscriptions.
const changesKept = 1000

// raiseVersion is the first step of every transaction that changes subscriptions, so
// that these come one after another.
func raiseVersion() appdb.Step {
	return appdb.MustAffect(`UPDATE whd.WH_Number SET Next = Next + 1 WHERE Name = @Name`, sql.Named("Name", subscriptionVersion))
}

// changedSteps are the steps of a transaction that say which subscriptions it changes.
// They come before the removal of these, and after everything that adds them.
func (t tables) changedSteps(which string, args ...any) []appdb.Step {
	args = append([]any{sql.Named("Name", subscriptionVersion)}, args...)
	return []appdb.Step{
		appdb.MustAffect(`INSERT INTO whd.WH_Nudge (Number, SubscriptionID, Kind, Holder, AddedDateTime)
SELECT n.Next, COALESCE(c.ID, 0), @Kind, @Holder, `+t.db.Clock+` FROM whd.WH_Number n
LEFT JOIN whd.SY_WebhookSubscription c ON c.ID IN (SELECT ID FROM whd.SY_WebhookSubscription`+which+`) WHERE n.Name = @Name`,
			append(args, sql.Named("Kind", changedKind), t.db.HolderArg())...),
		appdb.Statement(`DELETE FROM whd.WH_Nudge WHERE Kind = @Kind AND Number <= (SELECT n.Next - @Kept FROM whd.WH_Number n WHERE n.Name = @Name)
	AND Number >= (SELECT n.Next - 2 * @Kept FROM whd.WH_Number n WHERE n.Name = @Name)`,
			sql.Named("Kind", changedKind), sql.Named("Kept", changesKept), sql.Named("Name", subscriptionVersion)),
	}
}

// peerEventSteps are the steps of a transaction that notify other daemons about
// messages of subscriptions. The first locks the number until the transaction ends: the
// numbers come in the order of the commits, so that a reader of one has not
// missed a lower one.
func (t tables) peerEventSteps(kind delivery.PeerEventKind, subscriptions ...int64) []appdb.Step {
	steps := []appdb.Step{appdb.Statement(`UPDATE whd.WH_Number SET Next = Next + 1 WHERE Name = @Name`, sql.Named("Name", lastPeerEvent))}
	for _, s := range subscriptions {
		steps = append(steps, appdb.Statement(`INSERT INTO whd.WH_Nudge (Number, SubscriptionID, Kind, Holder, AddedDateTime)
SELECT n.Next, @Subscription, @Kind, @Holder, `+t.db.Clock+` FROM whd.WH_Number n WHERE n.Name = @Name`,
			sql.Named("Subscription", s), sql.Named("Kind", int64(kind)), t.db.HolderArg(), sql.Named("Name", lastPeerEvent)))
	}
	return steps
}

// ticks is a duration in the unit that is stored.
func ticks(d time.Duration) int64 { return int64(d / 100) }

// newRowHash is a value that a row has not had before.
func newRowHash() []byte {
	b := make([]byte, 8)
	_, _ = rand.Read(b) // never fails
	return b
}
