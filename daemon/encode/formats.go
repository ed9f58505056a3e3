package encode

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/client/xlsx"
)

// Format is a response format.
type Format struct {
	Name        string   // as in ?format= and in the path /{format}/reply
	ContentType string   // media type of a response
	MediaTypes  []string // the media types in Accept that select it
	Suffix      string   // path suffix
	New         func(Shape) Encoder

	document func(dst []byte, name string, json []byte) ([]byte, error)
	failure  func(dst []byte, s wire.ResponseStatus) []byte // nil if errors are written like other documents
	bare     bool                                           // results have no envelope
	isoDates bool                                           // dates of webhooks are in ISO 8601 instead of the legacy notation
	camels   bool                                           // names of members are in camelCase

	Attachment bool  // browsers save results as a file
	Binary     bool  // not text: responses are not compressed again, errors are JSON
	MaxRows    int64 // limit of a result; 0: no limit
}

// formats lists all formats, the default first.
var formats = []Format{
	{
		Name:        "json",
		ContentType: "application/json; charset=utf-8",
		Suffix:      ".json",
		MediaTypes:  []string{"application/json", "text/json"},
		New:         newJSON,
		document:    documentJSON,
	},
	{
		Name:        "ndjson",
		ContentType: "application/x-ndjson",
		Suffix:      ".ndjson",
		MediaTypes:  []string{"application/x-ndjson", "application/ndjson"},
		New:         newNDJSON,
		document:    documentNDJSON,
		bare:        true,
		isoDates:    true,
	},
	{
		Name:        "csv",
		ContentType: "text/csv; charset=utf-8",
		Suffix:      ".csv",
		MediaTypes:  []string{"text/csv"},
		New:         csvWriter{}.rows,
		document:    csvWriter{}.document,
		failure:     csvWriter{}.failure,
		bare:        true,
		isoDates:    true,
		Attachment:  true,
	},
	{
		Name:        "xml",
		ContentType: "application/xml; charset=utf-8",
		Suffix:      ".xml",
		MediaTypes:  []string{"application/xml", "text/xml"},
		New:         newXML,
		document:    documentXML,
	},
	{
		Name:        "jsv",
		ContentType: "text/jsv",
		Suffix:      ".jsv",
		MediaTypes:  []string{"text/jsv", "application/jsv"},
		New:         newJSV,
		document:    documentJSV,
	},
	{
		Name:        "html",
		ContentType: "text/html; charset=utf-8",
		Suffix:      ".html",
		MediaTypes:  []string{"text/html"},
		New:         pageWriter{}.rows,
		document:    pageWriter{}.document,
		failure:     pageWriter{}.failure,
		isoDates:    true,
	},
	{
		Name:        "xlsx",
		ContentType: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
		Suffix:      ".xlsx",
		MediaTypes:  []string{"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
		New:         newXLSX,
		document:    documentXLSX,
		bare:        true,
		isoDates:    true,
		Attachment:  true,
		Binary:      true,
		MaxRows:     xlsx.MaxRows - 1,
	},
}

// Formats returns the formats, the default first. Callers must not modify the slice.
func Formats() []Format { return formats }

// Names returns the names of the formats.
func Names() []string { return namesOf(formats) }

// PathNames returns the names of the text formats, which have paths such as /csv/reply.
func PathNames() []string {
	return namesOf(slices.DeleteFunc(slices.Clone(formats), func(f Format) bool { return f.Binary }))
}

func namesOf(formats []Format) []string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = f.Name
	}
	return names
}

// NewFormat returns a format that no request negotiates, and that has no documents.
func NewFormat(
	name, contentType string, rows func(Shape) Encoder,
	failure func([]byte, wire.ResponseStatus) []byte,
) Format {
	return Format{Name: name, ContentType: contentType, New: rows, failure: failure}
}

// Bare reports whether results have rows only, without an envelope.
func (f Format) Bare() bool { return f.bare }

// ByName finds a format by its name, ignoring letter case.
func ByName(name string) (Format, bool) {
	for _, f := range Formats() {
		if strings.EqualFold(f.Name, name) {
			return f, true
		}
	}
	return Format{}, false
}

