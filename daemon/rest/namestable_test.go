package rest

import (
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/rest/edge"
)

// TestNamesAreUnique checks that no two operations share a name, and that every alias
// belongs to an operation.
func TestNamesAreUnique(t *testing.T) {
	table := newTable(new(handlers))
	var all []string
	for _, kind := range record.Builtin().Kinds() {
		all = append(all, strings.ToLower(kind.Operation()))
	}
	total := 0
	for _, others := range aliases {
		total += len(others)
	}
	for i := range table {
		others, _ := table[i].aliases()
		total -= len(others)
	}
	if total != 0 {
		t.Errorf("%d aliases belong to no operation", total)
	}
	for _, name := range names(table) {
		if slices.Contains(all, strings.ToLower(name)) {
			t.Errorf("duplicate name %s", name)
		}
		all = append(all, strings.ToLower(name))
	}
}

// rules are the fields of a route that decide whether and how a request is served.
type rules struct {
	role, kind, operation                                           string
	changes, signedIn, large, webhooks, streaming, always, redacted bool
}

func rulesOf(r edge.Route) rules {
	return rules{
		r.Role.String(), r.Kind, r.Operation, r.Changes, r.SignedIn, r.Large,
		r.Webhooks, r.Streaming, r.Always, r.Redacts(),
	}
}

// TestRulesOfNames checks that all routes of an operation, plain and by name, have
// the same rules, and that each operation has a route for each of its names.
func TestRulesOfNames(t *testing.T) {
	table := newTable(new(handlers))
	plain, routes := make(map[string]rules), routesOf(table)
	for _, r := range routes {
		if !r.ByName {
			if seen, known := plain[r.Operation]; known && seen != rulesOf(r) {
				t.Errorf("%s: the plain routes have different rules: %+v and %+v", r.Operation, seen, rulesOf(r))
			}
			plain[r.Operation] = rulesOf(r)
		}
	}
	for _, r := range routes {
		if r.ByName && plain[r.Operation] != rulesOf(r) {
			t.Errorf("%s %s: the rules are %+v, want %+v", r.Operation, r.Pattern, rulesOf(r), plain[r.Operation])
		}
	}
	for _, name := range names(table) {
		for _, form := range nameForms {
			i := slices.IndexFunc(routes, func(r edge.Route) bool { return r.Pattern == form.Pattern+name })
			if i < 0 {
				if !form.Oneway { // streams have no form without a response
					t.Errorf("there is no route %s%s", form.Pattern, name)
				}
				continue
			}
			if routes[i].Oneway != form.Oneway {
				t.Errorf("%s%s: Oneway is %t, want %t", form.Pattern, name, routes[i].Oneway, form.Oneway)
			}
		}
	}
}
