package kinds

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/mssql"
)

// member is a member of a kind in a file.
type member struct {
	name   string
	target func(*Declared) any      // returns a *string or *[]string
	check  func(text string) string // for a *string: returns the mistake in a text, empty for none
}

// members are in the order in which Write writes them.
var members = []member{
	{"source", func(d *Declared) any { return &d.Table }, checkSource},
	{"summary", func(d *Declared) any { return &d.Summary }, checkLine},
	{"area", func(d *Declared) any { return &d.Area }, checkLine},
	{"key", func(d *Declared) any { return &d.Key }, nil},
	{"role", func(d *Declared) any { return &d.Role }, checkRole},
	{"stamp", func(d *Declared) any { return &d.Stamp }, checkLine},
	{"index", func(d *Declared) any { return &d.Index }, nil},
	{"events", func(d *Declared) any { return &d.Events }, checkEvents},
	{"capture", func(d *Declared) any { return &d.Capture }, checkCapture},
	{"before", func(d *Declared) any { return &d.Before }, nil},
	{"capture_fields", func(d *Declared) any { return &d.CaptureFields }, nil},
	{"ignore", func(d *Declared) any { return &d.Ignore }, nil},
}

// The tables of a kind that are not members.
const (
	fieldsTable  = "fields"
	typeMember   = "type"
	columnMember = "column"
	blobMember   = "blob"
)

var fieldMembers = []string{typeMember, columnMember, blobMember}

func checkSource(text string) string {
	if _, ok := mssql.ParseTable(text, "dbo"); !ok {
		return fmt.Sprintf("%q is not the name of a table or view, such as dbo.DB_Main or [my schema].[a.b]", text)
	}
	return ""
}

func checkLine(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' }) {
		return "it must be one line"
	}
	return ""
}

func checkRole(text string) string {
	if _, err := account.ParseRole(text); err != nil {
		return fmt.Sprintf("%q %v", text, err)
	}
	return ""
}

// fieldTypes are the types that a field can have.
var fieldTypes = slices.DeleteFunc(record.Types(), func(t record.Type) bool {
	return t == record.Dictionary || t == record.Object || t == record.Epoch
})

// readType returns the field of a type such as "decimal?". Otherwise hint is the
// mistake.
func readType(name, text string) (f record.Field, hint string) {
	t, null, ok := record.ParseType(text)
	if ok && slices.Contains(fieldTypes, t) {
		return record.Field{Name: name, Type: t, Filter: t.Filter(), Null: null}, ""
	}
	plain := strings.TrimSuffix(text, "?")
	names := make([]string, len(fieldTypes))
	for i, fieldType := range fieldTypes {
		names[i] = fieldType.String()
	}
	word, _, _ := strings.Cut(strings.ToLower(plain), "(")
	near := record.DidYouMean(record.Suggest(plain, names))
	for _, columns := range []map[string]record.Type{FileTypes, ServerTypes} {
		if fieldType, ok := columns[word]; ok {
			near = record.DidYouMean([]string{fieldType.String()})
		}
	}
	if near == "" {
		near = "; the types are " + strings.Join(names, ", ") + ", with ? where null is possible"
	}
	return record.Field{Name: name}, fmt.Sprintf("unknown type %q%s", text, near)
}

// checkBlob returns the mistake in the form of a field's blobs, empty if there is none.
func checkBlob(f record.Field) string {
	switch f.Blob {
	case "":
		return ""
	case record.BlobNet, record.BlobRFC:
		if f.Type != record.Guid {
			return blobMember + " is only for fields of type " + record.Guid.String()
		}
		return ""
	}
	return fmt.Sprintf("%s must be %q, if the bytes are in the order of .NET, "+
		"or %q, if they are in the order of the text", blobMember, record.BlobNet, record.BlobRFC)
}

// Parse reads the kinds of a file with all mistakes that are visible in this file alone.
// After an error of syntax it continues with the next table.
func Parse(file string, data []byte) ([]*Declared, []Problem) {
	r := parse(file, data)
	return r.kinds, r.problems
}

// parse returns the reader of a file that has been read.
func parse(file string, data []byte) *reader {
	r := &reader{file: file, byName: make(map[string]*Declared)}
	var table []byte
	lines := 0
	for line := range bytes.Lines(bytes.TrimPrefix(data, []byte("\ufeff"))) {
		if bytes.HasPrefix(bytes.TrimLeft(line, " \t"), []byte("[")) {
			r.read(table)
			table = nil
			r.before = lines
		}
		table = append(table, line...)
		lines++
	}
	r.read(table)
	return r
}

// reader parses a file.
type reader struct {
	parser   unstable.Parser
	file     string
	before   int // lines before the table that is parsed
	kinds    []*Declared
	byName   map[string]*Declared
	problems []Problem
	doubtful []string // built-in kinds that are named where the file cannot be understood
}

