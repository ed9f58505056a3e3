package client

import (
	"context"
	"net/url"
	"time"

	"github.com/bizhook/whd/client/wire"
)

// Stats returns webhook delivery statistics of the last window, from a minute to 24
// hours; 0 is an hour. It requires the role admin.
func (c *Client) Stats(ctx context.Context, window time.Duration) (*wire.Stats, error) {
	members := make(url.Values)
	if window != 0 {
		members.Set("Window", window.String())
	}
	stats, err := get[*wire.Stats](ctx, c, withQuery("/Webhooks/Stats", members))
	if stats != nil && stats.Queues == nil { // an earlier daemon
		stats.QueueWindow = stats.LaneWindow
		stats.Queues = stats.Lanes
		stats.OtherQueues = stats.OtherLanes
	}
	return stats, err
}
