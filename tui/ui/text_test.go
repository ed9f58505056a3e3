package ui_test

import (
	"testing"

	"github.com/bizhook/whd/tui/ui"
)

func TestMaskURLHidesSecrets(t *testing.T) {
	for text, want := range map[string]string{
		"https://a.test/x":             "https://a.test/x",
		"https://a.test/x?key=1&b=2&c": "https://a.test/x?key=" + ui.SecretMask + "&b=" + ui.SecretMask + "&" + ui.SecretMask,
		"https://user:word@a.test/":    "https://user:" + ui.SecretMask + "@a.test/",
		"::not an address":             "::not an address",
	} {
		if got := ui.MaskURL(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestMillisecondsFormat(t *testing.T) {
	for text, want := range map[string]string{
		"PT0S": "0.0 ms", "PT0.0003985S": "0.4 ms", "PT0.00999S": "10.0 ms", "PT0.01S": "10 ms", "PT0.0123S": "12 ms", "PT30S": "30,000 ms",
		"PT1H0S": "3,600,000 ms", "soon": "soon",
	} {
		if got := ui.Milliseconds(text); got != want {
			t.Errorf("%s is %q, want %q", text, got, want)
		}
	}
}