// read reads the lines of a table.
func (r *reader) read(data []byte) {
	var head []string
	last := r.before // line of the last expression
	r.parser.Reset(data)
	for r.parser.NextExpression() {
		node := r.parser.Expression()
		path := pathOf(nil, node)
		last = r.lineOf(node)
		switch node.Kind {
		case unstable.KeyValue:
			r.set(slices.Concat(head, path), last, node.Value())
		case unstable.Table:
			head = path
			r.begin(path, last)
		default:
			head = path
			r.problem(path[0], last, "a kind is written as [%s], with one bracket", path[0])
		}
	}
	for line := range bytes.Lines(data) {
		if comment, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("#")); ok && head != nil {
			d := r.kind(head[0], last)
			d.Omitted = append(d.Omitted, string(bytes.TrimLeft(comment, "# \t")))
		}
	}
	err := r.parser.Error()
	if err == nil {
		return
	}
	kind := ""
	if head != nil {
		kind = head[0]
	} else {
		kind = kindOfHead(string(data))
	}
	r.doubt(string(data))
	r.problem(kind, r.wrongLine(err, data, last), "%s", strings.TrimPrefix(err.Error(), "toml: "))
}

// words matches possible names of kinds.
var words = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)

// doubt adds the built-in kinds that are named in a part of the file that cannot be understood. It
// may require a role for them.
func (r *reader) doubt(text string) {
	r.doubtful = append(r.doubtful, builtinIn(text)...)
}

// doubtValue is doubt for the texts of a value, also in a list or a table.
func (r *reader) doubtValue(value *unstable.Node) {
	r.doubt(string(value.Data))
	inner := value.Children()
	for inner.Next() {
		r.doubtValue(inner.Node())
	}
}

// builtinIn returns the built-in kinds that are named in a text.
func builtinIn(text string) (names []string) {
	for _, word := range words.FindAllString(text, -1) {
		if builtin, ok := record.Builtin().Lookup(word); ok {
			names = append(names, builtin.Name)
		}
	}
	return names
}

// wrongLine returns the line of an error of syntax in a table: the one that the parser has marked,
// or the line after the last expression.
func (r *reader) wrongLine(err error, data []byte, last int) int {
	line := last + 1
	if e, ok := errors.AsType[*unstable.ParserError](err); ok && len(e.Highlight) > 0 {
		marked := r.parser.Shape(r.parser.Range(e.Highlight)).Start.Line
		line = max(line, r.before+marked)
	}
	lines := bytes.Count(bytes.TrimRight(data, "\r\n"), []byte("\n")) + 1
	return min(line, r.before+lines)
}

// kindOfHead returns the name of the kind in the head of a table, which the parser cannot read;
// empty if there is no head.
func kindOfHead(table string) string {
	head, ok := strings.CutPrefix(strings.TrimLeft(table, " \t"), "[")
	if !ok {
		return ""
	}
	end := strings.IndexAny(head+"\n", ".]#= \r\n")
	return strings.Trim(head[:end], `"'`)
}

// pathOf returns the key of an expression after those of the tables around it.
func pathOf(around []string, node *unstable.Node) []string {
	path := slices.Clone(around)
	for parts := node.Key(); parts.Next(); {
		path = append(path, string(parts.Node().Data))
	}
	return path
}

// lineOf returns the line of an expression.
func (r *reader) lineOf(node *unstable.Node) int {
	parts := node.Key()
	parts.Next()
	return r.before + 1 + bytes.Count(r.parser.Data()[:parts.Node().Raw.Offset], []byte("\n"))
}

// problem reports a mistake, which leaves the kind out.
func (r *reader) problem(kind string, line int, format string, args ...any) {
	if kind != "" {
		r.kind(kind, line).wrong = true
	}
	p := Problem{File: r.file, Line: line, Text: fmt.Sprintf(format, args...)}
	if !slices.Contains(r.problems, p) {
		r.problems = append(r.problems, p)
	}
}

// kind returns the kind of a name, which starts at a line if it is new.
func (r *reader) kind(name string, line int) *Declared {
	d := r.byName[name]
	if d == nil {
		d = &Declared{
			Kind:  record.Kind{Name: name},
			place: place{file: r.file, lines: map[string]int{"": line}},
		}
		r.byName[name] = d
		r.kinds = append(r.kinds, d)
	}
	return d
}

// once remembers the line of a member and returns true. A second member is a problem.
func (r *reader) once(d *Declared, member string, line int) bool {
	if first, twice := d.place.lines[member]; twice {
		r.problem(d.Name, line, "%s has %s twice, first in line %d; remove one", d.Name, member, first)
		return false
	}
	d.place.lines[member] = line
	return true
}

