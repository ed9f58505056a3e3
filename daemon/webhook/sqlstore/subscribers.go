package sqlstore

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/webhook/admin"
)

// Subscriber finds a subscriber with its subscriptions.
func (w *Store) Subscriber(ctx context.Context, guid string) (admin.Subscriber, error) {
	all, err := w.subscribers(ctx, ` WHERE b.RecID = @Subscriber`, sql.Named("Subscriber", guid))
	if err != nil || len(all) == 0 {
		return admin.Subscriber{}, w.missing(err, "subscriber")
	}
	return all[0], nil
}

// HasSubscriber is NotFound where there is no such subscriber.
func (w *Store) HasSubscriber(ctx context.Context, guid string) error {
	id, err := appdb.QueryOne(ctx, w.own, appdb.ScanInt, `SELECT ID FROM whd.SY_WebhookSubscriber WHERE RecID = @Subscriber`, sql.Named("Subscriber", guid))
	if err != nil || id == nil {
		return w.missing(err, "subscriber")
	}
	return nil
}

// Subscribers lists the subscribers with their subscriptions.
func (w *Store) Subscribers(ctx context.Context) ([]admin.Subscriber, error) {
	all, err := w.subscribers(ctx, ``)
	return all, w.fault(err, "listing subscribers")
}

const subscriberColumns = `b.RecID, b.Name, b.IsEnabled, b.ItemNo, b.LastSavedDateTime, b.RowHash`

func (w *Store) subscribers(ctx context.Context, condition string, args ...any) ([]admin.Subscriber, error) {
	all, err := appdb.QueryAll(ctx, w.own, scanSubscriber, `SELECT `+subscriberColumns+`
FROM whd.SY_WebhookSubscriber b`+condition+` ORDER BY b.ItemNo`, args...)
	if err != nil {
		return nil, err
	}
	registrations, err := w.registrations(ctx, condition, args...)
	if err != nil {
		return nil, err
	}
	places := make(map[string]int, len(all))
	for i, s := range all {
		places[s.GUID] = i
	}
	for _, r := range registrations {
		if i, is := places[r.Subscriber]; is {
			all[i].Subscriptions = append(all[i].Subscriptions, r)
		}
	}
	return all, nil
}

func scanSubscriber(row appdb.Row) (s admin.Subscriber, err error) {
	err = row.Scan(&s.GUID, &s.Name, &s.Enabled, &s.ItemNo, (*appdb.Time)(&s.SavedAt), &s.RowHash)
	return s, err
}

// missing is the failure where a thing was looked for that is not there.
func (w *Store) missing(err error, thing string) error {
	if err != nil {
		return w.fault(err, "finding a "+thing)
	}
	return fault.New(fault.NotFound, "There is no such %s", thing)
}

// AddSubscriber adds a subscriber, whose GUID, number and row hash are new.
func (w *Store) AddSubscriber(ctx context.Context, s admin.Subscriber, e audit.Entry) (admin.Subscriber, error) {
	id, err := w.AllocateIDs(ctx, 1)
	if err != nil {
		return admin.Subscriber{}, err
	}
	guid := appdb.NewGUID()
	_, err = w.own.Run(ctx, append(append([]appdb.Step{raised()}, w.noted(` WHERE 1 = 0`)...), appdb.MustHit(`INSERT INTO whd.SY_WebhookSubscriber (ID, RecID, Name, IsEnabled, ItemNo, LastSavedDateTime, RowHash)
SELECT @ID, @RecID, @Name, @IsEnabled, COALESCE(MAX(b.ItemNo), 0) + 1, @Saved, @RowHash FROM whd.SY_WebhookSubscriber b`,
		sql.Named("ID", id), sql.Named("RecID", guid), sql.Named("Name", s.Name), sql.Named("IsEnabled", s.Enabled),
		sql.Named("Saved", appdb.Stamp(e.At)), sql.Named("RowHash", newRowHash()),
	), appdb.AuditStep(e))...)
	if err != nil {
		return admin.Subscriber{}, w.fault(err, "adding a subscriber")
	}
	return w.Subscriber(ctx, guid)
}

// ofSubscriber picks all subscriptions of a subscriber.
const ofSubscriber = ` WHERE SubscriberID IN (SELECT b.ID FROM whd.SY_WebhookSubscriber b WHERE b.RecID = @Subscriber)`

// ChangeSubscriber changes a subscriber. It fails with a Conflict where the row
// hash that the change is based on is not the present one.
func (w *Store) ChangeSubscriber(ctx context.Context, guid string, c admin.SubscriberChange, e audit.Entry) (admin.Subscriber, error) {
	var u changes
	u.text("Name", c.Name)
	u.bool("IsEnabled", c.Enabled)
	at := []any{sql.Named("Subscriber", guid)}
	steps := []appdb.Step{raised(), u.step("whd.SY_WebhookSubscriber", ` WHERE RecID = @Subscriber`, at, e.At, c.RowHash)}
	steps = append(steps, w.noted(ofSubscriber, at...)...)
	if c.Enabled != nil { // what failed before does not count against it
		steps = append(steps, appdb.Statement(`UPDATE whd.SY_WebhookSubscription SET FailingSince = NULL`+ofSubscriber, at...))
	}
	hit, err := w.own.Run(ctx, append(steps, appdb.AuditStep(e))...)
	if err != nil {
		return admin.Subscriber{}, w.fault(err, "changing a subscriber")
	}
	now, err := w.Subscriber(ctx, guid)
	if err == nil && !hit {
		err = stale("subscriber")
	}
	return now, err
}

func stale(thing string) error {
	return &fault.Error{Kind: fault.Conflict, Message: "The " + thing + " has been changed since it was read",
		Fields: []fault.Field{{Name: "RowHash", Message: "is not the present one"}}}
}

// RemoveSubscriber removes a subscriber with all that belongs to it, and
// reports whether it was there. Messages are removed by Sweep.
func (w *Store) RemoveSubscriber(ctx context.Context, guid string, e audit.Entry) (bool, error) {
	steps := append(w.removal(ofSubscriber, e.At, sql.Named("Subscriber", guid)),
		appdb.MustHit(`DELETE FROM whd.SY_WebhookSubscriber WHERE RecID = @Subscriber`, sql.Named("Subscriber", guid)), appdb.AuditStep(e))
	removed, err := w.own.Run(ctx, steps...)
	return removed, w.fault(err, "removing a subscriber")
}

// changes collects what an UPDATE sets.
type changes struct {
	sets []string
	args []any
}

func (u *changes) set(column string, value any) {
	u.sets = append(u.sets, column+" = @"+column)
	u.args = append(u.args, sql.Named(column, value))
}

func (u *changes) text(column string, value *string) {
	if value != nil {
		u.set(column, *value)
	}
}

func (u *changes) bool(column string, value *bool) {
	if value != nil {
		u.set(column, *value)
	}
}

// step is the UPDATE, which must hit a row, with a new row hash. It hits none
// whose row hash is not the one that the change is based on.
func (u *changes) step(table, where string, at []any, now time.Time, based []byte) appdb.Step {
	u.set("LastSavedDateTime", appdb.Stamp(now))
	u.set("RowHash", newRowHash())
	if based != nil {
		where += ` AND RowHash = @Based`
		at = append(at, sql.Named("Based", based))
	}
	return appdb.MustHit(`UPDATE `+table+` SET `+strings.Join(u.sets, ", ")+where, append(u.args, at...)...)
}
