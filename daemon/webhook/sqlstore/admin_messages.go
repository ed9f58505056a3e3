package sqlstore

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// Message returns a message.
func (a *Admin) Message(ctx context.Context, address admin.Address) (*webhook.Message, error) {
	args := append(subscriptionArgs(address.Subscriber, address.Subscription), sql.Named("Message", address.Message))
	m, err := appdb.QueryOne(ctx, a.db, scanMessage(eventBody), `SELECT `+messageRead+`, e.Body`+messageTables+`
JOIN whd.SY_WebhookSubscriber b ON b.ID = s.SubscriberID
WHERE b.RecID = @Subscriber AND s.RecID = @Subscription AND m.RecID = @Message`, args...)
	if err != nil || m == nil {
		return nil, a.missing(err, "message")
	}
	return *m, nil
}

func eventBody(event *webhook.Event) any { return &event.Body }

// RemoveMessage deletes a message with its attempts. It returns the deleted
// message, or nil if it does not exist.
func (a *Admin) RemoveMessage(ctx context.Context, address admin.Address) (*webhook.Message, error) {
	m, err := a.Message(ctx, address)
	if fault.Is(err, fault.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	steps := removeSteps(a.db, []int64{m.ID}, []int64{m.Event.ID})
	steps[0].MustAffect = true
	steps = append(steps, a.peerEventSteps(delivery.PeerDeleted, m.Subscription)...)
	removed, err := a.db.Run(ctx, steps...)
	if err != nil || !removed {
		return nil, a.fault(err, "removing a message")
	}
	return m, nil
}

// removeSteps returns the steps that delete messages, their attempts, and events
// without other messages. The messages are deleted first: an outcome written
// concurrently then either finds no message, or has already been written.
func removeSteps(db *appdb.DB, messages, events []int64) []appdb.Step {
	ids, inList := db.ListArg(messages), db.InList
	return []appdb.Step{
		appdb.Statement(`DELETE FROM whd.SY_WebhookMessage WHERE ID IN `+inList, ids),
		appdb.Statement(`DELETE FROM whd.SY_WebhookMessageResponse WHERE MessageID IN `+inList, ids),
		appdb.Statement(`DELETE FROM whd.WH_Event WHERE EventID IN `+inList+`
	AND NOT EXISTS (SELECT 1 FROM whd.SY_WebhookMessage o WHERE o.EventID = WH_Event.EventID)
	AND NOT EXISTS (SELECT 1 FROM whd.WH_RecordChange c WHERE c.EventID = WH_Event.EventID)`, db.ListArg(events)),
	}
}

// peerEventSteps returns the steps that notify other daemons about messages of
// subscriptions. The first step locks the counter until the transaction ends, so
// the numbers have the order of the commits: a reader of a number has not missed a
// lower one.
func (a *Admin) peerEventSteps(kind delivery.PeerEventKind, subscriptions ...int64) []appdb.Step {
	counter := sql.Named("Name", lastPeerEvent)
	steps := []appdb.Step{appdb.Statement(`UPDATE whd.WH_Number SET Next = Next + 1 WHERE Name = @Name`, counter)}
	for _, s := range subscriptions {
		steps = append(steps, appdb.Statement(`INSERT INTO whd.WH_Nudge (Number, SubscriptionID, Kind, Holder, AddedDateTime)
SELECT n.Next, @Subscription, @Kind, @Holder, `+a.db.Clock+` FROM whd.WH_Number n WHERE n.Name = @Name`,
			sql.Named("Subscription", s), sql.Named("Kind", int64(kind)), a.db.HolderArg(), counter))
	}
	return steps
}

// RetryMessage makes a message due now if it has failed or waits for its next
// attempt. A message without an attempt is due anyway. It returns Conflict for a
// message that was already delivered.
func (a *Admin) RetryMessage(ctx context.Context, address admin.Address, now time.Time) (*webhook.Message, error) {
	m, err := a.Message(ctx, address)
	if err != nil {
		return nil, err
	}
	steps := []appdb.Step{retryStep(a.db, []int64{m.ID}, now)}
	steps = append(steps, a.peerEventSteps(delivery.PeerDue, m.Subscription)...)
	_, err = a.db.Run(ctx, steps...)
	if err != nil {
		return nil, a.fault(err, "making a message due")
	}
	m, err = a.Message(ctx, address)
	if err == nil && m.Status == webhook.Successful {
		return nil, fault.New(fault.Conflict, "The message was received already; an administrator can send it again: POST /Webhooks/Messages/Retry with its MessageID and Status=1")
	}
	return m, err
}

// retryStep makes messages due. A replay is due already and keeps its mark.
func retryStep(db *appdb.DB, messages []int64, at time.Time) appdb.Step {
	return appdb.Statement(`UPDATE whd.SY_WebhookMessage SET Status = 2, NextAttemptDateTime = @At, LastSavedDateTime = @At, `+inFirstPartition+`
WHERE ID IN `+db.InList+` AND (Status = 3 OR Status = 2 AND NOT `+isReplay+`)`,
		db.ListArg(messages), sql.Named("At", appdb.Timestamp(at)))
}

// replayStep makes delivered messages due as replays.
func replayStep(db *appdb.DB, messages []int64, at time.Time) appdb.Step {
	return appdb.Statement(`UPDATE whd.SY_WebhookMessage SET Status = 2, NextAttemptDateTime = @Due, LastSavedDateTime = @At, `+inFirstPartition+`
WHERE ID IN `+db.InList+` AND Status = 1`,
		db.ListArg(messages), sql.Named("At", appdb.Timestamp(at)), sql.Named("Due", appdb.Timestamp(storedDue(at, true))))
}

// hasOrder is the condition that a subscription s has an order.
const hasOrder = `(s.Ordered = 1 OR s.OrderedByKey = 1)`

// inFirstPartition moves messages that are opened again to the first partition if their
// subscription has an order. They may have ended before it had one.
const inFirstPartition = `PartitionID = CASE WHEN EXISTS (SELECT 1 FROM whd.SY_WebhookSubscription s
	WHERE s.ID = SY_WebhookMessage.SubscriptionID AND ` + hasOrder + `) THEN 1 ELSE PartitionID END`

// RetryMessages makes the candidates due that are unchanged and have failed or wait
// for another attempt. It returns them, and those without an attempt, which it leaves.
func (a *Admin) RetryMessages(ctx context.Context, candidates []admin.Candidate, at time.Time) ([]admin.Changed, error) {
	changed, err := a.changeUnchanged(ctx, candidates, func(messages []bulkMessage) ([]bulkMessage, []appdb.Step) {
		messages = slices.DeleteFunc(messages, func(m bulkMessage) bool { return m.Before == webhook.Successful })
		var ended []bulkMessage // or waiting for another attempt
		for i := range messages {
			if messages[i].Before != webhook.NotSent {
				markDue(messages[i:i+1], at)
				ended = append(ended, messages[i])
			}
		}
		var steps []appdb.Step
		if len(ended) > 0 {
			steps = append(steps, retryStep(a.db, distinctIDs(ended, messageID), at))
		}
		return messages, append(steps, a.peerEventSteps(delivery.PeerDue, distinctIDs(messages, subscriptionOf)...)...)
	})
	return changed, a.fault(err, "making messages due")
}

// markDue sets the state that messages have when they are made due.
func markDue(messages []bulkMessage, at time.Time) {
	for i := range messages {
		m := &messages[i]
		m.Status = webhook.RetryPending
		m.Next = at
		m.At = at
	}
}

// ReplayMessages makes the candidates due once more that are unchanged and were delivered. It
// returns the changes.
func (a *Admin) ReplayMessages(ctx context.Context, candidates []admin.Candidate, at time.Time) ([]admin.Changed, error) {
	changed, err := a.changeUnchanged(ctx, candidates, func(messages []bulkMessage) ([]bulkMessage, []appdb.Step) {
		messages = slices.DeleteFunc(messages, func(m bulkMessage) bool { return m.Before != webhook.Successful })
		markDue(messages, at)
		steps := []appdb.Step{replayStep(a.db, distinctIDs(messages, messageID), at)}
		return messages, append(steps, a.peerEventSteps(delivery.PeerDue, distinctIDs(messages, subscriptionOf)...)...)
	})
	return changed, a.fault(err, "sending delivered messages again")
}

// CountOrdered returns the number of candidates that later messages may have to wait for.
func (a *Admin) CountOrdered(ctx context.Context, candidates []admin.Candidate) (int64, error) {
	ids := make([]int64, len(candidates))
	for i, c := range candidates {
		ids[i] = c.ID
	}
	return a.queryInt(ctx, "counting messages with an order", `SELECT COUNT(*) FROM whd.SY_WebhookMessage m
JOIN whd.SY_WebhookSubscription s ON s.ID = m.SubscriptionID
WHERE m.ID IN `+a.db.InList+` AND (s.Ordered = 1 OR s.OrderedByKey = 1 AND m.EventKey IS NOT NULL)`, a.db.ListArg(ids))
}

// RemoveMessages deletes the candidates that are unchanged, with their attempts and
// with events without other messages. It returns the deleted messages.
func (a *Admin) RemoveMessages(ctx context.Context, candidates []admin.Candidate, at time.Time) ([]admin.Changed, error) {
	changed, err := a.changeUnchanged(ctx, candidates, func(messages []bulkMessage) ([]bulkMessage, []appdb.Step) {
		for i := range messages {
			m := &messages[i]
			m.Deleted = true
			m.Next = time.Time{}
			m.At = at
		}
		steps := removeSteps(a.db, distinctIDs(messages, messageID), distinctIDs(messages, eventID))
		return messages, append(steps, a.peerEventSteps(delivery.PeerDeleted, distinctIDs(messages, subscriptionOf)...)...)
	})
	return changed, a.fault(err, "removing messages")
}

// bulkMessage is a message before and after a bulk operation.
type bulkMessage struct {
	admin.Changed
	event int64
}

func messageID(m bulkMessage) int64      { return m.ID }
func eventID(m bulkMessage) int64        { return m.event }
func subscriptionOf(m bulkMessage) int64 { return m.Subscription }

// distinctIDs returns the distinct values of a field, sorted.
func distinctIDs(messages []bulkMessage, field func(bulkMessage) int64) []int64 {
	ids := make([]int64, len(messages))
	for i, m := range messages {
		ids[i] = field(m)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// changeUnchanged reads the candidates in the transaction that changes them, so
// that a concurrent transaction on the same messages either has ended or waits. change selects
// the messages to change, and returns the steps that do so.
func (a *Admin) changeUnchanged(
	ctx context.Context,
	candidates []admin.Candidate,
	change func([]bulkMessage) ([]bulkMessage, []appdb.Step),
) ([]admin.Changed, error) {
	if len(candidates) == 0 {
		return nil, nil
	}
	var changed []admin.Changed
	err := a.db.Transact(ctx, func(ctx context.Context, tx *sql.Tx) error {
		changed = nil // of a transaction that is repeated
		unchanged, err := lockUnchanged(ctx, a.db, tx, candidates)
		if err != nil {
			return err
		}
		messages, steps := change(unchanged)
		if len(messages) == 0 {
			return nil
		}
		for _, m := range messages {
			changed = append(changed, m.Changed)
		}
		for _, s := range steps {
			if _, err := tx.ExecContext(ctx, a.db.Qualify(s.SQL), s.Args...); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return changed, nil
}

// lockUnchanged locks the candidates and returns those that are unchanged. A file
// is already locked.
func lockUnchanged(ctx context.Context, db *appdb.DB, tx *sql.Tx, candidates []admin.Candidate) ([]bulkMessage, error) {
	ids := make([]int64, len(candidates))
	byID := make(map[int64]admin.Candidate, len(candidates))
	for i, c := range candidates {
		ids[i] = c.ID
		byID[c.ID] = c
	}
	idList := db.ListArg(ids)
	if db.IsServer() {
		lock := db.Qualify(`UPDATE whd.SY_WebhookMessage SET Status = Status WHERE ID IN ` + db.InList)
		if _, err := tx.ExecContext(ctx, lock, idList); err != nil {
			return nil, err
		}
	}

	rows, err := tx.QueryContext(ctx, db.Qualify(`SELECT m.ID, m.SubscriptionID, m.EventID, m.Status, m.Attempts, m.NextAttemptDateTime, COALESCE(m.HTTPCode, 0),
	m.RecID, s.RecID, b.RecID, e.EventName
FROM whd.SY_WebhookMessage m
JOIN whd.WH_Event e ON e.EventID = m.EventID
JOIN whd.SY_WebhookSubscription s ON s.ID = m.SubscriptionID
JOIN whd.SY_WebhookSubscriber b ON b.ID = s.SubscriberID
WHERE m.ID IN `+db.InList+` ORDER BY m.ID`), idList)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var unchanged []bulkMessage
	for rows.Next() {
		var m bulkMessage
		var state webhook.State
		err := rows.Scan(&m.ID, &m.Subscription, &m.event, &m.Before, &state.Attempts, scannedDue{&m.Next}, &m.Code,
			&m.Message, &m.Change.Subscription, &m.Subscriber, &m.Event)
		if err != nil {
			return nil, err
		}
		m.Status = m.Before
		m.Retries = state.Retries()
		if m.Before == byID[m.ID].Status && m.Retries == byID[m.ID].Retries {
			unchanged = append(unchanged, m)
		}
	}
	return unchanged, rows.Err()
}

// maxTraced is the maximum number of changes of a trace, of the newest messages, and of the
// open ones before them.
const maxTraced = 100

// Statements of a trace: each reads by the index of the key.
const (
	tracedChanges = `SELECT c.Kind, c.Op, c.ChangeID, COALESCE(c.EventID, 0), c.AddedDateTime, c.Body, e.Body FROM whd.WH_RecordChange c
LEFT JOIN whd.WH_Event e ON e.EventID = c.EventID
WHERE c.RecordKey = @Key ORDER BY c.AddedDateTime DESC, c.ChangeID DESC`
	tracedMessages = ` WHERE m.EventKey = @Key ORDER BY m.ID DESC`
	tracedMessage  = ` WHERE m.RecID = @Message`
	tracedOpen     = ` WHERE m.EventKey = @Key AND m.NextAttemptDateTime IS NOT NULL ORDER BY m.ID`
	tracedAttempts = `SELECT r.MessageID, r.Attempt, COALESCE(r.HTTPCode, 0), r.Message, r.Duration, r.LastSavedDateTime FROM whd.SY_WebhookMessageResponse r
WHERE r.MessageID IN `
	tracedEvents = `SELECT e.EventID, e.RecID, e.EventName, e.AddedDateTime FROM whd.WH_Event e WHERE e.EventID IN `
)

// Trace returns the last changes of a key, its messages with their events, and their attempts, the
// oldest first. Of a key with many messages it has the newest ones, and open ones before them,
// for which these may wait.
func (a *Admin) Trace(ctx context.Context, key string) (*admin.Trace, error) {
	changes, err := a.tracedChanges(ctx, key)
	if err != nil {
		return nil, err
	}
	messages, err := a.tracedMessages(ctx, key, tracedMessages)
	if err != nil {
		return nil, err
	}
	var open []*webhook.Message
	if len(messages) > maxTraced {
		open, err = a.tracedMessages(ctx, key, tracedOpen)
		if err != nil {
			return nil, err
		}
	}

	t := &admin.Trace{
		Changes:  changes[:min(len(changes), maxTraced)],
		Messages: messages[:min(len(messages), maxTraced)],
		More:     len(changes) > maxTraced || len(messages) > maxTraced,
		Events:   make(map[int64]*webhook.Event),
	}
	slices.Reverse(t.Changes)
	slices.Reverse(t.Messages)
	if len(t.Messages) == maxTraced && t.More {
		t.Since = t.Messages[0].Event.AddedAt
	}
	open = slices.DeleteFunc(open, func(m *webhook.Message) bool { return m.ID >= t.Messages[0].ID })
	t.Messages = append(open[:min(len(open), maxTraced)], t.Messages...)

	for _, m := range t.Messages {
		t.Events[m.Event.ID] = m.Event
	}
	t.Attempts, err = a.tracedAttempts(ctx, t.Messages)
	if err != nil {
		return nil, err
	}
	err = a.addTracedEvents(ctx, t)
	return t, err
}

// TraceMessage returns a message with its event, its attempts, and the changes of the event. Those
// of its key that are open and older than the message, for which it may wait, are there too.
func (a *Admin) TraceMessage(ctx context.Context, guid string) (*admin.Trace, error) {
	query := `SELECT ` + messageRead + `, 0` + messageTables + tracedMessage
	row, err := appdb.QueryOne(ctx, a.db, scanMessage(bodySize), query, sql.Named("Message", guid))
	if err != nil || row == nil {
		return nil, a.missing(err, "message")
	}

	m := *row
	t := &admin.Trace{
		Messages: []*webhook.Message{m},
		Events:   map[int64]*webhook.Event{m.Event.ID: m.Event},
		Only:     m,
	}
	if m.Event.Key != "" {
		err = a.addTracedKey(ctx, t)
		if err != nil {
			return nil, err
		}
	}
	t.Attempts, err = a.tracedAttempts(ctx, t.Messages)
	return t, err
}

// addTracedKey adds the changes of the key of the only message of a trace that belong to its event,
// and the open messages before it.
func (a *Admin) addTracedKey(ctx context.Context, t *admin.Trace) error {
	event := t.Only.Event
	changes, err := a.tracedChanges(ctx, event.Key)
	if err != nil {
		return err
	}
	t.Changes = slices.DeleteFunc(changes, func(c admin.TracedChange) bool { return c.EventID != event.ID })
	slices.Reverse(t.Changes)

	open, err := a.tracedMessages(ctx, event.Key, tracedOpen)
	open = slices.DeleteFunc(open, func(m *webhook.Message) bool { return m.ID >= t.Only.ID })
	t.Messages = append(open, t.Messages...)
	return err
}

// tracedChanges returns the last changes of a key, the newest first, one more than a trace has.
func (a *Admin) tracedChanges(ctx context.Context, key string) ([]admin.TracedChange, error) {
	rows, err := appdb.QueryAll(ctx, a.db, scanInto(tracedChangeFields), tracedChanges+a.db.Limit, traceArgs(key)...)
	changes := make([]admin.TracedChange, len(rows))
	for i, r := range rows {
		changes[i] = r.TracedChange
		if changes[i].Body == nil {
			changes[i].Body = r.eventBody
		}
	}
	return changes, a.fault(err, "reading the changes of a key")
}

// tracedChange is a stored change. Its body is that of its event if it has one.
type tracedChange struct {
	admin.TracedChange
	eventBody []byte
}

func traceArgs(key string) []any {
	return []any{sql.Named("Key", key), sql.Named("Limit", maxTraced+1)}
}

func tracedChangeFields(c *tracedChange) []any {
	return []any{&c.Kind, &c.Op, &c.ID, &c.EventID, (*appdb.Time)(&c.At), &c.Body, &c.eventBody}
}

// tracedMessages returns the first messages of a key that a condition selects, one more than a
// trace has.
func (a *Admin) tracedMessages(ctx context.Context, key, where string) ([]*webhook.Message, error) {
	query := `SELECT ` + messageRead + `, 0` + messageTables + where + a.db.Limit
	messages, err := appdb.QueryAll(ctx, a.db, scanMessage(bodySize), query, traceArgs(key)...)
	return messages, a.fault(err, "reading the messages of a key")
}

// tracedAttempts returns the attempts of messages by their IDs.
func (a *Admin) tracedAttempts(ctx context.Context, messages []*webhook.Message) (map[int64][]admin.TracedAttempt, error) {
	var ids []int64
	for _, m := range messages {
		ids = append(ids, m.ID)
	}
	rows, err := appdb.QueryAll(ctx, a.db, scanInto(tracedAttemptFields),
		tracedAttempts+a.db.InList+` ORDER BY r.MessageID, r.Attempt`, a.db.ListArg(ids))
	if err != nil {
		return nil, a.fault(err, "reading the attempts of a key")
	}
	attempts := make(map[int64][]admin.TracedAttempt)
	for _, r := range rows {
		r.Took = time.Duration(r.ticks) * 100
		attempts[r.message] = append(attempts[r.message], r.TracedAttempt)
	}
	return attempts, nil
}

// tracedAttempt is a stored attempt.
type tracedAttempt struct {
	admin.TracedAttempt
	message int64
	ticks   int64 // duration
}

func tracedAttemptFields(r *tracedAttempt) []any {
	return []any{&r.message, &r.Number, &r.Code, &r.Message, &r.ticks, (*appdb.Time)(&r.At)}
}

// addTracedEvents adds the events of changes that have no message in the trace.
func (a *Admin) addTracedEvents(ctx context.Context, t *admin.Trace) error {
	var ids []int64
	for _, c := range t.Changes {
		if c.EventID != 0 && t.Events[c.EventID] == nil {
			ids = append(ids, c.EventID)
		}
	}
	events, err := appdb.QueryAll(ctx, a.db, scanInto(tracedEventFields), tracedEvents+a.db.InList, a.db.ListArg(ids))
	for _, e := range events {
		t.Events[e.ID] = &e
	}
	return a.fault(err, "reading the events of a key")
}

func tracedEventFields(e *webhook.Event) []any {
	return []any{&e.ID, &e.GUID, &e.Name, (*appdb.Time)(&e.AddedAt)}
}
