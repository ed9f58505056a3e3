package rest

import (
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
)

// TestRequestLogOfRoutes checks for every route which parts the request log may record.
func TestRequestLogOfRoutes(t *testing.T) {
	system, plain := record.System(), make(map[string]string)
	for _, r := range testRoutes() {
		if !r.ByName {
			plain[r.Operation] += strings.ToLower(r.Pattern)
		}
	}

	for _, r := range testRoutes() {
		pattern := strings.ToLower(r.Pattern)
		if r.ByName {
			pattern = plain[r.Operation] // the rules are those of the operation
		}
		secret := pattern == "/webhooks/subscribers" || pattern == "/webhooks/subscribers/{subscriberid}"
		for _, part := range []string{
			"auth", "login", "users", "apikeys", "sessions", "webhooks/events",
			"password",
		} {
			secret = secret || strings.Contains(pattern, part)
		}
		if r.Redacts() != secret {
			t.Errorf("%s %s: private %v, want %v", r.Methods, r.Pattern, r.Redacts(), secret)
		}
		quiet := slices.Contains([]string{"/healthz", "/readyz", "/metrics", "/favicon.ico"}, pattern)
		if r.Always != quiet {
			t.Errorf("%s %s: always %v, want %v", r.Methods, r.Pattern, r.Always, quiet)
		}
		if kind, ok := system.Lookup(r.Kind); r.Kind != "" && (!ok || kind.Name != r.Kind) {
			t.Errorf("%s %s: no kind %s", r.Methods, r.Pattern, r.Kind)
		}
	}
}
