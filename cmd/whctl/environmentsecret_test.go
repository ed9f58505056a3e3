package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bizhook/whd/cmd/whctl/profile"
)

// TestSecretOfAnotherService checks that the secrets of the environment are only sent to the service
// of the environment, however its address is written, or to any one if the environment names none.
func TestSecretOfAnotherService(t *testing.T) {
	var sent string // the credentials of the last request
	server := httptest.NewServer(withoutKinds(func(w http.ResponseWriter, r *http.Request) {
		sent = r.Header.Get("Authorization") + r.Header.Get("Cookie")
		if r.URL.Path == "/auth" {
			sent += "password"
		}
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"Version":"1.0","Limits":{}}`)
	}))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")

	for _, secret := range []string{profile.EnvToken, profile.EnvPassword} {
		for address, isSent := range map[string]bool{
			server.URL:                    true,
			host:                          true,
			"HTTP://" + host + "/":        true,
			"":                            true,
			"https://" + host:             false,
			"http://erp.example:5050":     false,
			"http://127.0.0.1":            false,
			"http://127.0.0.1.example:80": false,
		} {
			sent = ""
			inv := invocation{
				handler: func(http.ResponseWriter, *http.Request) {},
				env:     map[string]string{profile.EnvURL: address, profile.EnvUser: "ann", secret: "canary"},
			}
			got := inv.run(t, "info", "--url", server.URL)
			notice := secret + " is not sent"
			if got.code != 0 || (sent != "") != isSent || strings.Contains(got.stderr, notice) == isSent {
				t.Errorf("%s with WHCTL_URL=%s: sent %q, %v; want it sent: %t", secret, address, sent, got, isSent)
			}
		}
	}
}
