package client

import (
	"context"

	"github.com/bizhook/whd/client/wire"
)

// Info returns the version, time, features and limits of the service.
func (c *Client) Info(ctx context.Context) (*wire.Info, error) {
	return get[*wire.Info](ctx, c, "/Info")
}

// Settings returns the settings that can change while the service runs.
func (c *Client) Settings(ctx context.Context) ([]wire.Setting, error) {
	return get[[]wire.Setting](ctx, c, "/Settings")
}
