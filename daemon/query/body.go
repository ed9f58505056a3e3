package query

import (
	"bytes"
	"mime"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bizhook/whd/daemon/fault"
)

// BodyType is a format of request bodies.
type BodyType struct {
	Name       string   // as in the path /{format}/reply, which selects it for a body without Content-Type
	MediaTypes []string // media types of Content-Type, the usual one first
	read       func(body []byte, boundary string) (Members, error)
}

// bodyTypes lists the formats of request bodies, the default first.
var bodyTypes = []BodyType{
	{"json", []string{"application/json", "text/json", "text/plain"}, plain(ReadJSON)},
	{"form", []string{"application/x-www-form-urlencoded"}, plain(readForm)},
	{"multipart", []string{"multipart/form-data"}, readMultipart},
	{"csv", []string{"text/csv"}, plain(readCSV)},
	{"xml", []string{"application/xml", "text/xml"}, plain(readXML)},
	{"jsv", []string{"text/jsv", "application/jsv", "application/x-jsv"}, plain(ReadJSV)},
}

// BodyTypes returns the formats of request bodies, the default first. Callers must not
// modify the slice.
func BodyTypes() []BodyType { return bodyTypes }

// plain returns the reader of a format without a boundary.
func plain(read func([]byte) (Members, error)) func([]byte, string) (Members, error) {
	return func(body []byte, _ string) (Members, error) { return read(body) }
}

func readForm(body []byte) (Members, error) { return ReadForm(string(body)) }

var utf8Mark = []byte("\ufeff")

// ReadBody reads a body by its Content-Type, or without one by the format of its
// route. A body that starts with { is JSON regardless of its Content-Type, because
// clients of the reference service send JSON to CSV routes; only JSV starts with { as
// well.
func ReadBody(body []byte, contentType, routeFormat string) (Members, error) {
	body = bytes.TrimLeft(bytes.TrimPrefix(body, utf8Mark), " \t\r\n")
	if len(body) == 0 {
		return nil, nil
	}
	media, parameters, err := mime.ParseMediaType(contentType)
	if wrong := checkCharset(parameters["charset"], body); wrong != nil {
		return nil, wrong
	}
	isInvalid := err != nil && contentType != "" && media == ""
	isUntyped := media == "" && !isInvalid
	i := slices.IndexFunc(bodyTypes, func(t BodyType) bool {
		if isUntyped {
			return strings.EqualFold(t.Name, routeFormat)
		}
		return slices.Contains(t.MediaTypes, media)
	})
	startsObject := body[0] == '{'
	if i >= 0 {
		mayStartObject := bodyTypes[i].Name == "jsv"
		if !startsObject || mayStartObject {
			return bodyTypes[i].read(body, parameters["boundary"])
		}
	}
	if startsObject || isUntyped {
		return ReadJSON(body)
	}
	if isInvalid {
		return nil, fault.New(fault.Unsupported, "the Content-Type is invalid")
	}
	return nil, unsupportedBody(media)
}

// unsupportedBody returns the error for a media type that is not supported.
func unsupportedBody(media string) error {
	var supported []string
	for _, t := range bodyTypes {
		supported = append(supported, t.MediaTypes[0])
	}
	last := len(supported) - 1
	return fault.New(fault.Unsupported, "unsupported body type %s; use %s or %s", Printable(media),
		strings.Join(supported[:last], ", "), supported[last])
}

// checkCharset returns an error for a body that is not in UTF-8 and declares another
// encoding. Many clients declare one although their text is in UTF-8: Java's HttpClient
// ISO-8859-1, and .NET's StringWriter UTF-16.
func checkCharset(name string, body []byte) error {
	if name == "" || strings.EqualFold(name, "utf-8") {
		return nil
	}
	if utf8.Valid(body) && bytes.IndexByte(body, 0) < 0 {
		return nil
	}
	return fault.New(fault.Unsupported, "the body must be in UTF-8, not %s", Printable(name))
}
