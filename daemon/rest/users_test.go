package rest_test

import (
	"encoding/json"
	"html"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
)

// read decodes a response.
func read[T any](t testing.TB, a answer) (v T) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(a.body))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("status %d: %v in %s", a.status, err, shortened(a.body))
	}
	return v
}

const annPassword = "a password of ann"

// addUser adds the user ann and returns a client with her credentials.
func addUser(t testing.TB, i *daemontest.Instance, role string) client {
	t.Helper()
	asAdmin(t, i).do("POST /Users", `{"UserName":"Ann","DisplayName":"Ann Other","Role":"`+role+`","Password":"`+annPassword+`"}`).want(t, 201)
	return anonymous(t, i).with(basic("ann", annPassword))
}

// fieldNames returns the members named in an error.
func (a answer) fieldNames(t testing.TB) string {
	t.Helper()
	var names []string
	for _, e := range read[wire.Failure](t, a).ResponseStatus.Errors {
		names = append(names, e.FieldName)
	}
	return strings.Join(names, ",")
}

func TestAddUserByHTTP(t *testing.T) {
	i := daemontest.Start(t, "--http-base-path", "/erp")
	c := asAdmin(t, i)
	a := c.do("POST /Users?role=WRITER&Colour=red&format=json",
		`{"userName":"Ärne +%","Password":"`+annPassword+`","DisplayName":""}`).want(t, 201)
	a.wantHeader(t, "Location", "/erp/Users/%C3%84rne%20+%25").wantHeader(t, "X-Ignored-Members", "Colour")
	u := read[wire.User](t, a)
	if u.UserName != "Ärne +%" || u.Role != "writer" || u.AddedDateTime == "" ||
		strings.Contains(a.body, annPassword) {
		t.Errorf("adding a user returned %s, want Ärne +%% as a writer, without the password", a.body)
	}

	got := c.do("GET "+strings.TrimPrefix(a.header.Get("Location"), "/erp"), "").want(t, 200)
	if got.body != a.body {
		t.Errorf("%s, was %s", got.body, a.body)
	}

	form := url.Values{"UserName": {"Bob"}, "Password": {annPassword}, "Role": {"reader"}}.Encode()
	c.do("POST /Users.csv", form, "Content-Type: application/x-www-form-urlencoded").want(t, 201).
		wantHeader(t, "Content-Type", "text/csv; charset=utf-8")
	c.do("POST /Users", "UserName,Password,Role\r\nCarl,"+annPassword+",reader\r\n",
		"Content-Type: text/csv").want(t, 201)
	users := read[[]wire.User](t, c.do("GET /users/", "").want(t, 200).wantHeader(t, "X-Total", "4"))
	if len(users) != 4 || users[0].UserName != "admin" || users[3].UserName != "Ärne +%" {
		t.Errorf("users are %+v", users)
	}

	for _, format := range []string{"xml", "csv", "jsv", "html", "ndjson"} {
		a := c.do("GET /Users."+format, "").want(t, 200)
		text := html.UnescapeString(a.body)
		if !strings.Contains(text, "Ärne +%") || strings.Contains(a.body, "argon2") {
			t.Errorf("the users as %s are %s, want Ärne +%% and no hash", format, text)
		}
	}
}

func TestInvalidUsers(t *testing.T) {
	i := daemontest.Start(t)
	c := asAdmin(t, i)
	addUser(t, i, "reader")
	for _, test := range []struct {
		body   string
		status int
		code   string
		fields string
	}{
		{body: ``, status: 400, code: "NotEmpty", fields: "UserName,Password,Role"},
		{
			body:   `{"UserName":"","Role":"reader","Password":null}`,
			status: 400,
			code:   "NotEmpty",
			fields: "UserName,Password",
		},
		{
			body:   `{"UserName":"x","Role":"root","Password":"12345678"}`,
			status: 400,
			code:   "ArgumentException",
			fields: "Role",
		},
		{
			body:   `{"UserName":["x","y"],"Role":{},"Password":"12345678"}`,
			status: 400,
			code:   "ArgumentException",
			fields: "UserName,Role,UserName,Role",
		},
		{
			body:   `{"UserName":"a\r\nSet-Cookie: x=y","Role":"reader","Password":"1"}`,
			status: 400,
			code:   "ArgumentException",
			fields: "UserName,Password",
		},
		{
			body:   `{"UserName":"a:b","Role":"reader","Password":"12345678"}`,
			status: 400,
			code:   "ArgumentException",
			fields: "UserName",
		},
		{
			body:   `{"UserName":"ANN","Role":"reader","Password":"12345678"}`,
			status: 409,
			code:   "Conflict",
			fields: "UserName",
		},
		{
			body:   `{"UserName":"x","Role":"reader","Password":"12345678","Colour":"red","Strict":true}`,
			status: 400,
			code:   "ArgumentException",
			fields: "Colour",
		},
		{body: `{"UserName":`, status: 400, code: "SerializationException", fields: ""},
	} {
		a := c.do("POST /Users", test.body).want(t, test.status)
		f := read[wire.Failure](t, a).ResponseStatus
		if f.ErrorCode != test.code || a.fieldNames(t) != test.fields {
			t.Errorf("%s: got %s, want %s for %s", test.body, a.body, test.code, test.fields)
		}
		if strings.Contains(a.body, "12345678") {
			t.Errorf("the response contains the password: %s", a.body)
		}
	}

	for _, query := range []string{
		"a%0d%0aSet-Cookie:x",
		"%7B%22Password%22:%2212345678%22%7D",
		strings.Repeat("x", 61),
	} {
		c.do("GET /auth?"+query+"=1", "").want(t, 200).wantHeader(t, "X-Ignored-Members", "***")
	}

	c.do("GET /Users/dan", "").want(t, 404)
	c.do("PATCH /Users/dan", `{"DisplayName":"Dan"}`).want(t, 404)
	c.do("DELETE /Users/dan", "").want(t, 404)
	c.do("PUT /Users/ann", "").want(t, 405).wantHeader(t, "Allow", "DELETE, GET, HEAD, PATCH, OPTIONS")
}

