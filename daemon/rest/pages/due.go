package pages

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/webhook"
)

// When the next attempt of a message takes place that is due.
const (
	dueNow      = "due"
	onceEnabled = "once enabled"
	inItsTurn   = "in its turn" // the messages before it come first
	onceAllowed = "held"        // the owner of the subscription may not read it
	afterPause  = "deliveries are paused"
)

// isDue reports whether an open message can be sent now.
func isDue(x *edge.Context, m *wire.Message) bool {
	return webhook.Status(m.Status).Open() && !time.Time(m.NextAttemptDateTime).After(x.Timing.Start)
}

// next describes when an open message is sent, empty if it is not open.
func next(x *edge.Context, m *wire.Message) string {
	if !webhook.Status(m.Status).Open() {
		return ""
	}
	if isDue(x, m) {
		return dueNow
	}
	return ago(x, m.NextAttemptDateTime).Words
}

// dueWords describes when a message of an event is sent that is due. queue is nil if nothing is known
// about its subscription: beyond the queues that the statistics list, and beyond maxSubscriptions of a
// subscriber, messages just appear as due.
func dueWords(x *edge.Context, queue *wire.Queue, arePaused bool, event string) string {
	if queue != nil && (!queue.IsEnabled || queue.DisabledReason != "") {
		return onceEnabled // which remains after a pause
	}
	if arePaused {
		return afterPause
	}
	if queue == nil {
		return dueNow
	}
	isWaiting := !time.Time(queue.WaitUntilDateTime).IsZero()
	limited := rateWords(x, queue)
	switch {
	case slices.Contains(queue.HeldEvents, event):
		return onceAllowed
	case queue.Breaker == wire.BreakerOpen:
		return "paused, next try " + soon(x, queue.NextProbeDateTime)
	case isWaiting:
		return "paused as requested, next try " + soon(x, queue.WaitUntilDateTime)
	case limited != "":
		return limited
	case queue.Ordered || queue.OrderedByKey:
		return inItsTurn
	default:
		return dueNow
	}
}

// queueStates has the known states of the queues of subscriptions.
type queueStates struct {
	bySubscription map[string]*wire.Queue // by the ID in lower case
	arePaused      bool                   // nothing is sent at present
}

// dueWords describes when a message is sent that is due.
func (q queueStates) dueWords(x *edge.Context, m *wire.Message) string {
	return dueWords(x, q.bySubscription[strings.ToLower(m.SubscriptionID)], q.arePaused, m.EventName)
}

// explainDue describes in the rows with due messages why these have not been sent yet. Without the
// statistics they are just due: the list is more important.
func (h messages) explainDue(x *edge.Context, list []messageRow) {
	if !slices.ContainsFunc(list, func(r messageRow) bool { return isDue(x, &r.Message) }) {
		return
	}
	states, err := h.queueStates(x)
	if err != nil {
		return
	}
	for i := range list {
		r := &list[i]
		if isDue(x, &r.Message) {
			r.Next = states.dueWords(x, &r.Message)
		}
	}
}

// queueStates returns the known states of the queues.
func (h messages) queueStates(x *edge.Context) (queueStates, error) {
	if h.visitor == nil {
		queues, stats, err := subscriptions(h).queues(x)
		if err != nil {
			return queueStates{}, err
		}
		return queueStates{queues, stats.InHand.Paused != ""}, nil
	}
	var found []wire.Subscription
	err := h.get(x, subscriberPath(*h.visitor)+"/Subscriptions", url.Values{
		query.Take: {strconv.Itoa(maxSubscriptions)},
	}, &found)
	if err != nil {
		return queueStates{}, err
	}
	states := queueStates{bySubscription: make(map[string]*wire.Queue)}
	for i := range found {
		states.bySubscription[strings.ToLower(found[i].RecID)] = queueOf(&found[i])
	}
	return states, nil
}

// queueOf returns the state of a queue as far as its subscription shows it. The statistics are for
// administrators.
func queueOf(s *wire.Subscription) *wire.Queue {
	return &wire.Queue{
		IsEnabled:      s.IsEnabled,
		DisabledReason: s.DisabledReason,
		Ordered:        s.Ordered,
		OrderedByKey:   s.OrderedByKey,
	}
}

// dueWords describes when a due message of the subscription is sent, empty if the subscription has been
// removed.
func (v *subscriptionView) dueWords(x *edge.Context, event string) string {
	if v == nil {
		return ""
	}
	if v.State.rank == rankDisabled { // perhaps since its subscriber is disabled
		return onceEnabled
	}
	queue := v.Queue
	if queue == nil {
		queue = queueOf(&v.Subscription)
	}
	return dueWords(x, queue, v.IsPaused, event)
}
