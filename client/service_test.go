package client_test

import (
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/bizhook/whd/client"
)

func TestInfoAndSettingsRequests(t *testing.T) {
	var sent string
	c := serveWith(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		sent = fmt.Sprintf("%s %s %s", r.Method, r.URL.EscapedPath(), body)
		reply := `[{"Name":"query.max_take","Value":"5"}]`
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
	if err != nil || sent != "GET /Settings " || len(all) != 1 || all[0].Value != "5" {
		t.Errorf("%s: %+v, %v", sent, all, err)
	}
}

// TestNullReplyIsIncomplete: a null, as sent by a proxy, must not become an empty result
// without an error.
func TestNullReplyIsIncomplete(t *testing.T) {
	for _, body := range []string{"null", " null\n"} {
		c := serveWith(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			io.WriteString(w, body)
		}, client.Options{Token: "whd_y"})
		ctx := t.Context()
		for name, call := range map[string]func() error{
			"Info":             func() error { _, err := c.Info(ctx); return err },
			"Stats":            func() error { _, err := c.Stats(ctx, 0); return err },
			"CurrentSession":   func() error { _, err := c.CurrentSession(ctx); return err },
			"Login":            func() error { _, err := c.Login(ctx, "ann", "password"); return err },
			"AllMessages":      func() error { _, err := c.AllMessages(ctx, nil); return err },
			"AllSubscriptions": func() error { _, err := c.AllSubscriptions(ctx, nil); return err },
			"Attempts":         func() error { _, err := c.Attempts(ctx, nil); return err },
			"TestSubscription": func() error { _, err := c.TestSubscription(ctx, "a", "b"); return err },
			"Settings":         func() error { _, err := c.Settings(ctx); return err },
		} {
			if err := call(); !client.Is(err, client.Incomplete) {
				t.Errorf("%s with the reply %q: error %v, want incomplete", name, body, err)
			}
		}
	}
}
