package client

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/bizhook/whd/client/wire"
)

// Page is a page of a result with its total and aggregates.
type Page struct {
	Offset int64
	Total  int64 // matches; 0 if not counted
	Rows   []Row
	Meta   map[string]string
	Notes  Notes
}

func readPage(reply *http.Response) (*Page, error) {
	text, err := jsonBody(reply, maxPage)
	if err != nil {
		return nil, err
	}
	var envelope struct {
		Offset  int64
		Total   int64
		Results []json.RawMessage
		Meta    map[string]string
	}
	if err := json.Unmarshal(text, &envelope); err != nil {
		return nil, truncated(reply, err, "the response is not an envelope of records")
	}
	page := &Page{Offset: envelope.Offset, Total: envelope.Total, Meta: envelope.Meta, Notes: notesOf(reply)}
	for i, result := range envelope.Results {
		row, err := ParseRow(result)
		if err != nil {
			return nil, truncated(reply, err, fmt.Sprintf("result %d of the response is not a record", i))
		}
		page.Rows = append(page.Rows, row)
	}
	if endHeader(reply, wire.HeaderRowCount) != "" {
		_, err = checkCount(reply, int64(len(page.Rows)))
	}
	return page, err
}
