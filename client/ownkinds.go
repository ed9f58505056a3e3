package client

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/bizhook/whd/client/record"
)

// ownRoutes has the routes of kinds of the service's own tables. Record kinds and the
// audit log use the common route.
var ownRoutes = map[string]string{
	"RequestLog":   "/Logs",
	"Message":      messagesPath,
	"Attempt":      messagesPath + "/Responses",
	"Subscriber":   subscribersPath,
	"Subscription": "/Webhooks/Subscriptions",
}

// callOf returns the request that queries a kind. The own routes take their members in
// the URL.
func callOf(kind *record.Kind, members map[string]any, format string) call {
	route, ok := ownRoutes[kind.Name]
	if kind.Database == record.RecordsDB || !ok {
		path := "/Queries/" + url.PathEscape(kind.Name) + "?format=" + format
		return call{method: http.MethodPost, path: path, body: members}
	}

	values := url.Values{"format": {format}}
	for name, value := range members {
		switch value := value.(type) {
		case []string:
			for _, text := range value {
				values.Add(name, listItem(text))
			}
		case json.RawMessage:
			values.Set(name, string(value))
		default:
			values.Set(name, fmt.Sprint(value))
		}
	}
	return call{method: http.MethodGet, path: withQuery(route, values)}
}

// listItem escapes the commas of a list item for a URL.
func listItem(text string) string {
	if !strings.ContainsAny(text, `,"`) {
		return text
	}
	return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
}
