package rest

import (
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
)

// TestRoutesAndTheLog keeps in mind, for every route that is added, what the
// request log may know of it.
func TestRoutesAndTheLog(t *testing.T) {
	system := record.System()
	for _, r := range new(Server).routes() {
		pattern := strings.ToLower(r.pattern)
		secret := false
		for _, part := range []string{"auth", "login", "users", "apikeys", "sessions", "webhooks/events", "password"} {
			secret = secret || strings.Contains(pattern, part)
		}
		if r.private() != secret {
			t.Errorf("%s %s: private %v, want %v", r.methods, r.pattern, r.private(), secret)
		}
		quiet := slices.Contains([]string{"/healthz", "/readyz", "/metrics"}, pattern)
		if r.always != quiet {
			t.Errorf("%s %s: always %v, want %v", r.methods, r.pattern, r.always, quiet)
		}
		if kind, ok := system.Lookup(r.kind); r.kind != "" && (!ok || kind.Name != r.kind) {
			t.Errorf("%s %s: no kind %s", r.methods, r.pattern, r.kind)
		}
	}
}
