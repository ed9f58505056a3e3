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
		"":                            `""`,
		"Total>3":                     `"Total>3"`,
		`Name="a b"`:                  `"Name=""a b"""`,
		`"x" & calc`:                  `"""x"" & calc"`,
		"$(Remove-Item x) $env:A":     "\"`$(Remove-Item x) `$env:A\"",
		"a`n; calc":                   "\"a``n; calc\"",
		"it's":                        `"it's"`,
		"it's $x & calc":              "\"it's `$x & calc\"",
		"\u2018a\u2019 \u201ab\u201b": "\"\u2018a\u2019 \u201ab\u201b\"",
		"\u201cquoted\u201d":          "\"\u201c\u201cquoted\u201d\u201d\"",
		`C:\x`:                        `"C:\x"`,
		`C:\a b\`:                     `"C:\a b\\"`,
		`a\"b`:                        `"a\\""b"`,
		"line\nbreak\t$x\r":           "\"line`nbreak`t`$x`r\"",
		"`a\" \u201cb\u201d\n":        "\"``a\"\" \u201c\u201cb\u201d\u201d`n\"",
		"esc\x1b[31m":                 "\"esc`u{1b}[31m\"",
		"zero\u200bwidth":             "\"zero`u{200b}width\"",
	} {
		if got := ui.QuoteFor("windows", text); got != want {
			t.Errorf("%q is quoted as %s, want %s", text, got, want)
		}
	}
}

// In cmd.exe, no part of a quoted text is outside of double quotes, where & and | start commands, and
// a program has the text as one argument.
func TestQuoteForCommandPrompt(t *testing.T) {
	for text, want := range map[string]string{
		"Total>3":                  `Total>3`,
		`"x" & calc`:               `"x" & calc`,
		`" | calc "`:               `" | calc "`,
		`a\" --yes "`:              `a\" --yes "`,
		`a\\" --yes & calc`:        `a\\" --yes & calc`,
		`ends with \`:              `ends with \`,
		"$ & calc":                 "`$ & calc", // inexact, but nothing is evaluated
		"' & calc '":               "' & calc '",
		"`\" & calc":               "``\" & calc",
		"\u201c & calc":            "\u201c\u201c & calc",
		"line\n& calc & \"break\"": "line`n& calc & \"break\"",
	} {
		quoted := ui.QuoteFor("windows", text)
		if outside := unquotedPart(quoted); outside != "" {
			t.Errorf("%q is quoted as %s, of which cmd.exe evaluates %q", text, quoted, outside)
		}
		got := arguments(quoted + " next")
		if len(got) != 2 || got[0] != want || got[1] != "next" {
			t.Errorf("of %q, quoted as %s, a program gets %q, want %q and next", text, quoted, got, want)
		}
	}
}

// unquotedPart returns the characters of a command line that cmd.exe reads outside of quotes.
func unquotedPart(line string) string {
	var part strings.Builder
	inQuotes := false
	for _, r := range line {
		if r == '"' {
			inQuotes = !inQuotes
		} else if !inQuotes {
			part.WriteRune(r)
		}
	}
	return part.String()
}

// arguments divides a command line as programs for Windows do.
func arguments(line string) (list []string) {
	for line = strings.TrimLeft(line, " "); line != ""; line = strings.TrimLeft(line, " ") {
		var argument []byte
		inQuotes := false
		for line != "" && (inQuotes || line[0] != ' ') {
			backslashes := len(line) - len(strings.TrimLeft(line, `\`))
			line = line[backslashes:]
			isQuote := strings.HasPrefix(line, `"`)
			if !isQuote {
				argument = append(argument, strings.Repeat(`\`, backslashes)...)
				if line != "" && (inQuotes || line[0] != ' ') {
					argument = append(argument, line[0])
					line = line[1:]
				}
				continue
			}
			argument = append(argument, strings.Repeat(`\`, backslashes/2)...)
			isDoubled := inQuotes && strings.HasPrefix(line, `""`)
			switch {
			case backslashes%2 == 1:
				argument = append(argument, '"')
			case isDoubled:
				argument = append(argument, '"')
				line = line[1:]
			default:
				inQuotes = !inQuotes
			}
			line = line[1:]
		}
		list = append(list, string(argument))
	}
	return list
}
