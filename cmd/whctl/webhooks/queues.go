package webhooks

import (
	"context"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
)

// queues are the queues of subscriptions by ID. They are fetched when the first one is shown,
// on a terminal only, and are empty without the role admin.
type queues struct {
	fetch func() (*wire.Stats, error)
	known map[string]wire.Queue // nil before
}

// from fetches the queues from a service.
func (q *queues) from(ctx context.Context, service *client.Client) {
	q.fetch = func() (*wire.Stats, error) { return service.Stats(ctx, time.Hour) }
}

func (q *queues) of(id string) wire.Queue {
	if q.known == nil {
		q.known = make(map[string]wire.Queue)
		if stats, err := q.fetch(); err == nil {
			for _, queue := range stats.Queues {
				q.known[queue.SubscriptionID] = queue
			}
		}
	}
	return q.known[id]
}
