package main

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestIgnoredMembers checks that whctl warns of members that the service does not know, as with one
// of an earlier version: such a subscription has no order.
func TestIgnoredMembers(t *testing.T) {
	inv := invocation{handler: func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Ignored-Members", "OrderBy")
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"RecID":"`+subscriptionID+`","EventName":"debtor.updated",`+
			`"URL":"https://shop.example/","IsEnabled":true}`)
	}}
	got := inv.run(t, "subscriptions", "create", subscriberID, "debtor.updated",
		"https://shop.example/", "--order", "key")
	want := "warning: the service ignored OrderBy\n"
	if got.code != 0 || !strings.Contains(got.stderr, want) {
		t.Errorf("whctl subscriptions create: got %v; want exit code 0, stderr with %q", got, want)
	}
}
