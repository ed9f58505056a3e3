package delivery

import (
	"encoding/json"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/webhook"
)

// incidentInterval is the minimum time between two events of the same name about an endpoint. Without
// it, an endpoint that fails for each message would cause as many events as there are messages.
const incidentInterval = time.Minute

// incident is an event about the deliveries of a queue, to be published with the next batch.
type incident struct {
	name string
	body any // of webhook.ServiceBodies
}

// incidents is the state from which this daemon decides which events about the deliveries of a queue it
// publishes.
type incidents struct {
	published map[string]time.Time // when an event was published last, by name
	awaited   map[string]bool      // events that follow at the end of the interval, by name

	// The last published event about the endpoint is that it fails, or else that it has recovered. If an
	// earlier process has published it, it is not known.
	publishedFailing bool
	publishedUnknown bool

	lastOutcome webhook.Outcome           // for an awaited event about the endpoint; without its text
	lastFailed  webhook.MessageFailedBody // about the last message that failed for good
	unreported  int                       // messages that failed for good since the last event about one
}

// wait returns how long no event of a name is possible, 0 if one is.
func (i *incidents) wait(name string, now time.Time) time.Duration {
	last, ok := i.published[name]
	if !ok {
		return 0
	}
	return max(0, last.Add(incidentInterval).Sub(now))
}

// note records that an event is published.
func (i *incidents) note(name string, now time.Time) {
	if i.published == nil {
		i.published = make(map[string]time.Time)
	}
	i.published[name] = now
}

// mayReport reports whether there are events about the deliveries of a subscription. There are none about
// the deliveries of such events: a receiver of them that fails would cause the next one.
func mayReport(sub *webhook.Subscription) bool {
	return sub != nil && !record.IsServiceEvent(sub.Pattern)
}

// reportFailed publishes that a message has failed for good. If there was such an event within the
// interval, the message is counted, and the event at its end names the last one. A test causes no event,
// since its sender sees the result. The lock of the queues is held.
func (d *dispatcher) reportFailed(q *queue, m *webhook.Message, after webhook.State, o webhook.Outcome) {
	_, isTest := record.SentEvent(m.Event.Name)
	isOfService := record.IsServiceEvent(m.Event.Name) // made before the subscription's pattern was changed
	if isTest || isOfService || !mayReport(q.sub) {
		return
	}
	q.incidents.unreported++
	q.incidents.lastFailed = webhook.MessageFailedBody{
		SubscriptionID: q.sub.GUID,
		SubscriberName: q.sub.SubscriberInfo.Name,
		EventName:      m.Event.Name,
		MessageID:      m.GUID,
		EventID:        m.Event.GUID,
		Key:            m.Event.Key,
		HTTPCode:       o.Code,
		Reason:         o.Reason(),
		Attempts:       after.Attempts,
		At:             d.Now().UTC(),
	}
	d.reportUnreported(q)
}

// reportUnreported publishes an event about the messages that have failed for good since the last
// one, now or at the end of the interval. The lock of the queues is held.
func (d *dispatcher) reportUnreported(q *queue) {
	i := &q.incidents
	if !mayReport(q.sub) { // the subscription was changed while they waited
		i.unreported = 0
	}
	if i.unreported == 0 {
		return
	}
	now := d.Now()
	if wait := i.wait(record.MessageFailed, now); wait > 0 {
		d.reportLater(q, record.MessageFailed, wait)
		return
	}
	body := i.lastFailed
	body.OtherMessages = i.unreported - 1
	i.unreported = 0
	i.note(record.MessageFailed, now)
	d.pending.report(incident{name: record.MessageFailed, body: body})
}

