package delivery

import (
	"encoding/json"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/webhook"
)

// incidentInterval is the minimum time between two events of the same name about an endpoint.
const incidentInterval = time.Minute

// incidents decides which events about the endpoint of a queue this daemon publishes.
type incidents struct {
	failing   bool                 // as last published
	isUnknown bool                 // the event that an earlier process published last
	published map[string]time.Time // by name of the event
	awaited   map[string]bool      // events that follow as soon as they are possible, by name

	lastFailed  webhook.MessageFailedBody // about the last message that failed for good
	unreported  int                       // messages that failed for good since the last event about one
	lastFailure webhook.Outcome           // of the endpoint, while an event about it is awaited; without its text
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

// incident is an event about an endpoint, to be published with the next batch.
type incident struct {
	name string
	body any // of webhook.ServiceBodies
}

// mayReport reports whether events about the endpoint of a subscription are published: not about
// the deliveries of such events.
func mayReport(sub *webhook.Subscription) bool {
	return sub != nil && !record.IsServiceEvent(sub.Pattern)
}

// reportFailed publishes that a message has failed for good. If there was such an event within a
// minute, the message is counted, and the event at the end of that minute names the last one. The
// lock of the queues is held.
func (d *dispatcher) reportFailed(q *queue, m *webhook.Message, after webhook.State, o webhook.Outcome) {
	_, isTest := record.SentEvent(m.Event.Name)
	isAboutDelivery := record.IsServiceEvent(m.Event.Name) // of a pattern that was changed since
	if !mayReport(q.sub) || isTest || isAboutDelivery {
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
// one, now or at the end of the minute. The lock of the queues is held.
func (d *dispatcher) reportUnreported(q *queue) {
	i := &q.incidents
	if !mayReport(q.sub) {
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
	d.pending.report(incident{record.MessageFailed, body})
}

// reportEndpoint publishes that an endpoint fails, when its circuit breaker has opened, or that it
// accepts messages again, if that has not been published. An event that is not possible yet follows
// later, if the state is still the same then. The lock of the queues is held.
func (d *dispatcher) reportEndpoint(q *queue, o webhook.Outcome) {
	failing := q.endpoint.breaker.open()
	isPublished := failing == q.incidents.failing && !q.incidents.isUnknown
	recovers := !failing && !q.endpoint.failing()
	if isPublished || !failing && !recovers || !mayReport(q.sub) {
		return
	}
	name := record.EndpointRecovered
	if failing {
		name = record.EndpointFailing
	}
	now := d.Now()
	if wait := q.incidents.wait(name, now); wait > 0 {
		q.incidents.lastFailure = webhook.Outcome{Code: o.Code, Cause: o.Cause}
		d.reportLater(q, name, wait)
		return
	}
	q.incidents.note(name, now)
	q.incidents.failing = failing
	q.incidents.isUnknown = false
	if failing {
		d.pending.report(incident{name, failingBody(q, o, now)})
		return
	}
	d.pending.report(incident{name, webhook.EndpointRecoveredBody{
		SubscriptionID: q.sub.GUID,
		SubscriberName: q.sub.SubscriberInfo.Name,
		EventName:      q.sub.Pattern,
		At:             now.UTC(),
	}})
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

// reportLater publishes an event after a while, unless it is outdated then. The lock of
// the queues is held.
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

// reportAwaited publishes an event that had to wait. The lock of the queues is held.
func (d *dispatcher) reportAwaited(q *queue, name string) {
	if !q.incidents.awaited[name] {
		return
	}
	delete(q.incidents.awaited, name)
	if name == record.MessageFailed {
		d.reportUnreported(q)
		return
	}
	d.reportEndpoint(q, q.incidents.lastFailure)
}

// reportAll publishes all events that wait, before their time: nothing remembers them once the
// process has ended. No attempts are in flight.
func (d *dispatcher) reportAll() {
	d.queues.mu.Lock()
	defer d.queues.mu.Unlock()
	for _, q := range d.queues.byID {
		q.incidents.published = nil
		for name := range q.incidents.awaited {
			d.reportAwaited(q, name)
		}
	}
}

// publication returns the event of an incident.
func (i incident) publication(now time.Time) *publication {
	body, err := json.Marshal(i.body)
	if err != nil {
		panic("webhook: " + err.Error()) // texts and times can always be encoded
	}
	return newPublication(Post{Name: i.name, Body: body}, now)
}
