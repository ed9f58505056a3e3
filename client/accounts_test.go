package client_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
)

// TestAccountRequests checks the requests only. Tests of the daemon check their effects.
func TestAccountRequests(t *testing.T) {
	var sent string
	c := serveWith(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		sent = fmt.Sprintf("%s %s %s", r.Method, r.URL.EscapedPath(), body)
		status, reply := http.StatusOK, `{"UserName":"Ann","KeyID":"7","Key":"whd_x"}`
		isList := r.Method == http.MethodGet && (r.URL.Path == "/Users" || r.URL.Path == "/ApiKeys")
		if r.Method == http.MethodDelete || r.URL.Path == "/KeepAlive" {
			status, reply = http.StatusNoContent, ""
		} else if isList {
			reply = "[" + reply + "]"
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.WriteHeader(status)
		io.WriteString(w, reply)
	}, client.Options{Token: "whd_y"})
	ctx := t.Context()
	role := "writer"
	password := "secret"
	for _, test := range []struct {
		want string
		call func() (any, error)
	}{
		{"GET /Users ", func() (any, error) { return c.Users(ctx) }},
		{"GET /Users/a%2Fb%20c ", func() (any, error) { return c.User(ctx, "a/b c") }},
		{`POST /Users {"UserName":"Ann","Role":"writer","Password":"secret"}`, func() (any, error) {
			return c.AddUser(ctx, wire.UserRequest{UserName: "Ann", Role: &role, Password: &password})
		}},
		{`PATCH /Users/Ann {"DisplayName":""}`, func() (any, error) {
			return c.UpdateUser(ctx, "Ann", wire.UserRequest{DisplayName: new(string)})
		}},
		{"DELETE /Users/Ann ", func() (any, error) { return nil, c.RemoveUser(ctx, "Ann") }},
		{"GET /ApiKeys ", func() (any, error) { return c.APIKeys(ctx) }},
		{`POST /ApiKeys {"Name":"till","Role":"reader","ExpiryDateTime":"never"}`, func() (any, error) {
			return c.AddAPIKey(ctx, wire.APIKeyRequest{Name: "till", Role: "reader", ExpiryDateTime: wire.NeverExpires})
		}},
		{"GET /ApiKeys/a%2Fb ", func() (any, error) { return c.APIKey(ctx, "a/b") }},
		{"DELETE /ApiKeys/7 ", func() (any, error) { return nil, c.RemoveAPIKey(ctx, "7") }},
		{"GET /Sessions/Current ", func() (any, error) { return c.CurrentSession(ctx) }},
		{"GET /KeepAlive ", func() (any, error) { return nil, c.KeepAlive(ctx) }},
	} {
		document, err := test.call()
		if err != nil || sent != test.want {
			t.Errorf("sent %q, want %q (%v)", sent, test.want, err)
		}
		if text := fmt.Sprintf("%+v", document); document != nil && len(text) < len("&{UserName:Ann}") {
			t.Errorf("%s: %s", test.want, text)
		}
	}
}

func TestAccountErrors(t *testing.T) {
	c := serve(t, respond(http.StatusConflict, "application/json", `{"ResponseStatus":{"ErrorCode":"Conflict","Message":"taken","Errors":[{"FieldName":"UserName"}]}}`))
	_, err := c.AddUser(t.Context(), wire.UserRequest{UserName: "Ann"})
	var e *client.Error
	if !errors.As(err, &e) || e.Kind != client.Rejected || len(e.Fields) != 1 || e.Fields[0].FieldName != "UserName" {
		t.Errorf("%#v", err)
	}
	if err := serve(t, respond(http.StatusUnauthorized, "application/json", `{}`)).KeepAlive(t.Context()); !client.Is(err, client.Unauthorized) {
		t.Errorf("%v", err)
	}
}
