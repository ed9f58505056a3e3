package main

import (
	"io"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/daemontest"
)

// TestLinkToPageOfSubscriber checks that a new subscriber's link is printed on a terminal only, with
// the public address of the service, and only if the service has these pages.
func TestLinkToPageOfSubscriber(t *testing.T) {
	const link = "/Webhooks/Portal/Open?SubscriberID="
	service := daemontest.Start(t)
	service.Set(t, "webhooks.portal", "true")
	create := func(args ...string) (seen string) {
		t.Helper()
		cmd := adminProcess(t, service.URL, append([]string{"subscribers", "create"}, args...)...)
		c := startCommandOnTerminal(t, cmd, service.URL)
		c.wantEnd(0)
		text, _ := io.ReadAll(c.screen) // EIO at the end: the other side is closed
		return string(text)
	}
	if seen := create("Acme"); !strings.Contains(seen, service.URL+link) {
		t.Errorf("the terminal shows %q, want the link", seen)
	}
	if seen := create("Paused", "--disabled"); strings.Contains(seen, link) {
		t.Errorf("for a disabled subscriber, the terminal shows %q, want no link", seen)
	}
	got := invocation{env: adminEnv(service.URL)}.run(t, "subscribers", "create", "Depot")
	if got.code != 0 || strings.Contains(got.stdout+got.stderr, link) {
		t.Errorf("without a terminal: got %v, want no link", got)
	}

	service.Set(t, "http.public_url", "https://erp.example/erp/")
	if seen := create("Public"); !strings.Contains(seen, "https://erp.example/erp"+link) {
		t.Errorf("the terminal shows %q, want the link with the public address", seen)
	}
	service.Set(t, "webhooks.portal", "")
	if seen := create("Off"); strings.Contains(seen, link) {
		t.Errorf("without the pages, the terminal shows %q, want no link", seen)
	}
}
