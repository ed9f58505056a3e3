package query

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// ReadJSV reads a body in ServiceStack's text format JSV: {Name:X,List:[a,b]}. Names and
// texts with special characters are quoted, with quotes in them doubled. Spaces belong
// to a text, and a missing text is null. A body that is JSON is read as JSON.
func ReadJSV(body []byte) (Members, error) {
	if members, err := ReadJSON(body); err == nil || !utf8.Valid(body) {
		return members, err
	}
	s := jsvScanner{scanner{text: string(bytes.TrimSpace(body))}}
	members, err := s.object()
	if err == nil && s.pos < len(s.text) {
		return nil, s.broken()
	}
	return members, err
}

// ReadObjects reads a list of objects, or a single one, in JSON or JSV.
func ReadObjects(text string) ([]Members, error) {
	text = strings.TrimSpace(text)
	asJSON := scanner{text: text}
	objects, err := asJSON.objects(asJSON.object)
	if err == nil {
		return objects, nil
	}
	asJSV := jsvScanner{scanner{text: text}}
	return asJSV.objects(asJSV.object)
}

// objects reads a list of objects, or a single one, by a method of the scanner.
func (s *scanner) objects(object func() (Members, error)) ([]Members, error) {
	var objects []Members
	isList := s.accept('[')
	isEmptyList := isList && s.next() == ']'
	for hasNext := !isEmptyList; hasNext; hasNext = s.accept(',') {
		if s.next() != '{' {
			return nil, s.broken()
		}
		members, err := object()
		if err != nil {
			return nil, err
		}
		objects = append(objects, members)
		s.next()
	}
	if isList && !s.accept(']') {
		return nil, s.broken()
	}
	if s.pos < len(s.text) {
		return nil, s.broken()
	}
	return objects, nil
}

// jsvScanner reads JSV text from start to end.
type jsvScanner struct{ scanner }

func (s *jsvScanner) broken() error {
	return malformed("the JSV body cannot be read at byte %d", s.pos)
}

func (s *jsvScanner) object() (Members, error) {
	if !s.accept('{') {
		return nil, s.broken()
	}
	var all collector
	for {
		m, ok := s.member()
		hasNext := s.accept(',')
		if !ok {
			return nil, s.broken()
		}
		if !hasNext && !s.accept('}') {
			return nil, s.broken()
		}
		if err := all.add(m); err != nil {
			return nil, err
		}
		if !hasNext {
			return all.members, nil
		}
	}
}

// member reads a member and the white space after it.
func (s *jsvScanner) member() (Member, bool) {
	name, _, ok := s.value(":,{}[]")
	m := Member{Name: strings.TrimSpace(name)}
	if !ok || m.Name == "" || !s.accept(':') {
		return m, false
	}

	start := s.pos
	switch s.next() {
	case '{':
		m.Other = true
		ok = s.nested()
		m.Raw = s.text[start:s.pos]
	case '[':
		m.List = true
		m.Texts, ok = s.list()
		if !ok { // it is not a list of texts, and is skipped from its start
			m.Other = true
			s.pos = start
			s.next()
			ok = s.nested()
		}
		m.Raw = s.text[start:s.pos]
		m.Empty = !m.Other && len(m.Texts) == 0
	default:
		s.pos = start
		var text string
		text, m.Empty, ok = s.value(",}")
		if m.Empty {
			m.Raw = "null"
		} else {
			m.Texts = []string{text}
		}
	}
	s.next()
	return m, ok
}

// list reads a list of texts. It fails at other items, nulls included.
func (s *jsvScanner) list() (texts []string, ok bool) {
	s.pos++
	if s.accept(']') {
		return nil, true
	}
	for {
		text, null, ok := s.value(",{[]")
		if !ok || null {
			return nil, false
		}
		texts = append(texts, text)
		s.next()
		if s.accept(']') {
			return texts, true
		}
		if !s.accept(',') {
			return nil, false
		}
	}
}

// value reads a text: quoted, or up to one of the delimiters. It is null if it is
// missing.
func (s *jsvScanner) value(delimiters string) (text string, null, ok bool) {
	start := s.pos
	if s.next() == '"' {
		text, after, ok := cutQuoted(s.text[s.pos+1:])
		s.pos = len(s.text) - len(after)
		return text, false, ok
	}
	n := strings.IndexAny(s.text[start:], delimiters)
	if n < 0 {
		return "", false, false
	}
	s.pos = start + n
	text = s.text[start:s.pos]
	if line, after, found := strings.Cut(text, "\n"); found && strings.TrimSpace(after) == "" {
		text = strings.TrimSuffix(line, "\r")
	}
	return text, text == "", true
}

// nested skips an object or a list of any depth.
func (s *jsvScanner) nested() bool {
	var closers []byte // expected closing brackets, innermost last
	isQuoted := false
	for ; s.pos < len(s.text); s.pos++ {
		c := s.text[s.pos]
		if c == '"' {
			isQuoted = !isQuoted
		}
		if isQuoted {
			continue
		}
		switch c {
		case '{', '[':
			closers = append(closers, c+2) // the ASCII codes differ by 2
		case '}', ']':
			if closers[len(closers)-1] != c {
				return false
			}
			closers = closers[:len(closers)-1]
			if len(closers) == 0 {
				s.pos++
				return true
			}
		}
	}
	return false
}
