package tsql

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// CompileExactLike compiles a pattern for the texts that LIKE matches with regard to letter
// case, in the order of code points. Otherwise the pattern has the meaning of CompileLike.
func CompileExactLike(pattern string) *regexp.Regexp {
	c := compiler{next: utf8.DecodeRune, last: -1}
	words := c.compile(pattern)

	var b strings.Builder
	b.WriteString(`(?s)^`)
	for len(words) > 0 {
		_, width := matchRune(words, 0)
		b.WriteString(expression(words[:width]))
		words = words[width:]
	}
	b.WriteString(` *$`) // trailing spaces can be left out of the text
	return regexp.MustCompile(b.String())
}

// expression returns the regular expression of an element.
func expression(element []uint32) string {
	op := element[0]
	switch op &^ argument {
	case opRune:
		return regexp.QuoteMeta(string(rune(op)))
	case opAny:
		return `.`
	case opStar:
		return `.*`
	case opSet:
		return class(element[1:], op&negated != 0)
	}
	return never
}

// never is a regular expression that matches no rune.
const never = `[^\x00-\x{10FFFF}]`

// class returns the regular expression of a set of ranges, without those that are reversed.
func class(ranges []uint32, negated bool) string {
	var members strings.Builder
	for i := 1; i < len(ranges); i += 2 {
		lo := ranges[i-1]
		hi := ranges[i]
		if lo <= hi {
			fmt.Fprintf(&members, `\x{%X}-\x{%X}`, lo, hi)
		}
	}
	switch {
	case members.Len() == 0 && negated:
		return `.`
	case members.Len() == 0:
		return never
	case negated:
		return `[^` + members.String() + `]`
	}
	return `[` + members.String() + `]`
}