// reportEndpoint publishes that an endpoint fails, or that it has recovered, unless that was published
// last. An event that is not possible yet follows at the end of the interval, if it is still
// true then. The lock of the queues is held.
func (d *dispatcher) reportEndpoint(q *queue, o webhook.Outcome) {
	name := endpointEvent(q)
	if name == "" || !mayReport(q.sub) {
		return
	}
	i := &q.incidents
	now := d.Now()
	if wait := i.wait(name, now); wait > 0 {
		i.lastOutcome = webhook.Outcome{Code: o.Code, Cause: o.Cause}
		d.reportLater(q, name, wait)
		return
	}
	i.note(name, now)
	i.publishedFailing = name == record.EndpointFailing
	i.publishedUnknown = false
	if i.publishedFailing {
		d.pending.report(incident{name: name, body: failingBody(q, o, now)})
	} else {
		d.pending.report(incident{name: name, body: recoveredBody(q, now)})
	}
}

// endpointEvent returns the event that describes the present state of the endpoint of a queue; empty if
// it was published last, or if neither of the two does.
func endpointEvent(q *queue) string {
	isFailing := q.endpoint.breaker.open()
	isPublished := q.incidents.publishedFailing == isFailing && !q.incidents.publishedUnknown
	if isPublished {
		return ""
	}
	if isFailing {
		return record.EndpointFailing
	}
	if q.endpoint.failing() { // the breaker is closed, but no message was accepted since the failures
		return ""
	}
	return record.EndpointRecovered
}

// failingBody returns the body of the event that an endpoint fails. The lock of the queues is held.
func failingBody(q *queue, o webhook.Outcome, now time.Time) webhook.EndpointFailingBody {
	body := webhook.EndpointFailingBody{
		SubscriptionID: q.sub.GUID,
		SubscriberName: q.sub.SubscriberInfo.Name,
		EventName:      q.sub.Pattern,
		HTTPCode:       o.Code,
		Reason:         o.Reason(),
		At:             now.UTC(),
	}
	if q.endpoint.failing() {
		body.FailingSince = q.endpoint.health.since.UTC()
	}
	return body
}

// recoveredBody returns the body of the event that an endpoint has recovered. The lock of the queues is
// held.
func recoveredBody(q *queue, now time.Time) webhook.EndpointRecoveredBody {
	return webhook.EndpointRecoveredBody{
		SubscriptionID: q.sub.GUID,
		SubscriberName: q.sub.SubscriberInfo.Name,
		EventName:      q.sub.Pattern,
		At:             now.UTC(),
	}
}

// reportLater publishes an event after a while, unless it is outdated then. The lock of the queues is
// held.
func (d *dispatcher) reportLater(q *queue, name string, wait time.Duration) {
	i := &q.incidents
	if i.awaited[name] {
		return
	}
	if i.awaited == nil {
		i.awaited = make(map[string]bool)
	}
	i.awaited[name] = true
	time.AfterFunc(wait, func() {
		d.queues.mu.Lock()
		defer d.queues.mu.Unlock()
		if !d.queues.stopped {
			d.reportAwaited(q, name)
		}
	})
}

// reportAwaited publishes an event that had to wait. Of the two about the endpoint, its present state
// decides which one follows, if any. The lock of the queues is held.
func (d *dispatcher) reportAwaited(q *queue, name string) {
	if !q.incidents.awaited[name] {
		return
	}
	delete(q.incidents.awaited, name)
	if name == record.MessageFailed {
		d.reportUnreported(q)
		return
	}
	d.reportEndpoint(q, q.incidents.lastOutcome)
}

// reportAll publishes all events that wait, before their time: nothing remembers them once the
// process has ended. No attempts are in flight.
func (d *dispatcher) reportAll() {
	d.queues.mu.Lock()
	defer d.queues.mu.Unlock()
	for _, q := range d.queues.byID {
		q.incidents.published = nil // so that nothing has to wait
		for name := range q.incidents.awaited {
			d.reportAwaited(q, name)
		}
	}
}

// publication returns the event of an incident.
func (i incident) publication(now time.Time) *publication {
	body, err := json.Marshal(i.body)
	if err != nil {
		panic("webhook: " + err.Error()) // texts and times up to the year 9999 can be encoded
	}
	return newPublication(Post{Name: i.name, Body: body}, now)
}
