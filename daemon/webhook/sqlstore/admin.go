package sqlstore

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"slices"
	"strings"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
)

// Admin is the storage for administration: subscribers, subscriptions and messages.
type Admin struct{ tables }

// AddAuditEntry adds an entry to the audit trail without another change.
func (a *Admin) AddAuditEntry(ctx context.Context, e audit.Entry) error {
	_, err := a.db.Run(ctx, appdb.AuditStep(e))
	return a.fault(err, "writing the audit trail")
}

// LastMessage returns the highest message ID, or 0.
func (a *Admin) LastMessage(ctx context.Context) (int64, error) {
	return a.queryInt(ctx, "reading the last message ID", `SELECT COALESCE(MAX(ID), 0) FROM whd.SY_WebhookMessage`)
}

// Subscriber returns a subscriber with its subscriptions.
func (a *Admin) Subscriber(ctx context.Context, guid string) (admin.Subscriber, error) {
	s, err := appdb.QueryOne(ctx, a.db, scanInto(subscriberFields),
		`SELECT RecID, Name, IsEnabled, ItemNo, LastSavedDateTime, RowHash FROM whd.SY_WebhookSubscriber WHERE RecID = @Subscriber`,
		sql.Named("Subscriber", guid))
	if err != nil || s == nil {
		return admin.Subscriber{}, a.missing(err, "subscriber")
	}
	s.Subscriptions, err = a.subscriptions(ctx, ` WHERE b.RecID = @Subscriber`+byNumber, sql.Named("Subscriber", guid))
	return *s, a.fault(err, "listing subscriptions")
}

func subscriberFields(s *admin.Subscriber) []any {
	return []any{&s.GUID, &s.Name, &s.Enabled, &s.ItemNo, (*appdb.Time)(&s.SavedAt), &s.RowHash}
}

// HasSubscriber returns NotFound if the subscriber does not exist.
func (a *Admin) HasSubscriber(ctx context.Context, guid string) error {
	id, err := a.queryInt(ctx, "finding a subscriber", `SELECT ID FROM whd.SY_WebhookSubscriber WHERE RecID = @Subscriber`,
		sql.Named("Subscriber", guid))
	if err == nil && id == 0 {
		err = a.missing(nil, "subscriber")
	}
	return err
}

// CountSubscribers returns the number of subscribers.
func (a *Admin) CountSubscribers(ctx context.Context) (int64, error) {
	return a.queryInt(ctx, "counting subscribers", `SELECT COUNT(*) FROM whd.SY_WebhookSubscriber`)
}

// AddSubscriber adds a subscriber with a new ID and row hash, and a new GUID if it has
// none. It fails with Conflict if the GUID is in use.
func (a *Admin) AddSubscriber(ctx context.Context, s admin.Subscriber, e audit.Entry) (admin.Subscriber, error) {
	guid := cmp.Or(s.GUID, appdb.NewGUID())
	insert := appdb.MustAffect(`INSERT INTO whd.SY_WebhookSubscriber (ID, RecID, Name, IsEnabled, ItemNo, LastSavedDateTime, RowHash)
SELECT `+newID+`, @RecID, @Name, @IsEnabled, COALESCE(MAX(b.ItemNo), 0) + 1, @Saved, @RowHash FROM whd.SY_WebhookSubscriber b`,
		sql.Named("RecID", guid),
		sql.Named("Name", s.Name),
		sql.Named("IsEnabled", s.Enabled),
		sql.Named("Saved", appdb.Timestamp(e.At)),
		sql.Named("RowHash", newRowHash()),
	)
	steps := []appdb.Step{increment(subscriptionVersion), increment(lastID)}
	steps = append(steps, a.changedSteps(` WHERE 1 = 0`)...)
	steps = append(steps, insert, appdb.AuditStep(e))
	_, err := a.db.Run(ctx, steps...)
	if err != nil {
		return admin.Subscriber{}, a.addFault(err, "subscriber")
	}
	return a.Subscriber(ctx, guid)
}

