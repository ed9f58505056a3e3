package rest_test

import (
	"strings"
	"testing"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
)

const (
	givenID     = "3f2504e0-4f89-11d3-9a0c-0305e82c3301"
	otherID     = "3f2504e0-4f89-11d3-9a0c-0305e82c3302"
	givenSecret = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
)

// TestGivenIdentities checks that admins, and only they, may choose the RecID of a
// subscriber and of a subscription, and its secret.
func TestGivenIdentities(t *testing.T) {
	i := daemontest.Start(t)
	boss, c := asAdmin(t, i), anonymous(t, i)
	shop := read[wire.Subscriber](t, boss.do("POST /Webhooks/Subscribers",
		`{"Name":"Shop","RecID":"{3F2504E0-4F89-11D3-9A0C-0305E82C3301}"}`).want(t, 201))
	path := "/Webhooks/Subscribers/" + givenID + "/Subscriptions"
	body := func(members string) string { return `{"URL":"http://erp.example/","EventName":"*"` + members + `}` }
	made := read[wire.Subscription](t, boss.do("POST "+path,
		body(`,"RecID":"`+otherID+`","Secret":"`+givenSecret+`"`)).want(t, 201).
		wantHeader(t, "X-Ignored-Members", ""))
	if shop.RecID != givenID || made.RecID != otherID || made.Secret != givenSecret {
		t.Errorf("got %+v and %+v, want the given IDs and the given secret", shop, made)
	}

	for _, tt := range []struct {
		c             client
		request, body string
		status        int
		code, field   string
	}{
		{
			c:       boss,
			request: "POST /Webhooks/Subscribers",
			body:    `{"Name":"Shop","RecID":"` + givenID + `"}`,
			status:  409,
			code:    "Conflict",
			field:   "RecID",
		},
		{
			c:       boss,
			request: "POST " + path,
			body:    body(`,"RecID":"` + otherID + `"`),
			status:  409,
			code:    "Conflict",
			field:   "RecID",
		},
		{
			c:       boss,
			request: "POST /Webhooks/Subscribers",
			body:    `{"Name":"Shop","RecID":"shop"}`,
			status:  400,
			field:   "RecID",
		},
		{
			c:       boss,
			request: "POST " + path,
			body:    body(`,"RecID":"3f2504e0"`),
			status:  400,
			field:   "RecID",
		},
		{
			c:       boss,
			request: "POST " + path,
			body:    body(`,"Secret":"whsec_canary"`),
			status:  400,
			field:   "Secret",
		},
		{
			c:       c,
			request: "POST " + path,
			body:    body(`,"RecID":"` + givenID + `"`),
			status:  403,
			code:    "Forbidden",
			field:   "RecID",
		},
		{
			c:       c,
			request: "POST " + path,
			body:    body(`,"Secret":"` + givenSecret + `"`),
			status:  403,
			code:    "Forbidden",
			field:   "Secret",
		},
		{
			c:       c,
			request: "POST /api/AddSubscription?SubscriberID=" + givenID,
			body:    body(`,"RecID":"` + givenID + `"`),
			status:  403,
			code:    "Forbidden",
			field:   "RecID",
		},
	} {
		a := tt.c.do(tt.request, tt.body).want(t, tt.status)
		code := a.failure(t).ErrorCode
		if tt.code != "" && code != tt.code {
			t.Errorf("%s %s: ErrorCode %s, want %s", tt.request, tt.body, code, tt.code)
		}
		if field := a.fieldNames(t); field != tt.field {
			t.Errorf("%s %s: error for the member %q, want %q", tt.request, tt.body, field, tt.field)
		}
		if strings.Contains(a.body, "canary") {
			t.Errorf("%s %s: the response repeats a secret: %s", tt.request, tt.body, a.body)
		}
		if tt.status == 403 {
			a.wantText(t, "requires the role admin")
		}
	}

	// Typed clients send these for values that were not set.
	for _, id := range []string{
		"",
		"00000000000000000000000000000000",
		"00000000-0000-0000-0000-000000000000",
	} {
		s := read[wire.Subscription](t, c.do("POST "+path, body(`,"RecID":"`+id+`"`)).want(t, 201))
		if strings.Trim(s.RecID, "0-") == "" {
			t.Errorf("RecID %q: %+v", id, s)
		}
	}
}

