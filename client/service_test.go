package client_test

import (
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/bizhook/whd/client"
)

// serviceReplies has the reply to each request.
var serviceReplies = map[string]string{
	"GET /Info ":     `{"Version":"1","Features":["webhooks"],"Limits":{"MaxTake":5}}`,
	"GET /Settings ": `[{"Name":"query.max_take","Value":"5"}]`,
}

func TestInfoAndSettingsRequests(t *testing.T) {
	c := serveWith(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		request := fmt.Sprintf("%s %s %s", r.Method, r.URL.EscapedPath(), body)
		reply, ok := serviceReplies[request]
		if !ok {
			t.Errorf("received the unexpected request %q", request)
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		io.WriteString(w, reply)
	}, client.Options{Token: "whd_y"})

	info, err := c.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintf("version %s, features %s, at most %d rows", info.Version, info.Features, info.Limits.MaxTake)
	if want := "version 1, features [webhooks], at most 5 rows"; got != want {
		t.Errorf("Info returned %s, want %s", got, want)
	}

	settings, err := c.Settings(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(settings) != 1 || settings[0].Value != "5" {
		t.Errorf("Settings returned %+v, want one with the value 5", settings)
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