// missing returns NotFound for a missing object, or err wrapped.
func (a *Admin) missing(err error, thing string) error {
	if err != nil {
		return a.fault(err, "finding a "+thing)
	}
	return fault.New(fault.NotFound, "There is no such %s", thing)
}

// addFault wraps the error of adding an object. It is Conflict if the GUID is in use.
func (a *Admin) addFault(err error, thing string) error {
	if executor.IsDuplicate(err) {
		return &fault.Error{
			Kind:    fault.Conflict,
			Message: "A " + thing + " with this RecID already exists",
			Fields:  []fault.Field{{Name: webhook.MemberRecID, Message: "is in use"}},
		}
	}
	return a.fault(err, "adding a "+thing)
}

// ofSubscriber is a condition that selects all subscriptions of a subscriber.
const ofSubscriber = ` WHERE SubscriberID IN (SELECT b.ID FROM whd.SY_WebhookSubscriber b WHERE b.RecID = @Subscriber)`

// ChangeSubscriber changes a subscriber. It fails with Conflict if the row hash is
// not the current one.
func (a *Admin) ChangeSubscriber(ctx context.Context, guid string, c admin.SubscriberChange, e audit.Entry) (admin.Subscriber, error) {
	var u changes
	setIf(&u, "Name", c.Name)
	setIf(&u, "IsEnabled", c.Enabled)
	subscriber := sql.Named("Subscriber", guid)
	args := []any{subscriber}
	steps := []appdb.Step{
		increment(subscriptionVersion),
		u.step("whd.SY_WebhookSubscriber", ` WHERE RecID = @Subscriber`, args, e.At, c.RowHash),
	}
	steps = append(steps, a.changedSteps(ofSubscriber, args...)...)
	if c.Enabled != nil { // failures before the change do not count
		steps = append(steps, appdb.Statement(`UPDATE whd.SY_WebhookSubscription SET FailingSince = NULL`+ofSubscriber, args...))
	}
	if c.Enabled != nil && !*c.Enabled {
		steps = append(steps, endPortalSessions(subscriber))
	}
	affected, err := a.db.Run(ctx, append(steps, appdb.AuditStep(e))...)
	if err != nil {
		return admin.Subscriber{}, a.fault(err, "changing a subscriber")
	}

	current, err := a.Subscriber(ctx, guid)
	if err == nil && !affected {
		err = stale("subscriber")
	}
	return current, err
}

func stale(thing string) error {
	return &fault.Error{
		Kind:    fault.Conflict,
		Message: "The " + thing + " has been changed since it was read",
		Fields:  []fault.Field{{Name: "RowHash", Message: "is not the present one"}},
	}
}

// RemoveSubscriber removes a subscriber with its subscriptions, and reports whether
// it existed. Sweep deletes the messages.
func (a *Admin) RemoveSubscriber(ctx context.Context, guid string, e audit.Entry) (bool, error) {
	subscriber := sql.Named("Subscriber", guid)
	steps := append(a.removalSteps(ofSubscriber, e.At, subscriber),
		endPortalSessions(subscriber),
		appdb.MustAffect(`DELETE FROM whd.SY_WebhookSubscriber WHERE RecID = @Subscriber`, subscriber),
		appdb.AuditStep(e))
	removed, err := a.db.Run(ctx, steps...)
	return removed, a.fault(err, "removing a subscriber")
}

// changes collects the SET list of an UPDATE.
type changes struct {
	sets []string
	args []any
}

func (u *changes) set(column string, value any) {
	u.sets = append(u.sets, column+" = @"+column)
	u.args = append(u.args, sql.Named(column, value))
}

func setIf[T any](u *changes, column string, value *T) {
	if value != nil {
		u.set(column, *value)
	}
}

// step returns the UPDATE, which also sets a new row hash and must affect a row. If
// rowHash is not nil, it affects no row with another row hash.
func (u *changes) step(table, where string, args []any, now time.Time, rowHash []byte) appdb.Step {
	u.set("LastSavedDateTime", appdb.Timestamp(now))
	u.set("RowHash", newRowHash())
	if rowHash != nil {
		where += ` AND RowHash = @Based`
		args = append(args, sql.Named("Based", rowHash))
	}
	return appdb.MustAffect(`UPDATE `+table+` SET `+strings.Join(u.sets, ", ")+where, append(u.args, args...)...)
}