func TestChangeUserByHTTP(t *testing.T) {
	i := daemontest.Start(t)
	c := asAdmin(t, i)
	ann := addUser(t, i, "reader")
	changed := c.do("PATCH /Users/ANN", `{"UserName":"other","DisplayName":"Ann O.","Role":"publisher"}`).want(t, 200)
	u := read[wire.User](t, changed)
	if u.UserName != "Ann" || u.DisplayName != "Ann O." || u.Role != "publisher" {
		t.Errorf("got %s, want Ann with the name Ann O. and the role publisher", changed.body)
	}
	if repeated := c.do("PATCH /Users/Ann", "{}").want(t, 200); repeated.body != changed.body {
		t.Errorf("unchanged, but got %s, was %s", repeated.body, changed.body)
	}
	ann.do("GET /auth", "").want(t, 200)
	c.do("PATCH /Users/Ann?Password=another+password", "").want(t, 200)
	ann.do("GET /auth", "").want(t, 401)
	c.do("PATCH /Users/admin", `{"Role":"reader"}`).want(t, 409)
	c.do("DELETE /Users/admin", "").want(t, 409)
	if a := c.do("PATCH /Users/Ann", `{"Password":"short"}`).want(t, 400); a.fieldNames(t) != "Password" {
		t.Errorf("a short password: got %s, want an error for Password", a.body)
	}
	c.do("DELETE /Users/Ann", "").want(t, 204)
	c.do("DELETE /Users/Ann", "").want(t, 404)
}

func TestUserChangesOwnAccount(t *testing.T) {
	i := daemontest.Start(t)
	ann := addUser(t, i, "writer")
	session := ann.do("GET /auth?UserName=ann&Password="+url.QueryEscape(annPassword), "").want(t, 200).cookie(t)
	browser := anonymous(t, i).with("Cookie: ss-id=" + session.Value)
	if u := read[wire.User](t, browser.do("GET /Users/ANN", "").want(t, 200)); u.UserName != "Ann" {
		t.Errorf("GET /Users/ANN returned %+v, want Ann", u)
	}

	for _, line := range []string{
		"GET /Users", "GET /Users/admin", "GET /Users/missing",
		"DELETE /Users/Ann", "GET /ApiKeys", "POST /ApiKeys",
		"DELETE /ApiKeys/x", "POST /Users",
	} {
		browser.do(line, "").want(t, 403)
	}

	browser.do("PATCH /Users/Ann", `{"DisplayName":"A."}`).want(t, 200)
	browser.do("PATCH /Users/admin", `{"DisplayName":"A."}`).want(t, 403)
	if a := browser.do("PATCH /Users/Ann", `{"Role":"admin"}`).want(t, 403); a.fieldNames(t) != "Role" {
		t.Errorf("changing the own role: got %s, want an error for Role", a.body)
	}
	if a := browser.do("PATCH /Users/Ann",
		`{"Password":"another password"}`).want(t, 400); a.fieldNames(t) != "CurrentPassword" {
		t.Errorf("a password without the current one: got %s, want an error for CurrentPassword", a.body)
	}

	a := browser.do("PATCH /Users/Ann", `{"Password":"another password","CurrentPassword":"a guess"}`).want(t, 400)
	if a.fieldNames(t) != "CurrentPassword" || strings.Contains(a.body, "another password") ||
		strings.Contains(a.body, "a guess") {
		t.Errorf("a wrong current password: got %s, want an error for CurrentPassword without passwords", a.body)
	}

	gone := browser.do("PATCH /Users/Ann",
		`{"Password":"another password","CurrentPassword":"`+annPassword+`"}`).want(t, 200).cookie(t)
	if gone.MaxAge >= 0 {
		t.Errorf("the cookie is not deleted: %v", gone)
	}

	browser.do("GET /KeepAlive", "").want(t, 401)
	anonymous(t, i).do("GET /auth", "", basic("ann", "another password")).want(t, 200)

	// An API key with the name of a user is not that user.
	key := read[wire.APIKey](t, asAdmin(t, i).do("POST /ApiKeys", `{"Name":"Ann","Role":"writer"}`).want(t, 201))
	anonymous(t, i).do("GET /Users/Ann", "", "Authorization: Bearer "+key.Key).want(t, 403)
}

