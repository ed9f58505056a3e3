package client

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/bizhook/whd/client/record"
)

// ownRoutes are where kinds are queried that the service keeps itself. Those of
// records, and the audit trail, have the route that all share.
var ownRoutes = map[string]string{
	"RequestLog":   "/Logs",
	"Message":      messagesPath,
	"Attempt":      messagesPath + "/Responses",
	"Subscriber":   subscribersPath,
	"Subscription": "/Webhooks/Subscriptions",
}

// callOf is the request that asks for a kind. The routes of our own take their
// members in the address.
func callOf(kind *record.Kind, members map[string]any, format string) (call, error) {
	path, own := ownRoutes[kind.Name]
	if kind.Database == record.InRecords || !own {
		body, err := json.Marshal(members)
		return call{method: http.MethodPost, path: "/Queries/" + url.PathEscape(kind.Name) + "?format=" + format, body: body}, err
	}
	values := url.Values{"format": {format}}
	for name, value := range members {
		switch value := value.(type) {
		case []string:
			for _, item := range value {
				values.Add(name, listItem(item))
			}
		case json.RawMessage:
			values.Set(name, string(value))
		default:
			values.Set(name, fmt.Sprint(value))
		}
	}
	return call{method: http.MethodGet, path: path + "?" + values.Encode()}, nil
}

// listItem is an item of a list as an address has it, where a comma would
// begin the next one.
func listItem(text string) string {
	if !strings.ContainsAny(text, `,"`) {
		return text
	}
	return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
}
