package webhooks

import (
	"context"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
)

// queueStates has the states of the queues by the IDs of their subscriptions. They are requested
// when the first one is shown, which is only on a terminal, and are empty without the role admin.
type queueStates struct {
	fetch func() (*wire.Stats, error)
	byID  map[string]wire.Queue // nil until they are requested
}

// connect sets the service with the states.
func (q *queueStates) connect(ctx context.Context, service *client.Client) {
	q.fetch = func() (*wire.Stats, error) { return service.Stats(ctx, time.Hour) }
}

// of returns the state of the queue of a subscription; the zero value if it is not known.
func (q *queueStates) of(subscriptionID string) wire.Queue {
	if q.byID == nil {
		q.byID = make(map[string]wire.Queue)
		if stats, err := q.fetch(); err == nil {
			for _, queue := range stats.Queues {
				q.byID[queue.SubscriptionID] = queue
			}
		}
	}
	return q.byID[subscriptionID]
}
