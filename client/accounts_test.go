package client_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
)

// accountService answers the requests for accounts, and records the last one.
type accountService struct{ request string }

func (s *accountService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.request = fmt.Sprintf("%s %s %s", r.Method, r.URL.EscapedPath(), body)

	const account = `{"UserName":"Ann","KeyID":"7","Key":"whd_x"}`
	isList := r.URL.Path == "/Users" || r.URL.Path == "/ApiKeys"
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	switch {
	case r.Method == http.MethodDelete, r.URL.Path == "/KeepAlive":
		w.WriteHeader(http.StatusNoContent)
	case r.Method == http.MethodGet && isList:
		io.WriteString(w, "["+account+"]")
	default:
		io.WriteString(w, account)
	}
}

// TestAccountRequests checks the requests only. Tests of the daemon check their effects.
func TestAccountRequests(t *testing.T) {
	service := new(accountService)
	c := serveWith(t, service.ServeHTTP, client.Options{Token: "whd_y"})
	ctx := t.Context()
	for _, test := range []struct {
		want string
		call func() (any, error)
	}{
		{"GET /Users ", func() (any, error) { return c.Users(ctx) }},
		{"GET /Users/a%2Fb%20c ", func() (any, error) { return c.User(ctx, "a/b c") }},
		{`POST /Users {"UserName":"Ann","Role":"writer","Password":"secret"}`, func() (any, error) {
			return c.AddUser(ctx, wire.UserRequest{UserName: "Ann", Role: new("writer"), Password: new("secret")})
		}},
		{`PATCH /Users/Ann {"DisplayName":""}`, func() (any, error) {
			return c.UpdateUser(ctx, "Ann", wire.UserRequest{DisplayName: new(string)})
		}},
		{"GET /ApiKeys ", func() (any, error) { return c.APIKeys(ctx) }},
		{`POST /ApiKeys {"Name":"till","Role":"reader","ExpiryDateTime":"never"}`, func() (any, error) {
			return c.AddAPIKey(ctx, wire.APIKeyRequest{Name: "till", Role: "reader", ExpiryDateTime: wire.NeverExpires})
		}},
		{"GET /ApiKeys/a%2Fb ", func() (any, error) { return c.APIKey(ctx, "a/b") }},
		{"GET /Sessions/Current ", func() (any, error) { return c.CurrentSession(ctx) }},
	} {
		document, err := test.call()
		if err != nil {
			t.Errorf("%s: %v", test.want, err)
		}
		if service.request != test.want {
			t.Errorf("sent %q, want %q", service.request, test.want)
		}
		text, err := json.Marshal(document)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "Ann") && !strings.Contains(string(text), "whd_x") {
			t.Errorf("%s returned %s, want the account of the reply", test.want, text)
		}
	}
}

// TestAccountRequestsWithoutReply checks the requests with an empty reply.
func TestAccountRequestsWithoutReply(t *testing.T) {
	service := new(accountService)
	c := serveWith(t, service.ServeHTTP, client.Options{Token: "whd_y"})
	ctx := t.Context()
	for want, call := range map[string]func() error{
		"DELETE /Users/Ann ": func() error { return c.RemoveUser(ctx, "Ann") },
		"DELETE /ApiKeys/7 ": func() error { return c.RemoveAPIKey(ctx, "7") },
		"GET /KeepAlive ":    func() error { return c.KeepAlive(ctx) },
	} {
		if err := call(); err != nil {
			t.Errorf("%s: %v", want, err)
		}
		if service.request != want {
			t.Errorf("sent %q, want %q", service.request, want)
		}
	}
}

func TestAccountErrors(t *testing.T) {
	const conflict = `{"ResponseStatus":{` +
		`"ErrorCode":"Conflict","Message":"taken","Errors":[{"FieldName":"UserName"}]}}`
	c := serve(t, respond(http.StatusConflict, "application/json", conflict))
	_, err := c.AddUser(t.Context(), wire.UserRequest{UserName: "Ann"})
	wantKind(t, err, client.Rejected)
	var e *client.Error
	if !errors.As(err, &e) || len(e.Fields) != 1 || e.Fields[0].FieldName != "UserName" {
		t.Errorf("adding a user that exists: got error %#v, want one of the field UserName", err)
	}

	c = serve(t, respond(http.StatusUnauthorized, "application/json", `{}`))
	wantKind(t, c.KeepAlive(t.Context()), client.Unauthorized)
}
