package sqlstore

import (
	"context"
	"database/sql"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
)

// Portal is the storage for the sessions of subscribers on their pages.
type Portal struct{ tables }

// enabledVisitor selects webhook.Visitors, with the columns of visitorFields. Subscribers that are
// disabled are not found.
const enabledVisitor = `SELECT b.RecID, b.Name FROM whd.SY_WebhookSubscriber b WHERE b.IsEnabled = 1`

// visitorFields returns the fields that the columns of enabledVisitor are read into, in their order.
func visitorFields(v *webhook.Visitor) []any { return []any{&v.Subscriber, &v.Name} }

// EnabledSubscriber returns the subscriber with an ID, or NotFound if it is disabled.
func (p *Portal) EnabledSubscriber(ctx context.Context, guid string) (webhook.Visitor, error) {
	return p.visitor(ctx, enabledVisitor+` AND b.RecID = @Subscriber`, sql.Named("Subscriber", guid))
}

// Visitor returns the subscriber of a session, or NotFound if the session has ended.
func (p *Portal) Visitor(ctx context.Context, hash string, now time.Time) (webhook.Visitor, error) {
	const statement = enabledVisitor + ` AND b.ID = (SELECT p.SubscriberID FROM whd.WH_PortalSession p
WHERE p.SessionHash = @SessionHash AND p.ExpiryDateTime > @Now)`
	return p.visitor(ctx, statement,
		sql.Named("SessionHash", hash),
		sql.Named("Now", appdb.Timestamp(now)))
}

func (p *Portal) visitor(ctx context.Context, statement string, args ...any) (webhook.Visitor, error) {
	v, err := appdb.QueryOne(ctx, p.db, scanInto(visitorFields), statement, args...)
	if err != nil {
		return webhook.Visitor{}, p.fault(err, "finding a subscriber")
	}
	if v == nil {
		return webhook.Visitor{}, webhook.NoVisitor()
	}
	return *v, nil
}

// AddPortalSession adds a session of a subscriber, or fails with NotFound if it is disabled. It
// locks the subscriber first: a concurrent change that disables it either ends this session too, or
// is already visible. A concurrent removal may leave the session until it expires; Visitor does not
// find it without its subscriber. Expired sessions are removed, and the oldest ones of the subscriber
// beyond the limit, which is at least 1.
func (p *Portal) AddPortalSession(ctx context.Context, s admin.PortalSession, limit int) error {
	const (
		lockSubscriber = `UPDATE whd.SY_WebhookSubscriber SET IsEnabled = IsEnabled` +
			` WHERE RecID = @Subscriber AND IsEnabled = 1`
		removeExpired = `DELETE FROM whd.WH_PortalSession WHERE SessionHash IN (
	SELECT p.SessionHash FROM whd.WH_PortalSession p WHERE p.ExpiryDateTime <= @Now ORDER BY p.SessionHash`
		removeOldest = `DELETE FROM whd.WH_PortalSession WHERE SessionHash IN (
	SELECT p.SessionHash FROM whd.WH_PortalSession p WHERE p.SubscriberID = ` + subscriberID + `
	ORDER BY p.AddedDateTime DESC, p.SessionHash`
		addSession = `INSERT INTO whd.WH_PortalSession (SessionHash, SubscriberID, AddedDateTime, ExpiryDateTime)
SELECT @SessionHash, b.ID, @Added, @Expires FROM whd.SY_WebhookSubscriber b WHERE b.RecID = @Subscriber`
	)
	subscriber := sql.Named("Subscriber", s.Subscriber)
	added, err := p.db.Run(ctx,
		appdb.MustAffect(lockSubscriber, subscriber),
		appdb.Statement(removeExpired+p.db.Limit+`)`,
			sql.Named("Now", appdb.Timestamp(s.Added)),
			sql.Named("Limit", maxRemovedSessions)),
		appdb.Statement(removeOldest+p.db.Page+`)`,
			subscriber,
			sql.Named("Skip", limit-1),
			sql.Named("Limit", maxRemovedSessions)),
		appdb.MustAffect(addSession,
			sql.Named("SessionHash", s.Hash),
			subscriber,
			sql.Named("Added", appdb.Timestamp(s.Added)),
			sql.Named("Expires", appdb.Timestamp(s.Expires))))
	if err == nil && !added {
		return webhook.NoVisitor()
	}
	return p.fault(err, "adding a session of a subscriber")
}

// maxRemovedSessions is how many sessions a transaction removes: far fewer than the 5,000 locks for
// which SQL Server locks the table.
const maxRemovedSessions = 1000

// RemovePortalSession ends a session. A session that has ended is not an error.
func (p *Portal) RemovePortalSession(ctx context.Context, hash string) error {
	_, err := p.db.Exec(ctx, `DELETE FROM whd.WH_PortalSession WHERE SessionHash = @SessionHash`,
		sql.Named("SessionHash", hash))
	return p.fault(err, "ending a session of a subscriber")
}

// endPortalSessions returns the step that ends the sessions of a subscriber.
func endPortalSessions(subscriber sql.NamedArg) appdb.Step {
	return appdb.Statement(`DELETE FROM whd.WH_PortalSession`+ofSubscriber, subscriber)
}