// Subscription returns a subscription of a subscriber.
func (a *Admin) Subscription(ctx context.Context, subscriber, guid string) (webhook.Subscription, error) {
	const where = ` WHERE b.RecID = @Subscriber AND s.RecID = @Subscription` + byNumber
	found, err := a.subscriptions(ctx, where, subscriptionArgs(subscriber, guid)...)
	if err != nil || len(found) == 0 {
		return webhook.Subscription{}, a.missing(err, "subscription")
	}
	return found[0], nil
}

func subscriptionArgs(subscriber, guid string) []any {
	return []any{sql.Named("Subscriber", subscriber), sql.Named("Subscription", guid)}
}

// someOf selects the IDs of @Limit subscriptions of a subscriber, after @Skip others, by
// index in the order of ItemNo.
func (a *Admin) someOf(skip, limit int64) (string, []any) {
	query := `SELECT o.ID FROM whd.SY_WebhookSubscription o WHERE o.SubscriberID = ` + subscriberID + `
	ORDER BY o.ItemNo, o.ID` + a.db.Page
	return query, []any{sql.Named("Skip", skip), sql.Named("Limit", limit)}
}

const subscriberID = `(SELECT r.ID FROM whd.SY_WebhookSubscriber r WHERE r.RecID = @Subscriber)`

// Subscriptions returns a page of the subscriptions of a subscriber, in the order of their
// numbers, and the number of all. A negative take returns all that follow.
func (a *Admin) Subscriptions(ctx context.Context, subscriber string, skip, take int64) ([]webhook.Subscription, int64, error) {
	owner := sql.Named("Subscriber", subscriber)
	total, err := a.queryInt(ctx, "counting subscriptions",
		`SELECT COUNT(*) FROM whd.SY_WebhookSubscription o WHERE o.SubscriberID = `+subscriberID, owner)
	if err != nil {
		return nil, total, err
	}
	if total == 0 {
		return nil, 0, a.HasSubscriber(ctx, subscriber)
	}
	if take < 0 {
		take = total
	}
	if take == 0 || skip >= total {
		return nil, total, nil
	}
	page, args := a.someOf(skip, take)
	subscriptions, err := a.subscriptions(ctx, ` WHERE s.ID IN (`+page+`)`+byNumber, append(args, owner)...)
	return subscriptions, total, a.fault(err, "listing subscriptions")
}

// AddSubscription adds a subscription to an existing subscriber, with a new ID, number
// and row hash, and a new GUID if it has none. It fails with Conflict if the GUID is in
// use.
func (a *Admin) AddSubscription(ctx context.Context, s webhook.Subscription, l *webhook.Limits) (webhook.Subscription, error) {
	s.GUID = cmp.Or(s.GUID, appdb.NewGUID())
	s.RowHash = newRowHash()
	var limits []limit
	if l != nil { // the number first: the other limits read as many subscriptions as there are
		limits = append(limits, a.countLimit(l))
	}
	limits = append(limits, a.limits(l, &s.Pattern, &s.Headers)...)
	condition, args := conditionOf(limits, subscriptionArgs(s.Subscriber, s.GUID))
	var columns, values strings.Builder
	for _, c := range subscriptionAdded {
		columns.WriteString(c.name + ", ")
		values.WriteString("@" + c.name + ", ")
		args = append(args, sql.Named(c.name, parameterOf(c.pointer(&s))))
	}
	args = append(args, sql.Named("MaxRetries", schedule(s.Schedule).retries()))
	insert := appdb.MustAffect(`INSERT INTO whd.SY_WebhookSubscription (`+columns.String()+`ID, SubscriberID, ItemNo, MaxRetries)
SELECT `+values.String()+newID+`, b.ID, (SELECT COALESCE(MAX(o.ItemNo), 0) + 1 FROM whd.SY_WebhookSubscription o WHERE o.SubscriberID = b.ID), @MaxRetries
FROM whd.SY_WebhookSubscriber b WHERE b.RecID = @Subscriber`+condition, args...)

	steps := []appdb.Step{increment(subscriptionVersion), increment(lastID), insert}
	steps = append(steps, headerSteps(s.GUID, s.Headers)...)
	steps = append(steps, a.changedSteps(` WHERE RecID = @Subscription`, sql.Named("Subscription", s.GUID))...)
	added, err := a.db.Run(ctx, steps...)
	if err != nil {
		return webhook.Subscription{}, a.addFault(err, "subscription")
	}
	if !added {
		if err := a.HasSubscriber(ctx, s.Subscriber); err != nil {
			return webhook.Subscription{}, err
		}
		return webhook.Subscription{}, a.exceeded(ctx, limits, subscriptionArgs(s.Subscriber, s.GUID))
	}
	return a.Subscription(ctx, s.Subscriber, s.GUID)
}

