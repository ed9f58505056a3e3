package odata

import (
	"encoding/base64"
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
	level, compatible := "minimal", ""
	if m.Bare {
		level = "none"
	}
	if m.Compatible {
		compatible = ";IEEE754Compatible=true"
	}
	return "application/json;odata.metadata=" + level + compatible + ";charset=utf-8"
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
	for one := range strings.SplitSeq(strings.ToLower(parameters), ";") {
		switch strings.TrimPrefix(strings.ReplaceAll(one, " ", ""), "odata.") {
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
	return encode.NewFormat("odata", r.ContentType(), func(s encode.Shape) encode.Encoder {
		return &rows{response: r, columns: s.Columns, object: r.object(s)}
	}, failure)
}

// Entity returns one row.
func (r Response) Entity(s encode.Shape, cells []row.Cell) ([]byte, error) {
	object := r.object(s)
	start := openContext([]byte{'{'}, r.context())
	return append(start, object.Append(nil, cells)[1:]...), r.check(s.Columns, cells)
}

// check returns an error if a value does not have the type of its column, which readers rely
// on.
func (r Response) check(columns []encode.Column, cells []row.Cell) error {
	for i := range columns {
		c, cell := &columns[i], &cells[i]
		if cell.Null || fits(c.Type, cell) {
			continue
		}
		return fault.New(fault.Invalid, "%s of %s has a value that cannot be read as %s: %s. Correct it in the database, leave the field out with $select, or declare it as string", c.Name, r.Record, c.Type, shortened(cell.Data))
	}
	return nil
}

// fits reports whether a value can be written as one of its type.
func fits(t record.Type, cell *row.Cell) bool {
	switch t {
	case record.Decimal:
		return !cell.Misfit && encode.IsNumber(cell.Data)
	case record.Double:
		return !cell.Misfit && (cell.Class != row.Text || encode.IsNumber(cell.Data))
	case record.DateTime, record.Epoch:
		if isDate(cell.Data) {
			return true
		}
		_, ok := row.Date(cell.Data)
		return ok && !cell.Misfit
	case record.Guid:
		_, err := wire.ParseGuid(string(cell.Data))
		return err == nil && !cell.Misfit
	}
	return !cell.Misfit
}

// isDate reports whether a text is a date in the form of package row already.
func isDate(text []byte) bool {
	_, ok := readSeconds(text)
	return ok
}

// shortened returns the start of a text for a message.
func shortened(text []byte) string {
	const most = 40
	if runes := []rune(string(text)); len(runes) > most {
		return string(runes[:most]) + "..."
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
	clock := NewClock(r.Zone)
	s.Nulls = true
	if r.Compatible {
		columns := s.Columns
		s.Columns = nil
		for _, c := range columns {
			if c.Type == record.Decimal {
				c.Type = record.Text
			}
			s.Columns = append(s.Columns, c)
		}
	}
	return encode.NewJSONObject(s, func(dst []byte, t record.Type, cell *row.Cell) []byte {
		switch {
		case cell.Misfit: // which check reports
		case t == record.DateTime || t == record.Epoch:
			date := cell.Data
			if !isDate(date) {
				date, _ = row.Date(date)
			}
			return append(clock.Append(append(dst, '"'), date), '"')
		case t == record.Guid:
			guid, _ := wire.ParseGuid(string(cell.Data))
			return append(append(append(dst, '"'), guid...), '"')
		case t == record.Double && len(cell.Data) == len("+Inf") && cell.Data[1] == 'I':
			return append(dst, infinities[cell.Data[0]]...)
		case t == record.Bytes:
			return append(base64.RawURLEncoding.AppendEncode(append(dst, '"'), cell.Data), '"')
		case t == record.Long && r.Compatible:
			return append(strconv.AppendInt(append(dst, '"'), cell.Int, 10), '"')
		case t == record.Dictionary || t == record.Object:
			t = record.Text
		}
		return encode.AppendJSON(dst, t, *cell)
	})
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

// Begin implements encode.Encoder.
func (e *rows) Begin(dst []byte, _ encode.Head) []byte {
	dst = openContext(append(dst, '{'), e.response.context())
	if e.response.Count >= 0 {
		number := itoa(e.response.Count)
		if e.response.Compatible {
			number = strconv.Quote(number)
		}
		dst = append(append(append(dst, `"@odata.count":`...), number...), ',')
	}
	return append(dst, `"value":[`...)
}

// Row implements encode.Encoder.
func (e *rows) Row(dst []byte, cells []row.Cell) []byte {
	if e.comma {
		dst = append(dst, ',')
	}
	e.comma = true
	e.err = e.response.check(e.columns, cells)
	return e.object.Append(dst, cells)
}

// Err implements encode.Limited.
func (e *rows) Err() error { return e.err }

// End implements encode.Encoder.
func (e *rows) End(dst []byte, t encode.Tail) []byte {
	dst = append(dst, ']')
	for _, m := range t.Meta {
		if m.Name != query.Next {
			continue
		}
		if next := e.response.Next(m.Value); next != "" {
			dst = append(append(dst, `,"@odata.nextLink":`...), quoted(next)...)
		}
	}
	return append(dst, '}')
}

// openContext appends the URL of the context, unless it is empty.
func openContext(dst []byte, context string) []byte {
	if context == "" {
		return dst
	}
	return append(append(append(dst, `"@odata.context":`...), quoted(context)...), ',')
}

func quoted(text string) []byte { return encode.AppendJSONText(nil, text) }

// failure writes an error response.
func failure(dst []byte, s wire.ResponseStatus) []byte {
	one := func(code, message, target string) {
		dst = append(encode.AppendJSONText(append(dst, `{"code":`...), code), `,"message":`...)
		dst = encode.AppendJSONText(dst, message)
		if target != "" {
			dst = encode.AppendJSONText(append(dst, `,"target":`...), target)
		}
	}
	target := ""
	if len(s.Errors) > 0 {
		target = s.Errors[0].FieldName
	}
	dst = append(dst, `{"error":`...)
	one(s.ErrorCode, s.Message, target)
	for i, e := range s.Errors {
		dst = append(dst, map[bool]string{true: `,"details":[`, false: ","}[i == 0]...)
		one(e.ErrorCode, e.Message, e.FieldName)
		dst = append(dst, '}')
	}
	if len(s.Errors) > 0 {
		dst = append(dst, ']')
	}
	dst = append(encode.AppendJSONText(append(dst, `,"innererror":{"requestId":`...), s.Meta["RequestId"]), '}')
	return append(dst, "}}"...)
}
