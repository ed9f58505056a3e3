package rest_test

import (
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/bizhook/whd/daemon/daemontest/clientstest"
	"github.com/bizhook/whd/daemon/rest/edge"
)

//go:embed testdata/portal.js
var portalScript []byte

// TestPortalPagesInBrowser does the work of a subscriber in Chromium by keyboard alone, with scripts and
// without: opens the link, subscribes, sends a test, sees the attempt, and replaces the secret. Then it
// checks all pages for accessibility and for their width.
func TestPortalPagesInBrowser(t *testing.T) {
	tools := clientstest.NodeModules(t, "browser")
	p := newPortal(t)
	script := filepath.Join(tools, "portal.js")
	if err := os.WriteFile(script, portalScript, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), clientstest.Tool(t, "node"), script)
	cmd.Dir = tools
	cmd.Env = append(os.Environ(), "CHROMIUM="+clientstest.Tool(t, "chromium"),
		"URL="+p.URL, "HOOK="+p.hook.url+"/in",
		"LINK="+p.URL+edge.PortalPath+"/Open?SubscriberID="+p.shop.RecID)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if n := p.hook.got.Load(); n != 2 {
		t.Errorf("the endpoint got %d tests, want 2", n)
	}
}
