// Package encode writes rows in every response format, one row at a time. Encoders
// append to a buffer that the caller owns and flushes; they hold no rows, so memory
// does not grow with the result.
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

// Link is a link on an HTML page.
type Link struct {
	Name string
	URL  string
}

// Shape describes a result before its first row is read.
type Shape struct {
	Operation string // name of the request, such as SO_TotalsQuery
	Record    string // kind of the rows, such as SO_Totals
	Columns   []Column
	Nulls     bool   // write nulls instead of omitting the members
	ISODates  bool   // values of the type Epoch are in ISO 8601
	CamelCase bool   // names of members are in camelCase
	Links     []Link // the same data in other formats, for HTML
	AllLinks  []Link // all rows that match in other formats, for HTML; none for a page by cursor
	MaxSheet  int64  // the maximum number of rows of XLSX
	Keys      []int  // indexes of the columns of the key, for HTML; nil if rows have no pages
	RowURL    string // the address of the page of a row, without its key
	KeyInPath bool   // the only column of the key follows in the path of RowURL, not as a member
	View      *View  // for HTML; nil for a page with the rows only
}

// Head is written before the rows.
type Head struct {
	Offset int64
	Cursor bool // the rows follow a cursor
}

// Pair is a name and a value, such as an entry of Meta.
type Pair struct {
	Name  string
	Value string
}

// Tail is written after the rows, since it may be known only then.
type Tail struct {
	Total   int64
	Meta    []Pair // in this order
	NextURL string // address of the page after one by cursor, for HTML pages; empty if there is no link to it
}

// Encoder writes one result: call Begin once, Row for each row, End once. Each
// method appends to dst and returns it. Row reads one cell for each column, does not
// retain them, and does not allocate while dst has capacity. An Encoder is used for
// one result by one goroutine.
type Encoder interface {
	Begin(dst []byte, h Head) []byte
	Row(dst []byte, cells []row.Cell) []byte
	End(dst []byte, t Tail) []byte
}

// Limited is an Encoder of a format with limits. Err returns an error, after Row,
// if the result exceeds them.
type Limited interface {
	Encoder
	Err() error
}
