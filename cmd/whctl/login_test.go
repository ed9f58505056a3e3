package main

import (
	"strings"
	"testing"

	"github.com/bizhook/whd/cmd/whctl/profile"
)

// A login over plain HTTP prints a warning, except to a loopback address.
func TestLoginWarnsOfPlainHTTP(t *testing.T) {
	for url, want := range map[string]bool{
		"http://no-such-host.invalid":       true,
		"http://no-such-host.invalid:5050/": true,
		"HTTP://no-such-host.invalid":       true,
		"https://no-such-host.invalid":      false,
		"http://127.0.0.1:1":                false,
		"http://localhost:1":                false,
		"http://[::1]:1":                    false,
	} {
		inv := invocation{env: map[string]string{
			profile.EnvURL:      url,
			profile.EnvUser:     "ann",
			profile.EnvPassword: "canary",
		}}
		got := inv.run(t, "login")
		if got.code != 3 || strings.Contains(got.stderr, "is not encrypted") != want {
			t.Errorf("whctl login to %s: got %v; want exit code 3, a warning: %t", url, got, want)
		}
		if strings.Contains(got.stderr, "canary") {
			t.Errorf("whctl login to %s: the password is printed: %q", url, got.stderr)
		}
	}
}
