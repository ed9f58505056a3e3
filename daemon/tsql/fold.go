// Package tsql implements rules of SQL Server for the embedded file: comparison of text
// and decimals, LIKE, SUM and AVG. Its functions run in SQLite's callbacks for every row,
// so they do not allocate.
package tsql

import (
	"unicode"
	"unicode/utf8"
)

// tableEnd is the end of the runes that are folded by table, which include Latin, Greek
// and Cyrillic. Searching the case tables of package unicode is too slow for sorting.
const tableEnd = 0x3000

// folds contains the folded rune of every rune below tableEnd. It is read-only.
var folds = makeFolds()

func makeFolds() *[tableEnd]uint16 {
	var table [tableEnd]uint16
	for r := range table {
		table[r] = uint16(r)
	}
	for _, run := range unicode.CaseRanges {
		for r := run.Lo; r <= run.Hi && r < tableEnd; r++ {
			table[r] = uint16(searchFold(rune(r)))
		}
	}
	return &table
}

// Fold maps all runes that differ only in case, under Unicode's simple case folding, to
// the same rune: the lower-case letter in ASCII, otherwise the smallest rune of the
// class. The Kelvin sign folds to k.
func Fold(r rune) rune {
	if uint32(r) < tableEnd {
		return rune(folds[r])
	}
	return searchFold(r)
}

// searchFold searches the class of r for its folded rune.
func searchFold(r rune) rune {
	smallest := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		smallest = min(smallest, next)
	}
	if 'A' <= smallest && smallest <= 'Z' {
		return smallest + 'a' - 'A'
	}
	return smallest
}

// invalidBase is the value of the first invalid byte. Bytes that are not valid UTF-8 sort
// after all runes and differ from each other, so that invalid text has a total order.
const invalidBase = unicode.MaxRune + 1

// foldNext folds the first rune of text, which must not be empty.
func foldNext(text []byte) (folded rune, size int) {
	if c := text[0]; c < utf8.RuneSelf {
		return rune(folds[c]), 1
	}
	r, size := utf8.DecodeRune(text)
	if r == utf8.RuneError && size == 1 {
		return invalidBase + rune(text[0]), 1
	}
	return Fold(r), size
}
