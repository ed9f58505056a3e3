// Package odata reads requests of OData 4.0 and writes its responses: metadata, keys,
// filters, rows and errors. It has no input or output: it builds queries of package query.
package odata

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/encode"
)

// Set is an entity set: the records of a kind.
type Set struct {
	Kind    *record.Kind
	Key     []int    // the fields that identify a record; nil if none can
	Columns []string // the types of the table's columns by field, as far as they are known
}

// edmType is the type of a field in OData.
type edmType struct {
	name   string
	facets string
	noKey  bool // values do not identify records
}

var edmTypes = [...]edmType{
	record.Text:       {name: "Edm.String"},
	record.Int:        {name: "Edm.Int32"},
	record.Short:      {name: "Edm.Int16"},
	record.Byte:       {name: "Edm.Byte"},
	record.Long:       {name: "Edm.Int64"},
	record.Decimal:    {name: "Edm.Decimal"}, // with facets by decimalFacets
	record.Bool:       {name: "Edm.Boolean"},
	record.DateTime:   {name: "Edm.DateTimeOffset", facets: ` Precision="7"`},
	record.Bytes:      {name: "Edm.Binary", noKey: true},
	record.Guid:       {name: "Edm.Guid"},
	record.TimeSpan:   {name: "Edm.Duration", facets: ` Precision="7"`},
	record.Dictionary: {name: "Edm.String", noKey: true},
	record.Object:     {name: "Edm.String", noKey: true},
	record.Epoch:      {name: "Edm.DateTimeOffset", facets: ` Precision="7"`},
	record.Double:     {name: "Edm.Double", noKey: true},
}

// EntityKey returns a key if entities can have it, and otherwise nil.
func EntityKey(kind *record.Kind, key []int) []int {
	isNoKey := func(field int) bool { return edmTypes[kind.Fields[field].Type].noKey }
	if slices.ContainsFunc(key, isNoKey) {
		return nil
	}
	return key
}

// declaredDecimal matches the types of decimal columns.
var declaredDecimal = regexp.MustCompile(`^(?:decimal|numeric)\((\d+),(\d+)\)$`)

// decimalFacets returns the facets of a decimal property with a column of the given type.
func decimalFacets(column string) string {
	precision, scale := "38", "variable"
	if match := declaredDecimal.FindStringSubmatch(column); match != nil {
		precision, scale = match[1], match[2]
	}
	switch column {
	case "money":
		precision, scale = "19", "4"
	case "smallmoney":
		precision, scale = "10", "4"
	}
	return fmt.Sprintf(` Precision="%s" Scale="%s"`, precision, scale)
}

// namespace is the namespace of the types.
const namespace = "whd"

// Metadata returns the metadata document, in XML.
func Metadata(sets []Set) []byte {
	var b bytes.Buffer
	b.WriteString(xml.Header)
	b.WriteString(`<edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx">` + "\n")
	b.WriteString("<edmx:DataServices>\n")
	b.WriteString(`<Schema Namespace="` + namespace + `" xmlns="http://docs.oasis-open.org/odata/ns/edm">` + "\n")
	for _, s := range sets {
		s.write(&b)
	}

	container := "Container" // must differ from the names of the types
	for slices.ContainsFunc(sets, func(s Set) bool { return s.Kind.Name == container }) {
		container += "_"
	}
	fmt.Fprintf(&b, "<EntityContainer Name=\"%s\">\n", container)
	for _, s := range sets {
		fmt.Fprintf(&b, "<EntitySet Name=\"%s\" EntityType=\"%s.%[1]s\"/>\n", s.Kind.Name, namespace)
	}
	b.WriteString("</EntityContainer>\n</Schema>\n</edmx:DataServices>\n</edmx:Edmx>\n")
	return b.Bytes()
}

// write writes the entity type of a set. The names of kinds and fields are identifiers.
func (s Set) write(b *bytes.Buffer) {
	fmt.Fprintf(b, "<EntityType Name=\"%s\">\n", s.Kind.Name)
	if s.Key != nil {
		b.WriteString("<Key>")
		for _, field := range s.Key {
			fmt.Fprintf(b, `<PropertyRef Name="%s"/>`, s.Kind.Fields[field].Name)
		}
		b.WriteString("</Key>\n")
	}
	for i, f := range s.Kind.Fields {
		t := edmTypes[f.Type]
		if f.Type == record.Decimal {
			column := ""
			if i < len(s.Columns) {
				column = s.Columns[i]
			}
			t.facets = decimalFacets(column)
		}
		fmt.Fprintf(b, `<Property Name="%s" Type="%s"%s`, f.Name, t.name, t.facets)
		if f.Null == record.NotNull || slices.Contains(s.Key, i) {
			b.WriteString(` Nullable="false"`)
		}
		b.WriteString("/>\n")
	}
	b.WriteString("</EntityType>\n")
}

// ServiceDocument returns the list of the entity sets. context is empty for a response
// without metadata.
func ServiceDocument(kinds []*record.Kind, context string) []byte {
	b := openContext([]byte{'{'}, context)
	b = append(b, `"value":[`...)
	for i, kind := range kinds {
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, `{"name":"%s","kind":"EntitySet","url":"%[1]s"}`, kind.Name)
	}
	return append(b, "]}"...)
}

// PBIDS returns a file with which Power BI Desktop connects to an entity set.
func PBIDS(url string) []byte {
	b := []byte(`{"version":"0.1","connections":[{"details":{"protocol":"odata","address":{"url":`)
	b = encode.AppendJSONText(b, url)
	return append(b, `}},"options":{},"mode":"Import"}]}`+"\n"...)
}

// Context returns the URL of the context of rows, or of one row, with the selected fields.
func Context(service string, kind *record.Kind, fields []int, entity bool) string {
	text := service + "/$metadata#" + kind.Name
	if len(fields) > 0 {
		names := make([]string, len(fields))
		for i, field := range fields {
			names[i] = kind.Fields[field].Name
		}
		text += "(" + strings.Join(names, ",") + ")"
	}
	if entity {
		text += "/$entity"
	}
	return text
}
