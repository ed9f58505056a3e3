package rest

import (
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/metadata"
	"github.com/bizhook/whd/daemon/rest/edge"
)

// TestEveryRouteIsDescribed holds the table of routes and that of operations
// against each other: neither may have what the other does not know.
func TestEveryRouteIsDescribed(t *testing.T) {
	facts := operations()
	known := func(name string) bool {
		return slices.ContainsFunc(facts, func(o metadata.Operation) bool { return o.Name == name })
	}
	used := make(map[string]bool)
	system := record.System()
	for _, r := range testRoutes() {
		used[r.Operation] = true
		if r.Summary == "" || r.Operation == "" {
			t.Errorf("%s %s: operation %q, summary %q", r.Methods, r.Pattern, r.Operation, r.Summary)
		}
		_, isKind := system.Lookup(r.Kind)
		if !known(r.Operation) && !isKind && r.Operation != anyQuery {
			t.Errorf("%s %s: operations does not describe %s", r.Methods, r.Pattern, r.Operation)
		}
		if r.Kind != "" && !isKind {
			t.Errorf("%s %s: there is no kind %s", r.Methods, r.Pattern, r.Kind)
		}
	}
	for i, o := range facts {
		if !used[o.Name] {
			t.Errorf("operations describes %s, which no route leads to", o.Name)
		}
		if slices.ContainsFunc(facts[:i], func(other metadata.Operation) bool { return other.Name == o.Name }) {
			t.Errorf("operations describes %s twice", o.Name)
		}
		if o.Answer != nil && o.Media != "" {
			t.Errorf("%s answers with a document and with %s", o.Name, o.Media)
		}
	}
}

// TestEveryPathMemberIsDescribed looks for the members of paths.
func TestEveryPathMemberIsDescribed(t *testing.T) {
	general := []string{edge.ParamFormat, edge.ParamOperation, edge.ParamKind}
	facts := operations()
	for _, r := range testRoutes() {
		o := fact(facts, r.Operation)
		for part := range strings.SplitSeq(r.Pattern, "/") {
			name, isParam := strings.CutPrefix(strings.TrimSuffix(part, "}"), "{")
			if !isParam || slices.Contains(general, name) {
				continue
			}
			if !slices.ContainsFunc(o.Members, func(m metadata.Member) bool { return m.Name == name }) {
				t.Errorf("%s %s: %s does not describe the member %s", r.Methods, r.Pattern, r.Operation, name)
			}
		}
	}
}
