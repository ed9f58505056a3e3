package sqlstore

import (
	"context"
	"database/sql"
	"maps"
	"slices"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/webhook"
)

// Version implements delivery.Store.
func (e *Engine) Version(ctx context.Context) (int64, error) {
	return e.queryInt(ctx, "reading the version of the subscriptions", `SELECT Next FROM whd.WH_Number WHERE Name = @Name`, sql.Named("Name", subscriptionVersion))
}

// ChangedSubscriptions implements delivery.Store. A version without rows was made by an older
// program, or its rows were pruned; then all subscriptions are read.
func (e *Engine) ChangedSubscriptions(ctx context.Context, after, version int64) (changed map[int64]*webhook.Subscription, complete bool, err error) {
	type change struct{ version, id int64 }
	changes, err := appdb.QueryAll(ctx, e.db, scanInto(func(c *change) []any { return []any{&c.version, &c.id} }),
		`SELECT n.Number, n.SubscriptionID FROM whd.WH_Nudge n WHERE n.Kind = @Kind AND n.Number > @After AND n.Number <= @Version`,
		sql.Named("Kind", changedKind), sql.Named("After", after), sql.Named("Version", version))
	if err != nil {
		return nil, false, e.fault(err, "reading changed subscriptions")
	}
	versions := make(map[int64]bool)
	changed = make(map[int64]*webhook.Subscription)
	for _, c := range changes {
		versions[c.version], changed[c.id] = true, nil
	}
	where, args := ` WHERE s.ID IN `+e.db.InList, []any{e.db.ListArg(slices.Collect(maps.Keys(changed)))}
	if complete = version <= after || int64(len(versions)) < version-after; complete {
		where, args = ``, nil
	}
	all, err := e.subscriptions(ctx, where+` ORDER BY s.ID`, args...)
	for _, s := range all {
		changed[s.ID] = &s
	}
	return changed, complete, e.fault(err, "reading changed subscriptions")
}

// Snapshot returns all subscriptions. The version is read first: a later change
// either is in the snapshot already or makes it stale.
func (e *Engine) Snapshot(ctx context.Context) (*webhook.Snapshot, error) {
	version, err := e.Version(ctx)
	if err != nil {
		return nil, err
	}
	changed, _, err := e.ChangedSubscriptions(ctx, version, version)
	return webhook.NewSnapshot(version, changed), err
}
