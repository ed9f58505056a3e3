package client_test

import (
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/bizhook/whd/client"
)

// TestServiceCalls looks at what each call sends and reads.
func TestServiceCalls(t *testing.T) {
	var sent string
	c := serveWith(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		sent = fmt.Sprintf("%s %s %s", r.Method, r.URL.EscapedPath(), body)
		reply := `[{"Name":"query.max_take","Value":"5","Changeable":true}]`
		if r.URL.Path == "/Info" {
			reply = `{"Version":"1","Features":["webhooks"],"Limits":{"MaxTake":5}}`
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		io.WriteString(w, reply)
	}, client.Options{Token: "whd_y"})
	info, err := c.Info(t.Context())
	if err != nil || sent != "GET /Info " || info.Version != "1" || info.Limits.MaxTake != 5 || info.Features[0] != "webhooks" {
		t.Errorf("%s: %+v, %v", sent, info, err)
	}
	all, err := c.Settings(t.Context())
	if err != nil || sent != "GET /Settings " || len(all) != 1 || !all[0].Changeable {
		t.Errorf("%s: %+v, %v", sent, all, err)
	}
	all, err = c.ChangeSettings(t.Context(), map[string]any{"query.max_take": 5, "debug": true, "log.level": nil, "webhooks.events": []string{"a.b"}})
	const want = `PATCH /Settings {"debug":true,"log.level":null,"query.max_take":5,"webhooks.events":["a.b"]}`
	if err != nil || sent != want || all[0].Value != "5" {
		t.Errorf("%s: %+v, %v; want %s", sent, all, err, want)
	}
}
