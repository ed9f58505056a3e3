package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/bizhook/whd/client/wire"
)

// get sends a GET request and decodes the reply.
func get[T any](ctx context.Context, c *Client, path string) (T, error) {
	var result T
	err := c.do(ctx, call{method: http.MethodGet, path: path}, &result)
	return result, err
}

// post sends a POST request with a JSON body and decodes the reply.
func post[T any](ctx context.Context, c *Client, path string, body any) (T, error) {
	var result T
	err := c.do(ctx, call{method: http.MethodPost, path: path, body: body}, &result)
	return result, err
}

// patch sends a PATCH request with a JSON body and decodes the reply.
func patch[T any](ctx context.Context, c *Client, path string, body any) (T, error) {
	var result T
	err := c.do(ctx, call{method: http.MethodPatch, path: path, body: body}, &result)
	return result, err
}

// delete sends a DELETE request.
func (c *Client) delete(ctx context.Context, path string) error {
	return c.do(ctx, call{method: http.MethodDelete, path: path}, nil)
}

// do sends a request and decodes the JSON document of the reply into result. If that is nil, it
// ignores the body of the reply.
func (c *Client) do(ctx context.Context, req call, result any) error {
	reply, err := c.send(ctx, req)
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	if result == nil {
		return nil
	}
	return c.decode(reply, result)
}

var errNullReply = errors.New("the response is null")

// decode decodes the JSON document of a reply, and reports the members that the service ignored.
// A null, as sent by some proxies, is an error.
func (c *Client) decode(reply *http.Response, document any) error {
	ignored := reply.Header.Get(wire.HeaderIgnoredMembers)
	if ignored != "" && c.options.Ignored != nil {
		c.options.Ignored(ignored)
	}
	text, err := jsonBody(reply, maxDocument)
	if err != nil {
		return err
	}
	if bytes.Equal(bytes.TrimSpace(text), []byte("null")) {
		return truncated(reply, errNullReply, "the response is null")
	}
	if err := json.Unmarshal(text, document); err != nil {
		return truncated(reply, err, "the response is not valid")
	}
	return nil
}

// Limits of the replies of the service, in bytes. They bound the memory that another program
// at its address can take.
const (
	maxErrorReply = 1 << 20   // body of an error; larger than any of the service
	maxDocument   = 16 << 20  // body of a reply without rows
	maxPage       = 256 << 20 // body of a reply with a page of rows or changes
	maxRow        = 256 << 20 // row of a reply that is read row by row
	maxEvent      = 64 << 10  // line, and data, of an event of a stream
)

// jsonBody reads the JSON document of a reply.
func jsonBody(reply *http.Response, limit int64) ([]byte, error) {
	if err := expect(reply, mediaJSON); err != nil {
		return nil, err
	}
	var text bytes.Buffer
	n, err := text.ReadFrom(http.MaxBytesReader(nil, reply.Body, limit))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		message := fmt.Sprintf("the response is larger than %d MiB: request fewer rows", limit>>20)
		return nil, &Error{Kind: Failed, Status: reply.StatusCode, Message: message}
	}
	if err != nil {
		return nil, truncated(reply, err, fmt.Sprintf("incomplete response: aborted after %d bytes", n))
	}
	return text.Bytes(), nil
}

// withQuery returns a path with members as its query string.
func withQuery(path string, members url.Values) string {
	if len(members) == 0 {
		return path
	}
	return path + "?" + members.Encode()
}
