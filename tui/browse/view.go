package browse

import (
	"slices"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/filter"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/tui/state"
	"github.com/bizhook/whd/tui/ui"
)

// LookupKind returns a record kind by name, including the service's own kinds.
func LookupKind(r *record.Registry, name string) (*record.Kind, bool) {
	if kind, ok := r.Lookup(name); ok {
		return kind, true
	}
	return record.System().Lookup(name)
}

// ViewQuery returns the query of a saved view, false if it is no longer valid.
func ViewQuery(v state.View, s *ui.Session) (client.Query, bool) {
	kind, ok := LookupKind(s.Registry, v.Record)
	if !ok {
		return client.Query{}, false
	}
	texts := slices.Clone(v.Where)
	messages := ui.MessageFilter{Problems: v.Problems, Undelivered: v.Undelivered}
	if condition, ok := messages.StatusFilter().Condition(); ok {
		texts = append(texts, filter.Text(condition))
	}
	if v.Subscription != "" {
		texts = append(texts, "SubscriptionID="+v.Subscription)
	}
	filters, err := filter.Reader{Kind: kind, Now: s.Now}.ParseAll(texts)
	return client.Query{Kind: kind, Where: filters, Strict: true}, err == nil
}
