package doctor

import (
	"net/url"
	"strings"
	"testing"
)

// TestRemediesOnWindows checks that the remedies are commands of PowerShell there.
func TestRemediesOnWindows(t *testing.T) {
	u := &url.URL{Scheme: "https", Host: "erp.example.com"}
	on := remediesOn("windows")
	for got, want := range map[string]string{
		on.connect(u): "Test-NetConnection erp.example.com -Port 443",
		on.trust:      "certutil -addstore Root",
		on.proxy:      "settings of Windows",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q, want one with %q", got, want)
		}
	}
	if got := remediesOn("linux").connect(u); strings.Contains(got, "Test-NetConnection") {
		t.Errorf("on Linux %q", got)
	}
}
