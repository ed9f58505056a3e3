package rest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/daemontest"
)

// auditEntry is a row of the audit trail.
type auditEntry struct{ UserName, Via, Address, Action, Subject, Detail string }

func TestAuditTrail(t *testing.T) {
	i := daemontest.Start(t)
	boss := asAdmin(t, i)
	ann := addUser(t, i, "reader")
	i.Key(t, "writer") // with the command line
	ann.do("PATCH /Users/ann", `{"DisplayName":"A.; Role=admin"}`).want(t, 200)
	boss.do("PATCH /Users/ann", `{"Password":"another password"}`).want(t, 200)
	boss.do("PATCH /Users/admin", `{"Role":"reader"}`).want(t, 409)

	e := boss.do("GET /json/reply/WH_AuditQuery?Fields=UserName,Via,Address,Action,Subject,Detail", "").want(t, 200).envelope(t)
	var got []auditEntry
	for _, row := range e.Results {
		var entry auditEntry
		if err := json.Unmarshal(row, &entry); err != nil {
			t.Fatal(err)
		}
		got = append(got, entry)
	}
	if len(got) != 5 {
		t.Fatalf("%d entries: %+v", len(got), got)
	}

	command := got[2] // newest first
	if command.Via != "command" || command.UserName == "" || command.Action != "key add" ||
		!strings.HasSuffix(command.Detail, "Role=writer") && !strings.Contains(command.Detail, "Role=writer;") {
		t.Errorf("got the entry %+v, want key add with the role writer by the command", command)
	}

	for n, want := range map[int]auditEntry{
		0: {"admin", "basic", "127.0.0.1", "user change", "ann", "Password=***"},
		1: {"Ann", "basic", "127.0.0.1", "user change", "ann", "DisplayName=A.; Role=admin"},
		3: {"admin", "basic", "127.0.0.1", "user add", "Ann", "Role=reader; DisplayName=Ann Other"},
		4: {"whd", "start", "", "user add", "admin", "Role=admin"},
	} {
		if got[n] != want {
			t.Errorf("entry %d is %+v, want %+v", n, got[n], want)
		}
	}

	for _, line := range []string{
		"GET /Queries/WH_Audit.csv?ActionStartsWith=USER&Take=2",
		"POST /api/wh_auditquery.xml?Include=Total",
		"GET /html/reply/WH_AuditQuery",
		"DELETE /jsv/reply/WH_AuditQuery",
	} {
		boss.do(line, "").want(t, 200).wantMessage(t, "DisplayName=A.; Role=admin")
	}

	boss.do("POST /json/oneway/WH_AuditQuery", "").want(t, 204)
	boss.do("GET /Queries/WH_Audit?EntryNoGreaterThan=x", "").want(t, 400)
	for _, line := range []string{
		"GET /Queries/WH_Audit",
		"GET /json/reply/WH_AuditQuery",
		"GET /api/WH_AuditQuery",
	} {
		anonymous(t, i).do(line, "").want(t, 401)
		anonymous(t, i).do(line, "", "Authorization: Bearer "+i.Key(t, "writer")).want(t, 403)
	}
}

// TestAuditTrailRequiresLogin checks that the audit trail needs a login even if
// queries are anonymous.
func TestAuditTrailRequiresLogin(t *testing.T) {
	i := daemontest.Start(t, "--auth-queries", "anonymous")
	anonymous(t, i).do("GET /Queries/WH_Audit", "").want(t, 401)
	anonymous(t, i).do("GET /json/reply/WH_AuditQuery", "").want(t, 401)
}
