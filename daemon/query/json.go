package query

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// ReadJSON reads a body that is one JSON object. Unlike encoding/json it rejects
// duplicate names, invalid UTF-8 and unpaired surrogates. If names differ only in letter case, the
// last one counts. Nesting is limited only by the size of the body, since nested values are
// skipped.
func ReadJSON(body []byte) (Members, error) {
	var all collector
	if err := EachJSON(string(body), all.set); err != nil {
		return nil, err
	}
	return all.members, nil
}

// EachJSON calls add for the members of a JSON object, like ReadJSON, but accepts names
// that occur twice. It ends with the first error.
func EachJSON(text string, add func(Member) error) error {
	if !utf8.ValidString(text) {
		return malformed("the body is not valid UTF-8")
	}
	s := scanner{text: text}
	if s.next() != '{' {
		return malformed("the body is not a JSON object")
	}
	if err := s.each(add); err != nil {
		return err
	}
	s.next()
	if s.pos < len(s.text) {
		return malformed("unexpected data after the JSON object at byte %d", s.pos)
	}
	return nil
}

// scanner reads JSON text from start to end. The texts that it returns are
// substrings of the body unless they contain escapes.
type scanner struct {
	text  string
	pos   int      // index of the next byte
	texts []string // texts of all members, to save an allocation for each
}

func (s *scanner) broken() error {
	return malformed("the JSON body cannot be read at byte %d", s.pos)
}

// next skips white space and returns the next byte, 0 at the end.
func (s *scanner) next() byte {
	for ; s.pos < len(s.text); s.pos++ {
		if c := s.text[s.pos]; c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return c
		}
	}
	return 0
}

// accept skips c if it is the next byte.
func (s *scanner) accept(c byte) bool {
	if s.pos < len(s.text) && s.text[s.pos] == c {
		s.pos++
		return true
	}
	return false
}

func (s *scanner) object() (Members, error) {
	var all collector
	if err := s.each(all.add); err != nil {
		return nil, err
	}
	return all.members, nil
}

// each calls add for the members of an object.
func (s *scanner) each(add func(Member) error) error {
	s.pos++
	if s.next() == '}' {
		s.pos++
		return nil
	}
	for {
		m, err := s.member()
		if err != nil {
			return err
		}
		if err := add(m); err != nil {
			return err
		}
		switch s.next() {
		case ',':
			s.pos++
		case '}':
			s.pos++
			return nil
		default:
			return s.broken()
		}
	}
}

func (s *scanner) member() (Member, error) {
	var m Member
	raw, err := s.key()
	if err != nil {
		return m, err
	}
	m.Name, err = s.unescape(raw)
	if err != nil {
		return m, err
	}

	c := s.next()
	start := s.pos
	first := len(s.texts)
	switch {
	case c == '{', strings.EqualFold(m.Name, Meta):
		m.Other = true
		err = s.skip()
	case c == '[':
		m.List = true
		m.Other, err = s.list()
	default:
		m.Empty, err = s.scalar()
	}
	if !m.Other {
		m.Texts = s.texts[first:len(s.texts):len(s.texts)]
		isEmptyList := m.List && len(m.Texts) == 0
		m.Empty = m.Empty || isEmptyList
	}
	m.Raw = s.text[start:s.pos]
	return m, err
}

// list reads a list of scalars. A list with other items is skipped and reported as
// other.
func (s *scanner) list() (other bool, err error) {
	start, first := s.pos, len(s.texts)
	s.pos++
	if s.next() == ']' {
		s.pos++
		return false, nil
	}
	for {
		c := s.next()
		other = c == '[' || c == '{'
		if !other {
			other, err = s.scalar()
			if err != nil {
				return false, err
			}
		}
		if other {
			s.pos = start
			s.texts = s.texts[:first]
			return true, s.skip()
		}
		switch s.next() {
		case ',':
			s.pos++
		case ']':
			s.pos++
			return false, nil
		default:
			return false, s.broken()
		}
	}
}

// scalar appends the text of a string, number or boolean to texts, or reports null.
func (s *scanner) scalar() (null bool, err error) {
	text, err := s.token()
	if err != nil || text == "null" {
		return true, err
	}
	if text[0] == '"' {
		text, err = s.unescape(text)
		if err != nil {
			return false, err
		}
	}
	s.texts = append(s.texts, text)
	return false, nil
}

// skip skips a value of any depth.
func (s *scanner) skip() error {
	var closers []byte // expected closing brackets, innermost last
	for {
		if c := s.next(); c == '{' || c == '[' {
			closer := c + 2 // the ASCII codes differ by 2
			s.pos++
			closers = append(closers, closer)
			if s.next() != closer {
				if err := s.skipKey(closer); err != nil {
					return err
				}
				continue
			}
		} else if _, err := s.token(); err != nil {
			return err
		}
		for len(closers) > 0 && s.next() == closers[len(closers)-1] {
			s.pos++
			closers = closers[:len(closers)-1]
		}
		if len(closers) == 0 {
			return nil
		}
		if !s.accept(',') {
			return s.broken()
		}
		if err := s.skipKey(closers[len(closers)-1]); err != nil {
			return err
		}
	}
}

