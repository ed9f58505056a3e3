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
	isEscaped := strings.ContainsFunc(text, hidden)
	if system == windows {
		if isEscaped {
			return escapedForPowerShell(text)
		}
		if strings.ContainsAny(text, "$`"+doubleQuotes) {
			return quotedForPowerShell(text)
		}
		return `"` + text + `"` // in cmd.exe, too, where single quotes do not quote
	}
	if isEscaped {
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

// Quotation marks that PowerShell takes for ' and for ".
const (
	singleQuotes = "'\u2018\u2019\u201a\u201b"
	doubleQuotes = "\"\u201c\u201d\u201e"
)

// quotedForPowerShell quotes text in single quotes, in which only those are special: they are
// doubled.
func quotedForPowerShell(text string) string {
	var out strings.Builder
	out.WriteByte('\'')
	for _, r := range text {
		out.WriteRune(r)
		if strings.ContainsRune(singleQuotes, r) {
			out.WriteRune(r)
		}
	}
	out.WriteByte('\'')
	return out.String()
}

// escapedForPowerShell quotes text in double quotes, in which a backtick escapes characters. Hidden
// ones other than line breaks and tabs need PowerShell 6.
func escapedForPowerShell(text string) string {
	out := []byte{'"'}
	for _, r := range text {
		isSpecial := strings.ContainsRune("`$"+doubleQuotes, r)
		switch {
		case r == '\n':
			out = append(out, "`n"...)
		case r == '\r':
			out = append(out, "`r"...)
		case r == '\t':
			out = append(out, "`t"...)
		case isSpecial:
			out = append(out, '`')
			out = utf8.AppendRune(out, r)
		case hidden(r):
			out = fmt.Appendf(out, "`u{%x}", r)
		default:
			out = utf8.AppendRune(out, r)
		}
	}
	return string(append(out, '"'))
}
