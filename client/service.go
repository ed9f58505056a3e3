package client

import (
	"context"
	"net/http"

	"github.com/bizhook/whd/client/wire"
)

// Info returns the version, time, features and limits of the service.
func (c *Client) Info(ctx context.Context) (*wire.Info, error) {
	return fetch[*wire.Info](ctx, c, http.MethodGet, "/Info", nil)
}

// Settings returns the settings that can change while the service runs.
func (c *Client) Settings(ctx context.Context) ([]wire.Setting, error) {
	return fetch[[]wire.Setting](ctx, c, http.MethodGet, "/Settings", nil)
}