// begin reads the head of a table.
func (r *reader) begin(path []string, line int) {
	d := r.kind(path[0], line)
	switch {
	case len(path) == 1:
		r.once(d, "its table", line)
	case path[1] != fieldsTable || len(path) > 2:
		r.unknown(d, path[1:], line)
	default:
		r.once(d, fieldsTable, line)
	}
}

// unknown reports an unknown member.
func (r *reader) unknown(d *Declared, path []string, line int) {
	names := fieldMembers
	if len(path) == 1 {
		names = []string{fieldsTable}
		for _, m := range members {
			names = append(names, m.name)
		}
	}
	near := record.DidYouMean(record.Suggest(path[len(path)-1], names))
	r.doubt(strings.Join(path, " "))
	if path[0] == fieldsTable && near == "" {
		near = `; a field is written as NAME = "string" or NAME = { type = "string", column = "my column" }`
	}
	r.problem(d.Name, line, "unknown member %q%s", strings.Join(path, "."), near)
}

// set reads a value. The path is of the kind and of a member, or of fields and the field.
func (r *reader) set(path []string, line int, value *unstable.Node) {
	isTable := value.Kind == unstable.InlineTable
	if len(path) == 1 && !isTable {
		r.doubt(path[0])
		r.doubtValue(value)
		r.problem("", line, "%s is outside of a kind; begin the kind with [NAME]", path[0])
		return
	}
	d := r.kind(path[0], line)
	isFields := len(path) == 2 && path[1] == fieldsTable
	isOuter := len(path) == 1 || isFields
	switch {
	case isTable && isOuter:
		r.begin(path, line)
		inner := value.Children()
		for inner.Next() {
			r.set(pathOf(path, inner.Node()), line, inner.Node().Value())
		}
	case len(path) == 3 && path[1] == fieldsTable:
		r.setField(d, path[2], line, value)
	case len(path) == 2 && !isFields:
		r.setMember(d, path[1], line, value)
	default:
		r.doubtValue(value)
		r.unknown(d, path[1:], line)
	}
}

// setField reads a field: its type, or a table of its members.
func (r *reader) setField(d *Declared, name string, line int, value *unstable.Node) {
	if !r.once(d, fieldsTable+"."+name, line) {
		return
	}
	texts, ok := r.fieldTexts(d, name, line, value)
	if !ok {
		return
	}
	f, hint := readType(name, texts[typeMember])
	if hint != "" {
		r.problem(d.Name, line, "%s: %s", name, hint)
	}
	f.Column = texts[columnMember]
	f.Blob = record.BlobForm(texts[blobMember])
	if mistake := checkBlob(f); hint == "" && mistake != "" {
		r.problem(d.Name, line, "%s: %s", name, mistake)
	}
	d.Fields = append(d.Fields, f)
}

// fieldTexts returns the texts of the members of a field. ok is false if the field has none.
func (r *reader) fieldTexts(
	d *Declared, name string, line int, value *unstable.Node,
) (texts map[string]string, ok bool) {
	if value.Kind != unstable.InlineTable {
		text, ok := r.text(d, "the type of "+name, line, value)
		return map[string]string{typeMember: text}, ok
	}
	texts = make(map[string]string)
	inner := value.Children()
	for inner.Next() {
		path := pathOf(nil, inner.Node())
		member := path[0]
		if len(path) > 1 || !slices.Contains(fieldMembers, member) {
			r.unknown(d, []string{fieldsTable, name, strings.Join(path, ".")}, line)
			continue
		}
		text, ok := r.text(d, member+" of "+name, line, inner.Node().Value())
		if ok {
			texts[member] = text
		}
	}
	return texts, true
}

// setMember reads a member of a kind.
func (r *reader) setMember(d *Declared, name string, line int, value *unstable.Node) {
	i := slices.IndexFunc(members, func(m member) bool { return m.name == name })
	if i < 0 {
		r.doubtValue(value)
		r.unknown(d, []string{name}, line)
		return
	}
	if !r.once(d, name, line) {
		return
	}
	switch target := members[i].target(d).(type) {
	case *string:
		text, ok := r.text(d, name, line, value)
		if hint := members[i].check(text); ok && hint != "" {
			r.problem(d.Name, line, "%s: %s", name, hint)
		}
		*target = text
	case *[]string:
		if value.Kind != unstable.Array {
			r.problem(d.Name, line, "%s must be a list of fields, such as %s = [\"DebtorID\"]", name, name)
			return
		}
		items := value.Children()
		for items.Next() {
			if text, ok := r.text(d, "every item of "+name, line, items.Node()); ok {
				*target = append(*target, text)
			}
		}
	}
}

// text returns a text, which may not be empty.
func (r *reader) text(d *Declared, name string, line int, value *unstable.Node) (string, bool) {
	if value.Kind != unstable.String || len(value.Data) == 0 {
		r.problem(d.Name, line, "%s must be a text in quotation marks", name)
		return "", false
	}
	return string(value.Data), true
}
