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

const settingsPath = "/Settings"

// Settings lists the settings that may change while the service runs.
func (c *Client) Settings(ctx context.Context) ([]wire.Setting, error) {
	return fetch[[]wire.Setting](ctx, c, http.MethodGet, settingsPath, nil)
}

// ChangeSettings gives settings, by name, other values: texts, numbers, bools or
// lists of texts; nil takes a setting back to what the service's file or the
// default says. All are changed or none. It lists the settings as they are then.
func (c *Client) ChangeSettings(ctx context.Context, values map[string]any) ([]wire.Setting, error) {
	return fetch[[]wire.Setting](ctx, c, http.MethodPatch, settingsPath, values)
}
