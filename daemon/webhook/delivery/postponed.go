package delivery

import (
	"time"

	"github.com/bizhook/whd/daemon/webhook"
)

// maxPostponed limits the messages of a queue that are remembered as postponed. Their endpoint
// holds back all others after the first one, so that there are few.
const maxPostponed = 1000

// postponedMessage is a message with a next attempt that is later than by its schedule, because a response
// had Retry-After.
type postponedMessage struct {
	retries int
	next    time.Time
}

// isPostponed reports whether Retry-After moves the next attempt after an outcome, which is decided
// with the policy and spread.
func isPostponed(m *webhook.Message, o webhook.Outcome, p webhook.Policy, after webhook.State, now time.Time, spread float64) bool {
	if after.Status != webhook.RetryPending || o.RetryAfter == 0 {
		return false
	}
	p.RetryAfterMax = 0
	return after.Next.After(webhook.Decide(m.State, o, p, now, spread).Next)
}

// addPostponed notes that a message waits as its endpoint has requested.
func (q *queue) addPostponed(m *webhook.Message) {
	if len(q.postponed) < maxPostponed {
		q.postponed[m.ID] = postponedMessage{retries: m.Retries(), next: m.Next}
	}
}

// noteWaits notes which messages of a queue with an order, which are read although they are not due,
// wait longer than by their schedule: their endpoint has requested that before a restart. They are
// forgotten shortly before they are due.
func (q *queue) noteWaits(messages []*webhook.Message, p webhook.Policy, now time.Time) {
	if !q.inOrder() {
		return
	}
	for _, m := range messages {
		if isLate(m, p, now) {
			q.addPostponed(m)
		}
	}
}

// isLate reports whether the next attempt of a message is later than by the schedule of a policy.
func isLate(m *webhook.Message, p webhook.Policy, now time.Time) bool {
	if m.Status != webhook.RetryPending || m.Attempts == 0 || m.Attempts > p.MaxRetries() {
		return false
	}
	longest := time.Duration(float64(p.Schedule[m.Attempts-1]) * (1 + p.Jitter))
	return m.Next.Sub(now) > longest
}

// postponedRetries returns the numbers of retries of the messages that wait as their endpoint has requested,
// by ID.
func (q *queue) postponedRetries(now time.Time) map[int64]int {
	retries := make(map[int64]int)
	for id, m := range q.postponed {
		if !m.next.After(now) {
			delete(q.postponed, id)
			continue
		}
		retries[id] = m.retries
	}
	return retries
}

// requestedWait returns the end of a wait that Retry-After requested, zero if there is none. In a
// queue that is ordered by subscription all messages wait for the one that got the response.
func (q *queue) requestedWait(now time.Time) time.Time {
	until := q.endpoint.requestedWait(now)
	if !q.ordered() {
		return until
	}
	for _, m := range q.postponed {
		if m.next.After(now) && m.next.After(until) {
			until = m.next
		}
	}
	return until
}
