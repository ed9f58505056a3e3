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

// Options select objects and columns. The patterns have the form of path.Match, in any letter case;
// without patterns, all names match. The caller checks their syntax: a wrong pattern matches
// nothing.
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
func Propose(objects []Object, o Options) Proposal {
	var p Proposal
	selected := selectObjects(objects, o)
	clashes := nameClashes(selected)
	used := make(map[string]bool) // names of kinds and operations, in lower case
	isUsed := func(name string) bool {
		name = strings.ToLower(name)
		return used[name] || used[name+"query"]
	}
	for _, object := range selected {
		d := object.propose(o.Columns)
		if clashes[strings.ToLower(d.Name)] {
			d.Name = identifier(object.Schema + "_" + object.Name)
		}
		if reason := reasonToSkip(object, d); reason != "" {
			p.Skipped = append(p.Skipped, object.String()+": "+reason)
			continue
		}

		wanted := d.Name
		d.Name = free(wanted, isUsed)
		if d.Name != wanted {
			d.Comments = append(d.Comments, wanted+" is the name of another kind.")
		}
		used[strings.ToLower(d.Name)] = true
		used[strings.ToLower(d.Operation())] = true
		p.Kinds = append(p.Kinds, d)
		p.Omitted += len(d.Omitted)
	}
	return p
}

// selectObjects returns the objects that the options select.
func selectObjects(objects []Object, o Options) []Object {
	var selected []Object
	for _, object := range objects {
		if object.View && !o.Views {
			continue
		}
		if matches(o.Schemas, object.Schema) && matches(o.Names, object.Name) {
			selected = append(selected, object)
		}
	}
	return selected
}

// nameClashes returns the names of kinds, in lower case, that objects of several schemas would
// have.
func nameClashes(objects []Object) map[string]bool {
	schemas := make(map[string]string) // by name
	clashes := make(map[string]bool)
	for _, object := range objects {
		name := strings.ToLower(identifier(object.Name))
		schema, ok := schemas[name]
		if ok && schema != object.Schema {
			clashes[name] = true
		}
		schemas[name] = object.Schema
	}
	return clashes
}

// reasonToSkip returns the reason why an object has no kind, empty if it has the proposed one.
func reasonToSkip(object Object, d *kinds.Declared) string {
	if object.Problem != "" {
		return "it cannot be read: " + object.Problem
	}
	if len(d.Fields) == 0 {
		return "it has no column of a supported type that the login may read"
	}
	return cmp.Or(builtin(d.Name), builtin(d.Operation()))
}

