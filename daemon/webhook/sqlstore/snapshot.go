package sqlstore

import (
	"context"
	"database/sql"
	"maps"
	"slices"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/webhook"
)

func (e *Engine) Version(ctx context.Context) (int64, error) {
	return e.queryInt(ctx, "reading the version of the subscriptions",
		`SELECT Next FROM whd.WH_Number WHERE Name = @Name`, sql.Named("Name", subscriptionVersion))
}

// subscriptionChange records that a version has changed a subscription.
type subscriptionChange struct{ version, id int64 }

func subscriptionChangeFields(c *subscriptionChange) []any { return []any{&c.version, &c.id} }

const subscriptionChanges = `SELECT n.Number, n.SubscriptionID FROM whd.WH_Nudge n
WHERE n.Kind = @Kind AND n.Number > @After AND n.Number <= @Version`

// ChangedSubscriptions reads all subscriptions if a version has no rows: it was made by an older
// program, or its rows were pruned.
func (e *Engine) ChangedSubscriptions(ctx context.Context, after, version int64) (map[int64]*webhook.Subscription, bool, error) {
	changes, err := appdb.QueryAll(ctx, e.db, scanInto(subscriptionChangeFields), subscriptionChanges,
		sql.Named("Kind", changedKind), sql.Named("After", after), sql.Named("Version", version))
	if err != nil {
		return nil, false, e.fault(err, "reading changed subscriptions")
	}

	// A changed subscription that is not found below was deleted: it stays nil.
	changed := make(map[int64]*webhook.Subscription)
	versions := make(map[int64]bool)
	for _, c := range changes {
		versions[c.version] = true
		changed[c.id] = nil
	}

	where := ` WHERE s.ID IN ` + e.db.InList
	args := []any{e.db.ListArg(slices.Collect(maps.Keys(changed)))}
	whole := version <= after || int64(len(versions)) < version-after
	if whole {
		where = ``
		args = nil
	}
	subscriptions, err := e.subscriptions(ctx, where+` ORDER BY s.ID`, args...)
	if err != nil {
		return nil, false, e.fault(err, "reading changed subscriptions")
	}
	for _, s := range subscriptions {
		changed[s.ID] = &s
	}
	return changed, whole, nil
}

// Snapshot returns all subscriptions. The version is read first: a later change
// either is in the snapshot already or makes it stale.
func (e *Engine) Snapshot(ctx context.Context) (*webhook.Snapshot, error) {
	version, err := e.Version(ctx)
	if err != nil {
		return nil, err
	}
	subscriptions, _, err := e.ChangedSubscriptions(ctx, version, version)
	if err != nil {
		return nil, err
	}
	return webhook.NewSnapshot(version, subscriptions), nil
}
