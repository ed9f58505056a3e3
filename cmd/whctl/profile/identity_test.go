package profile

import "testing"

// TestOriginOf checks that an origin has a port only if it is not that of the scheme, and that the
// same service has one origin.
func TestOriginOf(t *testing.T) {
	for address, want := range map[string]string{
		"http://erp.example":          "http://erp.example",
		"HTTP://ERP.example:80/path":  "http://erp.example",
		"http://erp.example:":         "http://erp.example",
		"http://erp.example:443":      "http://erp.example:443",
		"https://erp.example:443":     "https://erp.example",
		"https://erp.example:5443":    "https://erp.example:5443",
		"https://ann@erp.example:443": "https://erp.example",
		"http://[::1]:80":             "http://[::1]",
		"http://[fe80::80]":           "http://[fe80::80]",
		"http://[::1]:5050":           "http://[::1]:5050",
		"http://[::1":                 "",
	} {
		if got := originOf(address); got != want {
			t.Errorf("%s: got %q, want %q", address, got, want)
		}
	}
}