// builtin returns the reason why neither a kind nor its operation can have a name, empty if
// they can.
func builtin(name string) string {
	if k, ok := record.Builtin().Lookup(name); ok {
		return k.Name + " is built in; declare its additional fields under this name, or the kind under another"
	}
	isName := func(taken string) bool { return strings.EqualFold(taken, name) }
	if slices.ContainsFunc(kinds.Taken(), isName) {
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
	wanted := name
	for n := 2; taken(name); n++ {
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
	d := &kinds.Declared{
		Kind:  record.Kind{Name: identifier(o.Name), Table: o.String()},
		Notes: make(map[string]string),
	}
	o.addFields(d, columns)
	o.rename(d)
	o.setKey(d)
	o.setStamp(d)
	if d.Key == nil && len(d.Fields) > 0 {
		d.Comments = append(d.Comments, "No key: there is no primary key, and no unique index without nulls.")
		o.moveSortableFirst(d)
	}
	return d
}

// addFields adds the fields for the columns that have one of the patterns, and lists the columns
// without a field.
func (o Object) addFields(d *kinds.Declared, patterns []string) {
	names := make(map[string]bool) // of columns, in lower case
	for _, c := range o.Columns {
		field, reason := c.field(o.onServer())
		switch {
		case !matches(patterns, c.Name):
			reason = "it is not selected"
		case c.Forbidden:
			reason = "the login has no permission to read it"
		case names[strings.ToLower(c.Name)]:
			reason = "its name differs from the name of another column only in letter case"
		}
		if reason != "" {
			d.Omitted = append(d.Omitted, fmt.Sprintf("%s = %q # left out: %s", key(c.Name), c.Type, reason))
			continue
		}
		names[strings.ToLower(c.Name)] = true
		d.Fields = append(d.Fields, field)
	}
}

// onServer reports whether the object is on SQL Server. Those of files have no schema.
func (o Object) onServer() bool { return o.Schema != "" }

// column returns the column of a field.
func (o Object) column(f record.Field) Column {
	isColumn := func(c Column) bool { return c.Name == f.ColumnName() }
	return o.Columns[slices.IndexFunc(o.Columns, isColumn)]
}

// noteFor returns the note of a column, empty if there is none.
func (o Object) noteFor(c Column) string {
	if !o.sortable(c) {
		return c.Type + ", which SQL Server cannot compare or sort"
	}
	if c.Blobs {
		return `blobs of 16 bytes are returned as hexadecimal digits; ` +
			`if they are GUIDs, write { type = "Guid", blob = "net" } ` +
			`for the byte order of .NET, or blob = "rfc" for the byte order of the text`
	}
	return ""
}

// sortable reports whether the database can compare and sort a column.
func (o Object) sortable(c Column) bool {
	return !o.onServer() || !slices.Contains(unsortableTypes, c.Type)
}

// unsortableTypes are the supported types that SQL Server cannot compare or sort.
var unsortableTypes = []string{"xml", "text", "ntext", "image"}

// setKey sets the key, with a comment if it may be null.
func (o Object) setKey(d *kinds.Declared) {
	fieldOf := func(column string) (int, bool) {
		i := slices.IndexFunc(d.Fields, func(f record.Field) bool { return strings.EqualFold(f.ColumnName(), column) })
		return i, i >= 0
	}
	for _, field := range executor.FindKey(o.Unique, fieldOf) {
		d.Key = append(d.Key, d.Fields[field].Name)
	}
	if nullable := o.nullableKey(d); nullable != nil {
		d.Comments = append(d.Comments, fmt.Sprintf("The table allows null in its primary key (%s). "+
			"While a row has a null there, Cursor gets status 400, and changes are not captured.",
			strings.Join(nullable, ", ")))
	}
}

// setStamp sets the stamp, if a column has a version of the row.
func (o Object) setStamp(d *kinds.Declared) {
	if !o.onServer() {
		return
	}
	for _, f := range d.Fields {
		t := o.column(f).Type
		if t == "timestamp" || t == "rowversion" {
			d.Stamp = f.Name
		}
	}
}

// moveSortableFirst moves the first field that the database can sort to the front, since pages
// without a key are sorted by the first field.
func (o Object) moveSortableFirst(d *kinds.Declared) {
	first := slices.IndexFunc(d.Fields, func(f record.Field) bool { return o.sortable(o.column(f)) })
	if first <= 0 {
		return
	}
	field := d.Fields[first]
	d.Fields = slices.Insert(slices.Delete(d.Fields, first, first+1), 0, field)
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
// or reserved. It notes the reasons, and the notes of the columns.
func (o Object) rename(d *kinds.Declared) {
	used := usedNames(d.Fields)
	for i := range d.Fields {
		f := &d.Fields[i]
		wanted := f.Name
		reason := taken(used, *f, wanted)
		f.Name = free(wanted, func(name string) bool { return taken(used, *f, name) != "" })
		used[strings.ToLower(f.Name)] = f.Name + " is another field"
		if f.Name != wanted {
			f.Column = cmp.Or(f.Column, wanted)
		}
		if note := joinNotes(reason, conditionNote(f.Name), o.noteFor(o.column(*f))); note != "" {
			d.Notes[f.Name] = note
		}
	}
}

// conditionNote returns the note of a field that conditions of subscriptions cannot compare, empty
// for others.
func conditionNote(name string) string {
	if !kinds.IsChanged(name) {
		return ""
	}
	return strings.TrimPrefix(kinds.ChangedNote, ": ")
}

// usedNames returns the names in lower case that fields cannot have, with the reasons: those of
// filters, and of the members of every query.
func usedNames(fields []record.Field) map[string]string {
	used := make(map[string]string)
	for _, f := range fields {
		for _, operator := range f.Filter.Operators()[1:] { // without Equal
			name := f.Name + operator.Suffix()
			used[strings.ToLower(name)] = name + " is a filter of " + f.Name
		}
	}
	for _, name := range record.Reserved() {
		used[strings.ToLower(name)] = name + " is a member of every query"
	}
	return used
}

// taken returns the reason why a field cannot have a name, empty if it can.
func taken(used map[string]string, f record.Field, name string) string {
	if reason := used[strings.ToLower(name)]; reason != "" {
		return reason
	}
	f.Name = name
	kind := record.Kind{Fields: []record.Field{f}}
	if mistakes := kind.Check(); len(mistakes) > 0 {
		return mistakes[0].Text // a reserved name that a filter has by convention
	}
	return ""
}

// joinNotes returns the notes that are not empty as one.
func joinNotes(notes ...string) string {
	notes = slices.DeleteFunc(notes, func(note string) bool { return note == "" })
	return strings.Join(notes, "; ")
}

// field returns the field for a column, or the reason why it has none.
func (c Column) field(server bool) (record.Field, string) {
	t, ok := c.fieldType(server)
	if !ok {
		return record.Field{}, "the type is not supported"
	}
	f := record.Field{
		Name:   identifier(c.Name),
		Type:   t,
		Filter: t.Filter(),
		Null:   record.Nullability(c.Nullable),
	}
	if f.Name != c.Name {
		f.Column = c.Name
	}
	return f, ""
}

// fieldType returns the type of the field for a column. ok is false if the column's type is not
// supported. Columns of a file without a type are those of a view's expressions, and are read as
// texts.
func (c Column) fieldType(server bool) (t record.Type, ok bool) {
	if server {
		t, ok = kinds.ServerTypes[c.Type]
		return t, ok
	}
	if t, ok = kinds.FileTypes[c.Type]; ok {
		return t, true
	}
	word, _, _ := strings.Cut(c.Type, " ") // of double precision
	if word == "" {
		return record.Text, true
	}
	t, ok = kinds.FileTypes[word]
	return t, ok
}
