package rest

import (
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/account"
)

// TestChangingRoutesAreMarked checks that all routes except queries are marked as
// changing something. Queries accept any method, and the target for testing webhooks
// returns the body of the request.
func TestChangingRoutesAreMarked(t *testing.T) {
	reads := []string{"Query", "TestTarget"}
	for _, r := range testRoutes() {
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
