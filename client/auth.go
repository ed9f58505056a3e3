package client

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/bizhook/whd/client/wire"
)

// maxDocument is the size that a reply other than rows may have.
const maxDocument = 16 << 20

// Login starts a session, which all later calls of the client carry.
func (c *Client) Login(ctx context.Context, user, password string) (*wire.AuthenticateResponse, error) {
	body, err := json.Marshal(map[string]string{"UserName": user, "Password": password})
	if err != nil {
		return nil, err
	}
	reply, err := c.do(ctx, call{method: http.MethodPost, path: "/auth", accept: mediaJSON, body: body, bare: true})
	if err != nil {
		return nil, err
	}
	defer reply.Body.Close()
	var session wire.AuthenticateResponse
	if err := readDocument(reply, &session); err != nil {
		return nil, err
	}
	c.session.Store(&session.SessionID)
	return &session, nil
}

// Logout ends the session that Login started.
func (c *Client) Logout(ctx context.Context) error {
	reply, err := c.do(ctx, call{method: http.MethodPost, path: "/auth/logout", accept: mediaJSON})
	if err != nil {
		return err
	}
	c.session.Store(nil)
	return reply.Body.Close()
}

func readDocument(reply *http.Response, document any) error {
	if err := expect(reply, mediaJSON); err != nil {
		return err
	}
	text, err := jsonBody(reply, maxDocument)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, document); err != nil {
		return cut(reply, err, "the reply cannot be read")
	}
	return nil
}
