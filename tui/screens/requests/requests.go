// Package requests has the screen of the request log.
package requests

import (
	"slices"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/tui/browse"
	"github.com/bizhook/whd/tui/grid"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// Kind is the record kind of the request log.
const Kind = "RequestLog"

// New returns the request log.
func New(h ui.Host) *browse.Browser { return NewRows(h, "Requests") }

// NewRows returns the request log with a title; empty for the name of its kind.
func NewRows(h ui.Host, name string) *browse.Browser {
	kind, _ := record.System().Lookup(Kind)
	return browse.New(h, kind, nil, browse.Options{
		Name:        name,
		Scopes:      []keymap.Scope{keymap.InRequests},
		Command:     "whctl requests list",
		NewestFirst: true,
		Paint:       paint,
		Problem:     client.Filter{Field: "StatusCode", Operator: record.GreaterThanOrEqualTo, Values: []string{"400"}},
		DefaultFields: []string{
			"StatusCode", "HttpMethod", "PathInfo", "RequestDuration", "UserAuthId", "DateTime", "IpAddress",
		},
		Columns: map[string]grid.Column{
			"StatusCode":      {Title: "Status", Right: true},
			"HttpMethod":      {Title: "Method", Min: 6},
			"PathInfo":        {Title: "Path", Min: 20, Max: 60, Flex: true, TruncateMiddle: true},
			"RequestDuration": {Title: "Duration", Right: true},
			"UserAuthId":      {Title: "User", Min: 8, Max: 24, Flex: true},
			"IpAddress":       {Title: "Address"},
		},
	})
}

// paint sets the style of failed requests.
func paint(fields []string, rows []*grid.Row) {
	column := slices.Index(fields, "StatusCode")
	if column < 0 {
		return
	}
	for _, row := range rows {
		code := row.Cells[column].Text
		if code >= "500" {
			row.Cells[column].Role = theme.Failure
		} else if code >= "400" {
			row.Cells[column].Role = theme.Warning
		}
	}
}