// limit is a limit of a subscriber: the condition that the subscription being stored does
// not exceed it, which can use @Subscriber and @Subscription, and the error if it does.
type limit struct {
	condition string
	args      []any
	err       error
}

// countLimit returns the limit of the number of subscriptions.
func (a *Admin) countLimit(l *webhook.Limits) limit {
	last, page := a.someOf(int64(l.Subscriptions)-1, 1)
	return limit{condition: `NOT EXISTS (` + last + `)`, args: page, err: l.TooManySubscriptions()}
}

// ofThisSubscriber is a condition that selects subscriptions w by the GUID of their subscriber.
const ofThisSubscriber = `w.SubscriberID = ` + subscriberID

// limits returns the limits that apply to a new pattern and new headers of a subscription.
// nil leaves one unchanged. A subscription to several events may get another such pattern.
func (a *Admin) limits(l *webhook.Limits, pattern *string, headers *[]webhook.Header) []limit {
	if l == nil {
		return nil
	}
	var limits []limit
	if pattern != nil && webhook.IsWildcard(*pattern) {
		limits = append(limits, limit{
			condition: `(EXISTS (SELECT w.ID FROM whd.SY_WebhookSubscription w WHERE w.RecID = @Subscription AND w.EventName LIKE '%*')
	OR (SELECT COUNT(*) FROM whd.SY_WebhookSubscription w WHERE ` + ofThisSubscriber + ` AND w.EventName LIKE '%*') < @Wildcards)`,
			args: []any{sql.Named("Wildcards", l.Wildcards)},
			err:  l.TooManyWildcards(),
		})
	}
	if headers == nil || len(*headers) == 0 {
		return limits
	}
	size := 0
	for _, h := range *headers {
		size += len(h.Name) + len(h.Value)
	}
	length := `OCTET_LENGTH`
	if a.db.IsServer() {
		length = `LEN` // in characters: the server has no UTF-8 length
	}
	// The index by subscriber has the ID but not the RecID: a condition on RecID would read the rows
	// of all subscriptions, which is most of the time if few have headers.
	return append(limits, limit{
		condition: `(SELECT COALESCE(SUM(` + length + `(h.Name) + ` + length + `(h.Value)), 0) FROM whd.SY_WebhookSubscriptionRequestHeader h
	JOIN whd.SY_WebhookSubscription w ON w.ID = h.SubscriptionID WHERE ` + ofThisSubscriber + ` AND w.ID <> COALESCE(` + subscriptionID + `, 0)) <= @Room`,
		args: []any{sql.Named("Room", l.HeaderBytes-size)},
		err:  l.TooManyHeaders(),
	})
}

// conditionOf returns the condition that no limit is exceeded, to follow another one, and
// args with its arguments. CASE evaluates the limits in order, up to the first that is exceeded;
// AND leaves the order to the database.
func conditionOf(limits []limit, args []any) (string, []any) {
	if len(limits) == 0 {
		return "", args
	}
	var condition strings.Builder
	condition.WriteString(` AND CASE`)
	for _, l := range limits {
		condition.WriteString(` WHEN NOT (` + l.condition + `) THEN 0`)
		args = append(args, l.args...)
	}
	condition.WriteString(` ELSE 1 END = 1`)
	return condition.String(), args
}

