package executor

import (
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/query"
)

// TestResumable: a read can only be resumed if its rows are sorted by the first field, an
// ID of our own tables.
func TestResumable(t *testing.T) {
	number, text := record.Field{Name: "ID", Type: record.Long}, record.Field{Name: "Name", Type: record.Text}
	kind := func(database record.Database, fields ...record.Field) *record.Kind {
		return &record.Kind{Name: "K", Database: database, Fields: fields}
	}
	own := kind(record.AppDB, number, text)
	first, second := []query.Order{{Field: 0}}, []query.Order{{Field: 1}, {Field: 0}}
	for name, c := range map[string]struct {
		plan    query.Plan
		several bool
		want    bool
	}{
		"sorted":                  {query.Plan{Kind: own, Order: first}, false, true},
		"ERP kind":                {query.Plan{Kind: kind(0, number, text), Order: first}, false, false},
		"text key":                {query.Plan{Kind: kind(record.AppDB, text, number), Order: first}, false, false},
		"sorted by another field": {query.Plan{Kind: own, Order: second}, false, false},
		"not sorted":              {query.Plan{Kind: own}, false, false},
		"distinct":                {query.Plan{Kind: own, Order: first, Distinct: true}, false, false},
		"with aggregates":         {query.Plan{Kind: own, Order: first}, true, false},
	} {
		if got := resumable(&c.plan, c.several); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
