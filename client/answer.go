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

// fetch sends a request, with a JSON body unless request is nil, and decodes the reply into a
// value of type T.
func fetch[T any](ctx context.Context, c *Client, method, path string, request any) (T, error) {
	return answer[T](ctx, c, call{method: method, path: path}, request)
}

// answer is like fetch, for requests with further properties.
func answer[T any](ctx context.Context, c *Client, req call, request any) (T, error) {
	document, _, err := answerWithHeader[T](ctx, c, req, request)
	return document, err
}

// answerWithHeader is like answer and returns the header of the reply, too.
func answerWithHeader[T any](
	ctx context.Context, c *Client, req call, request any,
) (document T, header http.Header, err error) {
	req.accept = mediaJSON
	if request != nil {
		req.body, err = json.Marshal(request)
		if err != nil {
			return document, nil, err
		}
	}
	reply, err := c.do(ctx, req)
	if err != nil {
		return document, nil, err
	}
	defer reply.Body.Close()

	ignored := reply.Header.Get(wire.HeaderIgnoredMembers)
	if ignored != "" && c.options.Ignored != nil {
		c.options.Ignored(ignored)
	}
	err = readDocument(reply, &document)
	return document, reply.Header, err
}

// confirm sends a request and ignores the body of the reply.
func (c *Client) confirm(ctx context.Context, req call) error {
	req.accept = mediaJSON
	reply, err := c.do(ctx, req)
	if err != nil {
		return err
	}
	return reply.Body.Close()
}

var errNullReply = errors.New("the reply is null")

// readDocument decodes the JSON document of a reply. A null, as sent by some proxies, is an error.
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