// exceeded returns the error of the first limit that is exceeded. If none is,
// other requests have changed the subscriptions since.
func (a *Admin) exceeded(ctx context.Context, limits []limit, args []any) error {
	for _, l := range limits {
		query := `SELECT CASE WHEN ` + l.condition + ` THEN 1 ELSE 0 END`
		within, err := a.queryInt(ctx, "checking a limit", query, slices.Concat(args, l.args)...)
		if err != nil {
			return err
		}
		if within == 0 {
			return l.err
		}
	}
	return fault.New(fault.Conflict, "The subscriptions of this subscriber are being changed by other requests; try again")
}

const subscriptionID = `(SELECT s.ID FROM whd.SY_WebhookSubscription s WHERE s.RecID = @Subscription)`

// headerSteps returns the steps that add the headers of a subscription.
func headerSteps(guid string, headers []webhook.Header) []appdb.Step {
	steps := make([]appdb.Step, len(headers))
	for i, h := range headers {
		steps[i] = appdb.MustAffect(`INSERT INTO whd.SY_WebhookSubscriptionRequestHeader (RecID, SubscriptionID, ItemNo, Name, Value)
SELECT @RecID, s.ID, @ItemNo, @Name, @Value FROM whd.SY_WebhookSubscription s WHERE s.RecID = @Subscription`,
			sql.Named("RecID", cmp.Or(h.ID, appdb.NewGUID())),
			sql.Named("ItemNo", i+1),
			sql.Named("Name", h.Name),
			sql.Named("Value", h.Value),
			sql.Named("Subscription", guid),
		)
	}
	return steps
}

// ownedBy is a condition that selects a subscription by its GUID and that of its
// subscriber.
const ownedBy = ` WHERE RecID = @Subscription AND SubscriberID IN (SELECT b.ID FROM whd.SY_WebhookSubscriber b WHERE b.RecID = @Subscriber)`

// moveToFirstPartition moves the open messages of a subscription to the first
// partition. It searches the other partitions by index: most messages are in the
// first one.
const moveToFirstPartition = `UPDATE whd.SY_WebhookMessage SET PartitionID = 1
WHERE PartitionID IN (SELECT p.PartitionID FROM whd.WH_Partition p WHERE p.PartitionID <> 1) AND NextAttemptDateTime IS NOT NULL AND SubscriptionID = ` + subscriptionID

// ChangeSubscription changes a subscription. It fails with Conflict if the row hash
// is not the current one.
func (a *Admin) ChangeSubscription(ctx context.Context, subscriber, guid string, c admin.SubscriptionChange, at time.Time) (webhook.Subscription, error) {
	u := a.changesOf(c)
	limits := a.limits(c.Limits, c.Pattern, c.Headers)
	condition, args := conditionOf(limits, subscriptionArgs(subscriber, guid))
	steps := []appdb.Step{
		increment(subscriptionVersion),
		u.step("whd.SY_WebhookSubscription", ownedBy+condition, args, at, c.RowHash),
	}
	steps = append(steps, a.changedSteps(ownedBy, subscriptionArgs(subscriber, guid)...)...)
	getsOrder := c.Ordered != nil && *c.Ordered || c.ByKey != nil && *c.ByKey
	if getsOrder { // one daemon sends all of its messages from now on
		steps = append(steps, appdb.Statement(moveToFirstPartition, sql.Named("Subscription", guid)))
	}
	if c.Headers != nil {
		steps = append(steps, appdb.Statement(`DELETE FROM whd.SY_WebhookSubscriptionRequestHeader WHERE SubscriptionID = `+subscriptionID,
			sql.Named("Subscription", guid)))
		steps = append(steps, headerSteps(guid, *c.Headers)...)
	}
	affected, err := a.db.Run(ctx, steps...)
	if err != nil {
		return webhook.Subscription{}, a.fault(err, "changing a subscription")
	}

	current, err := a.Subscription(ctx, subscriber, guid)
	if err != nil || affected {
		return current, err
	}
	if c.RowHash != nil && !bytes.Equal(c.RowHash, current.RowHash) {
		return current, stale("subscription")
	}
	return current, a.exceeded(ctx, limits, subscriptionArgs(subscriber, guid))
}

