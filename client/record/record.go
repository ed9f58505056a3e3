// Package record is the registry of the record kinds, their fields and the filters of
// each field. SQL, parsing, encoding, metadata, completion and screens are derived from
// it.
package record

import (
	"cmp"
	"fmt"
	"strings"
)

// Field is one column of a record kind.
type Field struct {
	Name   string
	Type   Type
	Filter Family
	Null   Nullability
	Column string // name of the column; empty: Name
	Blob   BlobForm
}

// BlobForm is the order in which an embedded file holds the bytes of GUIDs that are stored as
// blobs. Without a form, blobs are not read as GUIDs.
type BlobForm string

// The forms.
const (
	BlobNet BlobForm = "net" // of .NET: the bytes of each of the first three groups are reversed
	BlobRFC BlobForm = "rfc" // of RFC 9562: as in the text
)

func field(name string, t Type, null Nullability) Field {
	return Field{Name: name, Type: t, Filter: t.Filter(), Null: null}
}

// Nullability is whether a field can be null.
type Nullability bool

// Values of Nullability.
const (
	Nullable Nullability = true
	NotNull  Nullability = false
)

// ColumnName returns the name of the field's column.
func (f Field) ColumnName() string { return cmp.Or(f.Column, f.Name) }

// TypeName returns the type in the notation of the published interface, with "?" for a
// nullable scalar.
func (f Field) TypeName() string {
	if f.Null && f.Type != Text && f.Type != Bytes {
		return f.Type.String() + "?"
	}
	return f.Type.String()
}

// Kind is a record kind. Its fields have the order of the published interface. The first
// one is the tie-breaker that makes paging stable.
type Kind struct {
	Name    string   // and of the table or view, unless Table or the settings set another
	Area    string   // business area, for display
	Summary string   // one line, for display
	Fields  []Field  // in column order
	Table   string   // table or view, with its schema if it is not the default one; empty: Name
	Key     []string // fields that identify a row; empty if none are declared
	Role    string   // lowest role that may read the records; empty: reader
	Stamp   string   // field that grows with every change of a row; empty if none is declared
	Index   []string // fields of additional indexes in the embedded file

	Capture       string   // CaptureNever, CaptureOnDemand or CaptureAlways; empty: CaptureNever
	Events        string   // family of the events of changes; empty: changes are no events
	Before        []string // fields with values that are kept, to be part of the next change
	CaptureFields []string // fields that are compared to find changes; empty: all that can be
	Ignore        []string // fields that are not compared

	// For the service's own kinds.
	Database      Database
	OperationName string // empty: Name + "Query"
	NewestFirst   bool   // default order: descending by the order field
	OrderField    string // field that orders pages; empty: the first one

	fields  map[string]int // keyed by name, as it is and in lower case
	columns map[string]int // keyed by column name in lower case
}

// When the changes of a kind are captured.
const (
	CaptureNever    = "never"
	CaptureOnDemand = "asked" // while a subscription or a follower needs them
	CaptureAlways   = "always"
)

// Captured reports whether the changes of the kind are captured, always or on demand.
func (k *Kind) Captured() bool { return k.Capture == CaptureOnDemand || k.Capture == CaptureAlways }

// Database is the database of a kind's records.
type Database uint8

// The databases.
const (
	RecordsDB Database = iota // the ERP's, or records.db
	AppDB                     // the service's own tables
	LogDB                     // the request log, which is a separate file on the embedded store
)

// KeyField returns the index of the field that orders pages.
func (k *Kind) KeyField() int {
	key, _ := k.Column(k.OrderField)
	return key
}

// KeyFields returns the indexes of the fields of the declared key; nil if none is declared.
func (k *Kind) KeyFields() (fields []int) {
	for _, name := range k.Key {
		field, _ := k.Column(name) // exists
		fields = append(fields, field)
	}
	return fields
}

// KeyName returns the name of the field that orders pages.
func (k *Kind) KeyName() string { return k.Fields[k.KeyField()].Name }

// Operation returns the name of the operation that queries the kind.
func (k *Kind) Operation() string { return cmp.Or(k.OperationName, k.Name+"Query") }

// Source returns the default name of the kind's table or view. The settings can name
// another.
func (k *Kind) Source() string {
	return cmp.Or(k.Table, k.Name)
}

// Member is a filter member of a request: a field and an operator. Allowed is false if
// the field's family does not have the operator.
type Member struct {
	Field    int
	Operator Operator
	Allowed  bool
}

// Member resolves the name of a member, ignoring case. Fields and suffixes take
// precedence over the implicit conventions.
func (k *Kind) Member(name string) (Member, bool) {
	if i, ok := k.Column(name); ok {
		return k.member(i, Equal), true
	}
	name = strings.ToLower(name)
	for o, suffix := range operatorSuffixes { // a name ends with at most one
		if Operator(o) == Equal {
			continue // it has no suffix
		}
		field, hasSuffix := strings.CutSuffix(name, suffix)
		if !hasSuffix {
			continue
		}
		if i, ok := k.fields[field]; ok {
			return k.member(i, Operator(o)), true
		}
	}
	return k.conventional(name)
}

func (k *Kind) member(field int, o Operator) Member {
	return Member{field, o, k.Fields[field].Filter.Allows(o)}
}

// operatorSuffixes are the suffixes of Operators, in lower case.
var operatorSuffixes = Texts(Operators(), func(o Operator) string { return strings.ToLower(o.Suffix()) })

