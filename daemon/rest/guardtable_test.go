package rest

import (
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/account"
)

// TestRoutesThatChangeSaySo: whoever adds a row that is no mere query must say
// that it changes something. Queries take any method and change nothing, and
// the target for trying webhooks gives back what it was sent.
func TestRoutesThatChangeSaySo(t *testing.T) {
	reads := []string{"Query", "TestTarget"}
	for _, r := range testRoutes() {
		methods := strings.Fields(r.Methods)
		unsafe := slices.ContainsFunc(methods, func(m string) bool { return m != "GET" })
		if unsafe && !r.Changes && r.Kind == "" && !slices.Contains(reads, r.Operation) {
			t.Errorf("%s %s (%s) does not say that it changes something", r.Methods, r.Pattern, r.Operation)
		}
		if r.SignedIn && r.Role != account.Reader {
			t.Errorf("%s %s: signedIn means something for the role reader only", r.Methods, r.Pattern)
		}
	}
}
