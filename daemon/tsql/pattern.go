package tsql

import (
	"strings"
	"unicode/utf8"
)

// Pattern is a compiled LIKE pattern. It holds no pointers beyond one slice of
// words, so that it can be kept in memory that Go does not manage.
type Pattern struct{ words []uint32 }

// A pattern is a row of words, one for each element. The operation stands in
// the upper 8 bits, its argument in the others.
const (
	opRune  = iota << 24 // the folded rune itself
	opAny                // one rune, whatever it is
	opStar               // any number of runes; argument: elements behind it where it is the last star, else 0
	opSet                // one rune of a set; argument: the number of ranges, which follow as pairs of words
	opNever              // no rune

	argument = 1<<24 - 1
	negated  = 1 << 23 // in the argument of opSet
)

// CompileLike compiles a pattern of T-SQL: % is any text, _ one character, [..]
// one of a set with ranges, [^..] one that is not of the set. Everything else,
// a ] outside a set included, means itself in either case. A set that is never
// closed matches nothing, and so does the empty set.
func CompileLike(pattern string) *Pattern {
	c := compiler{last: -1}
	for len(pattern) > 0 {
		rest, ok := c.element(pattern)
		if !ok {
			return &Pattern{words: []uint32{opNever}}
		}
		pattern = rest
	}
	if c.last >= 0 && c.behind <= argument {
		c.words[c.last] |= uint32(c.behind)
	}
	return &Pattern{words: c.words}
}

// PatternOf makes a pattern of the words of another one.
func PatternOf(words []uint32) Pattern { return Pattern{words: words} }

// Words is the compiled form, for PatternOf.
func (p *Pattern) Words() []uint32 { return p.words }

type compiler struct {
	words  []uint32
	last   int // index of the last star, or -1
	behind int // elements behind it
}

// element compiles the first element of pattern and returns what follows it; ok
// is false for a set that is not closed.
func (c *compiler) element(pattern string) (rest string, ok bool) {
	switch pattern[0] {
	case '%':
		if c.last < 0 || c.last != len(c.words)-1 {
			c.last = len(c.words)
			c.words = append(c.words, opStar)
		}
		c.behind = 0
		return pattern[1:], true
	case '[':
		c.behind++
		return c.set(pattern[1:])
	}
	c.behind++
	if pattern[0] == '_' {
		c.words = append(c.words, opAny)
		return pattern[1:], true
	}
	r, size := foldNext(view(pattern))
	c.words = append(c.words, opRune|uint32(r))
	return pattern[size:], true
}

// set compiles the inside of brackets. The ranges compare folded runes, as the
// text that they meet is folded too.
func (c *compiler) set(inside string) (rest string, ok bool) {
	head := len(c.words)
	c.words = append(c.words, opSet)
	if strings.HasPrefix(inside, "^") {
		c.words[head] |= negated
		inside = inside[1:]
	}
	for len(inside) > 0 {
		if inside[0] == ']' {
			c.words[head] |= uint32(len(c.words)-head-1) / 2
			return inside[1:], true
		}
		lo, hi, size := runeRange(inside)
		c.words = append(c.words, uint32(lo), uint32(hi))
		inside = inside[size:]
	}
	return "", false
}

// runeRange reads "a-f" or a single rune; a hyphen at an end of the set is one.
func runeRange(inside string) (lo, hi rune, size int) {
	lo, size = foldNext(view(inside))
	behind := inside[size:]
	if len(behind) < 2 || behind[0] != '-' || behind[1] == ']' {
		return lo, lo, size
	}
	hi, n := foldNext(view(behind[1:]))
	return lo, hi, size + 1 + n
}

// Match reports whether text matches the pattern as it is or without some or
// all of its trailing spaces.
func (p *Pattern) Match(text []byte) bool { return p.MatchUntil(text, nil) }

// MatchUntil is Match. In long texts it asks stop, unless that is nil, now and
// then whether to give up, and then reports false.
//
// Only the last star is ever tried again, since a later star makes up for
// whatever an earlier one could have taken. Elements that this takes too many
// steps for are found by a search whose time does not depend on the text.
func (p *Pattern) MatchUntil(text []byte, stop func() bool) bool {
	return p.match(text, freeSteps+len(text)/4, stop)
}

