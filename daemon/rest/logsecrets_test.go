package rest_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/daemontest"
)

// logBytes returns the raw bytes of a daemon's request log.
func logBytes(t *testing.T, dir string) string {
	t.Helper()
	return fileBytes(t, dir, "requestlog.db*")
}

// fileBytes returns the raw bytes of the files of a directory that match a pattern.
func fileBytes(t *testing.T, dir, pattern string) string {
	t.Helper()
	files, err := fs.Glob(os.DirFS(dir), pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no file %s: %v", pattern, err)
	}
	var all strings.Builder
	for _, file := range files {
		content, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		all.Write(content)
	}
	return all.String()
}

// TestNoSecretReachesTheRequestLog sends secrets in all parts of requests and
// searches the files for them. Setting requestlog.bodies must make no difference.
func TestNoSecretReachesTheRequestLog(t *testing.T) {
	const id = "1b4e28ba-2fa1-11d2-883f-c0ffee000001"
	for _, bodies := range []string{"false", "true"} {
		i := daemontest.Start(t, "--requestlog-bodies="+bodies)
		key := i.Key(t, "admin")
		c := anonymous(t, i).with("Authorization: Bearer " + key)
		session := c.do("GET /auth?"+loginForm(), "").want(t, 200).cookie(t).Value
		secrets := append([]string{
			"canary", "Y2FuYXJ5", key, session, daemontest.AdminPassword, id,
			"c0ffee000001",
		}, canaries...)
		for _, test := range []struct {
			line, body string
			headers    []string
		}{
			{line: "GET /json/reply/DB_ClassQuery?Password=canary-password&ApiKey=canary-key&Headers=canary-header"},
			{line: "GET /json/reply/DB_ClassQuery?P%61ssword=canary-password&x=%zz"},
			{
				line: "POST /json/reply/DB_ClassQuery",
				body: `{"Password":"canary-password","Headers":[{"Name":"X","Value":"canary-header"}],"Note":"password=canary-password"}`,
			},
			{line: "POST /json/reply/DB_ClassQuery", body: `{"pass\u0077ord":"canary-password"}`},
			{
				line:    "POST /json/reply/DB_ClassQuery",
				body:    "UserName=canary-user&Password=canary-password",
				headers: []string{"Content-Type: application/x-www-form-urlencoded"},
			},
			{line: "GET /json/reply/Password=canary-password"},
			{line: "GET /nothing", headers: []string{basic("canary-user", "canary-password")}},
			{
				line: "GET /auth",
				headers: []string{
					"Authorization: Bearer canary-bearer",
					"Cookie: ss-id=canary-cookie",
					"X-ss-id: canary-cookie",
					"X-Api-Key: canary-key",
				},
			},
			{line: "POST /auth", body: `{"UserName":"canary-user","Password":"canary-password"}`},
			{line: "POST /auth", body: "canary-password", headers: []string{"Content-Type: text/x"}},
			{
				line:    "GET /metadata",
				headers: []string{"Referer: http://canary-user:canary-password@erp.example/?Password=canary-password"},
			},
			{line: "GET /Webhooks/Subscribers/" + id + "/Subscriptions?SubscriberID=" + id},
			{
				line: "POST /Webhooks/Subscribers/" + id + "/Subscriptions",
				body: `{"URL":"http://erp.example/","EventName":"debtor.created","Headers":[{"Name":"X-Key","Value":"canary-header"}]}`,
			},
			{line: "GET /Logs?UserAuthId=canary-user&SubscriberID=" + id + "&HeadersContains=canary-header"},
			{
				line: "POST /Users",
				body: `{"UserName":"canary-user","Password":"canary-password","Role":"reader"}`,
			},
			{line: "PATCH /Users/canary-user", body: `{"Password":"canary-password-2"}`},
			{line: "POST /ApiKeys", body: `{"Name":"one","Role":"reader"}`},
			{
				line: "POST /Webhooks/Events",
				body: `{"EventName":"debtor.created","Body":{"Card":"canary-body"}}`,
			},
			{
				line:    "POST /Webhooks/Events?EventName=debtor.created&Body=canary-body&Key=D1",
				headers: []string{"Referer: http://erp.example/Webhooks/Events?b%6fdy=canary-body"},
			},
			{line: "GET /api/RaiseEvent?EventName=debtor.created&Body[Card]=canary-body"},
			{line: "POST /Webhooks/Subscribers/" + id + "/Subscriptions/x/Test?Body=canary-body"},
			{
				line: "POST /json/reply/AddUser",
				body: `{"UserName":"canary-user-3","DisplayName":"canary-name","Password":"canary-password","Role":"king"}`,
			},
			{
				line:    "POST /json/oneway/ChangeUser",
				body:    "DisplayName=canary-name&UserName=canary-user&Password=canary-password",
				headers: []string{"Content-Type: application/x-www-form-urlencoded"},
			},
			{
				line: "POST /api/AddUser[]",
				body: `[{"UserName":"canary-user-4","DisplayName":"canary-name","Password":"canary-password","Role":"king"}]`,
			},
			{
				line: "PUT /json/reply/LoginPOSTRequest",
				body: `{"UserName":"canary-user","Password":"canary-password"}`,
			},
			{
				line: "POST /json/reply/Authenticate[]",
				body: `[{"UserName":"canary-user","Password":"canary-password"}]`,
			},
			{line: "GET /api/AddApiKey?Name=two&Role=reader"},
			{
				line: "POST /json/reply/WebhooksEventPOSTRequest",
				body: `{"EventName":"debtor.created","Body":{"Card":"canary-body"}}`,
			},
			{line: "GET /json/reply/WebhooksSubscriptionsGETManyRequest?SubscriberID=" + id},
			{
				line: "POST /json/reply/WebhooksSubscriptionsGETRequest[]",
				body: `[{"SubscriberID":"` + id + `"}]`,
			},
			{
				line: "POST /api/WebhooksSubscriptionPOSTRequest",
				body: `{"SubscriberID":"` + id + `","URL":"http://erp.example/","EventName":"debtor.created","Headers":[{"Name":"X-Key","Value":"canary-header"}]}`,
			},
			{line: "GET /json/reply/DB_ClassQuery", headers: []string{"Cookie: ss-id=" + session}},
			{line: "GET /auth", headers: []string{"X-ss-id: " + session}},
			{line: "POST /Webhooks/Subscribers", body: `{"Name":"a","RecID":"` + id + `"}`},
			{line: "POST /Webhooks/Subscribers", body: `{"Name":"a","RecID":"` + id + `"}`}, // a conflict
			{
				line:    "POST /json/reply/WebhooksSubscribersPOSTRequest",
				body:    "Name=a&RecID=" + id,
				headers: []string{"Content-Type: application/x-www-form-urlencoded"},
			},
			{
				line:    "POST /api/AddSubscriber?Name=a&Rec%49D=" + id,
				headers: []string{"Referer: http://erp.example/Webhooks/Subscribers?RecIDIn=" + id},
			},
			{line: "POST /api/AddSubscriber[]", body: `[{"Name":"a","RecID":"` + id + `"}]`},
			{line: "GET /Webhooks/Subscribers?RecID=" + id},
			{line: "GET /Webhooks/Subscribers/" + id},
			{line: "PATCH /Webhooks/Subscribers/" + id, body: `{"Name":"b"}`},
			{line: "GET /login?redirect=%2FWebhooks%2FSubscribers%2F" + id},
			{line: "GET /login?redirect=%2FWebhooks%2FSubscribers%3FRecID%3D" + id},
			{line: "GET /api/" + key, headers: []string{"Referer: http://erp.example/api/" + key}},
			{line: "GET /Queries/%77hd_" + key[4:]},
			{line: "GET /Queries/DB_Class?OrderBy=" + key},
			{line: "GET /Queries/DB_Class?Strict=true&" + key + "=1"},
			{line: "DELETE /json/metadata/whsec_Y2FuYXJ5"},
			{line: "GET /Queries/DB_Class?api_key=canary-key&api-key=canary-key&passwd=canary-password&Key=canary-key&pass=canary-password&token=canary-key"},
			{
				line: "POST /Queries/DB_Class",
				body: `{"api_key":"canary-key","api-key":"canary-key","passwd":"canary-password"}`,
			},
			{line: "POST /Queries/DB_Class", body: `{"Note":"a","key" : "canary-key"}`},
			{
				line:    "POST /Queries/DB_Class",
				body:    "Note=%C3%BC&pass=canary-password",
				headers: []string{"Content-Type: application/x-www-form-urlencoded"},
			},
		} {
			a := c.do(test.line, test.body, test.headers...)
			if _, made, ok := strings.Cut(a.body, `"Key":"`); ok {
				secrets = append(secrets, made[:40]) // an API key, in the only response that contains it
			}
		}

		c.logs("/Logs") // waits for writes
		if err := i.Stop(); err != nil {
			t.Fatal(err)
		}

		files := logBytes(t, i.Dir)
		if !strings.Contains(files, "/json/reply/DB_ClassQuery") || !strings.Contains(files, "1b4e28ba***") {
			t.Error("the files do not contain the request log")
		}

		for _, secret := range secrets {
			if at := strings.Index(files, secret); at >= 0 && !allowedInLog(files, at) {
				t.Errorf("bodies=%s: the request log contains %s: %q", bodies, secret, files[max(0, at-100):at+60])
			}
			if at := strings.Index(i.Log.String(), secret); at >= 0 && secret != "canary" && secret != "canary-user" {
				t.Errorf("bodies=%s: the log contains %s: %q", bodies, secret, i.Log.String()[max(0, at-100):at+60])
			}
		}
	}
}

// allowedInLog reports whether the text is the name of a user in a path, which is
// not secret.
func allowedInLog(files string, at int) bool {
	return strings.HasSuffix(files[:at], "/Users/") || strings.HasSuffix(files[:at], "UserAuthId=") ||
		strings.HasSuffix(files[:at], `"UserAuthId":"`)
}
