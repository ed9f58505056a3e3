package webhooks

import (
	"context"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/cmd/whctl/command"
)

// queueStates has the states of the queues by the IDs of their subscriptions, and of their
// subscribers. They are requested when the first one is shown, which is only on a terminal, and are
// empty without the role admin.
type queueStates struct {
	fetch        func() (*wire.Stats, error)
	byID         map[string]wire.Queue // nil until they are requested
	bySubscriber map[string][]wire.Queue
}

// connect sets the service with the states.
func (q *queueStates) connect(ctx context.Context, service *client.Client) {
	q.fetch = func() (*wire.Stats, error) { return service.Stats(ctx, time.Hour) }
}

// of returns the state of the queue of a subscription; the zero value if it is not known.
func (q *queueStates) of(subscriptionID string) wire.Queue {
	q.request()
	return q.byID[subscriptionID]
}

// ofSubscriber returns the states of the queues of a subscriber, as far as they are known.
func (q *queueStates) ofSubscriber(subscriberID string) []wire.Queue {
	q.request()
	return q.bySubscriber[subscriberID]
}

// request requests the states once.
func (q *queueStates) request() {
	if q.byID != nil {
		return
	}
	q.byID = make(map[string]wire.Queue)
	q.bySubscriber = make(map[string][]wire.Queue)
	stats, err := q.fetch()
	if err != nil {
		return
	}
	for _, queue := range stats.Queues {
		q.byID[queue.SubscriptionID] = queue
		q.bySubscriber[queue.SubscriberID] = append(q.bySubscriber[queue.SubscriberID], queue)
	}
}

// maxNames is the maximum number of names that are requested.
const maxNames = 1000

// subscriberNames has the names of subscribers by ID. They are requested when the first one is
// shown, which is only on a terminal, and are empty without the permission to list subscribers.
type subscriberNames struct {
	fetch func() ([]client.Row, error)
	byID  map[string]string // nil until they are requested
}

// connect sets the service with the names.
func (n *subscriberNames) connect(ctx context.Context, service *client.Client) {
	n.fetch = func() ([]client.Row, error) {
		page, err := service.Page(ctx, client.Query{
			Kind:   command.SystemKind("Subscriber"),
			Fields: []string{"RecID", "Name"},
			Take:   new(int64(maxNames)),
		})
		if err != nil {
			return nil, err
		}
		return page.Rows, nil
	}
}

// of returns the name of a subscriber; empty if it is not known.
func (n *subscriberNames) of(subscriberID string) string {
	if n.byID == nil {
		n.byID = make(map[string]string)
		if rows, err := n.fetch(); err == nil {
			for _, row := range rows {
				n.byID[row.Text("RecID")] = row.Text("Name")
			}
		}
	}
	return n.byID[subscriberID]
}
