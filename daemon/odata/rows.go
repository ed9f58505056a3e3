package odata

import (
	"encoding/base64"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/row"
)

// MaxPageSize is the preference of a request that limits its page.
const MaxPageSize = "odata.maxpagesize"

// Media is the media type of JSON responses, with its parameters.
type Media struct {
	Bare       bool // without metadata
	Compatible bool // numbers that a double cannot hold are texts
}

// ContentType returns the media type with its parameters.
func (m Media) ContentType() string {
	metadata := "minimal"
	if m.Bare {
		metadata = "none"
	}
	compatible := ""
	if m.Compatible {
		compatible = ";IEEE754Compatible=true"
	}
	return "application/json;odata.metadata=" + metadata + compatible + ";charset=utf-8"
}

// ParseMedia reads one media type of JSON. The names of its parameters may lack odata. before
// them, as in later versions.
func ParseMedia(text string) (m Media, isJSON bool) {
	_, parameters, _ := strings.Cut(text, ";")
	switch mediaName(text) {
	case "json", "application/json", "application/*", "*/*":
	default:
		return m, false
	}
	for parameter := range strings.SplitSeq(strings.ToLower(parameters), ";") {
		parameter = strings.ReplaceAll(parameter, " ", "")
		switch strings.TrimPrefix(parameter, "odata.") {
		case "metadata=none":
			m.Bare = true
		case "ieee754compatible=true":
			m.Compatible = true
		}
	}
	return m, true
}

// mediaName returns a media type without its parameters.
func mediaName(text string) string {
	name, _, _ := strings.Cut(text, ";")
	return strings.ToLower(strings.TrimSpace(name))
}

// Response is how the rows of a request are written.
type Response struct {
	Media
	Context string                     // URL of the context
	Count   int64                      // the number of all rows; -1 for none
	Next    func(cursor string) string // URL of the page after a cursor; empty for none
	Zone    *time.Location
	Record  string // name of the kind, for errors
}

// Format returns the format of the rows.
func (r Response) Format() encode.Format {
	newRows := func(s encode.Shape) encode.Encoder {
		return &rows{response: r, columns: s.Columns, object: r.object(s)}
	}
	return encode.NewFormat("odata", r.ContentType(), newRows, failure)
}

// Entity returns one row.
func (r Response) Entity(s encode.Shape, cells []row.Cell) ([]byte, error) {
	object := r.object(s)
	members := object.Append(nil, cells)[1:] // after the brace
	entity := openContext([]byte{'{'}, r.context())
	entity = append(entity, members...)
	return entity, r.check(s.Columns, cells)
}

// check returns an error if a value does not have the type of its column, which readers rely
// on.
func (r Response) check(columns []encode.Column, cells []row.Cell) error {
	for i := range columns {
		c, cell := &columns[i], &cells[i]
		if cell.Null || fits(c.Type, cell) {
			continue
		}
		const message = "%s of %s has a value that cannot be read as %s: %s. " +
			"Correct it in the database, leave the field out with $select, or declare it as string"
		return fault.New(fault.Invalid, message, c.Name, r.Record, c.Type, shortened(cell.Data))
	}
	return nil
}

// fits reports whether a value can be written as one of its type.
func fits(t record.Type, cell *row.Cell) bool {
	if cell.Misfit {
		return false
	}
	switch t {
	case record.Decimal:
		return encode.IsNumber(cell.Data)
	case record.Double:
		return cell.Class != row.Text || encode.IsNumber(cell.Data)
	case record.DateTime, record.Epoch:
		if isDate(cell.Data) {
			return true
		}
		_, ok := row.Date(cell.Data)
		return ok
	case record.Guid:
		_, err := wire.ParseGuid(string(cell.Data))
		return err == nil
	}
	return true
}

// isDate reports whether a text already is a date in the form of package row.
func isDate(text []byte) bool {
	_, ok := readDate(text)
	return ok
}

// shortened returns the start of a text for a message.
func shortened(text []byte) string {
	const maxRunes = 40
	runes := []rune(string(text))
	if len(runes) > maxRunes {
		return string(runes[:maxRunes]) + "..."
	}
	return string(text)
}

// context returns the URL of the context, empty if it is not written.
func (r Response) context() string {
	if r.Bare {
		return ""
	}
	return r.Context
}

// object returns the writer of rows. Values have the form of other JSON responses, except for
// dates, bytes and, if texts replace numbers, large numbers.
func (r Response) object(s encode.Shape) encode.JSONObject {
	s.Nulls = true
	if r.Compatible {
		s.Columns = compatibleColumns(s.Columns)
	}
	v := &values{clock: NewClock(r.Zone), compatible: r.Compatible}
	return encode.NewJSONObject(s, v.append)
}

// compatibleColumns returns the columns with decimals as texts.
func compatibleColumns(columns []encode.Column) []encode.Column {
	columns = slices.Clone(columns)
	for i := range columns {
		if columns[i].Type == record.Decimal {
			columns[i].Type = record.Text
		}
	}
	return columns
}

