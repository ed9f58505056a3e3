package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/bizhook/whd/client/wire"
)

// Users lists the users by name. This, and all that changes accounts, takes the
// role admin; others see and change themselves.
func (c *Client) Users(ctx context.Context) ([]wire.User, error) {
	return fetch[[]wire.User](ctx, c, http.MethodGet, "/Users", nil)
}

// User finds one user.
func (c *Client) User(ctx context.Context, name string) (*wire.User, error) {
	return fetch[*wire.User](ctx, c, http.MethodGet, userPath(name), nil)
}

func userPath(name string) string { return "/Users/" + url.PathEscape(name) }

// AddUser adds a user.
func (c *Client) AddUser(ctx context.Context, request wire.UserRequest) (*wire.User, error) {
	return fetch[*wire.User](ctx, c, http.MethodPost, "/Users", request)
}

// UpdateUser changes what is not nil of a user. Another password ends the
// user's sessions.
func (c *Client) UpdateUser(ctx context.Context, name string, request wire.UserRequest) (*wire.User, error) {
	return fetch[*wire.User](ctx, c, http.MethodPatch, userPath(name), request)
}

// RemoveUser removes a user and ends the user's sessions.
func (c *Client) RemoveUser(ctx context.Context, name string) error {
	return c.confirm(ctx, call{method: http.MethodDelete, path: userPath(name)})
}

// APIKeys lists the API keys by name, without the keys themselves.
func (c *Client) APIKeys(ctx context.Context) ([]wire.APIKey, error) {
	return fetch[[]wire.APIKey](ctx, c, http.MethodGet, "/ApiKeys", nil)
}

// AddAPIKey makes an API key. Its Key is never shown again.
func (c *Client) AddAPIKey(ctx context.Context, request wire.APIKeyRequest) (*wire.APIKey, error) {
	return fetch[*wire.APIKey](ctx, c, http.MethodPost, "/ApiKeys", request)
}

// RemoveAPIKey ends an API key, by its id or its name.
func (c *Client) RemoveAPIKey(ctx context.Context, idOrName string) error {
	return c.confirm(ctx, call{method: http.MethodDelete, path: "/ApiKeys/" + url.PathEscape(idOrName)})
}

// CurrentSession is who the client is to the service.
func (c *Client) CurrentSession(ctx context.Context) (*wire.CurrentSession, error) {
	return fetch[*wire.CurrentSession](ctx, c, http.MethodGet, "/Sessions/Current", nil)
}

// KeepAlive lets the session go on for as long as it may be unused.
func (c *Client) KeepAlive(ctx context.Context) error {
	return c.confirm(ctx, call{method: http.MethodGet, path: "/KeepAlive"})
}

// fetch sends one request with a JSON body, if any, and reads the document that
// answers it.
func fetch[T any](ctx context.Context, c *Client, method, path string, request any) (document T, err error) {
	return answer[T](ctx, c, call{method: method, path: path}, request)
}

// answer sends one request with a JSON body, if any, and reads the document that it
// answers.
func answer[T any](ctx context.Context, c *Client, what call, request any) (document T, err error) {
	what.accept = mediaJSON
	if request != nil {
		if what.body, err = json.Marshal(request); err != nil {
			return document, err
		}
	}
	reply, err := c.do(ctx, what)
	if err != nil {
		return document, err
	}
	defer reply.Body.Close()
	err = readDocument(reply, &document)
	return document, err
}

// confirm sends one request whose answer is its success.
func (c *Client) confirm(ctx context.Context, what call) error {
	what.accept = mediaJSON
	reply, err := c.do(ctx, what)
	if err != nil {
		return err
	}
	return reply.Body.Close()
}