// TestRequestHeaders sends the requests of the latest generation of typed clients:
// RequestHeaders instead of Headers, and requests for the headers alone.
func TestRequestHeaders(t *testing.T) {
	i := daemontest.Start(t)
	c := anonymous(t, i)
	shop := read[wire.Subscriber](t, asAdmin(t, i).do("POST /Webhooks/Subscribers", `{"Name":"Shop"}`).want(t, 201))
	path := "/Webhooks/Subscribers/" + shop.RecID + "/Subscriptions"
	made := read[wire.Subscription](t, c.do("POST "+path,
		`{"URL":"http://erp.example/","EventName":"*","RequestHeaders":[{"Name":"X-A","Value":"canary-1"}]}`).want(t, 201).
		wantHeader(t, "X-Ignored-Members", ""))
	path += "/" + made.RecID
	show := func(want string) []wire.Header {
		t.Helper()
		a := c.do("GET "+path, "").want(t, 200)
		s := read[wire.Subscription](t, a)
		var names []string
		for _, h := range s.Headers {
			names = append(names, h.Name)
		}
		if got := strings.Join(names, " "); got != want || strings.Contains(a.body, "canary") {
			t.Errorf("the headers are %q, want %q: %s", got, want, a.body)
		}
		return s.Headers
	}
	show("X-A")
	const empty = `"SubscriptionRequestHeaderID":"00000000000000000000000000000000",`
	put := c.do("PUT "+path+"/RequestHeaders/",
		`{"RequestHeaders":[{`+empty+`"Name":"X-B","Value":"canary-2"},{"Name":"X-C","Value":"canary-3"}]}`).want(t, 200)
	all := read[[]wire.Header](t, put)
	if len(all) != 2 || all[0].Value != "canary-2" || all[1].Name != "X-C" ||
		!strings.HasPrefix(put.body, `[{"Name":"X-B","Value":"canary-2","SubscriptionRequestHeaderID":"`) {
		t.Errorf("replaced by %s", put.body)
	}
	if shown := show("X-B X-C"); shown[0].SubscriptionRequestHeaderID != all[0].SubscriptionRequestHeaderID {
		t.Errorf("%+v, want the IDs of %+v", shown, all)
	}

	c.do("DELETE "+path+"/RequestHeaders/"+all[0].SubscriptionRequestHeaderID+"/", "").want(t, 204)
	if left := show("X-C"); left[0].SubscriptionRequestHeaderID != all[1].SubscriptionRequestHeaderID {
		t.Errorf("the ID of the other header has changed: %+v", left)
	}

	for _, id := range []string{all[0].SubscriptionRequestHeaderID, "x"} {
		c.do("DELETE "+path+"/RequestHeaders/"+id, "").want(t, 404)
	}

	c.do("PATCH "+path, `{"RequestHeaders":[{"Name":"X-D","Value":"canary-4"}]}`).want(t, 200)
	show("X-D")
	c.do("DELETE "+path+"/RequestHeaders", "").want(t, 204)
	show("")

	ids := `{"SubscriberID":"` + shop.RecID + `","SubscriptionID":"` + made.RecID + `"`
	all = read[[]wire.Header](t, c.do("PUT /json/reply/WebhooksSubscriptionRequestHeadersPUTRequest",
		ids+`,"RequestHeaders":[{"Name":"X-E","Value":"canary-5"}]}`).want(t, 200))
	c.do("DELETE /api/WebhooksSubscriptionRequestHeaderDELETERequest", ids+`}`).want(t, 400)
	c.do("DELETE /api/WebhooksSubscriptionRequestHeaderDELETERequest",
		ids+`,"SubscriptionRequestHeaderID":"`+all[0].SubscriptionRequestHeaderID+`"}`).want(t, 204)
	show("")
	if text := c.do("PUT "+path+"/RequestHeaders", `{"RequestHeaders":[]}`).want(t, 200).body; text != "[]" {
		t.Errorf("no headers are %s", text)
	}

	for body, field := range map[string]string{
		`{}`:                                 "RequestHeaders",
		`{"RequestHeaders":[{"Nam":"X"}]}`:   "RequestHeaders",
		`{"Headers":[],"RequestHeaders":[]}`: "RequestHeaders",
		`{"RequestHeaders":[{"Name":"Host","Value":"x"}]}`: "Headers",
	} {
		if a := c.do("PUT "+path+"/RequestHeaders", body).want(t, 400); a.fieldNames(t) != field {
			t.Errorf("replacing the headers by %s: got %s, want an error for %s", body, a.body, field)
		}
	}

	c.do("PUT "+strings.Replace(path, made.RecID, givenID, 1)+"/RequestHeaders", `{"RequestHeaders":[]}`).want(t, 404)
	rows := asAdmin(t, i).do("GET /Logs?Take=1000", "").want(t, 200).body
	if strings.Contains(rows, "canary") || strings.Contains(i.Log.String(), "canary") {
		t.Error("a log contains the value of a header")
	}
}
