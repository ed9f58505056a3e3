// Package record is the registry of what can be asked for: the record kinds,
// their fields, and the filters that each field takes. SQL, parsing, encoding,
// metadata, completion and screens are all derived from it.
package record

import (
	"fmt"
	"strings"
)

// Field is one column of a record kind.
type Field struct {
	Name   string
	Type   Type
	Filter Family
	Null   Nullability
}

// Nullability says whether a field's value may be absent.
type Nullability bool

// A field either may be null or may not.
const (
	Nullable Nullability = true
	NotNull  Nullability = false
)

// TypeName is the field's type as the published interface writes it, with "?" where a
// scalar may be null.
func (f Field) TypeName() string {
	if f.Null && f.Type != Text && f.Type != Bytes {
		return f.Type.String() + "?"
	}
	return f.Type.String()
}

// Kind is one record kind. Fields are in the order of the published interface; the
// first one identifies a record well enough to make paging stable.
type Kind struct {
	Name    string  // also the table's or view's name, unless Table or the settings say otherwise
	Area    string  // the part of the business it belongs to, for people
	Summary string  // one line for people
	Fields  []Field // in column order

	// Of the kinds that the service itself keeps.
	Database      Database
	Table         string // where it is not Name
	OperationName string // the operation's name, where it is not Name and "Query"
	NewestFirst   bool   // unless they are ordered, records are in the reverse order of the first field

	members map[string]Member // by folded name, made by NewRegistry
	columns map[string]int    // by folded name
}

// Database says where the records of a kind are.
type Database uint8

// The databases.
const (
	RecordsDB Database = iota // the ERP's, or records.db
	AppDB                     // the service's own tables
	LogDB                     // the request log, which the embedded store keeps in a file of its own
)

// Operation is the name under which the kind is queried.
func (k *Kind) Operation() string {
	if k.OperationName != "" {
		return k.OperationName
	}
	return k.Name + "Query"
}

// Source is the name of the kind's table or view, unless the settings name
// another.
func (k *Kind) Source() string {
	if k.Table != "" {
		return k.Table
	}
	return k.Name
}

// Member is what the name of a request's member means: a field and an
// operator. Where Allowed is false the field's family has no such operator.
type Member struct {
	Field    int
	Operator Operator
	Allowed  bool
}

// Member resolves a member's name, in any letter case.
func (k *Kind) Member(name string) (Member, bool) {
	m, ok := k.members[name]
	if !ok {
		m, ok = k.members[strings.ToLower(name)]
	}
	return m, ok
}

// Column is the index of a field by its name, in any letter case.
func (k *Kind) Column(name string) (int, bool) {
	i, ok := k.columns[name]
	if !ok {
		i, ok = k.columns[strings.ToLower(name)]
	}
	return i, ok
}

// Members lists the names of every filter member, in field order.
func (k *Kind) Members() []string {
	var names []string
	for _, f := range k.Fields {
		for _, o := range f.Filter.Operators() {
			names = append(names, f.Name+o.Suffix())
		}
	}
	return names
}

// FieldNames lists the names of the fields in column order.
func (k *Kind) FieldNames() []string {
	names := make([]string, len(k.Fields))
	for i, f := range k.Fields {
		names[i] = f.Name
	}
	return names
}

// Reserved lists the names of a request's members that are never filters:
// those of paging, ordering and projection, and those that control the reply.
func Reserved() []string {
	return []string{
		"Skip", "Take", "OrderBy", "OrderByDesc", "Include", "Fields", "Meta",
		"format", "callback", "nulls", "Strict", "Cursor", "v", "jsconfig",
	}
}

// index fills the look-up tables. A name that is a field wins over the same
// name read as a shorter field with a suffix; two fields with suffixes that
// spell the same name are an error, and so is a name that is reserved.
func (k *Kind) index() error {
	k.members = make(map[string]Member)
	k.columns = make(map[string]int)
	for i, f := range k.Fields {
		if f.Name == "" {
			return fmt.Errorf("record kind %s: field %d has no name", k.Name, i+1)
		}
		key := strings.ToLower(f.Name)
		if _, twice := k.columns[key]; twice {
			return fmt.Errorf("record kind %s: duplicate field %s", k.Name, f.Name)
		}
		k.columns[key] = i
		k.put(f.Name, Member{i, Equal, f.Filter.Allows(Equal)})
	}
	for i, f := range k.Fields {
		for _, o := range Operators()[1:] {
			name := f.Name + o.Suffix()
			if _, isField := k.columns[strings.ToLower(name)]; isField {
				continue
			}
			if was, taken := k.Member(name); taken {
				return fmt.Errorf("record kind %s: %s could mean %s or %s", k.Name, name, k.Fields[was.Field].Name, f.Name)
			}
			k.put(name, Member{i, o, f.Filter.Allows(o)})
		}
	}
	for _, name := range Reserved() {
		if m, taken := k.Member(name); taken {
			return fmt.Errorf("record kind %s: %s is reserved and cannot filter %s", k.Name, name, k.Fields[m.Field].Name)
		}
	}
	return nil
}

func (k *Kind) put(name string, m Member) {
	k.members[strings.ToLower(name)] = m
	k.members[name] = m
}
