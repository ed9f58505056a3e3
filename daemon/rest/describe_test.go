package rest

import (
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/metadata"
	"github.com/bizhook/whd/daemon/rest/edge"
)

// TestEveryOperationIsDescribed checks that each operation of the table has a unique
// name, routes and documentation.
func TestEveryOperationIsDescribed(t *testing.T) {
	system, table := record.System(), newTable(new(handlers))
	for i, o := range table {
		_, isKind := system.Lookup(o.kind)
		isQuery := isKind || o.name == edge.AnyQuery // it has the area and the summary of its kind
		if !isQuery && (o.group == "" || o.summary == "") {
			t.Errorf("%s has the group %q and the summary %q, want both", o.name, o.group, o.summary)
		}
		if o.kind != "" && !isKind {
			t.Errorf("%s: there is no kind %s", o.name, o.kind)
		}
		if len(o.routes) == 0 {
			t.Errorf("no route for %s", o.name)
		}
		for _, r := range o.routes {
			if r.Summary == "" || r.Operation == "" {
				t.Errorf("%s %s: operation %q, summary %q", r.Methods, r.Pattern, r.Operation, r.Summary)
			}
		}
		if slices.ContainsFunc(table[:i], func(other operation) bool { return other.name == o.name }) {
			t.Errorf("%s is in the table twice", o.name)
		}
		if o.response != nil && o.media != "" {
			t.Errorf("%s has both a document and the media type %s", o.name, o.media)
		}
	}
}

// TestEveryPathMemberIsDescribed checks that operations document their path
// parameters.
func TestEveryPathMemberIsDescribed(t *testing.T) {
	general := []string{edge.ParamFormat, edge.ParamOperation, edge.ParamKind}
	for _, o := range newTable(new(handlers)) {
		for _, r := range o.routes {
			for _, name := range metadata.InPath(r.Pattern) {
				if slices.Contains(general, name) {
					continue
				}
				if !slices.ContainsFunc(o.members, func(m metadata.Member) bool { return m.Name == name }) {
					t.Errorf("%s %s: %s does not describe the member %s", r.Methods, r.Pattern, r.Operation, name)
				}
			}
		}
	}
}

// TestSecretsAreHidden checks that forms hide every password and signing secret.
func TestSecretsAreHidden(t *testing.T) {
	secrets := 0
	for _, o := range newTable(new(handlers)) {
		for _, m := range o.members {
			name := strings.ToLower(m.Name)
			want := strings.Contains(name, "password") || strings.Contains(name, "secret")
			if m.Secret != want {
				t.Errorf("%s: forms hide the member %s: %v, want %v", o.name, m.Name, m.Secret, want)
			}
			if want {
				secrets++
			}
		}
	}
	if secrets == 0 {
		t.Error("no operation has a password or a secret, want some")
	}
}
