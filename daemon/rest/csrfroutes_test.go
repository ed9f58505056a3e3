package rest

import (
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/account"
)

// TestChangingRoutesAreMarked checks that all routes except queries are marked as changing
// something, so that they are protected against CSRF. Queries accept any method, and the target for testing webhooks
// returns the body of the request. The routes by name are marked as the plain routes
// of their operation.
func TestChangingRoutesAreMarked(t *testing.T) {
	reads, changes := []string{"Query", "TestTarget"}, make(map[string]bool)
	for _, r := range testRoutes() {
		if !r.ByName {
			changes[r.Operation] = changes[r.Operation] || r.Changes
		}
	}
	for _, r := range testRoutes() {
		if r.ByName {
			if r.Changes != changes[r.Operation] {
				t.Errorf("%s (%s): Changes is %t", r.Pattern, r.Operation, r.Changes)
			}
			continue
		}
		methods := strings.Fields(r.Methods)
		unsafe := slices.ContainsFunc(methods, func(m string) bool { return m != "GET" })
		if unsafe && !r.Changes && r.Kind == "" && !slices.Contains(reads, r.Operation) {
			t.Errorf("%s %s (%s): Changes is not set", r.Methods, r.Pattern, r.Operation)
		}
		if r.SignedIn && r.Role != account.Reader {
			t.Errorf("%s %s: SignedIn requires the role reader", r.Methods, r.Pattern)
		}
	}
}