func (a *Admin) changesOf(c admin.SubscriptionChange) *changes {
	u := &changes{}
	isSameURL := "URL" + a.db.Exact + " = @URL"
	setIf(u, "EventName", c.Pattern)
	setIf(u, "URL", c.URL)
	if c.URL != nil { // step sets LastSavedDateTime
		u.sets = append(u.sets, "MovedDateTime = CASE WHEN "+isSameURL+" THEN MovedDateTime ELSE @LastSavedDateTime END")
	}
	if c.URL != nil && c.Enabled == nil { // the failures were those of the old URL
		u.sets = append(u.sets, "FailingSince = CASE WHEN "+isSameURL+" THEN FailingSince END")
	}
	setIf(u, "Ordered", c.Ordered)
	setIf(u, "OrderedByKey", c.ByKey)
	setIf(u, "MadeByAdmin", c.MadeByAdmin)
	if c.Owner != nil {
		u.set("Owner", optional(*c.Owner).stored())
	}
	if c.Where != nil {
		u.set("Condition", optional(*c.Where).stored())
	}
	setIf(u, "IsEnabled", c.Enabled)
	if c.Enabled != nil { // reset the reason and the failures
		u.set("DisabledReason", sql.NullString{})
		u.set("FailingSince", sql.NullString{})
	}
	if c.Schedule != nil {
		u.set("RetrySchedule", schedule(*c.Schedule).stored())
		u.set("MaxRetries", schedule(*c.Schedule).retries())
	}
	if c.MaxPerMinute != nil {
		u.set("MaxPerMinute", optionalInt(*c.MaxPerMinute).stored())
	}
	if c.Format != nil {
		u.set("Format", optional(*c.Format).stored())
	}
	if c.Secret != nil {
		u.setSecret(c.Secret)
	}
	return u
}

// setSecret replaces a secret. The last replaced one has columns of its own, by which older
// programs also sign with it.
func (u *changes) setSecret(r *admin.Rotation) {
	var last webhook.ReplacedSecret
	var earlier earlierSecrets
	if len(r.Old) > 0 {
		last = r.Old[0]
		earlier = r.Old[1:]
	}
	u.set("Secret", r.Secret)
	u.set("OldSecret", optional(last.Secret).stored())
	u.set("OldSecretUntil", appdb.NullableTimestamp(last.Until))
	u.set("EarlierSecrets", earlier.stored())
}

// RemoveSubscription removes a subscription, and reports whether it existed. Its
// messages are invisible and not sent from then on; Sweep deletes them.
func (a *Admin) RemoveSubscription(ctx context.Context, subscriber, guid string, at time.Time) (bool, error) {
	steps := a.removalSteps(ownedBy, at, subscriptionArgs(subscriber, guid)...)
	steps[len(steps)-1].MustAffect = true
	removed, err := a.db.Run(ctx, steps...)
	return removed, a.fault(err, "removing a subscription")
}

// removalSteps returns the first steps of a transaction that removes subscriptions,
// without their messages.
func (a *Admin) removalSteps(which string, at time.Time, args ...any) []appdb.Step {
	steps := []appdb.Step{increment(subscriptionVersion)}
	steps = append(steps, a.changedSteps(which, args...)...)
	args = append(args, sql.Named("At", appdb.Timestamp(at)))
	return append(steps,
		appdb.Statement(`INSERT INTO whd.WH_SubscriptionRemoved (SubscriptionID, RemovedDateTime)
SELECT ID, @At FROM whd.SY_WebhookSubscription`+which, args...),
		appdb.Statement(`DELETE FROM whd.SY_WebhookSubscriptionRequestHeader WHERE SubscriptionID IN (SELECT ID FROM whd.SY_WebhookSubscription`+which+`)`, args...),
		appdb.Statement(`DELETE FROM whd.SY_WebhookSubscription`+which, args...))
}
