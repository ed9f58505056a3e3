package client

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/bizhook/whd/client/wire"
)

// Stats returns webhook delivery statistics of the last window, from a minute to 24
// hours; 0 is an hour. It requires the role admin.
func (c *Client) Stats(ctx context.Context, window time.Duration) (*wire.Stats, error) {
	path := "/Webhooks/Stats"
	if window != 0 {
		path += "?" + url.Values{"Window": {window.String()}}.Encode()
	}
	stats, err := fetch[*wire.Stats](ctx, c, http.MethodGet, path, nil)
	if stats != nil && stats.Queues == nil { // an earlier daemon
		stats.QueueWindow = stats.LaneWindow
		stats.Queues = stats.Lanes
		stats.OtherQueues = stats.OtherLanes
	}
	return stats, err
}
