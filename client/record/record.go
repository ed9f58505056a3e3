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
	Column string // name of the column, if it differs from Name
}

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
	Name    string   // also of the table or view, unless Table or the settings name another
	Area    string   // business area, for display
	Summary string   // one line, for display
	Fields  []Field  // in column order
	Table   string   // table or view, with its schema if it differs from the default; empty for Name
	Key     []string // the fields that identify a row; empty if none are declared
	Role    string   // the least role that may read the records; empty for reader
	Stamp   string   // the field that grows with every change of a row; empty if none is declared
	Index   []string // the fields of additional indexes in the embedded file

	// For the service's own kinds.
	Database      Database
	OperationName string // if it differs from Name + "Query"
	NewestFirst   bool   // default order: descending by the order field
	OrderField    string // the field that orders pages; empty for the first one

	members map[string]Member // by name, as declared and in lower case
	fields  map[string]int    // by name in lower case
	columns map[string]int    // by column name in lower case
}

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

// KeyName returns the name of the field that orders pages.
func (k *Kind) KeyName() string { return k.Fields[k.KeyField()].Name }

// Operation returns the name of the operation that queries the kind.
func (k *Kind) Operation() string {
	if k.OperationName != "" {
		return k.OperationName
	}
	return k.Name + "Query"
}

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
	if m, ok := k.members[name]; ok {
		return m, true
	}
	name = strings.ToLower(name)
	if m, ok := k.members[name]; ok {
		return m, true
	}
	return k.conventional(name)
}

// Column returns the index of a field by name, ignoring case.
func (k *Kind) Column(name string) (int, bool) {
	i, ok := k.fields[name]
	if !ok {
		i, ok = k.fields[strings.ToLower(name)]
	}
	return i, ok
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
	names := make([]string, len(k.Fields))
	for i, f := range k.Fields {
		names[i] = f.Name
	}
	return names
}

// ColumnNames returns the names of the fields' columns.
func (k *Kind) ColumnNames() []string {
	names := make([]string, len(k.Fields))
	for i, f := range k.Fields {
		names[i] = f.ColumnName()
	}
	return names
}

// Reserved returns the names of request members that are never filters: those for
// paging, ordering, projection and the reply format.
func Reserved() []string {
	return []string{
		"Skip", "Take", "OrderBy", "OrderByDesc", "Include", "Fields", "Meta",
		"format", "callback", "nulls", "bom", "Strict", "Cursor", "v", "jsconfig",
	}
}

// index builds the lookup tables. The name of a field takes precedence over the same
// name formed from a shorter field and a suffix. It is an error if two fields form the
// same name with suffixes, or if a name is reserved.
func (k *Kind) index() error {
	k.members = make(map[string]Member)
	k.fields, k.columns = make(map[string]int), make(map[string]int)
	for i, f := range k.Fields {
		if f.Name == "" {
			return fmt.Errorf("record kind %s: field %d has no name", k.Name, i+1)
		}
		key := strings.ToLower(f.Name)
		if _, exists := k.fields[key]; exists {
			return fmt.Errorf("record kind %s: duplicate field %s", k.Name, f.Name)
		}
		k.fields[key] = i
		column := strings.ToLower(f.ColumnName())
		if other, exists := k.columns[column]; exists {
			return fmt.Errorf("record kind %s: %s and %s have the same column %s", k.Name, k.Fields[other].Name, f.Name, f.ColumnName())
		}
		k.columns[column] = i
		k.put(f.Name, Member{i, Equal, f.Filter.Allows(Equal)})
	}
	for i, f := range k.Fields {
		for _, o := range Operators()[1:] { // without Equal
			name := f.Name + o.Suffix()
			if _, isField := k.fields[strings.ToLower(name)]; isField {
				continue
			}
			if other, taken := k.members[strings.ToLower(name)]; taken {
				return fmt.Errorf("record kind %s: %s is ambiguous: %s or %s", k.Name, name, k.Fields[other.Field].Name, f.Name)
			}
			k.put(name, Member{i, o, f.Filter.Allows(o)})
		}
	}
	for _, name := range Reserved() {
		if m, taken := k.Member(name); taken {
			return fmt.Errorf("record kind %s: %s is reserved and cannot filter %s", k.Name, name, k.Fields[m.Field].Name)
		}
	}
	for member, names := range map[string][]string{"key": k.Key, "index": k.Index, "stamp": {k.Stamp}} {
		for _, name := range names {
			if _, exists := k.Column(name); !exists && name != "" {
				return fmt.Errorf("record kind %s: unknown %s field %s", k.Name, member, name)
			}
		}
	}
	return nil
}

func (k *Kind) put(name string, m Member) {
	k.members[strings.ToLower(name)] = m
	k.members[name] = m
}
