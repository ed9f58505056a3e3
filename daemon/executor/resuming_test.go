package executor

import (
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/query"
)

// Only rows in the order of the first field, a number of ours, can be read on from
// where a statement has ended.
func TestResumable(t *testing.T) {
	number, text := record.Field{Name: "ID", Type: record.Long}, record.Field{Name: "Name", Type: record.Text}
	kind := func(database record.Database, fields ...record.Field) *record.Kind {
		return &record.Kind{Name: "K", Database: database, Fields: fields}
	}
	own := kind(record.InOwn, number, text)
	first, second := []query.Order{{Field: 0}}, []query.Order{{Field: 1}, {Field: 0}}
	for name, c := range map[string]struct {
		plan    query.Plan
		several bool
		want    bool
	}{
		"in order":             {query.Plan{Kind: own, Order: first}, false, true},
		"of the ERP":           {query.Plan{Kind: kind(0, number, text), Order: first}, false, false},
		"a text":               {query.Plan{Kind: kind(record.InOwn, text, number), Order: first}, false, false},
		"in another order":     {query.Plan{Kind: own, Order: second}, false, false},
		"in no order":          {query.Plan{Kind: own}, false, false},
		"distinct":             {query.Plan{Kind: own, Order: first, Distinct: true}, false, false},
		"beside other results": {query.Plan{Kind: own, Order: first}, true, false},
	} {
		if got := resumable(&c.plan, c.several); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