// skipKey skips a member's name if closer is that of an object.
func (s *scanner) skipKey(closer byte) error {
	if closer != '}' {
		return nil
	}
	_, err := s.key()
	return err
}

// key reads a member's name, unescaped, and the colon after it.
func (s *scanner) key() (raw string, err error) {
	if s.next() != '"' {
		return "", s.broken()
	}
	raw, err = s.quoted()
	if err != nil {
		return "", err
	}
	if s.next() != ':' {
		return "", s.broken()
	}
	s.pos++
	return raw, nil
}

// token reads a string, number or literal without decoding it.
func (s *scanner) token() (raw string, err error) {
	c := s.next()
	if c == '"' {
		return s.quoted()
	}
	isDigit := '0' <= c && c <= '9'
	if c == '-' || isDigit {
		return s.number()
	}
	for _, word := range [...]string{"null", "true", "false"} {
		if strings.HasPrefix(s.text[s.pos:], word) {
			s.pos += len(word)
			return word, nil
		}
	}
	return "", s.broken()
}

func (s *scanner) number() (raw string, err error) {
	start := s.pos
	s.accept('-')
	ok := s.accept('0') || s.digits()
	if s.accept('.') {
		ok = s.digits() && ok
	}
	if s.accept('e') || s.accept('E') {
		if !s.accept('+') {
			s.accept('-')
		}
		ok = s.digits() && ok
	}
	if !ok {
		return "", s.broken()
	}
	return s.text[start:s.pos], nil
}

// digits skips digits and reports whether there are any.
func (s *scanner) digits() bool {
	start := s.pos
	for s.pos < len(s.text) && '0' <= s.text[s.pos] && s.text[s.pos] <= '9' {
		s.pos++
	}
	return s.pos > start
}

// quoted reads a string without decoding it, including its quotes.
func (s *scanner) quoted() (raw string, err error) {
	// Most time is spent here: text and position are in registers, see BenchmarkRequest.
	text := s.text
	start := s.pos
	pos := start + 1
	for {
		for pos < len(text) && unescaped[text[pos]] {
			pos++
		}
		s.pos = pos
		remaining := text[pos:]
		if remaining == "" || remaining[0] < ' ' {
			return "", s.broken()
		}
		if remaining[0] == '"' {
			s.pos++
			return text[start:s.pos], nil
		}
		size := escapeSize(remaining)
		if size == 0 {
			return "", s.broken()
		}
		pos += size
	}
}

// unescaped are the bytes of a string that are neither its end nor escaped.
var unescaped = func() (all [256]bool) {
	for c := range all {
		all[c] = c >= ' ' && c != '"' && c != '\\'
	}
	return all
}()

// escapes maps the letters of short escapes to their characters.
var escapes = [256]byte{
	'"':  '"',
	'\\': '\\',
	'/':  '/',
	'b':  '\b',
	'f':  '\f',
	'n':  '\n',
	'r':  '\r',
	't':  '\t',
}

// escapeSize returns the length of the escape at the start of text, 0 if it is
// invalid.
func escapeSize(text string) int {
	if len(text) >= 2 && escapes[text[1]] != 0 {
		return 2
	}
	if len(text) < 6 || text[1] != 'u' {
		return 0
	}
	if _, err := strconv.ParseUint(text[2:6], 16, 16); err != nil {
		return 0
	}
	return 6
}

// unescape returns the decoded text of a string.
func (s *scanner) unescape(raw string) (string, error) {
	raw = raw[1 : len(raw)-1]
	before, _, escaped := strings.Cut(raw, `\`)
	if !escaped {
		return raw, nil
	}
	text := make([]byte, 0, len(raw))
	text = append(text, before...)
	raw = raw[len(before):]
	for raw != "" {
		size := 1
		switch {
		case raw[0] != '\\':
			text = append(text, raw[0])
		case raw[1] != 'u':
			text = append(text, escapes[raw[1]])
			size = 2
		default:
			var r rune
			r, size = unicodeEscape(raw)
			if size == 0 {
				return "", malformed("the JSON body has an unpaired surrogate before byte %d", s.pos)
			}
			text = utf8.AppendRune(text, r)
		}
		raw = raw[size:]
	}
	return string(text), nil
}

// unicodeEscape decodes \uXXXX, or a surrogate pair of two such escapes; size is 0
// for an unpaired surrogate.
func unicodeEscape(raw string) (r rune, size int) {
	r = codeUnit(raw)
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if !strings.HasPrefix(raw[6:], `\u`) {
		return utf8.RuneError, 0
	}
	r = utf16.DecodeRune(r, codeUnit(raw[6:]))
	if r == utf8.RuneError {
		return utf8.RuneError, 0
	}
	return r, 12
}

func codeUnit(escape string) rune {
	unit, _ := strconv.ParseUint(escape[2:6], 16, 16) // escapeSize has validated the digits
	return rune(unit)
}
