package client

import (
	"context"
	"net/http"

	"github.com/bizhook/whd/client/wire"
)

// Info is what the service says of itself: its version, its time, what it can do
// and the bounds of what it can be asked.
func (c *Client) Info(ctx context.Context) (*wire.Info, error) {
	return fetch[*wire.Info](ctx, c, http.MethodGet, "/Info", nil)
}

// Settings lists the settings that may change while the service runs.
func (c *Client) Settings(ctx context.Context) ([]wire.Setting, error) {
	return fetch[[]wire.Setting](ctx, c, http.MethodGet, "/Settings", nil)
}
