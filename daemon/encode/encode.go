// Package encode turns rows into bytes, one row at a time, in every format
// that the service speaks. Encoders append to a buffer that the caller owns and
// flushes; they hold no row, so memory does not grow with the result.
package encode

import (
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
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

// Format is one format of replies.
type Format struct {
	Name        string   // as in ?format= and in /{format}/reply
	ContentType string   // of a reply
	MediaTypes  []string // that ask for it in Accept
	Suffix      string   // of a path
	New         func(Shape) Encoder

	document func(dst []byte, name string, json []byte) ([]byte, error)
	failure  func(dst []byte, s wire.ResponseStatus) []byte // nil: a document like any other
	bare     bool                                           // results have no envelope
}

// formats is the table, the preferred one first.
var formats = []Format{
	{
		Name: "json", ContentType: "application/json; charset=utf-8", Suffix: ".json",
		MediaTypes: []string{"application/json", "text/json"},
		New:        newJSON, document: documentJSON,
	},
	{
		Name: "ndjson", ContentType: "application/x-ndjson", Suffix: ".ndjson",
		MediaTypes: []string{"application/x-ndjson", "application/ndjson"},
		New:        newNDJSON, document: documentNDJSON, bare: true,
	},
	{
		Name: "csv", ContentType: "text/csv; charset=utf-8", Suffix: ".csv",
		MediaTypes: []string{"text/csv"},
		New:        newCSV, document: documentCSV, failure: failureCSV, bare: true,
	},
	{
		Name: "xml", ContentType: "application/xml; charset=utf-8", Suffix: ".xml",
		MediaTypes: []string{"application/xml", "text/xml"},
		New:        newXML, document: documentXML,
	},
	{
		Name: "jsv", ContentType: "text/jsv", Suffix: ".jsv",
		MediaTypes: []string{"text/jsv", "application/jsv"},
		New:        newJSV, document: documentJSV,
	},
	{
		Name: "html", ContentType: "text/html; charset=utf-8", Suffix: ".html",
		MediaTypes: []string{"text/html"},
		New:        pageWriter{}.rows, document: pageWriter{}.document, failure: pageWriter{}.failure,
	},
}

// Formats lists the formats, the preferred one first. The table is shared: it
// is for reading.
func Formats() []Format { return formats }

// Bare reports whether a result is its rows alone, without an envelope.
func (f Format) Bare() bool { return f.bare }

// ByName finds a format by its name, in any letter case.
func ByName(name string) (Format, bool) {
	for _, f := range Formats() {
		if strings.EqualFold(f.Name, name) {
			return f, true
		}
	}
	return Format{}, false
}
