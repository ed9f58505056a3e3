package discover

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/kinds"
	"github.com/bizhook/whd/daemon/mssql"
)

// Options select objects and columns. The patterns are those of path.Match, in any letter
// case; without any, all match.
type Options struct {
	Schemas, Names, Columns []string
	Views                   bool
}

// Proposal is the kinds for the objects of a database.
type Proposal struct {
	Kinds   []*kinds.Declared
	Skipped []string // objects without a kind, with the reasons
	Omitted int      // columns without a field
}

// Propose returns kinds for the selected objects.
func Propose(objects []Object, o Options) (p Proposal) {
	schemas := make(map[string]string) // of the selected objects by the name of the kind in lower case
	clash := make(map[string]bool)     // the same name in several schemas
	var selected []Object
	for _, object := range objects {
		if matches(o.Schemas, object.Schema) && matches(o.Names, object.Name) && (o.Views || !object.View) {
			selected = append(selected, object)
			name := strings.ToLower(identifier(object.Name))
			first, again := schemas[name]
			clash[name] = clash[name] || again && first != object.Schema
			schemas[name] = object.Schema
		}
	}
	own := make(map[string]bool)
	for _, object := range selected {
		d := object.propose(o.Columns)
		if clash[strings.ToLower(d.Name)] {
			d.Name = identifier(object.Schema + "_" + object.Name)
		}
		reason := cmp.Or(builtin(d.Name), builtin(d.Operation()))
		switch {
		case object.Problem != "":
			reason = "it cannot be read: " + object.Problem
		case len(d.Fields) == 0:
			reason = "it has no column of a supported type that the login may read"
		}
		if reason != "" {
			p.Skipped = append(p.Skipped, object.String()+": "+reason)
			continue
		}
		wanted := d.Name
		d.Name = free(d.Name, func(name string) bool { return own[strings.ToLower(name)] || own[strings.ToLower(name)+"query"] })
		if d.Name != wanted {
			d.Comments = append(d.Comments, wanted+" is the name of another kind.")
		}
		own[strings.ToLower(d.Name)], own[strings.ToLower(d.Operation())] = true, true
		p.Kinds = append(p.Kinds, d)
		p.Omitted += len(d.Omitted)
	}
	return p
}

// builtin returns the reason why neither a kind nor its operation can have a name, empty if
// they can.
func builtin(name string) string {
	if k, is := record.Builtin().Lookup(name); is {
		return k.Name + " is built in; declare its additional fields under this name, or the kind under another"
	}
	if slices.ContainsFunc(kinds.Taken(), func(taken string) bool { return strings.EqualFold(taken, name) }) {
		return name + " is a name of the service's interface; declare the kind with another name and this source"
	}
	return ""
}

// matches reports whether a name has one of the patterns.
func matches(patterns []string, name string) bool {
	return len(patterns) == 0 || slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, err := path.Match(strings.ToLower(pattern), strings.ToLower(name))
		return ok && err == nil
	})
}

var notIdentifier = regexp.MustCompile(`[^A-Za-z0-9_]+`)

// maxName is the maximum length of an identifier.
const maxName = 120 // of 128, which leaves room for a number

// identifier returns a name for a kind or field that is similar to one of the database.
func identifier(name string) string {
	name = strings.Trim(notIdentifier.ReplaceAllString(name, "_"), "_")
	if name == "" || name[0] <= '9' {
		name = "_" + name
	}
	return name[:min(len(name), maxName)]
}

// free returns the name, with underscores and a number if it is taken.
func free(name string, taken func(string) bool) string {
	for n, wanted := 2, name; taken(name); n++ {
		name = fmt.Sprintf("%s_%d", wanted, n)
	}
	return name
}

// String returns the name with the schema, in brackets where they are necessary.
func (o Object) String() string {
	quoted := func(part string) string {
		if t, ok := mssql.ParseTable(part, ""); ok && t == (mssql.Table{Name: part}) {
			return part
		}
		return mssql.Quote(part)
	}
	if o.Schema == "" {
		return quoted(o.Name)
	}
	return quoted(o.Schema) + "." + quoted(o.Name)
}

