// Package tsql holds the rules of SQL Server that the embedded store follows:
// how text and decimals compare, what LIKE matches, what SUM and AVG yield.
// Nothing here allocates while rows pass, since it all runs inside SQLite's
// callbacks.
package tsql

import (
	"unicode"
	"unicode/utf8"
)

// tableEnd bounds the runes that fold by table: Latin, Greek, Cyrillic and all
// else that business data is made of. The case tables of package unicode are
// searched, which is too slow for a sort.
const tableEnd = 0x3000

// folds is read only: the canonical rune of every rune below tableEnd.
var folds = makeFolds()

func makeFolds() *[tableEnd]uint16 {
	var table [tableEnd]uint16
	for r := range table {
		table[r] = uint16(r)
	}
	for _, run := range unicode.CaseRanges {
		for r := run.Lo; r <= run.Hi && r < tableEnd; r++ {
			table[r] = uint16(orbit(rune(r)))
		}
	}
	return &table
}

// Fold maps every rune to the one that stands for all that differ from it only
// by case, under Unicode's simple case folding: the lower-case letter in ASCII,
// elsewhere the smallest rune of the class. The Kelvin sign folds to k.
func Fold(r rune) rune {
	if uint32(r) < tableEnd {
		return rune(folds[r])
	}
	return orbit(r)
}

// orbit searches the class of r for its representative.
func orbit(r rune) rune {
	smallest := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		smallest = min(smallest, next)
	}
	if 'A' <= smallest && smallest <= 'Z' {
		return smallest + 'a' - 'A'
	}
	return smallest
}

// invalidBase is where bytes that are no UTF-8 are put: behind every rune, each
// different from the others, so that damaged text still has one order.
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
