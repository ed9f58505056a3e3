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
