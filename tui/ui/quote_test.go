package ui_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/tui/ui"
)

// Quoted text has no characters that the screen replaces, and a shell reads the original
// text.
func TestQuoteEscapesHiddenCharacters(t *testing.T) {
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
		"it's\n!x",
		"'; touch x; '",
		"a\\' \n b",
		"-e \\n $'x'",
		"\u2028\u202e`id`",
		"!!",
	} {
		quoted := ui.QuoteFor("linux", text)
		if strings.ContainsFunc(quoted, isHidden) {
			t.Errorf("%q is quoted as %q, want no hidden characters", text, quoted)
		}
		got, err := exec.Command(bash, "-c", "printf %s "+quoted).Output()
		if err != nil || string(got) != text {
			t.Errorf("bash reads %s as %q, error %v; want %q", quoted, got, err, text)
		}
	}
}

// PowerShell evaluates nothing of a quoted text, and reads the original text.
func TestQuoteForPowerShell(t *testing.T) {
	for text, want := range map[string]string{
		"":                              `""`,
		"Total>3":                       `"Total>3"`,
		`Name="a b"`:                    `'Name="a b"'`,
		"$(Remove-Item x) $env:A":       "'$(Remove-Item x) $env:A'",
		"a`n; calc":                     "'a`n; calc'",
		"it's":                          `"it's"`,
		"it's $x":                       "'it''s $x'",
		"\u2018a\u2019 \u201ab\u201b":   "\"\u2018a\u2019 \u201ab\u201b\"",
		"$ \u2018a\u2019 \u201ab\u201b": "'$ \u2018\u2018a\u2019\u2019 \u201a\u201ab\u201b\u201b'",
		"\u201cquoted\u201d":            "'\u201cquoted\u201d'",
		`C:\x`:                          `"C:\x"`,
		"line\nbreak\t$x\r":             "\"line`nbreak`t`$x`r\"",
		"`a\" \u201cb\u201d\n":          "\"``a`\" `\u201cb`\u201d`n\"",
		"esc\x1b[31m":                   "\"esc`u{1b}[31m\"",
		"zero\u200bwidth":               "\"zero`u{200b}width\"",
	} {
		if got := ui.QuoteFor("windows", text); got != want {
			t.Errorf("%q is quoted as %s, want %s", text, got, want)
		}
	}
}
