package ui_test

import (
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/ui"
)

// Quoted text has no characters that the screen replaces, and a shell reads the original
// text.
func TestQuoteEscapesHiddenCharacters(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the shells of Windows have no such quotes")
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip(err)
	}
	isHidden := func(r rune) bool { return display.Escape(r) != "" }
	for _, text := range []string{
		"plain",
		`a "b" $c`,
		"line\nbreak\ttab",
		"esc\x1b[31m0",
		"it's \\ \x07!",
		"zero\u200bwidth \u0085 é 世",
		"\xff$\n",
	} {
		quoted := ui.Quote(text)
		if strings.ContainsFunc(quoted, isHidden) {
			t.Errorf("%q is quoted as %q, want no hidden characters", text, quoted)
		}
		got, err := exec.Command(bash, "-c", "printf %s "+quoted).Output()
		if err != nil || string(got) != text {
			t.Errorf("bash reads %s as %q, error %v; want %q", quoted, got, err, text)
		}
	}
}

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
		"PT0S":         "0.0 ms",
		"PT0.0003985S": "0.4 ms",
		"PT0.00999S":   "10.0 ms",
		"PT0.01S":      "10 ms",
		"PT0.0123S":    "12 ms",
		"PT30S":        "30,000 ms",
		"PT1H0S":       "3,600,000 ms",
		"soon":         "soon",
	} {
		if got := ui.Milliseconds(text); got != want {
			t.Errorf("%s is %q, want %q", text, got, want)
		}
	}
}

// The texts of an HTML answer that tags separate stay separate words.
func TestFirstLineOfHTML(t *testing.T) {
	for answer, want := range map[string]string{
		"<h1>500</h1><p>Internal Server Error</p>":  "500 Internal Server Error",
		"<html>\n<head><title>Bad  gateway</title>": "Bad gateway",
		"plain  text":                "plain  text",
		"{\"a\":  1}":                "{\"a\":  1}",
		"\r\n  first\nsecond":        "first",
		"<br/>\n<b>shop</b> unknown": "shop unknown",
	} {
		if got := ui.FirstLine(wire.Attempt{AnswerText: &answer}); got != want {
			t.Errorf("%q: %q, want %q", answer, got, want)
		}
	}
}
