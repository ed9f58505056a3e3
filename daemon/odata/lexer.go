package odata

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/bizhook/whd/daemon/fault"
)

// tokenKind is the kind of a token of a filter or a key.
type tokenKind uint8

const (
	end tokenKind = iota
	text
	duration
	binary
	guid
	date
	number
	identifier // a field, an operator, a function or a constant
	sign       // one character
)

// token is a token with its text: without quotes and prefix if it is a literal.
type token struct {
	kind tokenKind
	text string
	at   int // position in bytes
}

// tokens matches a token. Its groups are the kinds.
var tokens = regexp.MustCompile(`^(?:'((?:[^']|'')*)'|duration'([^']*)'|binary'([^']*)'` +
	`|([0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12})\b` +
	`|(\d{4}-\d\d-\d\d(?:[Tt]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:[Zz]|[-+ ]\d\d:\d\d)?)?)\b` +
	`|([-+]?(?:\d+(?:\.\d+)?(?:[Ee][-+]?\d{1,3})?[DdFfLlMm]?|INF)\b|NaN\b)` +
	`|([\pL_$@][\pL\pN_./]*)|([-(),=*;]))`)

// lexer reads the tokens of a text.
type lexer struct {
	option string // the name of the option, for messages
	text   string
	at     int // position after the current token, in bytes
	token      // the current token
}

// newLexer reads the first token of the value of an option.
func newLexer(option, text string) (*lexer, error) {
	l := &lexer{option: option, text: text}
	return l, l.next()
}

// next reads the next token.
func (l *lexer) next() error {
	remaining := strings.TrimLeft(l.text[l.at:], " \t")
	l.at = len(l.text) - len(remaining)
	l.token = token{at: l.at}
	match := tokens.FindStringSubmatchIndex(remaining)
	if match == nil {
		if remaining != "" {
			return l.fail("cannot be read")
		}
		return nil
	}
	for kind := text; kind <= sign; kind++ {
		from, to := match[2*kind], match[2*kind+1] // -1 if the token is not of the kind
		if from >= 0 {
			l.token = token{kind: kind, text: remaining[from:to], at: l.at}
		}
	}
	if l.kind == text {
		l.token.text = strings.ReplaceAll(l.token.text, "''", "'")
	}
	l.at += match[1]
	return nil
}

// is reports whether the current token is an identifier or a sign with the text.
func (l *lexer) is(text string) bool { return l.kind >= identifier && l.token.text == text }

// skip reads the next token if the current one is an identifier or a sign with the text, and
// reports whether it is.
func (l *lexer) skip(text string) (bool, error) {
	if !l.is(text) {
		return false, nil
	}
	return true, l.next()
}

// expect is skip for a required token.
func (l *lexer) expect(text string) error {
	ok, err := l.skip(text)
	if err != nil {
		return err
	}
	if !ok {
		return l.fail("lacks " + text)
	}
	return nil
}

// fail returns an error at the current token.
func (l *lexer) fail(problem string) error { return l.failure(fault.Invalid, problem) }

// refuse returns the error for a part of OData that this service does not offer.
func (l *lexer) refuse(part string) error {
	return l.failure(fault.NotImplemented, "has "+part+", which is not supported,")
}

// failure returns an error with the position of the current token.
func (l *lexer) failure(kind fault.Kind, problem string) error {
	place := " at its end"
	if l.token.at < len(l.text) {
		place = " at character " + itoa(int64(utf8.RuneCountInString(l.text[:l.token.at])+1))
	}
	return optionError(kind, l.option, "%s", problem+place)
}
