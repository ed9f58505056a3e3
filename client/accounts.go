package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/bizhook/whd/client/wire"
)

// Users returns the users by name. This and all changes of accounts require the role
// admin, except that users can read and change their own account.
func (c *Client) Users(ctx context.Context) ([]wire.User, error) {
	return fetch[[]wire.User](ctx, c, http.MethodGet, "/Users", nil)
}

// User returns a user.
func (c *Client) User(ctx context.Context, name string) (*wire.User, error) {
	return fetch[*wire.User](ctx, c, http.MethodGet, userPath(name), nil)
}

func userPath(name string) string { return "/Users/" + url.PathEscape(name) }

// AddUser creates a user.
func (c *Client) AddUser(ctx context.Context, request wire.UserRequest) (*wire.User, error) {
	return fetch[*wire.User](ctx, c, http.MethodPost, "/Users", request)
}

// UpdateUser updates the members of a user that are not nil. A new password ends the
// user's sessions.
func (c *Client) UpdateUser(ctx context.Context, name string, request wire.UserRequest) (*wire.User, error) {
	return fetch[*wire.User](ctx, c, http.MethodPatch, userPath(name), request)
}

// RemoveUser deletes a user and ends the user's sessions.
func (c *Client) RemoveUser(ctx context.Context, name string) error {
	return c.confirm(ctx, call{method: http.MethodDelete, path: userPath(name)})
}

// APIKeys returns the API keys by name, without their secrets.
func (c *Client) APIKeys(ctx context.Context) ([]wire.APIKey, error) {
	return fetch[[]wire.APIKey](ctx, c, http.MethodGet, "/ApiKeys", nil)
}

// APIKey returns an API key by ID or name, without its secret.
func (c *Client) APIKey(ctx context.Context, idOrName string) (*wire.APIKey, error) {
	return fetch[*wire.APIKey](ctx, c, http.MethodGet, keyPath(idOrName), nil)
}

// AddAPIKey creates an API key. Only this reply has its Key.
func (c *Client) AddAPIKey(ctx context.Context, request wire.APIKeyRequest) (*wire.APIKey, error) {
	return fetch[*wire.APIKey](ctx, c, http.MethodPost, "/ApiKeys", request)
}

// RemoveAPIKey deletes an API key by ID or name.
func (c *Client) RemoveAPIKey(ctx context.Context, idOrName string) error {
	return c.confirm(ctx, call{method: http.MethodDelete, path: keyPath(idOrName)})
}

func keyPath(idOrName string) string { return "/ApiKeys/" + url.PathEscape(idOrName) }

// CurrentSession returns the user, role and session of the client.
func (c *Client) CurrentSession(ctx context.Context) (*wire.CurrentSession, error) {
	return fetch[*wire.CurrentSession](ctx, c, http.MethodGet, "/Sessions/Current", nil)
}

// KeepAlive restarts the idle timeout of the session.
func (c *Client) KeepAlive(ctx context.Context) error {
	return c.confirm(ctx, call{method: http.MethodGet, path: "/KeepAlive"})
}
