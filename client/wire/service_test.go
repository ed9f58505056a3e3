package wire

import "testing"

func TestIsLoopback(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost":        true,
		"LOCALHOST.":       true,
		"erp.localhost":    true,
		"127.0.0.1":        true,
		"127.1.2.3":        true,
		"::1":              true,
		"::ffff:127.0.0.1": true,
		"0.0.0.0":          true,
		"::ffff:0.0.0.0":   true,
		"::":               true,

		"erp01":             false,
		"10.0.0.1":          false,
		"localhost.example": false,
		"fe80::1":           false,
		"":                  false,
	} {
		if got := IsLoopback(host); got != want {
			t.Errorf("IsLoopback(%q) = %t, want %t", host, got, want)
		}
	}
}
