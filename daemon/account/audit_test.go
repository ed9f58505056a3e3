package account_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/query"
)

// trail returns the audit trail, oldest first, one line for each entry.
func (p process) trail(t *testing.T) []string {
	t.Helper()
	kind, ok := record.System().Lookup("WH_Audit")
	if !ok {
		t.Fatal("the kind WH_Audit is missing")
	}
	members := query.Members{
		{Name: "OrderBy", Texts: []string{"EntryNo"}},
		{Name: "Fields", Texts: []string{"UserName,Via,Address,Action,Subject,Detail"}},
	}
	req, err := query.Parse(kind, members, query.Options{})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := query.NewPlan(req, false)
	if err != nil {
		t.Fatal(err)
	}
	result, err := p.store.Select(t.Context(), plan)
	if err != nil {
		t.Fatal(err)
	}
	defer result.Close()
	var lines []string
	for {
		cells, err := result.Next()
		if err != nil {
			t.Fatal(err)
		}
		if cells == nil {
			return lines
		}
		var texts []string
		for _, c := range cells {
			texts = append(texts, string(c.Data))
		}
		lines = append(lines, strings.Join(texts, " | "))
	}
}

// TestChangesAreAudited checks that each change adds one entry, with its actor and without
// secrets, and that a change that fails adds none.
func TestChangesAreAudited(t *testing.T) {
	p := begin(t)
	if _, err := p.EnsureAdmin(t.Context(), goodPassword); err != nil {
		t.Fatal(err)
	}
	p.add(t, "Ann", account.Reader)
	role := account.Writer
	name := "Ann Other"
	password := "another horse"
	secret, key, err := p.AddKey(t.Context(), account.NewKey{Name: "till", Role: account.Reader})
	if err != nil {
		t.Fatal(err)
	}
	expectKind(t, p.UpdateUser(t.Context(), "ANN", account.Update{
		Role:        &role,
		DisplayName: &name,
		Password:    &password,
	}), "ok")
	expectKind(t, p.SetRole(t.Context(), "admin", account.Reader), "conflict")
	expectKind(t, p.SetRole(t.Context(), "unknown", account.Reader), "not found")
	expectKind(t, p.RemoveKey(t.Context(), "TILL"), "ok")
	expectKind(t, p.RemoveKey(t.Context(), "TILL"), "not found")
	expectKind(t, p.RemoveUser(t.Context(), "ann"), "ok")
	p.expect(t, basic("admin", badPassword), "unauthorized") // failed logins are logged, not audited
	const by = "tester | cookie | 10.0.0.9 | "
	want := []string{
		"whd | start |  | user add | admin | Role=admin",
		by + "user add | Ann | Role=reader; DisplayName=Ann!",
		by + "key add | till | KeyID=" + key.ID + "; Role=reader",
		by + "user change | ANN | Role=writer; DisplayName=Ann Other; Password=***",
		by + "key remove | till | ",
		by + "user remove | ann | ",
	}
	got := p.trail(t)
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, s := range []string{secret, goodPassword, password, "argon2", key.Hash} {
		if strings.Contains(strings.Join(got, "\n"), s) {
			t.Errorf("the audit trail contains %q", s)
		}
	}
}
