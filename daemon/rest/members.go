package rest

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/query"
)

// members reads all members of the request: path, query string and body.
func (s *Server) members(x *exchange) (query.Members, error) {
	inBody, err := readMembers(x.body, x.r.Header.Get("Content-Type"), x.params.get(inFormat))
	if err != nil {
		return nil, err
	}
	x.members = query.Union(nil, x.urlMembers, inBody)
	return x.members, nil
}

func (s *Server) readBody(x *exchange) ([]byte, error) {
	if x.r.ContentLength == 0 {
		return nil, nil
	}
	switch coding := x.r.Header.Get("Content-Encoding"); {
	case coding != "" && !strings.EqualFold(coding, "identity"):
		return nil, fault.New(fault.Unsupported, "a body with the Content-Encoding %s cannot be read", clean(coding))
	case x.r.ContentLength > s.maxBody(x):
		return nil, s.bodyTooLarge(x)
	}
	body, err := io.ReadAll(http.MaxBytesReader(x.w.ResponseWriter, x.r.Body, s.maxBody(x)))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, s.bodyTooLarge(x)
	case err != nil:
		return nil, fault.Because(err, fault.Malformed, "the body did not arrive whole")
	}
	_ = x.w.control.SetReadDeadline(time.Time{}) // net/http goes on reading, to notice a client that leaves
	return body, nil
}

// eventFactor is how many times larger than others the body of an event may be.
const eventFactor = 4

func (s *Server) maxBody(x *exchange) int64 {
	if x.route.large {
		return eventFactor * s.MaxBody
	}
	return s.MaxBody
}

func (s *Server) bodyTooLarge(x *exchange) error {
	return fault.New(fault.TooLarge, "the body is larger than %d bytes", s.maxBody(x))
}

var utf8Mark = []byte("\ufeff")

// readMembers reads a body by what it is: one that starts with { is JSON
// whatever its content type says, since clients of the existing service send
// JSON to CSV routes.
func readMembers(body []byte, contentType, routeFormat string) (query.Members, error) {
	trimmed := bytes.TrimLeft(bytes.TrimPrefix(body, utf8Mark), " \t\r\n")
	if len(trimmed) == 0 {
		return nil, nil
	}
	if trimmed[0] == '{' {
		return query.ReadJSON(trimmed)
	}
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil && contentType != "" && media == "" {
		return nil, fault.New(fault.Unsupported, "the Content-Type cannot be read")
	}
	switch {
	case media == "application/x-www-form-urlencoded":
		return query.ReadForm(string(trimmed))
	case media == "text/csv", media == "" && strings.EqualFold(routeFormat, "csv"):
		return query.ReadCSV(body)
	case media == "", media == "application/json", media == "text/json", media == "text/plain":
		return query.ReadJSON(trimmed)
	}
	return nil, fault.New(fault.Unsupported, "a body of type %s cannot be read; send application/json, application/x-www-form-urlencoded or text/csv", clean(media))
}
