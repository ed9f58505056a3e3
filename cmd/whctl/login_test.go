package main

import (
	"strings"
	"testing"

	"github.com/bizhook/whd/cmd/whctl/profile"
)

// A login over plain HTTP prints a warning, except to a loopback address.
func TestLoginWarnsOfPlainHTTP(t *testing.T) {
	for url, warns := range map[string]bool{
		"http://no-such-host.invalid":       true,
		"http://no-such-host.invalid:5050/": true,
		"HTTP://no-such-host.invalid":       true,
		"https://no-such-host.invalid":      false,
		"http://127.0.0.1:1":                false,
		"http://localhost:1":                false,
		"http://[::1]:1":                    false,
	} {
		got := invocation{env: map[string]string{
			profile.EnvURL:      url,
			profile.EnvUser:     "ann",
			profile.EnvPassword: "canary",
		}}.run(t, "login")
		if warned := strings.Contains(got.stderr, "is not encrypted"); got.code != 3 || warned != warns || strings.Contains(got.stderr, "canary") {
			t.Errorf("%s: exit %d, %s", url, got.code, got.stderr)
		}
	}
}