// Column returns the index of a field by name, ignoring case.
func (k *Kind) Column(name string) (int, bool) {
	i, ok := k.fields[name]
	if !ok {
		i, ok = k.fields[strings.ToLower(name)]
	}
	return i, ok
}

// Field returns the field with a name, which must exist.
func (k *Kind) Field(name string) Field {
	i, _ := k.Column(name)
	return k.Fields[i]
}

// ByColumn returns the index of a field by the name of its column, ignoring case.
func (k *Kind) ByColumn(name string) (int, bool) {
	i, ok := k.columns[strings.ToLower(name)]
	return i, ok
}

// Members returns the names of all filter members, in field order.
func (k *Kind) Members() []string {
	var names []string
	for _, f := range k.Fields {
		for _, o := range f.Filter.Operators() {
			names = append(names, f.Name+o.Suffix())
		}
	}
	return names
}

// FieldNames returns the names of the fields in column order.
func (k *Kind) FieldNames() []string {
	return Texts(k.Fields, func(f Field) string { return f.Name })
}

// ColumnNames returns the names of the fields' columns.
func (k *Kind) ColumnNames() []string {
	return Texts(k.Fields, Field.ColumnName)
}

// Reserved returns the names of request members that are never filters: those for
// paging, ordering, projection and the reply format.
func Reserved() []string {
	return []string{
		"Skip", "Take", "OrderBy", "OrderByDesc", "Include", "Fields", "Meta", "GroupBy",
		"format", "callback", "nulls", "bom", "Strict", "Cursor", "ForCopy", "v", "jsconfig",
	}
}

// Mistake is a mistake in the declaration of a kind.
type Mistake struct {
	Member string // "fields", "key", "index", "stamp", "order", "before", "capture_fields" or "ignore"
	Field  string // its name; empty for a mistake of the whole kind
	Text   string
}

func (m *Mistake) Error() string { return m.Text }

// Check returns all mistakes in the fields of a kind. It builds the lookup tables of a copy: the
// caller's kind does not change.
func (k Kind) Check() []*Mistake { return k.index() }

// GroupColumn returns the name of a function's result in the rows of a query with GroupBy:
// SumInvoiceTotal for SUM(InvoiceTotal), Count for COUNT(*). It is also a valid XML name.
func GroupColumn(function, field string) string {
	return strings.ToUpper(function[:1]) + strings.ToLower(function[1:]) + field
}

// mistakef returns a mistake with a formatted text.
func mistakef(member, field, format string, args ...any) *Mistake {
	return &Mistake{Member: member, Field: field, Text: fmt.Sprintf(format, args...)}
}

// index builds the lookup tables and returns the mistakes.
func (k *Kind) index() []*Mistake {
	mistakes := k.indexFields()
	mistakes = append(mistakes, k.checkReserved()...)
	return append(mistakes, k.checkReferences()...)
}

// indexFields builds the lookup tables and returns the mistakes in the names of fields and
// columns.
func (k *Kind) indexFields() []*Mistake {
	var mistakes []*Mistake
	k.fields = make(map[string]int, len(k.Fields))
	k.columns = make(map[string]int, len(k.Fields))
	for i, f := range k.Fields {
		name := strings.ToLower(f.Name)
		if name == "" {
			mistakes = append(mistakes, mistakef("fields", "", "field %d has no name", i+1))
			continue
		}
		if _, duplicate := k.fields[name]; duplicate {
			mistakes = append(mistakes, mistakef("fields", f.Name, "duplicate field %s", f.Name))
			continue
		}
		column := strings.ToLower(f.ColumnName())
		if first, taken := k.columns[column]; taken {
			mistakes = append(mistakes, mistakef("fields", f.Name, "%s and %s have the same column %s",
				k.Fields[first].Name, f.Name, f.ColumnName()))
			continue
		}
		k.fields[name] = i
		k.fields[f.Name] = i
		k.columns[column] = i
	}
	return mistakes
}

// checkReserved returns the reserved names that are filters of fields. The name of a field takes
// precedence over the same name formed from a shorter field and a suffix.
func (k *Kind) checkReserved() []*Mistake {
	var mistakes []*Mistake
	for _, name := range Reserved() {
		m, isFilter := k.Member(name)
		if !isFilter {
			continue
		}
		field := k.Fields[m.Field].Name
		mistakes = append(mistakes, mistakef("fields", field, "%s is reserved and cannot filter %s", name, field))
	}
	return mistakes
}

// checkReferences returns the names of fields that do not exist.
func (k *Kind) checkReferences() []*Mistake {
	var mistakes []*Mistake
	for _, list := range []struct {
		member string
		names  []string
	}{
		{"key", k.Key},
		{"index", k.Index},
		{"stamp", optional(k.Stamp)},
		{"order", optional(k.OrderField)},
		{"before", k.Before},
		{"capture_fields", k.CaptureFields},
		{"ignore", k.Ignore},
	} {
		for _, name := range list.names {
			if _, ok := k.Column(name); ok {
				continue
			}
			label := strings.TrimSuffix(list.member, "_fields")
			hint := DidYouMean(Suggest(name, k.FieldNames()))
			mistakes = append(mistakes, mistakef(list.member, name, "unknown %s field %s%s", label, name, hint))
		}
	}
	return mistakes
}

// optional returns the names of a field that can be empty.
func optional(name string) []string {
	if name == "" {
		return nil
	}
	return []string{name}
}
