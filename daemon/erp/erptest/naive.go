package erptest

import (
	"bytes"
	"cmp"
	"math/big"
	"slices"
	"strings"
	"unicode"

	"github.com/bizhook/whd/client/record"
)

// matches evaluates a condition on a stored value. It is a simple implementation of the
// filter grammar that shares no code with the implementation under test.
func (s *suite) matches(t record.Type, stored any, op record.Operator, operands []any) bool {
	if op == record.IsNull {
		return stored == nil
	}
	if op == record.IsNotNull {
		return stored != nil
	}
	isNotGiven := t == record.Bytes && len(operands) == 1 && len(operands[0].([]byte)) == 0
	if isNotGiven {
		return true
	}
	if stored == nil {
		return false
	}

	switch op {
	case record.StartsWith:
		return likeNaive(runes(stored), slices.Concat(literal(operands[0]), anyText))
	case record.EndsWith:
		return likeNaive(runes(stored), slices.Concat(anyText, literal(operands[0])))
	case record.Contains:
		return likeNaive(runes(stored), slices.Concat(anyText, literal(operands[0]), anyText))
	case record.Like:
		pattern, ok := likeTokens(operands[0].(string))
		return ok && likeNaive(runes(stored), pattern)
	case record.In:
		for _, o := range operands {
			if s.compare(t, stored, o) == 0 {
				return true
			}
		}
		return false
	case record.Between:
		return s.compare(t, stored, operands[0]) >= 0 && s.compare(t, stored, operands[1]) <= 0
	}
	c := s.compare(t, stored, operands[0])
	switch op {
	case record.Equal:
		return c == 0
	case record.NotEqualTo:
		return c != 0
	case record.GreaterThan:
		return c > 0
	case record.GreaterThanOrEqualTo:
		return c >= 0
	case record.LessThan:
		return c < 0
	case record.LessThanOrEqualTo:
		return c <= 0
	}
	return false
}

// compare compares two values that are not null.
func (s *suite) compare(t record.Type, a, b any) int {
	if ranks := s.ranks[t]; ranks != nil {
		return cmp.Compare(ranks[equalText(t, a)], ranks[equalText(t, b)])
	}
	switch t {
	case record.Text:
		return strings.Compare(equalText(t, a), equalText(t, b))
	case record.Decimal:
		x, _ := new(big.Rat).SetString(a.(string))
		y, _ := new(big.Rat).SetString(b.(string))
		return x.Cmp(y)
	case record.Bytes:
		return bytes.Compare(a.([]byte), b.([]byte))
	case record.DateTime, record.Guid:
		return strings.Compare(a.(string), b.(string))
	default:
		return cmp.Compare(a.(int64), b.(int64))
	}
}

// equalText returns the same text for equal values.
func equalText(t record.Type, v any) string {
	if t != record.Text {
		return operandText(v)
	}
	return string(foldNaive(strings.TrimRight(v.(string), " ")))
}

// foldNaive replaces each rune by a representative of its letter cases.
func foldNaive(s string) []rune {
	var folded []rune
	for _, r := range s {
		lowest := r
		for o := unicode.SimpleFold(r); o != r; o = unicode.SimpleFold(o) {
			lowest = min(lowest, o)
		}
		if lowest >= 'A' && lowest <= 'Z' {
			lowest += 'a' - 'A'
		}
		folded = append(folded, lowest)
	}
	return folded
}

func runes(v any) []rune { return foldNaive(v.(string)) }

// token is a part of a LIKE pattern: any text, any rune, or a set of runes.
type token struct {
	any    bool      // any text
	one    bool      // any rune
	not    bool      // a rune outside of the ranges
	ranges [][2]rune // first and last runes
}

// anyText is the pattern of any text.
var anyText = []token{{any: true}}

// literal returns the pattern of a text.
func literal(v any) []token {
	var tokens []token
	for _, r := range runes(v) {
		tokens = append(tokens, token{ranges: [][2]rune{{r, r}}})
	}
	return tokens
}

// likeTokens parses a pattern; ok is false if a set is not closed, which matches nothing.
func likeTokens(pattern string) ([]token, bool) {
	var tokens []token
	p := foldNaive(pattern)
	for len(p) > 0 {
		length := 1
		switch p[0] {
		case '%':
			tokens = append(tokens, token{any: true})
		case '_':
			tokens = append(tokens, token{one: true})
		case '[':
			end := closing(p)
			if end < 0 {
				return nil, false
			}
			tokens = append(tokens, set(p[1:end]))
			length = end + 1
		default:
			tokens = append(tokens, token{ranges: [][2]rune{{p[0], p[0]}}})
		}
		p = p[length:]
	}
	return tokens, true
}

// closing returns the index of the bracket that closes a set, or -1.
func closing(p []rune) int { return slices.Index(p, ']') }

// set returns the token of a set.
func set(inside []rune) token {
	t := token{not: len(inside) > 0 && inside[0] == '^'}
	if t.not {
		inside = inside[1:]
	}
	for len(inside) > 0 {
		if len(inside) >= 3 && inside[1] == '-' {
			t.ranges = append(t.ranges, [2]rune{inside[0], inside[2]})
			inside = inside[3:]
			continue
		}
		t.ranges = append(t.ranges, [2]rune{inside[0], inside[0]})
		inside = inside[1:]
	}
	return t
}

// likeNaive matches by backtracking. Trailing spaces of the text are ignored.
func likeNaive(text []rune, pattern []token) bool {
	if len(pattern) == 0 {
		return strings.Trim(string(text), " ") == ""
	}
	if pattern[0].any {
		return likeNaive(text, pattern[1:]) || (len(text) > 0 && likeNaive(text[1:], pattern))
	}
	return len(text) > 0 && pattern[0].matchesRune(text[0]) && likeNaive(text[1:], pattern[1:])
}

func (t token) matchesRune(r rune) bool {
	if t.one {
		return true
	}
	hasRune := func(pair [2]rune) bool { return pair[0] <= r && r <= pair[1] }
	return slices.ContainsFunc(t.ranges, hasRune) != t.not
}
