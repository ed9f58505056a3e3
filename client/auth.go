package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/bizhook/whd/client/wire"
)

// maxDocument limits the size of a reply other than rows, in bytes.
const maxDocument = 16 << 20

// Login starts a session, which all later calls of the client use.
func (c *Client) Login(ctx context.Context, user, password string) (*wire.AuthenticateResponse, error) {
	req := call{method: http.MethodPost, path: "/auth", session: true, bare: true}
	credentials := map[string]string{"UserName": user, "Password": password}
	session, err := answer[*wire.AuthenticateResponse](ctx, c, req, credentials)
	if err != nil {
		return nil, err
	}
	c.session.Store(&session.SessionID)
	return session, nil
}

// Logout ends the session that Login started.
func (c *Client) Logout(ctx context.Context) error {
	err := c.confirm(ctx, call{method: http.MethodPost, path: "/auth/logout", session: true})
	if err == nil {
		c.session.Store(nil)
	}
	return err
}

// sessionExpired reports whether a call failed because of an expired session that can be renewed.
func (c *Client) sessionExpired(session *string, err error) bool {
	hasPassword := c.options.User != "" && c.options.Password != ""
	return session != nil && hasPassword && statusOf(err) == http.StatusUnauthorized
}

// renew replaces an expired session, unless another call has done so.
func (c *Client) renew(ctx context.Context, expired *string) error {
	c.renewal.Lock()
	defer c.renewal.Unlock()
	if c.session.Load() != expired {
		return nil
	}
	session, err := c.Login(ctx, c.options.User, c.options.Password)
	if err == nil && c.options.Renewed != nil {
		c.options.Renewed(session.SessionID)
	}
	return err
}

var errNullReply = errors.New("the reply is null")

func readDocument(reply *http.Response, document any) error {
	text, err := jsonBody(reply, maxDocument)
	if err != nil {
		return err
	}
	if bytes.Equal(bytes.TrimSpace(text), []byte("null")) {
		return truncated(reply, errNullReply, "the reply is null")
	}
	if err := json.Unmarshal(text, document); err != nil {
		return truncated(reply, err, "the reply is not valid")
	}
	return nil
}
