package daemon_test

import (
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/daemontest"
)

// TestServerAccounts changes users by HTTP on a server store and checks their entries in
// the audit trail.
func TestServerAccounts(t *testing.T) {
	o := newOnServer(t)
	i := daemontest.StartIn(t, o.dir, "--store", o.dsn, "--migrate")
	as := func(user, password, line, body string, status int, want string) {
		t.Helper()
		method, path, _ := strings.Cut(line, " ")
		r := o.request(method, i.URL+path, body)
		r.SetBasicAuth(user, password)
		o.expect(r, status, want)
	}
	const password = "a password of ann"
	admin := func(line, body string, status int, want string) {
		t.Helper()
		as("admin", daemontest.AdminPassword, line, body, status, want)
	}
	admin("POST /Users", `{"UserName":"Ann","Role":"reader","Password":"`+password+`"}`, 201, `"Role":"reader"`)
	admin("POST /Users", `{"UserName":"ANN","Role":"reader","Password":"`+password+`"}`, 409,
		`"FieldName":"UserName"`)
	as("ann", password, "GET /Users/Ann", "", 200, `"UserName":"Ann"`)
	as("ann", password, "PATCH /Users/Ann",
		`{"Password":"another password","CurrentPassword":"`+password+`"}`, 200, `"UserName":"Ann"`)
	as("ann", password, "GET /KeepAlive", "", 401, "Unauthorized")
	as("ann", "another password", "GET /Users", "", 403, "Forbidden")
	admin("PATCH /Users/Ann", `{"Role":"writer","DisplayName":"Ann Ö."}`, 200, "Ann Ö.")
	admin("DELETE /Users/admin", "", 409, "last admin")
	admin("POST /ApiKeys", `{"Name":"till","Role":"reader"}`, 201, "whd_")
	admin("DELETE /ApiKeys/till", "", 204, "")
	admin("DELETE /Users/ann", "", 204, "")
	admin("GET /csv/reply/WH_AuditQuery?Fields=UserName,Action,Subject,Detail&SubjectIn=ann&Take=4", "", 200,
		"UserName,Action,Subject,Detail\r\nadmin,user remove,ann,\r\nadmin,user change,Ann,Role=writer; DisplayName=Ann Ö.\r\nAnn,user change,Ann,Password=***\r\nadmin,user add,Ann,Role=reader\r\n")
	admin("GET /Queries/WH_Audit?ActionLike=key%25&Include=Total", "", 200, `"Total":2`)
}