// values writes the values of rows.
type values struct {
	clock      *Clock
	compatible bool // write texts for numbers that a double cannot hold
}

// append appends a value that has passed check, in quotes if it needs them.
func (v *values) append(dst []byte, t record.Type, cell *row.Cell) []byte {
	if cell.Misfit { // check reports it
		return encode.AppendJSON(dst, t, *cell)
	}
	switch t {
	case record.DateTime, record.Epoch:
		return v.appendDate(dst, cell.Data)
	case record.Guid:
		guid, _ := wire.ParseGuid(string(cell.Data))
		dst = append(dst, '"')
		dst = append(dst, guid...)
		return append(dst, '"')
	case record.Double:
		if isInfinite(cell) {
			return append(dst, infinities[cell.Data[0]]...)
		}
	case record.Bytes:
		dst = append(dst, '"')
		dst = base64.RawURLEncoding.AppendEncode(dst, cell.Data)
		return append(dst, '"')
	case record.Long:
		if v.compatible {
			dst = append(dst, '"')
			dst = strconv.AppendInt(dst, cell.Int, 10)
			return append(dst, '"')
		}
	case record.Dictionary, record.Object:
		t = record.Text
	}
	return encode.AppendJSON(dst, t, *cell)
}

// appendDate appends a date as an instant.
func (v *values) appendDate(dst, date []byte) []byte {
	if !isDate(date) {
		date, _ = row.Date(date)
	}
	dst = append(dst, '"')
	dst = v.clock.Append(dst, date)
	return append(dst, '"')
}

// isInfinite reports whether a double is +Inf or -Inf.
func isInfinite(cell *row.Cell) bool {
	return len(cell.Data) == len("+Inf") && cell.Data[1] == 'I'
}

// infinities are the infinite numbers by their signs.
var infinities = map[byte]string{'+': `"INF"`, '-': `"-INF"`}

// rows is the encoder of rows.
type rows struct {
	response Response
	columns  []encode.Column
	object   encode.JSONObject
	comma    bool // before the next row
	err      error
}

// Begin appends the start of the envelope.
func (e *rows) Begin(dst []byte, _ encode.Head) []byte {
	dst = append(dst, '{')
	dst = openContext(dst, e.response.context())
	if e.response.Count >= 0 {
		number := itoa(e.response.Count)
		if e.response.Compatible {
			number = strconv.Quote(number)
		}
		dst = append(dst, `"@odata.count":`...)
		dst = append(dst, number...)
		dst = append(dst, ',')
	}
	return append(dst, `"value":[`...)
}

// Row appends one row.
func (e *rows) Row(dst []byte, cells []row.Cell) []byte {
	if e.comma {
		dst = append(dst, ',')
	}
	e.comma = true
	e.err = e.response.check(e.columns, cells)
	return e.object.Append(dst, cells)
}

// Err returns the error of the last row.
func (e *rows) Err() error { return e.err }

// End appends the link to the next page, if there is one, and the end of the envelope.
func (e *rows) End(dst []byte, t encode.Tail) []byte {
	dst = append(dst, ']')
	for _, m := range t.Meta {
		if m.Name != query.Next {
			continue
		}
		next := e.response.Next(m.Value)
		if next != "" {
			dst = append(dst, `,"@odata.nextLink":`...)
			dst = encode.AppendJSONText(dst, next)
		}
	}
	return append(dst, '}')
}

// openContext appends the URL of the context, unless it is empty.
func openContext(dst []byte, context string) []byte {
	if context == "" {
		return dst
	}
	dst = append(dst, `"@odata.context":`...)
	dst = encode.AppendJSONText(dst, context)
	return append(dst, ',')
}

// failure writes an error response.
func failure(dst []byte, s wire.ResponseStatus) []byte {
	target := ""
	if len(s.Errors) > 0 {
		target = s.Errors[0].FieldName
	}
	dst = append(dst, `{"error":{`...)
	dst = appendError(dst, s.ErrorCode, s.Message, target)
	if len(s.Errors) > 0 {
		dst = append(dst, `,"details":[`...)
		for i, e := range s.Errors {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(dst, '{')
			dst = appendError(dst, e.ErrorCode, e.Message, e.FieldName)
			dst = append(dst, '}')
		}
		dst = append(dst, ']')
	}
	dst = append(dst, `,"innererror":{"requestId":`...)
	dst = encode.AppendJSONText(dst, s.Meta["RequestId"])
	return append(dst, "}}}"...)
}

// appendError appends the members that an error and each of its details have.
func appendError(dst []byte, code, message, target string) []byte {
	dst = append(dst, `"code":`...)
	dst = encode.AppendJSONText(dst, code)
	dst = append(dst, `,"message":`...)
	dst = encode.AppendJSONText(dst, message)
	if target == "" {
		return dst
	}
	dst = append(dst, `,"target":`...)
	return encode.AppendJSONText(dst, target)
}
