package tsql

import (
	"strings"
	"unicode/utf8"
)

// Literal escapes text for a LIKE pattern, so that it matches itself.
func Literal(text string) string { return quoter.Replace(text) }

var quoter = strings.NewReplacer("%", "[%]", "_", "[_]", "[", "[[]")

// contains reports whether value contains x, according to LIKE.
func contains(value, x []byte) bool { return CompileLike("%" + Literal(string(x)) + "%").Match(value) }

// HasPrefix reports whether value LIKE x+'%', with x as literal text.
func HasPrefix(value, x []byte) bool {
	for len(x) > 0 {
		if len(value) == 0 {
			return false
		}
		r, n := foldNext(value)
		q, m := foldNext(x)
		if r != q {
			return false
		}
		value, x = value[n:], x[m:]
	}
	return true
}

// HasSuffix reports whether value LIKE '%'+x, with x as literal text: x may end at the end
// of the value or before trailing spaces.
func HasSuffix(value, x []byte) bool {
	v, w := trimSpaces(value), trimSpaces(x)
	if len(value)-len(v) < len(x)-len(w) {
		return false
	}
	// The rest of x does not end with a space, so it ends where v does.
	for len(w) > 0 {
		if len(v) == 0 {
			return false
		}
		r, n := foldLast(v)
		q, m := foldLast(w)
		if r != q {
			return false
		}
		v, w = v[:len(v)-n], w[:len(w)-m]
	}
	return true
}

// foldLast folds the last rune of text, which must not be empty.
func foldLast(text []byte) (folded rune, size int) {
	r, size := utf8.DecodeLastRune(text)
	if r == utf8.RuneError && size == 1 {
		return invalidBase + rune(text[len(text)-1]), 1
	}
	return Fold(r), size
}
