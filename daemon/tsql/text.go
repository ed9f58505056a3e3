package tsql

import (
	"cmp"
	"encoding/binary"
	"unicode/utf8"
	"unsafe"
)

// CompareText compares text by folded code points. Trailing spaces (U+0020) are ignored,
// accents are significant.
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

// sameASCII returns the length, in whole words, of the common ASCII prefix of a and b.
// Keys of one series differ only at their ends.
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

func trimSpaces(text []byte) []byte {
	n := len(text)
	for n > 0 && text[n-1] == ' ' {
		n--
	}
	return text[:n]
}

// view returns the bytes of s without copying; they must not be modified.
func view(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }
