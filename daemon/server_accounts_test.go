package daemon_test

import (
	"testing"

	"github.com/bizhook/whd/daemon/daemontest"
)

const (
	annsPassword    = "a password of ann"
	annsNewPassword = "another password"
)

// accountRequest is a request of an account, with the response that it should get.
type accountRequest struct {
	user     string // empty: admin
	password string
	method   string
	path     string
	body     string
	status   int
	want     string // part of the response
}

var (
	createAnn = accountRequest{
		method: "POST",
		path:   "/Users",
		body:   `{"UserName":"Ann","Role":"reader","Password":"` + annsPassword + `"}`,
		status: 201,
		want:   `"Role":"reader"`,
	}
	changeAnnsPassword = accountRequest{
		user:     "ann",
		password: annsPassword,
		method:   "PATCH",
		path:     "/Users/Ann",
		body:     `{"Password":"` + annsNewPassword + `","CurrentPassword":"` + annsPassword + `"}`,
		status:   200,
		want:     `"UserName":"Ann"`,
	}
	changeAnn = accountRequest{
		method: "PATCH",
		path:   "/Users/Ann",
		body:   `{"Role":"writer","DisplayName":"Ann Ö."}`,
		status: 200,
		want:   "Ann Ö.",
	}
	deleteAnn = accountRequest{method: "DELETE", path: "/Users/ann", status: 204}

	createKey = accountRequest{
		method: "POST",
		path:   "/ApiKeys",
		body:   `{"Name":"till","Role":"reader"}`,
		status: 201,
		want:   "whd_",
	}
	deleteKey = accountRequest{method: "DELETE", path: "/ApiKeys/till", status: 204}
)

// expectAccountRequests sends requests to a daemon with a server store, one after the other.
func expectAccountRequests(t *testing.T, requests []accountRequest) {
	t.Helper()
	server := newOnServer(t)
	service := daemontest.StartIn(t, server.dir, "--store", server.dsn, "--migrate")
	for _, request := range requests {
		r := server.request(request.method, service.URL+request.path, request.body)
		if request.user == "" {
			r.SetBasicAuth("admin", daemontest.AdminPassword)
		} else {
			r.SetBasicAuth(request.user, request.password)
		}
		server.expect(r, request.status, request.want)
	}
}

// TestUsersOnServer creates, changes and deletes a user. In between the user changes the password.
func TestUsersOnServer(t *testing.T) {
	expectAccountRequests(t, []accountRequest{
		createAnn,
		{
			method: "POST",
			path:   "/Users",
			body:   `{"UserName":"ANN","Role":"reader","Password":"` + annsPassword + `"}`,
			status: 409,
			want:   `"FieldName":"UserName"`,
		},
		{
			user:     "ann",
			password: annsPassword,
			method:   "GET",
			path:     "/Users/Ann",
			status:   200,
			want:     `"UserName":"Ann"`,
		},
		changeAnnsPassword,
		{
			user:     "ann",
			password: annsPassword,
			method:   "GET",
			path:     "/KeepAlive",
			status:   401,
			want:     "Unauthorized",
		},
		{
			user:     "ann",
			password: annsNewPassword,
			method:   "GET",
			path:     "/Users",
			status:   403,
			want:     "Forbidden",
		},
		changeAnn,
		{method: "DELETE", path: "/Users/admin", status: 409, want: "last admin"},
		deleteAnn,
		{method: "GET", path: "/Users/ann", status: 404},
	})
}

func TestKeysOnServer(t *testing.T) {
	expectAccountRequests(t, []accountRequest{
		createKey,
		{method: "GET", path: "/ApiKeys", status: 200, want: `"Name":"till"`},
		deleteKey,
		{method: "DELETE", path: "/ApiKeys/till", status: 404},
	})
}

// TestAuditOnServer checks the entries of changes of accounts in the audit trail.
func TestAuditOnServer(t *testing.T) {
	expectAccountRequests(t, []accountRequest{
		createAnn,
		changeAnnsPassword,
		changeAnn,
		createKey,
		deleteKey,
		deleteAnn,
		{
			method: "GET",
			path: "/csv/reply/WH_AuditQuery?Fields=UserName,Action,Subject,Detail" +
				"&SubjectIn=ann&Take=4",
			status: 200,
			want: "UserName,Action,Subject,Detail\r\n" +
				"admin,user remove,ann,\r\n" +
				"admin,user change,Ann,Role=writer; DisplayName=Ann Ö.\r\n" +
				"Ann,user change,Ann,Password=***\r\n" +
				"admin,user add,Ann,Role=reader\r\n",
		},
		{
			method: "GET",
			path:   "/Queries/WH_Audit?ActionLike=key%25&Include=Total",
			status: 200,
			want:   `"Total":2`,
		},
	})
}
