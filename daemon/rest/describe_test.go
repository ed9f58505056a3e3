package rest

import (
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/metadata"
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
	for _, r := range new(Server).routes() {
		used[r.operation] = true
		if r.summary == "" || r.operation == "" {
			t.Errorf("%s %s: operation %q, summary %q", r.methods, r.pattern, r.operation, r.summary)
		}
		_, isKind := system.Lookup(r.kind)
		if !known(r.operation) && !isKind && r.operation != anyQuery {
			t.Errorf("%s %s: operations does not describe %s", r.methods, r.pattern, r.operation)
		}
		if r.kind != "" && !isKind {
			t.Errorf("%s %s: there is no kind %s", r.methods, r.pattern, r.kind)
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
	general := []string{inFormat, inOperation, inKind}
	facts := operations()
	for _, r := range new(Server).routes() {
		o := fact(facts, r.operation)
		for part := range strings.SplitSeq(r.pattern, "/") {
			name, isParam := strings.CutPrefix(strings.TrimSuffix(part, "}"), "{")
			if !isParam || slices.Contains(general, name) {
				continue
			}
			if !slices.ContainsFunc(o.Members, func(m metadata.Member) bool { return m.Name == name }) {
				t.Errorf("%s %s: %s does not describe the member %s", r.methods, r.pattern, r.operation, name)
			}
		}
	}
}
