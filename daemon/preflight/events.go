package preflight

import (
	"context"
	"strings"

	"github.com/bizhook/whd/client/check"
	"github.com/bizhook/whd/client/record"
)

// checkEvents lists the subscriptions that receive another body, or nothing, because a
// record kind publishes an event that clients posted before.
func checkEvents(ctx context.Context, r *run) (all []check.Result) {
	if r.store == nil || !r.config.Webhooks.Enabled || r.store.AppDB.Ready(ctx) != nil {
		return result(check.Skipped, "")
	}
	posted, _ := r.config.Webhooks.PublishedEvents(record.Builtin())
	published, captured := r.config.Webhooks.PublishedEvents(r.config.ERP.Kinds.Registry())
	snapshot, err := r.store.Webhooks.Engine.Snapshot(ctx)
	if err != nil {
		return result(check.Failed, "%v", err)
	}
	for _, e := range posted {
		kind := captured[strings.ToLower(e.Name)]
		if kind == nil {
			continue
		}
		for _, sub := range snapshot.Match(e.Name) {
			effect := "receives the change of the record as its body"
			if sub.Owner.Name == "" {
				effect = "no longer receives it: the subscription was made with the SubscriberID only; change it as a user with the right to read the records"
			}
			all = append(all,
				result(check.Warning,
					"%s is published for changes of %s and no longer posted; subscription %s of %s, to %s, %s",
					e.Name, kind.Name, sub.GUID, sub.SubscriberInfo.Name, sub.Pattern, effect)...)
		}
	}
	if all == nil {
		return result(check.OK, "%d published, %d of them by changes of records", len(published), len(captured))
	}
	return limited(all)
}
