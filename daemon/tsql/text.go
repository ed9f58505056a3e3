package tsql

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"sync"
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
func Contains(value, x []byte) bool { return ContainsUntil(value, x, nil) }

// ContainsUntil is Contains. In long values it asks stop, unless that is nil, now
// and then whether to give up, and then reports false.
func ContainsUntil(value, x []byte, stop func() bool) bool {
	folded := foldedTexts.Get().(*foldedText)
	defer foldedTexts.Put(folded)
	folded.x, _ = appendFolded(folded.x[:0], x, 2*len(x))
	for folded.value = folded.value[:0]; ; {
		folded.value, value = appendFolded(folded.value, value, max(foldedBlock, len(folded.x)))
		if bytes.Contains(folded.value, folded.x) {
			return true
		}
		if len(value) == 0 || stop != nil && stop() {
			return false
		}
		// The end may be the beginning of a match.
		folded.value = append(folded.value[:0], folded.value[max(0, len(folded.value)-len(folded.x)+1):]...)
	}
}

// foldedBlock is how much of a value is folded at once, in bytes.
const foldedBlock = 512

// foldedText has room for what Contains compares.
type foldedText struct{ value, x []byte }

var foldedTexts = sync.Pool{New: func() any { return new(foldedText) }}

// appendFolded appends about so many bytes of text so that they are equal where
// folded runes are. What is no UTF-8 becomes two bytes that, like UTF-8, cannot be
// taken for the inside of something else.
func appendFolded(dst, text []byte, most int) (folded, rest []byte) {
	for end := len(dst) + most; len(text) > 0 && len(dst) < end; {
		if c := text[0]; c < utf8.RuneSelf {
			dst, text = append(dst, byte(folds[c])), text[1:]
			continue
		}
		r, size := foldNext(text)
		switch text = text[size:]; {
		case r < invalidBase:
			dst = utf8.AppendRune(dst, r)
		default:
			b := byte(r - invalidBase)
			dst = append(dst, 0xFE|b>>6&1, b&^0x40)
		}
	}
	return dst, text
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
