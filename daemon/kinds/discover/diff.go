package discover

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/erp"
	"github.com/bizhook/whd/daemon/kinds"
	"github.com/bizhook/whd/daemon/mssql"
)

// Diff returns the differences between kinds and the objects of a database, one line each.
// A kind leaves out the columns of fields in comments on purpose.
func Diff(declared []*kinds.Declared, objects []Object, c erp.Config) []string {
	var lines []string
	for _, d := range declared {
		lines = append(lines, diffKind(d, objects, c)...)
	}
	return lines
}

// diffKind returns the differences between a kind and its object.
func diffKind(d *kinds.Declared, objects []Object, c erp.Config) []string {
	x := comparison{name: d.Name, table: cmp.Or(c.Sources[d.Name], d.Source()), server: c.DSN != ""}
	t, _ := mssql.ParseTable(x.table, cmp.Or(c.Schema, erp.DefaultSchema))
	i := slices.IndexFunc(objects, func(o Object) bool {
		inSchema := o.Schema == "" || strings.EqualFold(o.Schema, t.Schema)
		return inSchema && strings.EqualFold(o.Name, t.Name)
	})
	switch {
	case t.Database != "":
		x.add("", "cannot be compared, because %s is in another database", x.table)
	case i < 0:
		x.add("", "%s does not exist, or the login has no right on it", x.table)
	case objects[i].Problem != "":
		x.add("", "%s cannot be read: %s", x.table, objects[i].Problem)
	default:
		x.compare(allFields(d), objects[i].Columns, leftOut(d))
	}
	return x.lines
}

// allFields returns the fields of a kind, with those that are built in.
func allFields(d *kinds.Declared) []record.Field {
	fields := slices.Clone(d.Fields)
	builtin, ok := record.Builtin().Lookup(d.Name)
	if !ok {
		return fields
	}
	for _, f := range builtin.Fields {
		isSame := func(declared record.Field) bool { return strings.EqualFold(declared.Name, f.Name) }
		if !slices.ContainsFunc(fields, isSame) {
			fields = append(fields, f)
		}
	}
	return fields
}

// comparison compares a kind with its object.
type comparison struct {
	name   string // name of the kind
	table  string
	server bool     // the table is on a server, not in a file
	lines  []string // the differences
}

// add adds a difference in a field, or in the whole kind if field is empty.
func (x *comparison) add(field, format string, args ...any) {
	if field != "" {
		field = "." + field
	}
	x.lines = append(x.lines, x.name+field+": "+fmt.Sprintf(format, args...))
}

// compare compares the fields with the columns; leftOut are columns without a field.
func (x *comparison) compare(fields []record.Field, columns []Column, leftOut map[string]bool) {
	var removed []record.Field
	for _, f := range fields {
		i := slices.IndexFunc(columns, func(c Column) bool { return strings.EqualFold(c.Name, f.ColumnName()) })
		if i < 0 {
			removed = append(removed, f)
			continue
		}
		c := columns[i]
		current, reason := c.field(x.server)
		holdsAll := current.Type == f.Type || erp.Holds(f, c.Type, x.server)
		isChanged := reason != "" || !holdsAll
		switch {
		case c.Forbidden:
			x.add(f.Name, "the login has no permission to read the column %s", c.Name)
		case isChanged:
			x.add(f.Name, "the type changed: %s cannot hold all values of the column %s, which is %s now",
				f.TypeName(), c.Name, cmp.Or(c.Type, "without a type"))
		case bool(current.Null) && !bool(f.Null):
			x.add(f.Name, "the column may be null now: %s", current.TypeName())
		}
	}
	added := slices.DeleteFunc(slices.Clone(columns), func(c Column) bool {
		_, reason := c.field(x.server)
		if reason != "" || c.Forbidden || leftOut[strings.ToLower(c.Name)] {
			return true
		}
		return slices.ContainsFunc(fields, func(f record.Field) bool {
			return strings.EqualFold(f.ColumnName(), c.Name)
		})
	})
	for _, f := range removed {
		i := x.renamed(f, added, removed)
		if i < 0 {
			right := ""
			if x.server {
				right = ", or the login has no right on it"
			}
			x.add(f.Name, "removed: %s has no column %s%s", x.table, f.ColumnName(), right)
			continue
		}
		x.add(f.Name, "probably renamed: %s has the column %s, not %s", x.table, added[i].Name, f.ColumnName())
		added = slices.Delete(added, i, i+1)
	}
	for _, c := range added {
		f, _ := c.field(x.server)
		x.add(f.Name, "added: %s has the column %s, %s", x.table, c.Name, f.TypeName())
	}
}

// renamed returns the new column that a field without one probably has: the one with a
// similar name, or the only one, of the field's type. It returns -1 if there is none.
func (x *comparison) renamed(f record.Field, added []Column, removed []record.Field) int {
	var names []string // of columns with the field's type
	for _, c := range added {
		if current, _ := c.field(x.server); current.Type == f.Type {
			names = append(names, c.Name)
		}
	}
	candidates := record.Suggest(f.ColumnName(), names)
	if len(candidates) == 0 {
		hasSameType := func(r record.Field) bool { return r.Type == f.Type && r.Name != f.Name }
		if len(names) != 1 || slices.ContainsFunc(removed, hasSameType) {
			return -1
		}
		candidates = names
	}
	return slices.IndexFunc(added, func(c Column) bool { return c.Name == candidates[0] })
}

// leftOutColumn is a field in a comment, as Propose writes columns without a field.
var leftOutColumn = regexp.MustCompile(`^([A-Za-z0-9_]+|"(?:[^"\\]|\\.)*")\s*=`)

// leftOut returns the columns, in lower case, of fields in comments.
func leftOut(d *kinds.Declared) map[string]bool {
	columns := make(map[string]bool)
	for _, comment := range d.Omitted {
		if found := leftOutColumn.FindStringSubmatch(comment); found != nil {
			name, err := strconv.Unquote(found[1])
			if err != nil {
				name = found[1]
			}
			columns[strings.ToLower(name)] = true
		}
	}
	return columns
}