// propose returns the kind of an object.
func (o Object) propose(columns []string) *kinds.Declared {
	d := &kinds.Declared{Kind: record.Kind{Name: identifier(o.Name), Table: o.String()}, Notes: make(map[string]string)}
	names := make(map[string]bool)
	notes := make(map[string]string) // by column, since the fields are renamed below
	for _, c := range o.Columns {
		field, reason := c.field(o.Schema != "")
		switch {
		case !matches(columns, c.Name):
			reason = "it is not selected"
		case c.Forbidden:
			reason = "the login has no permission to read it"
		case names[strings.ToLower(c.Name)]:
			reason = "its name differs from that of another column in letter case only"
		}
		if reason != "" {
			d.Omitted = append(d.Omitted, fmt.Sprintf("%s = %q # left out: %s", key(c.Name), c.Type, reason))
			continue
		}
		names[strings.ToLower(c.Name)] = true
		if o.Schema != "" && (c.Type == "xml" || c.Type == "text" || c.Type == "ntext" || c.Type == "image") {
			notes[c.Name] = c.Type + ", which SQL Server cannot compare or sort"
		}
		if c.Blobs {
			notes[c.Name] = `blobs of 16 bytes are returned as hexadecimal digits; if they are GUIDs, write { type = "Guid", blob = "net" } for the byte order of .NET, or blob = "rfc" for that of the text`
		}
		d.Fields = append(d.Fields, field)
	}
	rename(d, notes)
	fieldOf := func(column string) (int, bool) {
		at := slices.IndexFunc(d.Fields, func(f record.Field) bool { return strings.EqualFold(f.ColumnName(), column) })
		return at, at >= 0
	}
	for _, field := range executor.FindKey(o.Unique, fieldOf) {
		d.Key = append(d.Key, d.Fields[field].Name)
	}
	if nullable := o.nullableKey(d); nullable != nil {
		d.Comments = append(d.Comments, fmt.Sprintf("The table allows null in its primary key (%s). While a row has a null there, Cursor gets status 400, and changes are not captured.",
			strings.Join(nullable, ", ")))
	}
	for _, c := range o.Columns {
		if at, ok := fieldOf(c.Name); ok && o.Schema != "" && (c.Type == "timestamp" || c.Type == "rowversion") {
			d.Stamp = d.Fields[at].Name
		}
	}
	if d.Key == nil && len(d.Fields) > 0 {
		d.Comments = append(d.Comments, "No key: there is no primary key, and no unique index without nulls.")
		sortable := func(f record.Field) bool { return !strings.Contains(notes[f.ColumnName()], "cannot compare") }
		if first := slices.IndexFunc(d.Fields, sortable); first > 0 { // pages are sorted by the first field
			f := d.Fields[first]
			d.Fields = slices.Insert(slices.Delete(d.Fields, first, first+1), 0, f)
		}
	}
	return d
}

// nullableKey returns the fields of the key that SQLite lets be null, although they are of the
// primary key.
func (o Object) nullableKey(d *kinds.Declared) []string {
	var nullable []string
	for _, f := range d.Fields {
		isUnchecked := func(c mssql.KeyColumn) bool { return c.Unchecked && strings.EqualFold(c.Name, f.ColumnName()) }
		if slices.Contains(d.Key, f.Name) && slices.ContainsFunc(o.Unique, isUnchecked) {
			nullable = append(nullable, f.Name)
		}
	}
	return nullable
}

// key returns a name as a key of TOML.
func key(name string) string {
	if identifier(name) != name {
		return strconv.Quote(name)
	}
	return name
}

// rename changes the names of fields that are also those of another field, of its filters,
// or reserved. It sets the notes of the fields: those of their columns, after the reasons.
func rename(d *kinds.Declared, notes map[string]string) {
	used := make(map[string]string) // names and filters in lower case, with the field that has them
	for _, f := range d.Fields {
		for _, operator := range f.Filter.Operators()[1:] { // without Equal
			used[strings.ToLower(f.Name+operator.Suffix())] = f.Name + operator.Suffix() + " is a filter of " + f.Name
		}
	}
	for _, name := range record.Reserved() {
		used[strings.ToLower(name)] = name + " is a member of every query"
	}
	for i := range d.Fields {
		f := &d.Fields[i]
		clash := func(name string) string {
			alone := *f
			alone.Name = name
			if m := (record.Kind{Fields: []record.Field{alone}}).Check(); used[strings.ToLower(name)] == "" && len(m) > 0 {
				return m[0].Text // a reserved name that a filter has by convention
			}
			return used[strings.ToLower(name)]
		}
		wanted, note := f.Name, clash(f.Name)
		f.Name = free(f.Name, func(name string) bool { return clash(name) != "" })
		used[strings.ToLower(f.Name)] = f.Name + " is another field"
		if f.Name != wanted {
			f.Column = cmp.Or(f.Column, wanted)
		}
		texts := slices.DeleteFunc([]string{note, notes[f.ColumnName()]}, func(text string) bool { return text == "" })
		d.Notes[f.Name] = strings.Join(texts, "; ")
	}
}

// field returns the field for a column, or the reason why it has none. Columns of a file
// without a type are those of a view's expressions.
func (c Column) field(server bool) (record.Field, string) {
	types := kinds.FileTypes
	if server {
		types = kinds.ServerTypes
	}
	t, ok := types[c.Type]
	if word, _, _ := strings.Cut(c.Type, " "); !ok && !server { // double precision
		t, ok = types[word]
		ok = ok || word == ""
	}
	if !ok {
		return record.Field{}, "the type is not supported"
	}
	f := record.Field{Name: identifier(c.Name), Type: t, Filter: t.Filter(), Null: record.Nullability(c.Nullable)}
	if f.Name != c.Name {
		f.Column = c.Name
	}
	return f, ""
}
