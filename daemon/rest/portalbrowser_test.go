package rest_test

import (
	"testing"

	"github.com/bizhook/whd/daemon/daemontest/clientstest"
	"github.com/bizhook/whd/daemon/rest/edge"
)

// TestPortalPagesInBrowser does the work of a subscriber in Chromium by keyboard alone, with scripts and
// without: opens the link, subscribes, sends a test, sees the attempt, and replaces the secret. Then it
// checks all pages for accessibility and for their width.
func TestPortalPagesInBrowser(t *testing.T) {
	tools := clientstest.NodeModules(t, "browser")
	p := newPortal(t)
	runInBrowser(t, tools, "portal.js", "URL="+p.URL, "HOOK="+p.hook.url+"/in",
		"LINK="+p.URL+edge.PortalPath+"/Open?SubscriberID="+p.shop.RecID)
	if n := p.hook.got.Load(); n != 2 {
		t.Errorf("the endpoint got %d tests, want 2", n)
	}
}
