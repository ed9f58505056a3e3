package client

import (
	"context"
	"net/http"

	"github.com/bizhook/whd/client/wire"
)

// Login starts a session, which all later calls of the client use. If it is of another user
// than Options.User, it is not renewed.
func (c *Client) Login(ctx context.Context, user, password string) (*wire.AuthenticateResponse, error) {
	reply, err := c.authenticate(ctx, user, password)
	if err != nil {
		return nil, err
	}
	c.session.Store(&session{id: reply.SessionID, renews: user == c.options.User})
	return reply, nil
}

// authenticate starts a session.
func (c *Client) authenticate(
	ctx context.Context, user, password string,
) (*wire.AuthenticateResponse, error) {
	req := call{
		method:  http.MethodPost,
		path:    "/auth",
		body:    map[string]string{"UserName": user, "Password": password},
		session: true,
		bare:    true,
	}
	var reply *wire.AuthenticateResponse
	err := c.do(ctx, req, &reply)
	return reply, err
}

// SignIn starts a session and returns a client that uses it, while calls of c keep their
// credentials. The new client has the other options of c and shares its connections. It has
// no password: once the session has expired, its calls fail.
func (c *Client) SignIn(ctx context.Context, user, password string) (*Client, *wire.AuthenticateResponse, error) {
	reply, err := c.authenticate(ctx, user, password)
	if err != nil {
		return nil, nil, err
	}
	return c.with(c.options.withoutCredentials(), &session{id: reply.SessionID}), reply, nil
}

// WithSessionOf returns a client that uses the session of another client of the same service,
// and has the other options of c. If the other client has no session, it returns c.
func (c *Client) WithSessionOf(other *Client) *Client {
	current := other.session.Load()
	if current == nil {
		return c
	}
	if current.renews {
		return c.with(c.options, current)
	}
	return c.with(c.options.withoutCredentials(), current)
}

// withoutCredentials returns the options for a session that cannot be renewed.
func (o Options) withoutCredentials() Options {
	o.Token = ""
	o.User = ""
	o.Password = ""
	o.Session = ""
	o.Renewed = nil
	return o
}

// Logout ends the session that Login started.
func (c *Client) Logout(ctx context.Context) error {
	err := c.do(ctx, call{method: http.MethodPost, path: "/auth/logout", session: true}, nil)
	if err == nil {
		c.session.Store(nil)
	}
	return err
}

// sessionExpired reports whether a call failed because of an expired session that can be renewed.
func (c *Client) sessionExpired(used *session, err error) bool {
	hasPassword := c.options.User != "" && c.options.Password != ""
	return used != nil && used.renews && hasPassword && statusOf(err) == http.StatusUnauthorized
}

// renew replaces an expired session, unless another call has done so. It reports whether
// the current session is of the same user.
func (c *Client) renew(ctx context.Context, expired *session) (isSameUser bool, err error) {
	c.renewal.Lock()
	defer c.renewal.Unlock()
	if current := c.session.Load(); current != expired {
		return current != nil && current.renews, nil
	}
	reply, err := c.authenticate(ctx, c.options.User, c.options.Password)
	if err != nil {
		return false, err
	}
	isCurrent := c.session.CompareAndSwap(expired, &session{id: reply.SessionID, renews: true})
	if isCurrent && c.options.Renewed != nil {
		c.options.Renewed(reply.SessionID)
	}
	return isCurrent, nil
}
