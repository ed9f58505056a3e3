package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"strings"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/webhook"
)

// Webhooks keeps subscribers, subscriptions and messages.
type Webhooks struct {
	own    *ownDB
	writer batchWriter
}

// batchWriter writes what the engine collects.
type batchWriter interface {
	write(ctx context.Context, b *webhook.Batch) error
	// remove removes messages and tells which it has not come to.
	remove(ctx context.Context, all []condemned) (left []condemned, r webhook.Removed, err error)
	close() error
}

var _ webhook.Store = (*Webhooks)(nil)

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
	err = w.own.again(ctx, deadlock, func(ctx context.Context) error {
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

// Snapshot is webhook.Store's. The version is read first: a change that comes
// after it is in the snapshot already or makes it stale.
func (w *Webhooks) Snapshot(ctx context.Context) (*webhook.Snapshot, error) {
	version, err := w.Version(ctx)
	if err != nil {
		return nil, err
	}
	all, err := w.registrations(ctx, ``)
	if err != nil {
		return nil, w.own.fault(err, "reading the subscriptions")
	}
	owners, err := list(ctx, w.own, scanSubscriber, `SELECT `+subscriberColumns+` FROM whd.SY_WebhookSubscriber b`)
	if err != nil {
		return nil, w.own.fault(err, "reading the subscribers")
	}
	of := make(map[string]webhook.Subscriber, len(owners))
	for _, s := range owners {
		of[s.GUID] = s
	}
	subs := make([]*webhook.Subscription, len(all))
	for i, r := range all {
		subs[i] = subscriptionOf(r, of[r.Subscriber])
	}
	return webhook.NewSnapshot(version, subs), nil
}

// subscriptionOf is what the engine knows of a subscription.
func subscriptionOf(r webhook.Registration, s webhook.Subscriber) *webhook.Subscription {
	secrets := []string{r.Secret}
	if r.OldSecret != "" {
		secrets = append(secrets, r.OldSecret)
	}
	reason := r.DisabledReason
	if reason == "" && r.Enabled && !s.Enabled {
		reason = "its subscriber is disabled"
	}
	return &webhook.Subscription{
		ID: r.ID, GUID: r.GUID, Subscriber: r.Subscriber, SubscriberName: s.Name, Pattern: r.Pattern, URL: r.URL, Headers: r.Headers, Secrets: secrets, OldUntil: r.OldSecretUntil,
		Enabled: r.Enabled && s.Enabled, DisabledReason: reason, Ordered: r.Ordered, Private: r.Private, Schedule: r.Schedule, FailingSince: r.FailingSince,
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
