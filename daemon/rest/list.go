package rest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/rest/edge"
)

// Limits of a list of requests.
const (
	maxList         = 100     // requests
	maxListResponse = 8 << 20 // bytes of all responses, which are kept until the last one
)

// serveOneway runs the handler of the route without sending its response.
func serveOneway(x *edge.Context) error {
	part := x.Part(x.Body, &edge.Kept{Drop: true})
	err := part.Route.Serve(part)
	x.Logged.InBody = part.Logged.InBody
	x.Members = part.Members
	x.Kind = part.Kind
	x.Adopt(part)
	return x.NoContent(err)
}

// serveList runs the requests of a list one after the other, as auto-batched requests
// of ServiceStack: the response is the list of their responses, or that of the first
// error. Earlier requests are not undone; a header has their number.
func (s *Server) serveList(x *edge.Context) error {
	if x.Format.Binary && !x.Route.Oneway { // it may have no room for the responses
		return fault.New(fault.Invalid, "the responses to a list cannot be sent as %s; formats: %s",
			x.Format.Name, strings.Join(encode.PathNames(), ", "))
	}
	requests, err := listOf(x)
	if err != nil {
		return err
	}
	responses := make([]json.RawMessage, 0, len(requests))
	room := maxListResponse
	h := x.Response.Header()
	for i, request := range requests {
		h.Set(wire.HeaderListCompleted, strconv.Itoa(i))
		kept := &edge.Kept{Room: room, Drop: x.Route.Oneway}
		err := s.serveItem(x, i, x.Part(request, kept))
		if kept.Full {
			if x.Route.Changes {
				h.Set(wire.HeaderListCompleted, strconv.Itoa(i+1)) // only the response is missing
			}
			return fault.New(fault.Invalid,
				"the responses have more than %d bytes together: send fewer requests, or queries with a smaller Take",
				maxListResponse)
		}
		if err != nil {
			return err
		}
		response := itemOf(kept.Body)
		responses = append(responses, response)
		room -= len(response)
	}
	h.Set(wire.HeaderListCompleted, strconv.Itoa(len(requests)))
	if x.Route.Oneway {
		return x.NoContent(nil)
	}
	return x.Document(http.StatusOK, x.Route.Operation+"Responses", responses)
}

// itemOf returns a response as an item of the list of responses.
func itemOf(body []byte) json.RawMessage {
	if len(body) == 0 {
		return json.RawMessage("null")
	}
	if json.Valid(body) {
		return body
	}
	text, _ := json.Marshal(string(body)) // never fails for a string
	return text
}

// serveItem runs the request of a list with an index. All but the first, which was admitted with
// the list, are admitted by themselves, so that they count in rate limits.
func (s *Server) serveItem(x *edge.Context, index int, part *edge.Context) error {
	if index > 0 {
		if err := s.handlers.access.Admit(part); err != nil {
			return err
		}
	}
	err := part.Route.Serve(part)
	x.Adopt(part)
	return err
}

// listOf returns the requests in the body of a list.
func listOf(x *edge.Context) ([]json.RawMessage, error) {
	var requests []json.RawMessage
	err := json.Unmarshal(bytes.TrimPrefix(x.Body, []byte("\ufeff")), &requests)
	if err != nil || requests == nil { // null is no list
		return nil, fault.New(fault.Malformed, "the body must be a JSON array with a request object in each item")
	}
	if len(requests) > maxList {
		return nil, fault.New(fault.Invalid, "the list has %d requests; the maximum is %d", len(requests), maxList)
	}
	for i, request := range requests {
		if request[0] != '{' {
			return nil, fault.New(fault.Malformed, "item %d of the list is not an object", i)
		}
	}
	return requests, nil
}
