package ui_test

import (
	"testing"

	"github.com/bizhook/whd/tui/ui"
)

// Query values and user information can be secrets, and a URL that cannot be parsed can have any.
func TestMaskURLHidesSecrets(t *testing.T) {
	for text, want := range map[string]string{
		"https://a.test/x":             "https://a.test/x",
		"https://a.test/x?key=1&b=2&c": "https://a.test/x?key=" + ui.SecretMask + "&b=" + ui.SecretMask + "&" + ui.SecretMask,
		"https://user:word@a.test/":    "https://" + ui.SecretMask + "@a.test/",
		"https://token@a.test/":        "https://" + ui.SecretMask + "@a.test/",
		"http://%zz/word":              ui.SecretMask,
		"mailto:word":                  "mailto:" + ui.SecretMask,
		"":                             "",
	} {
		if got := ui.MaskURL(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
