package tui

import (
	"slices"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/tui/grid"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/ui"
)

// requestKind is the kind of the request log.
const requestKind = "RequestLog"

// newRequests opens the request log.
func newRequests(h ui.Host) *browser { return newRequestRows(h, "Requests") }

// newRequestRows lists requests under a name; empty for that of their kind.
func newRequestRows(h ui.Host, name string) *browser {
	kind, _ := record.System().Lookup(requestKind)
	return newBrowser(h, kind, nil, browserOptions{
		name: name, scopes: []keymap.Scope{keymap.InRequests}, command: "whctl requests list", newest: true, paint: paintRequests,
		problem: client.Filter{Field: "StatusCode", Operator: record.GreaterThanOrEqualTo, Values: []string{"400"}},
		usual:   []string{"StatusCode", "HttpMethod", "PathInfo", "RequestDuration", "UserAuthId", "DateTime", "IpAddress"},
		columns: map[string]grid.Column{
			"StatusCode":      {Title: "Status", Right: true},
			"HttpMethod":      {Title: "Method", Min: 6},
			"PathInfo":        {Title: "Path", Min: 20, Max: 60, Flex: true, Both: true},
			"RequestDuration": {Title: "Duration", Right: true},
			"UserAuthId":      {Title: "User", Min: 8, Max: 24, Flex: true},
			"IpAddress":       {Title: "Address"},
		},
	})
}

// paintRequests gives requests that failed their ink.
func paintRequests(b *browser, rows []*grid.Row) {
	column := slices.Index(b.fields, "StatusCode")
	if column < 0 {
		return
	}
	for _, row := range rows {
		switch code := row.Cells[column].Text; {
		case code >= "500":
			row.Cells[column].Ink = b.Theme.Status[3]
		case code >= "400":
			row.Cells[column].Ink = b.Theme.Status[2]
		}
	}
}
