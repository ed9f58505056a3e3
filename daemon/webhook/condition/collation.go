package condition

import (
	"strings"

	"github.com/bizhook/whd/daemon/dialect"
	"github.com/bizhook/whd/daemon/tsql"
)

// collation is how a database compares texts with the column of a field.
type collation uint8

const (
	usual        collation = iota // of SQL Server: without regard to letter case and trailing spaces
	exactCase                     // of SQL Server: letter case matters, also for LIKE
	exactBytes                    // of SQLite; LIKE ignores letter case in files
	ignoresASCII                  // of SQLite: only the letter case of ASCII is ignored
	ignoresSpace                  // of SQLite: trailing spaces are ignored
	decimals                      // of SQLite: digits are compared by their values
)

// fileCollations are the collations of SQLite. Others are the usual one in files, too.
var fileCollations = map[string]collation{
	"BINARY": exactBytes,
	"NOCASE": ignoresASCII,
	"RTRIM":  ignoresSpace,
	"DEC":    decimals,
}

// collationOf returns the collation with a name in the catalogue of a database. Of those of
// SQL Server only the sensitivity to letter case is known, which is part of their names. An
// unknown one is the usual one.
func collationOf(name string) collation {
	if c, ok := fileCollations[name]; ok {
		return c
	}
	if dialect.CaseSensitive(name) {
		return exactCase
	}
	return usual
}

// equal reports whether two texts are equal.
func (c collation) equal(a, b string) bool {
	switch c {
	case exactCase, ignoresSpace:
		return strings.TrimRight(a, " ") == strings.TrimRight(b, " ")
	case exactBytes:
		return a == b
	case ignoresASCII:
		return lowerASCII(a) == lowerASCII(b)
	case decimals:
		return tsql.CompareDecimalStrings(a, b) == 0
	}
	return tsql.CompareStrings(a, b) == 0
}

// lowerASCII returns a text with the letters A to Z in lower case.
func lowerASCII(text string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, text)
}
