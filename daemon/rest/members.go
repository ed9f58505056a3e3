package rest

import (
	"bytes"
	"mime"
	"strings"

	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/rest/edge"
)

// readMembers reads all members of the request: path, query string and body.
func readMembers(x *edge.Context) (query.Members, error) {
	inBody, err := parseMembers(x.Body, x.Request.Header.Get("Content-Type"), x.Params.Get(edge.ParamFormat))
	if err != nil {
		return nil, err
	}
	x.Members = query.Union(nil, x.URLMembers, inBody)
	return x.Members, nil
}

var utf8Mark = []byte("\ufeff")

// parseMembers reads a body by what it is: one that starts with { is JSON
// whatever its content type says, since clients of the existing service send
// JSON to CSV routes.
func parseMembers(body []byte, contentType, routeFormat string) (query.Members, error) {
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
	return nil, fault.New(fault.Unsupported, "a body of type %s cannot be read; send application/json, application/x-www-form-urlencoded or text/csv", edge.Clean(media))
}
