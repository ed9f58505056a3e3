package tsql

import (
	"cmp"
	"encoding/binary"
	"unicode/utf8"
	"unsafe"
)

// CompareText orders text as the embedded store does: by folded code points,
// trailing spaces (U+0020) ignored, accents significant.
func CompareText(a, b []byte) int {
	a, b = trimSpaces(a), trimSpaces(b)
	i, n := sameASCII(a, b), min(len(a), len(b))
	for ; i < n; i++ {
		x, y := a[i], b[i]
		if x|y >= utf8.RuneSelf {
			return compareRunes(a[i:], b[i:])
		}
		if x != y && folds[x] != folds[y] {
			return cmp.Compare(folds[x], folds[y])
		}
	}
	return cmp.Compare(len(a), len(b))
}

// CompareStrings is CompareText for strings.
func CompareStrings(a, b string) int { return CompareText(view(a), view(b)) }

// EqualText reports whether CompareText finds no difference.
func EqualText(a, b []byte) bool { return CompareText(a, b) == 0 }

// HasPrefix reports whether value LIKE x+'%', where x is taken literally.
func HasPrefix(value, x []byte) bool { return prefix(value, x) >= 0 }

// HasSuffix reports whether value LIKE '%'+x, where x is taken literally: x may
// end where the value does, or where some of the value's trailing spaces begin.
func HasSuffix(value, x []byte) bool {
	v, w := trimSpaces(value), trimSpaces(x)
	if len(value)-len(v) < len(x)-len(w) {
		return false
	}
	// What is left of x does not end in a space, so it ends where v does.
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

// Contains reports whether value LIKE '%'+x+'%', where x is taken literally.
func Contains(value, x []byte) bool {
	if len(x) == 0 {
		return true
	}
	first, _ := foldNext(x)
	for i := 0; i < len(value); {
		r, size := foldNext(value[i:])
		if r == first && prefix(value[i:], x) >= 0 {
			return true
		}
		i += size
	}
	return false
}

// prefix is the number of bytes of value that match all of x, or -1.
func prefix(value, x []byte) int {
	i := 0
	for len(x) > 0 {
		if i == len(value) {
			return -1
		}
		r, n := foldNext(value[i:])
		q, m := foldNext(x)
		if r != q {
			return -1
		}
		i, x = i+n, x[m:]
	}
	return i
}

// sameASCII is a length, in whole words, up to which a and b are the same bytes
// and all ASCII: keys of one series differ only at their ends.
func sameASCII(a, b []byte) int {
	const high = 0x8080808080808080
	i := 0
	for n := min(len(a), len(b)) - 8; i <= n; i += 8 {
		x, y := binary.LittleEndian.Uint64(a[i:]), binary.LittleEndian.Uint64(b[i:])
		if x != y || x&high != 0 {
			break
		}
	}
	return i
}

func compareRunes(a, b []byte) int {
	for len(a) > 0 && len(b) > 0 {
		x, n := foldNext(a)
		y, m := foldNext(b)
		if x != y {
			return cmp.Compare(x, y)
		}
		a, b = a[n:], b[m:]
	}
	return cmp.Compare(len(a), len(b))
}

// foldLast folds the last rune of text, which must not be empty.
func foldLast(text []byte) (folded rune, size int) {
	r, size := utf8.DecodeLastRune(text)
	if r == utf8.RuneError && size == 1 {
		return invalidBase + rune(text[len(text)-1]), 1
	}
	return Fold(r), size
}

func trimSpaces(text []byte) []byte {
	n := len(text)
	for n > 0 && text[n-1] == ' ' {
		n--
	}
	return text[:n]
}

// view is the bytes of s without a copy; they must not be written to.
func view(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }
