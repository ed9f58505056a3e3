// Package encode turns rows into bytes, one row at a time, in every format
// that the service speaks. Encoders append to a buffer that the caller owns and
// flushes; they hold no row, so memory does not grow with the result.
package encode

import (
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/row"
)

// Column is one column of a result.
type Column struct {
	Name string
	Type record.Type
}

// Link is an address to the same data in another format, for people.
type Link struct {
	Name string
	URL  string
}

// Shape is what is known of a result before its first row.
type Shape struct {
	Operation string // of the request, such as SO_TotalsQuery
	Record    string // kind of the rows, such as SO_Totals
	Columns   []Column
	Nulls     bool   // write nulls instead of leaving their members out
	Links     []Link // for HTML
	View      *View  // for HTML; nil for the rows alone
}

// Head is what stands before the rows.
type Head struct {
	Offset int64
}

// Pair is one entry of Meta.
type Pair struct {
	Name  string
	Value string
}

// Tail is what stands behind the rows, since it may be known only then.
type Tail struct {
	Total int64
	Meta  []Pair // in this order
}

// Encoder writes one result: Begin once, Row for each row, End once. Each
// appends to dst and returns it. Row takes one cell for each column, keeps
// none of them, and allocates nothing while dst has room. An Encoder serves
// one result and one goroutine.
type Encoder interface {
	Begin(dst []byte, h Head) []byte
	Row(dst []byte, cells []row.Cell) []byte
	End(dst []byte, t Tail) []byte
}
