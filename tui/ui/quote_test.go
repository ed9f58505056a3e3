package ui_test

import (
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/display"
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