func (p *Pattern) match(text []byte, steps int, stop func() bool) bool {
	m := matcher{words: p.words, text: text, end: len(trimSpaces(text)), star: -1, steps: steps}
	return m.run(stop)
}

func (m *matcher) run(stop func() bool) bool {
	for {
		if m.pc == len(m.words) {
			if m.pos >= m.end {
				return true
			}
		} else if op := m.words[m.pc]; op&^argument == opStar {
			if m.pc++; m.pc == len(m.words) {
				return true
			}
			m.setStar(int(op & argument))
			continue
		} else if m.pos == len(m.text) {
			return false // the element wants a rune, and trying later leaves even fewer
		} else if m.one() {
			continue
		}
		if m.steps <= 0 && m.star >= 0 {
			if !m.search(stop) {
				return false
			}
		} else if !m.again() {
			return false
		}
	}
}

// freeSteps is the number of steps after which a short text is searched.
const freeSteps = 4096

type matcher struct {
	words []uint32
	text  []byte
	end   int // a match may end here or behind
	pc    int // the element that is tried
	pos   int // against the rune that starts here
	star  int // element behind the last star, or -1
	tried int // where the text for it began
	steps int // that may still be taken before elements are searched
}

// search finds the elements behind the last star, from where they were tried,
// and steps over them.
func (m *matcher) search(stop func() bool) bool {
	s, least := newSearch(m.words[m.star:]), 0
	if m.pc = m.star + len(s.words); m.pc == len(m.words) {
		least = m.end
	}
	m.pos = s.find(m.text, m.tried, least, stop)
	return m.pos >= 0
}

// one tries a single-rune element at the position and steps over both if it
// matches.
func (m *matcher) one() bool {
	r, size := foldNext(m.text[m.pos:])
	ok, width := takes(m.words[m.pc:], uint32(r))
	m.steps -= width
	if ok {
		m.pc += width
		m.pos += size
	}
	return ok
}

// takes reports whether the first element of words matches r, and how many words
// it has.
func takes(words []uint32, r uint32) (ok bool, width int) {
	switch op := words[0]; op &^ argument {
	case opRune:
		return r == op, 1
	case opAny:
		return true, 1
	case opSet:
		set := words[1:][:op&(negated-1)*2]
		for i := 1; i < len(set); i += 2 {
			if set[i-1] <= r && r <= set[i] {
				return op&negated == 0, 1 + len(set)
			}
		}
		return op&negated != 0, 1 + len(set)
	}
	return false, 1
}

// setStar remembers the star before m.pc. Behind the last one the number of
// runes is known, so that all text can be skipped that is too far from the end.
func (m *matcher) setStar(behind int) {
	if far := m.end - behind*utf8.UTFMax; behind > 0 && far > m.pos {
		for far > m.pos && !utf8.RuneStart(m.text[far]) {
			far--
		}
		m.pos = far
	}
	m.star = m.pc
	m.seek()
}

// again gives the last star one more rune; false if there is no star or no rune.
func (m *matcher) again() bool {
	if m.star < 0 || m.tried == len(m.text) {
		return false
	}
	_, size := foldNext(m.text[m.tried:])
	m.pc, m.pos = m.star, m.tried+size
	m.seek()
	return true
}

// seek moves forward over ASCII that the rune or set behind the star is not.
func (m *matcher) seek() {
	op, pos := m.words[m.pc], m.pos
	switch {
	case op < utf8.RuneSelf:
		for pos < len(m.text) && m.text[pos] < utf8.RuneSelf && uint32(folds[m.text[pos]]) != op {
			pos++
		}
	case op&^argument == opSet:
		for pos < len(m.text) && m.text[pos] < utf8.RuneSelf && m.steps > 0 {
			ok, width := takes(m.words[m.pc:], uint32(folds[m.text[pos]]))
			if m.steps -= width; ok {
				break
			}
			pos++
		}
	}
	m.pos, m.tried = pos, pos
}
