package preflight

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/check"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/webhook"
)

// checkEvents lists the subscriptions that receive another body, or nothing, because a
// record kind publishes an event that clients posted before.
func checkEvents(ctx context.Context, r *run) []check.Result {
	if r.store == nil || !r.config.Webhooks.Enabled || r.store.AppDB.Ready(ctx) != nil {
		return result(check.Skipped, "")
	}
	posted, _ := r.config.Webhooks.PublishedEvents(record.Builtin())
	published, captured := r.config.Webhooks.PublishedEvents(r.config.ERP.Kinds.Registry())
	snapshot, err := r.store.Webhooks.Engine.Snapshot(ctx)
	if err != nil {
		return result(check.Failed, "%v", err)
	}
	var warnings []check.Result
	for _, e := range posted {
		kind := captured[strings.ToLower(e.Name)]
		if kind == nil {
			continue
		}
		for _, sub := range snapshot.Match(e.Name) {
			warnings = append(warnings, noLongerPosted(e.Name, kind, sub)...)
		}
	}
	warnings = append(warnings, unpublished(snapshot, append(published, record.ServiceEvents()...))...)
	if warnings == nil {
		return result(check.OK, "%d events can be published, %d of them by changes of records",
			len(published), len(captured))
	}
	return limited(warnings)
}

// noLongerPosted returns the warning for a subscription to an event that changes of a kind
// publish now.
func noLongerPosted(event string, kind *record.Kind, sub *webhook.Subscription) []check.Result {
	effect := "receives the change of the record as its body"
	if sub.Owner.Name == "" {
		effect = "no longer receives it: the subscription was made with the SubscriberID only;" +
			" change it as a user with the right to read the records"
	}
	return result(check.Warning,
		"%s is published for changes of %s and no longer posted; subscription %s of %s, to %s, %s",
		event, kind.Name, sub.GUID, sub.SubscriberInfo.Name, sub.Pattern, effect)
}

// unpublished returns a warning for each subscription to events that are not published any more,
// for example because a backup was restored without the files of record kinds.
func unpublished(snapshot *webhook.Snapshot, published []record.Event) (warnings []check.Result) {
	byID := func(a, b *webhook.Subscription) int { return cmp.Compare(a.ID, b.ID) }
	for _, sub := range slices.SortedFunc(snapshot.Subscriptions, byID) {
		_, isPublished := record.EventPattern(published, sub.Pattern)
		if isPublished {
			continue
		}
		warnings = append(warnings, result(check.Warning, "subscription %s of %s, to %s, receives nothing: "+
			"no record kind publishes it, and it cannot be posted; "+
			"name the files of record kinds in erp.kinds, or the event in webhooks.events",
			sub.GUID, sub.SubscriberInfo.Name, sub.Pattern)...)
	}
	return warnings
}
