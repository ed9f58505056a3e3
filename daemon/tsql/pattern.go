package tsql

import (
	"strings"
	"unicode/utf8"
)

// Pattern is a compiled LIKE pattern. It contains no pointers except a slice of words, so
// that it can be stored in memory that is not managed by Go.
type Pattern struct{ words []uint32 }

// A pattern is a sequence of words, one per element. The upper 8 bits are the operation,
// the others its argument.
const (
	opRune  = iota << 24 // one rune; argument: the folded rune
	opAny                // any rune
	opStar               // any number of runes; argument: number of elements after the last star, else 0
	opSet                // one rune of a set; argument: number of ranges, which follow as pairs of words
	opNever              // matches no rune

	argument = 1<<24 - 1
	negated  = 1 << 23 // flag in the argument of opSet
)

// CompileLike compiles a T-SQL pattern: % matches any text, _ one character, [..] one
// character of a set with ranges, [^..] one that is not in the set. All other characters,
// including a ] outside a set, match themselves, ignoring case. A set that is not closed
// and the empty set match nothing.
func CompileLike(pattern string) *Pattern {
	c := compiler{next: foldNext, last: -1}
	return &Pattern{words: c.compile(pattern)}
}

// PatternOf returns a pattern for words returned by Words.
func PatternOf(words []uint32) Pattern { return Pattern{words: words} }

// Words returns the compiled form, for PatternOf.
func (p *Pattern) Words() []uint32 { return p.words }

// compiler compiles a pattern.
type compiler struct {
	next  func(text []byte) (r rune, size int) // reads the first rune of a text
	words []uint32
	last  int // index of the last star, or -1
	after int // number of elements after the last star
}

// compile returns the words of a pattern.
func (c *compiler) compile(pattern string) []uint32 {
	for len(pattern) > 0 {
		after, ok := c.element(pattern)
		if !ok {
			return []uint32{opNever}
		}
		pattern = after
	}
	if c.last >= 0 && c.after <= argument {
		c.words[c.last] |= uint32(c.after)
	}
	return c.words
}

// element compiles the first element of pattern and returns the text after it; ok is false if a
// set is not closed.
func (c *compiler) element(pattern string) (after string, ok bool) {
	switch pattern[0] {
	case '%':
		if c.last < 0 || c.last != len(c.words)-1 {
			c.last = len(c.words)
			c.words = append(c.words, opStar)
		}
		c.after = 0
		return pattern[1:], true
	case '[':
		c.after++
		return c.set(pattern[1:])
	}
	c.after++
	if pattern[0] == '_' {
		c.words = append(c.words, opAny)
		return pattern[1:], true
	}
	r, size := c.next(view(pattern))
	c.words = append(c.words, opRune|uint32(r))
	return pattern[size:], true
}

// set compiles the inside of brackets. Its ranges contain folded runes if text is folded, too.
func (c *compiler) set(inside string) (after string, ok bool) {
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
		lo, hi, size := c.runeRange(inside)
		c.words = append(c.words, uint32(lo), uint32(hi))
		inside = inside[size:]
	}
	return "", false
}

// runeRange parses "a-f" or a single rune; a hyphen at either end of the set is literal.
func (c *compiler) runeRange(inside string) (lo, hi rune, size int) {
	lo, size = c.next(view(inside))
	after := inside[size:]
	if len(after) < 2 || after[0] != '-' || after[1] == ']' {
		return lo, lo, size
	}
	hi, n := c.next(view(after[1:]))
	return lo, hi, size + 1 + n
}

// Match reports whether text matches the pattern, with or without any of its trailing
// spaces.
func (p *Pattern) Match(text []byte) bool { return p.MatchUntil(text, nil) }

// MatchUntil is Match. In long texts it calls stop, unless that is nil, from time to time
// and returns false if stop returns true.
//
// Backtracking is limited to the last star, since a later star can match whatever an
// earlier one could have matched. If the elements after it take too many steps, they are
// found by a search in time linear in the length of the text.
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
			m.pc++
			if m.pc == len(m.words) {
				return true
			}
			m.setStar(int(op & argument))
			continue
		} else if m.pos == len(m.text) {
			return false // no rune is left for the element
		} else if m.matchOne() {
			continue
		}
		if m.steps <= 0 && m.star >= 0 {
			if !m.search(stop) {
				return false
			}
		} else if !m.retryStar() {
			return false
		}
	}
}

// freeSteps is the number of steps after which a short text is searched.
const freeSteps = 4096

// matcher matches a text with a pattern.
type matcher struct {
	words []uint32
	text  []byte
	end   int // earliest end of a match
	pc    int // current element
	pos   int // start of the current rune
	star  int // element after the last star, or -1
	tried int // position at which that element was tried
	steps int // remaining steps before a search
}

// search finds the elements after the last star, from the position at which they were
// tried, and advances past them.
func (m *matcher) search(stop func() bool) bool {
	s := newSearch(m.words[m.star:])
	m.pc = m.star + len(s.words)
	minEnd := 0
	if m.pc == len(m.words) {
		minEnd = m.end
	}
	m.pos = s.find(m.text, m.tried, minEnd, stop)
	return m.pos >= 0
}

// matchOne matches a single-rune element at the current position and advances past both.
func (m *matcher) matchOne() bool {
	r, size := foldNext(m.text[m.pos:])
	ok, width := matchRune(m.words[m.pc:], uint32(r))
	m.steps -= width
	if ok {
		m.pc += width
		m.pos += size
	}
	return ok
}

// matchRune reports whether the first element of words matches r, and its number of words.
func matchRune(words []uint32, r uint32) (ok bool, width int) {
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

// setStar records the star before m.pc. The number of runes after the last star is known,
// so text that is too far from the end is skipped.
func (m *matcher) setStar(after int) {
	if far := m.end - after*utf8.UTFMax; after > 0 && far > m.pos {
		for far > m.pos && !utf8.RuneStart(m.text[far]) {
			far--
		}
		m.pos = far
	}
	m.star = m.pc
	m.skipASCII()
}

// retryStar makes the last star match one more rune; false if there is no star or no rune.
func (m *matcher) retryStar() bool {
	if m.star < 0 || m.tried == len(m.text) {
		return false
	}
	_, size := foldNext(m.text[m.tried:])
	m.pc = m.star
	m.pos = m.tried + size
	m.skipASCII()
	return true
}

// skipASCII skips ASCII characters that the rune or set after the star does not match.
func (m *matcher) skipASCII() {
	op, pos := m.words[m.pc], m.pos
	if op < utf8.RuneSelf {
		for pos < len(m.text) && m.text[pos] < utf8.RuneSelf && uint32(folds[m.text[pos]]) != op {
			pos++
		}
	} else if op&^argument == opSet {
		for pos < len(m.text) && m.text[pos] < utf8.RuneSelf && m.steps > 0 {
			ok, width := matchRune(m.words[m.pc:], uint32(folds[m.text[pos]]))
			m.steps -= width
			if ok {
				break
			}
			pos++
		}
	}
	m.pos, m.tried = pos, pos
}
