package doctor

import (
	"net/url"
	"strings"
	"testing"
)

// TestRemediesOnWindows checks that the remedies are commands of PowerShell there, and only there.
func TestRemediesOnWindows(t *testing.T) {
	u := &url.URL{Scheme: "https", Host: "erp.example.com"}
	for name, test := range map[string]struct {
		remedy func(platform string) string
		want   string
	}{
		"connect": {
			remedy: func(platform string) string { return connectRemedy(platform, u) },
			want:   "Test-NetConnection erp.example.com -Port 443",
		},
		"trust": {trustRemedy, "certutil -addstore Root"},
		"proxy": {proxyRemedy, "settings of Windows"},
	} {
		if got := test.remedy("windows"); !strings.Contains(got, test.want) {
			t.Errorf("%s: got %q on Windows, want one with %q", name, got, test.want)
		}
		if got := test.remedy("linux"); got == "" || strings.Contains(got, test.want) {
			t.Errorf("%s: got %q on Linux, want one without %q", name, got, test.want)
		}
	}
}
