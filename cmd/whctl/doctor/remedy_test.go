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

// TestProxyOfConnectRemedy checks that only a variable is advised that has an effect: each scheme has
// its own, and addresses of this machine are never reached through a proxy.
func TestProxyOfConnectRemedy(t *testing.T) {
	for address, want := range map[string]string{
		"https://erp.example.com":  "; set HTTPS_PROXY to use a proxy",
		"http://whd.lan:8080":      "; set HTTP_PROXY to use a proxy",
		"http://localhost:8080":    "",
		"http://127.0.0.1:8080":    "",
		"https://[::1]":            "",
		"https://127.0.0.1.nip.io": "; set HTTPS_PROXY to use a proxy",
	} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		got := connectRemedy("linux", u)
		_, advice, _ := strings.Cut(got, "blocks it")
		if advice != want {
			t.Errorf("%s: got %q after the firewall, want %q", address, advice, want)
		}
		windows := connectRemedy("windows", u)
		wantWindows := strings.Replace(want, "set ", "set $env:", 1)
		if !strings.HasSuffix(windows, wantWindows) || want == "" && strings.Contains(windows, "proxy") {
			t.Errorf("%s on Windows: got %q, want the end %q", address, windows, wantWindows)
		}
	}
}
