package ui

import (
	"fmt"
	"runtime"
	"strings"
	"unicode/utf8"

	"github.com/bizhook/whd/client/display"
)

// windows is the operating system on which users run commands in PowerShell.
const windows = "windows"

// Quote quotes text for the shell in which users run copied commands: PowerShell on Windows, and
// bash or zsh elsewhere. The shell neither evaluates nor divides any text: much of it was
// written by others. Characters that a terminal does not show are escaped.
func Quote(text string) string { return QuoteFor(runtime.GOOS, text) }

// QuoteFor is Quote for the shell of an operating system. PowerShell before version 7.3 drops the
// double quotes of a text when it starts a program, which no quoting prevents in all versions.
func QuoteFor(system, text string) string {
	if system == windows {
		return quotedForWindows(text)
	}
	if strings.ContainsFunc(text, hidden) {
		return escapedForBash(text)
	}
	if strings.ContainsAny(text, "$`\\!\"") {
		return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
	}
	return `"` + text + `"`
}

// Curl is the name of curl: in Windows PowerShell, curl is an alias of another command.
func Curl() string {
	if runtime.GOOS == windows {
		return "curl.exe"
	}
	return "curl"
}

// Variable returns how the shell of Quote reads a variable of the environment in double quotes.
func Variable(name string) string {
	if runtime.GOOS == windows {
		return "$env:" + name
	}
	return "$" + name
}

// hidden reports whether a character would be replaced on the screen.
func hidden(r rune) bool { return display.Escape(r) != "" }

// escapedForBash quotes text in the form $'..', with hidden characters as bytes.
func escapedForBash(text string) string {
	out := []byte("$'")
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		isHidden := hidden(r) || r == utf8.RuneError && size == 1
		switch {
		case r == '\n':
			out = append(out, `\n`...)
		case r == '\t':
			out = append(out, `\t`...)
		case r == '\'' || r == '\\':
			out = append(out, '\\', byte(r))
		case isHidden || r == '!': // bash before version 4 looks for !, after \', in its history
			for _, b := range []byte(text[:size]) {
				out = fmt.Appendf(out, `\%03o`, b)
			}
		default:
			out = append(out, text[:size]...)
		}
		text = text[size:]
	}
	return string(append(out, '\''))
}

// doubleQuotes are the quotation marks that PowerShell takes for ".
const doubleQuotes = "\"\u201c\u201d\u201e"

// quotedForWindows quotes text for PowerShell so that cmd.exe does not evaluate it either, in which
// users paste commands, too. There, a backtick is not special, and every " starts or ends a quoted
// part, outside of which & starts another command. So a quotation mark is doubled, which both
// understand, and everything else that PowerShell evaluates gets a backtick, which is part of the text
// in cmd.exe. cmd.exe replaces %NAME% of variables, which no quoting prevents. Hidden characters other
// than line breaks and tabs need PowerShell 6.
//
// Programs take a backslash before a quotation mark for its escape, and would divide the arguments
// elsewhere: it is doubled, too. PowerShell from version 7.3 on passes both to the program.
func quotedForWindows(text string) string {
	out := []byte{'"'}
	backslashes := 0 // at the end of out
	for _, r := range text {
		isQuote := strings.ContainsRune(doubleQuotes, r)
		if r == '"' {
			out = appendBackslashes(out, backslashes)
		}
		switch {
		case r == '\n':
			out = append(out, "`n"...)
		case r == '\r':
			out = append(out, "`r"...)
		case r == '\t':
			out = append(out, "`t"...)
		case r == '`' || r == '$':
			out = append(out, '`', byte(r))
		case isQuote:
			out = utf8.AppendRune(out, r)
			out = utf8.AppendRune(out, r)
		case hidden(r):
			out = fmt.Appendf(out, "`u{%x}", r)
		default:
			out = utf8.AppendRune(out, r)
		}
		if r == '\\' {
			backslashes++
		} else {
			backslashes = 0
		}
	}
	out = appendBackslashes(out, backslashes)
	return string(append(out, '"'))
}

func appendBackslashes(out []byte, n int) []byte {
	return append(out, strings.Repeat(`\`, n)...)
}