// For returns the format with the site of HTML pages set. Other formats are returned
// unchanged.
func (f Format) For(s Site) Format {
	if f.Name == "html" {
		p := pageWriter{s}
		f.New = p.rows
		f.document = p.document
		f.failure = p.failure
	}
	return f
}

// WithCSV returns the format with options of CSV: a byte order mark, and a guard
// against formulas. Other formats are returned unchanged.
func (f Format) WithCSV(bom, guard bool) Format {
	if f.Name == "csv" {
		w := csvWriter{bom, guard}
		f.New = w.rows
		f.document = w.document
		f.failure = w.failure
	}
	return f
}

// WithISODates returns the format with dates of webhooks in ISO 8601.
func (f Format) WithISODates() Format {
	f.isoDates = true
	return f
}

// HasCamelCase reports whether the format can have names in camelCase, which are for programs
// that map them to members of classes.
func (f Format) HasCamelCase() bool { return f.Name == "json" || f.Name == "jsv" }

// WithCamelCase returns the format with names of members in camelCase. Other formats are
// returned unchanged.
func (f Format) WithCamelCase() Format {
	f.camels = f.HasCamelCase()
	return f
}

// CamelCase reports whether names of members are in camelCase.
func (f Format) CamelCase() bool { return f.camels }

// showsUTC reports whether dates of webhooks in ISO 8601 have a Z. Dates for spreadsheets and pages
// have none.
func (f Format) showsUTC() bool { return f.Name == "json" || f.Name == "ndjson" }

// zulu matches the end of a date in UTC in JSON.
var zulu = regexp.MustCompile(`("\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7})Z"`)

// ISODates reports whether the values of the type Epoch are in ISO 8601 with a Z.
func (f Format) ISODates() bool { return f.isoDates && f.showsUTC() }

// Type returns the type with which the format writes a column.
func (f Format) Type(t record.Type) record.Type {
	if f.isoDates && !f.showsUTC() && t == record.Epoch {
		return record.DateTime
	}
	return t
}

// Document writes one value, or a slice of values, that is not a query result. The
// JSON form of the value decides the members, their names and their order in every
// format; name is the root element in XML and the title in HTML.
func (f Format) Document(dst []byte, name string, v any) ([]byte, error) {
	text, err := marshal(v)
	if err != nil {
		return dst, fmt.Errorf("encode %s as %s: %w", name, f.Name, err)
	}
	if f.isoDates {
		text = wire.ISODates(text)
		if !f.showsUTC() {
			text = zulu.ReplaceAll(text, []byte(`$1"`))
		}
	}
	if f.camels {
		text = CamelNames(text)
	}
	dst, err = f.document(dst, name, text)
	if err != nil {
		return dst, fmt.Errorf("encode %s as %s: %w", name, f.Name, err)
	}
	return dst, nil
}

// marshal is json.Marshal without HTML escapes, and with [] instead of null for an
// empty slice.
func marshal(v any) ([]byte, error) {
	if list := reflect.ValueOf(v); list.Kind() == reflect.Slice && list.Len() == 0 {
		return []byte("[]"), nil
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), err
}

// envelope is the response to a query that failed before its first row.
type envelope struct {
	Offset         int
	Results        [0]struct{}
	Total          int
	Meta           struct{}
	ResponseStatus wire.ResponseStatus
}

// Failure writes an error response. For a query, which has a shape, it is the query
// envelope, if the format has one.
func (f Format) Failure(dst []byte, s wire.ResponseStatus, query *Shape) []byte {
	if f.failure != nil {
		return f.failure(dst, s)
	}
	name := "ErrorResponse"
	var response any = wire.Failure{ResponseStatus: s}
	if query != nil && !f.bare {
		name = responseName(query.Operation)
		response = envelope{ResponseStatus: s}
	}
	dst, err := f.Document(dst, name, response)
	if err != nil {
		panic(err) // strings and numbers can always be encoded
	}
	return dst
}