func TestCurrentPasswordGuessesAreRateLimited(t *testing.T) {
	i := daemontest.Start(t)
	ann := addUser(t, i, "reader")
	ann.do("GET /auth", "").want(t, 200)
	for range 5 {
		ann.do("PATCH /Users/Ann", `{"Password":"another password","CurrentPassword":"a guess"}`).want(t, 400)
	}
	ann.do("PATCH /Users/Ann", `{"Password":"another password","CurrentPassword":"`+annPassword+`"}`).want(t, 429)
}

func TestKeysByHTTP(t *testing.T) {
	i := daemontest.Start(t)
	c := asAdmin(t, i)
	a := c.do("POST /ApiKeys", `{"Name":"till","Role":"publisher"}`).want(t, 201)
	made := read[wire.APIKey](t, a)
	a.wantHeader(t, "Location", "/ApiKeys/"+made.KeyID)
	till := anonymous(t, i).with("Authorization: Bearer " + made.Key)
	till.do("GET /KeepAlive", "").want(t, 204)
	expires, err := time.Parse(wire.DateLayout, made.ExpiryDateTime)
	if days := time.Until(expires).Hours() / 24; err != nil || days < 89 || days > 91 {
		t.Errorf("expires %s (%v)", made.ExpiryDateTime, err)
	}

	never := read[wire.APIKey](t, c.do("POST /ApiKeys?Name=forever&Role=reader&ExpiryDateTime=NEVER", "").want(t, 201))
	dated := read[wire.APIKey](t, c.do("POST /ApiKeys",
		`{"Name":"dated","Role":"reader","ExpiryDateTime":"/Date(4102444800000)/"}`).want(t, 201))
	if never.ExpiryDateTime != "" || dated.ExpiryDateTime != "2100-01-01T00:00:00.0000000" {
		t.Errorf("never %+v, dated %+v", never, dated)
	}

	list := c.do("GET /ApiKeys", "").want(t, 200).wantHeader(t, "X-Total", "3")
	keys := read[[]wire.APIKey](t, list)
	if len(keys) != 3 || keys[2].Name != "till" || keys[2].LastUsedDateTime == "" ||
		strings.Contains(list.body, made.Key) {
		t.Errorf("got the keys %s, want three, the last one till, used and without its secret", list.body)
	}

	for body, fields := range map[string]string{
		`{}`:                              "Name,Role",
		`{"Name":"TILL","Role":"reader"}`: "Name",
		`{"Name":"x","Role":"reader","ExpiryDateTime":"tomorrow"}`:   "ExpiryDateTime",
		`{"Name":"x","Role":"reader","ExpiryDateTime":"2001-01-01"}`: "ExpiryDateTime",
		// In the service, the zero time means never.
		`{"Name":"x","Role":"reader","ExpiryDateTime":"0001-01-01"}`:                   "ExpiryDateTime",
		`{"Name":"x","Role":"reader","ExpiryDateTime":"0001-01-01T00:00:00.0000000"}`:  "ExpiryDateTime",
		`{"Name":"x","Role":"reader","ExpiryDateTime":"/Date(-62135596800000)/"}`:      "ExpiryDateTime",
		`{"Name":"x","Role":"reader","ExpiryDateTime":"/Date(-62135596800000+0000)/"}`: "ExpiryDateTime",
	} {
		a := c.do("POST /ApiKeys", body)
		isRefused := a.status == 400 || a.status == 409
		if !isRefused || a.fieldNames(t) != fields {
			t.Errorf("adding the key %s: status %d, %s; want 400 or 409 for %s", body, a.status, a.body, fields)
		}
	}

	c.do("GET /ApiKeys/"+made.KeyID, "").want(t, 200)
	c.do("DELETE /ApiKeys/"+made.KeyID, "").want(t, 204)
	c.do("GET /ApiKeys/"+made.KeyID, "").want(t, 404)
	c.do("DELETE /ApiKeys/"+made.KeyID, "").want(t, 404)
	till.do("GET /KeepAlive", "").want(t, 401)
}
