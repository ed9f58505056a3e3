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
	return get[[]wire.User](ctx, c, "/Users")
}

// User returns a user.
func (c *Client) User(ctx context.Context, name string) (*wire.User, error) {
	return get[*wire.User](ctx, c, userPath(name))
}

func userPath(name string) string { return "/Users/" + url.PathEscape(name) }

// AddUser creates a user.
func (c *Client) AddUser(ctx context.Context, request wire.UserRequest) (*wire.User, error) {
	return post[*wire.User](ctx, c, "/Users", request)
}

// UpdateUser updates the members of a user that are not nil. A new password ends the
// user's sessions.
func (c *Client) UpdateUser(ctx context.Context, name string, request wire.UserRequest) (*wire.User, error) {
	return patch[*wire.User](ctx, c, userPath(name), request)
}

// RemoveUser deletes a user and ends the user's sessions.
func (c *Client) RemoveUser(ctx context.Context, name string) error {
	return c.delete(ctx, userPath(name))
}

// APIKeys returns the API keys by name, without their secrets.
func (c *Client) APIKeys(ctx context.Context) ([]wire.APIKey, error) {
	return get[[]wire.APIKey](ctx, c, "/ApiKeys")
}

// APIKey returns an API key by ID or name, without its secret.
func (c *Client) APIKey(ctx context.Context, idOrName string) (*wire.APIKey, error) {
	return get[*wire.APIKey](ctx, c, keyPath(idOrName))
}

// AddAPIKey creates an API key. Only this reply has its Key.
func (c *Client) AddAPIKey(ctx context.Context, request wire.APIKeyRequest) (*wire.APIKey, error) {
	return post[*wire.APIKey](ctx, c, "/ApiKeys", request)
}

// RemoveAPIKey deletes an API key by ID or name.
func (c *Client) RemoveAPIKey(ctx context.Context, idOrName string) error {
	return c.delete(ctx, keyPath(idOrName))
}

func keyPath(idOrName string) string { return "/ApiKeys/" + url.PathEscape(idOrName) }

// CurrentSession returns the user, role and session of the client.
func (c *Client) CurrentSession(ctx context.Context) (*wire.CurrentSession, error) {
	return get[*wire.CurrentSession](ctx, c, "/Sessions/Current")
}

// KeepAlive restarts the idle timeout of the session.
func (c *Client) KeepAlive(ctx context.Context) error {
	return c.do(ctx, call{method: http.MethodGet, path: "/KeepAlive"}, nil)
}
