package kinds

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bizhook/whd/client/record"
)

// load loads files with the texts, named 1.toml and so on.
func load(t *testing.T, texts ...string) *Set {
	t.Helper()
	dir := t.TempDir()
	for i, text := range texts {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i+1, Extension)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := Load(dir)
	for i := range s.Problems {
		s.Problems[i].File = filepath.Base(s.Problems[i].File)
		s.Problems[i].Text = strings.ReplaceAll(s.Problems[i].Text, dir+string(filepath.Separator), "")
	}
	return s
}

func expectProblems(t *testing.T, s *Set, want ...string) {
	t.Helper()
	var got []string
	for _, p := range s.Problems {
		got = append(got, p.String())
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}

const debtors = `# Debtors of the ERP.
[DB_Main]
source  = "dbo.DB_Main"
summary = "Debtors"
area    = "Debtors"
key     = ["DebtorID"]
stamp   = "RowHash"
index   = [
  "AccountNo",
  "LastSavedDateTime", # the last one
]
role    = "Writer"

[DB_Main.fields]
DebtorID   = "string"
AccountNo  = "int"
CreditLimit = "decimal?"
LastSavedDateTime = "DateTime"
Phone = { type = "string", column = "Phone No." }
RowHash    = "byte[]"
`

func TestLoad(t *testing.T) {
	s := load(t, debtors)
	expectProblems(t, s)
	kind, ok := s.Registry().Lookup("db_mainquery")
	if !ok {
		t.Fatal("there is no such kind")
	}
	field := func(name string, t record.Type, null record.Nullability) record.Field {
		return record.Field{Name: name, Type: t, Filter: t.Filter(), Null: null}
	}
	phone := field("Phone", record.Text, record.Nullable)
	phone.Column = "Phone No."
	wantFields := []record.Field{
		field("DebtorID", record.Text, record.Nullable),
		field("AccountNo", record.Int, record.NotNull),
		field("CreditLimit", record.Decimal, record.Nullable),
		field("LastSavedDateTime", record.DateTime, record.NotNull),
		phone,
		field("RowHash", record.Bytes, record.Nullable),
	}
	if !reflect.DeepEqual(kind.Fields, wantFields) {
		t.Errorf("got the fields  %+v\nwant the fields %+v", kind.Fields, wantFields)
	}

	type members struct {
		source, summary, area, stamp, role string
		key, index                         []string
	}
	got := members{
		source:  kind.Source(),
		summary: kind.Summary,
		area:    kind.Area,
		stamp:   kind.Stamp,
		role:    kind.Role,
		key:     kind.Key,
		index:   kind.Index,
	}
	want := members{
		source:  "dbo.DB_Main",
		summary: "Debtors",
		area:    "Debtors",
		stamp:   "RowHash",
		role:    "writer",
		key:     []string{"DebtorID"},
		index:   []string{"AccountNo", "LastSavedDateTime"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got the members  %+v\nwant the members %+v", got, want)
	}
	if n, want := len(s.Registry().Kinds()), len(record.Kinds())+1; n != want {
		t.Errorf("got %d kinds, want %d", n, want)
	}
	if n := s.Served(); n != 1 {
		t.Errorf("got %d kinds that are served, want 1", n)
	}
}

// TestMistakes checks that each mistake has its line, and that the other kinds are served.
func TestMistakes(t *testing.T) {
	s := load(t, `Loose = 1
[Good.fields]
ID = "Guid"

[Several]
source = "a.b.c.d.e"
sumary = "x"
role = "boss"
key = "ID"
index = ["Nam", 7]
key = ["ID"]
summary = "two\nlines"
area = ""
[Several.fields]
ID = "varchar(20)"
Name = "strng"
Name = "string"
Phone = { colum = "P", type = "string" }
Fax = { type = "string", column = "ID" }
Bad-Name = "int"
Take = "int"
Other = 7
[Several.more]
x = 1
[Several.fields.Deep]
type = "int"

[[Things]]
x = 1

["My table".fields]
A = "int"

[NoFields]
summary = "x"

[good]
fields = { ID = "int" }

[Good]

[Good]
`, `[Good]
fields.ID = "int"

[Inline]
source = "dbo.Inline"
fields.ID = "long"
fields.Name = { type = "string" }
`)
	expectProblems(t, s,
		"1.toml:1: Loose is outside of a kind; begin the kind with [NAME]",
		`1.toml:6: source: "a.b.c.d.e" is not the name of a table or view, such as dbo.DB_Main or [my schema].[a.b]`,
		`1.toml:7: unknown member "sumary"; did you mean summary?`,
		`1.toml:8: role: "boss" must be one of reader, publisher, writer, admin`,
		`1.toml:9: key must be a list of fields, such as key = ["DebtorID"]`,
		"1.toml:10: every item of index must be a text in quotation marks",
		"1.toml:10: unknown index field Nam; did you mean Name or Bad-Name?",
		"1.toml:11: Several has key twice, first in line 9; remove one",
		"1.toml:12: summary: it must be one line",
		"1.toml:13: area must be a text in quotation marks",
		`1.toml:15: ID: unknown type "varchar(20)"; did you mean string?`,
		`1.toml:16: Name: unknown type "strng"; did you mean string?`,
		"1.toml:17: Several has fields.Name twice, first in line 16; remove one",
		`1.toml:18: unknown member "fields.Phone.colum"; did you mean column?`,
		"1.toml:19: ID and Fax have the same column ID",
		`1.toml:20: "Bad-Name" cannot be the name of a field: use letters, digits and _, and name the column: NAME = { type = "int", column = "Bad-Name" }`,
		"1.toml:21: Take is reserved and cannot filter Take",
		"1.toml:22: the type of Other must be a text in quotation marks",
		`1.toml:23: unknown member "more"`,
		`1.toml:24: unknown member "more.x"`,
		`1.toml:25: unknown member "fields.Deep"; a field is written as NAME = "string" or NAME = { type = "string", column = "my column" }`,
		`1.toml:26: unknown member "fields.Deep.type"; did you mean type?`,
		"1.toml:28: a kind is written as [Things], with one bracket",
		`1.toml:29: unknown member "x"`,
		`1.toml:31: "My table" cannot be the name of a kind: use letters, digits and _, and set source`,
		"1.toml:34: NoFields has no fields; list its columns in [NoFields.fields]",
		"1.toml:37: good cannot be the name of a kind: also declared in 1.toml:2: Good; choose another name and set source",
		"1.toml:42: Good has its table twice, first in line 40; remove one",
		"2.toml:1: Good cannot be the name of a kind: also declared in 1.toml:2: Good; choose another name and set source",
	)
	lookup(t, s, "Inline")
	if n := s.Served(); n != 1 {
		t.Errorf("%d kinds are served, want 1", n)
	}
}

// TestBlobForms: only the two orders of bytes can be named, and only of a GUID.
func TestBlobForms(t *testing.T) {
	s := load(t, `[Good.fields]
ID = { type = "Guid", blob = "net" }
Other = { type = "Guid?", column = "Other ID", blob = "rfc" }

[Bad.fields]
ID = { type = "Guid", blob = "NET" }
Name = { type = "string", blob = "net" }
`)
	expectProblems(t, s,
		`1.toml:6: ID: blob must be "net", if the bytes are in the order of .NET, or "rfc", if they are in the order of the text`,
		`1.toml:7: Name: blob is only for fields of type Guid`,
	)
	kind, ok := s.Registry().Lookup("Good")
	if !ok {
		t.Fatal("Good is not served")
	}
	want := []record.BlobForm{record.BlobNet, record.BlobRFC}
	for i, f := range kind.Fields {
		if f.Blob != want[i] {
			t.Errorf("%s: the form of blobs is %q, want %q", f.Name, f.Blob, want[i])
		}
	}
}

// TestSyntax checks that an error of syntax leaves out its kind only.
func TestSyntax(t *testing.T) {
	s := load(t, `[A.fields]
ID = "int"

[B]
summary = "no end
[B.fields]
ID = int

[C.fields
ID = "int"

[D.fields]
ID = "int"
[E]
summary = """no end
[F.fields]
ID = "int"
`, "\ufeff[G.fields]\r\nID = \"int\"\r\n[H.fields]\r\nID = 'int\r\n", "")
	expectProblems(t, s,
		"1.toml:5: basic strings cannot have new lines",
		`1.toml:7: expected keyword "inf"`,
		"1.toml:9: expected ']' to close table name",
		`1.toml:15: multiline basic string not terminated by """`,
		"2.toml:4: literal strings cannot have new lines",
	)
	var got []string
	for _, kind := range s.Registry().Kinds()[len(record.Kinds()):] {
		got = append(got, kind.Name)
	}
	if want := []string{"A", "D", "F", "G"}; !slices.Equal(got, want) {
		t.Errorf("kinds %q are served, want %q", got, want)
	}
}

func TestExtendBuiltin(t *testing.T) {
	s := load(t, `[so_totals]
key = ["InvoiceID"]
role = "admin"
[so_totals.fields]
Branch = "string"
InvoiceTotal = { type = "decimal?", column = "Sum" }
invoiceid = "string"

[DB_Class.fields]
Class = "int"

[IN_Colours]
events = "Colour"

[CR_ClassificationQuery.fields]
ID = "int"
`)
	expectProblems(t, s,
		"1.toml:10: DB_Class.Class is built in as string and cannot be int; remove it from the file",
		`1.toml:13: events has no effect, because the changes of the kind are never captured; set capture = "asked", or "always"`,
		"1.toml:15: CR_ClassificationQuery cannot be the name of a kind: it is the operation of the built-in kind CR_Classification; choose another name and set source",
	)
	if n, want := len(s.Registry().Kinds()), len(record.Kinds())-2; n != want {
		t.Errorf("got %d kinds, want %d", n, want)
	}
	totals := lookup(t, s, "SO_Totals")
	builtin, _ := record.Builtin().Lookup("SO_Totals")
	last := len(builtin.Fields)
	if n := len(totals.Fields); n != last+1 {
		t.Fatalf("SO_Totals: got %d fields, want %d", n, last+1)
	}
	if name := totals.Fields[last].Name; name != "Branch" {
		t.Errorf("SO_Totals: got the last field %s, want Branch", name)
	}
	if column := totals.Fields[1].Column; column != "Sum" {
		t.Errorf("SO_Totals: got the column %q of %s, want Sum", column, totals.Fields[1].Name)
	}
	if totals.Role != "admin" {
		t.Errorf("SO_Totals: got the role %q, want admin", totals.Role)
	}
	if totals.Summary != builtin.Summary {
		t.Errorf("SO_Totals: got the summary %q, want that of the built-in kind, %q", totals.Summary, builtin.Summary)
	}
	if want := []string{"InvoiceID"}; !slices.Equal(totals.Key, want) {
		t.Errorf("SO_Totals: got the key %q, want %q", totals.Key, want)
	}

	colours := lookup(t, s, "IN_Colours")
	if colours.Key != nil {
		t.Errorf("IN_Colours: got the key %q, want none", colours.Key)
	}
	if colours.Events != "colour" {
		t.Errorf("IN_Colours: got the events %q, want colour", colours.Events)
	}
	if names, want := s.MistakenNames(), "DB_Class, CR_Classification"; names != want {
		t.Errorf("the kinds %s are left out, want %s", names, want)
	}
}

// lookup returns a kind that is served.
func lookup(t *testing.T, s *Set, name string) *record.Kind {
	t.Helper()
	kind, ok := s.Registry().Lookup(name)
	if !ok {
		t.Fatalf("%s is not served", name)
	}
	return kind
}

// TestCapture reads the members of captured kinds.
func TestCapture(t *testing.T) {
	s := load(t, `[A]
events = "job"
capture = "Always"
before = ["name", "ID"]
capture_fields = ["ID", "Name", "Image"]
ignore = ["Note"]
key = ["ID"]
[A.fields]
ID = "int"
Name = "string"
Note = "string"
Image = "byte[]"

[DB_Class]
capture = "asked"
events = "class"
before = ["Class"]
`)
	expectProblems(t, s)
	type members struct {
		capture, events               string
		before, captureFields, ignore []string
	}
	for name, want := range map[string]members{
		"A": {
			capture:       "always",
			events:        "job",
			before:        []string{"name", "ID"},
			captureFields: []string{"ID", "Name", "Image"},
			ignore:        []string{"Note"},
		},
		"DB_Class": {
			capture: record.CaptureOnDemand,
			events:  "class",
			before:  []string{"Class"},
		},
	} {
		kind := lookup(t, s, name)
		got := members{
			capture:       kind.Capture,
			events:        kind.Events,
			before:        kind.Before,
			captureFields: kind.CaptureFields,
			ignore:        kind.Ignore,
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got  %+v\nwant %+v", name, got, want)
		}
	}
}

// TestCaptureMistakes reads a kind with a mistake in each case, after one with the family job.
func TestCaptureMistakes(t *testing.T) {
	const job = `[Job]
capture = "asked"
events = "job"
[Job.fields]
ID = "int"
`
	const fields = `[K.fields]
ID = "int"
Name = "string"
Note = "string"
Image = "byte[]"
`
	for _, c := range []struct {
		members string // after the line of the name
		want    []string
	}{
		{
			`capture = "sometimes"`,
			[]string{`2.toml:2: capture: "sometimes" is not one of never, asked, always`},
		}, {
			`capture = "asked"
events = "a.b"`,
			[]string{`2.toml:3: events: "a.b" cannot be a family of events: use letters, digits and _, as in debtor for debtor.created`},
		}, {
			`capture = "asked"
events = "JOB"`,
			[]string{"2.toml:3: events: the family job is also declared in 1.toml:3: Job"},
		}, {
			`capture = "asked"
before = ["Naem", "Image"]
capture_fields = ["Nope"]
ignore = ["X"]`,
			[]string{
				"2.toml:3: unknown before field Naem; did you mean Name?",
				"2.toml:3: before: Image is byte[], and its values are not kept",
				"2.toml:4: unknown capture field Nope; did you mean Note?",
				"2.toml:5: unknown ignore field X",
			},
		}, {
			`capture = "asked"
before = ["Note"]
capture_fields = ["Name"]`,
			[]string{"2.toml:3: before: Note is not captured, because it is not in capture_fields"},
		}, {
			`capture = "asked"
before = ["Note"]
ignore = ["note", "ID"]
key = ["ID"]`,
			[]string{
				"2.toml:3: before: Note is not captured, because it is in ignore",
				"2.toml:4: ignore: ID is a field of the key",
			},
		}, {
			`capture = "asked"
capture_fields = ["Name"]
ignore = ["Name"]`,
			[]string{"2.toml:4: ignore: Name is also in capture_fields"},
		}, {
			`capture = "never"
before = ["Name"]`,
			[]string{`2.toml:3: before has no effect, because the changes of the kind are never captured; set capture = "asked", or "always"`},
		}, {
			`events = "webhooks"
capture = "asked"`,
			[]string{"2.toml:2: events: webhooks is the family of the service's own events"},
		},
	} {
		t.Run(strings.ReplaceAll(c.members, "\n", ", "), func(t *testing.T) {
			expectProblems(t, load(t, job, "[K]\n"+c.members+"\n"+fields), c.want...)
		})
	}
}

func TestUnreadable(t *testing.T) {
	dir := t.TempDir()
	s := Load(filepath.Join(dir, "missing.toml"), dir)
	const want = "cannot be read: no such file or directory"
	if len(s.Problems) != 1 || s.Problems[0].Text != want {
		t.Errorf("got problems %v, want %s", s.Problems, want)
	}
	if n := len(s.Registry().Kinds()); n != 0 {
		t.Errorf("%d built-in kinds are served, want none: the file may require roles for them", n)
	}
}

// TestUnreadableFiles checks that a file or directory that may require roles for built-in kinds opens
// none of them.
func TestUnreadableFiles(t *testing.T) {
	const entry = "[CR_Classification]\nrole = \"writer\"\n"
	write := func(name string, data []byte) string {
		t.Helper()
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	utf16 := []byte("\xff\xfe")
	for _, char := range []byte(entry) {
		utf16 = append(utf16, char, 0)
	}
	loop := filepath.Join(t.TempDir(), "loop[1].toml")
	if err := os.Symlink(loop, loop); err != nil {
		t.Skip(err)
	}

	for name, path := range map[string]string{
		"UTF-16":                 write("kinds.toml", utf16),
		"UTF-16 in a directory":  filepath.Dir(write("kinds.toml", utf16)),
		"no directory":           filepath.Join(t.TempDir(), "missing", "*.toml"),
		"not a pattern":          filepath.Join(t.TempDir(), "kinds[.toml"),
		"file like a pattern":    loop,
		"extension in capitals":  filepath.Dir(write("KINDS.TOML", []byte(entry+"rolle = 1\n"))),
		"mistake in a directory": filepath.Dir(write("kinds.toml", []byte(entry+"rolle = 1\n"))),
	} {
		s := Load(path)
		if _, served := s.Registry().Lookup("CR_Classification"); served {
			t.Errorf("%s: CR_Classification is served, want it left out; problems: %v", name, s.Problems)
		}
		if len(s.Problems) == 0 {
			t.Errorf("%s: no problem is reported", name)
		}
	}
}

// TestMistakenBuiltin checks that no mistake opens a built-in kind that a file requires a role for.
func TestMistakenBuiltin(t *testing.T) {
	const entry = "[CR_Classification]\nkey = [\"Classification\"]\nrole = \"writer\"\n"
	for name, texts := range map[string][]string{
		"unknown role":            {"[CR_Classification]\nrole = \"writr\"\n"},
		"unknown member":          {"[CR_Classification]\nrolle = \"writer\"\n"},
		"member in capitals":      {"[cr_classification]\nROLE = \"writer\"\n"},
		"no text":                 {"[CR_Classification]\nrole = writer\n"},
		"unknown field type":      {entry + "[CR_Classification.fields]\nMore = \"varchar\"\n"},
		"mistake in another file": {entry, "[CR_Classification]\nrole = \"admin\"\n"},
		"mistyped name":           {"[CR_Clasification]\nrole = \"writer\"\n"},
		"name in quotes":          {"[\"CR_Classification \"]\nrole = \"writer\"\n"},
		"name of the operation":   {"[CR_ClassificationQuery]\nrole = \"writer\"\n"},
		"no opening bracket":      {"[A.fields]\nID = \"int\"\n\nCR_Classification]\nrole = \"writer\"\n"},
		"no closing bracket":      {"[CR_Classification\nrole = \"writer\"\n"},
		"two brackets":            {"[[CR_Classification]]\nrole = \"writer\"\n"},
		"value":                   {"CR_Classification = \"writer\"\n"},
		"table in quotes":         {"[\"dbo.CR_Classification\"]\nrole = \"writer\"\n[\"dbo.CR_Classification\".fields]\nID = \"int\"\n"},
		"list of kinds":           {"[[kinds]]\nname = \"CR_Classification\"\nrole = \"writer\"\n"},
		"list of names":           {"hidden = [\"CR_Classification\"]\n"},
		"table in a list":         {"[roles]\nwriter = [{ kind = \"CR_Classification\" }]\n"},
		"within another kind":     {"[A]\nCR_Classification = { role = \"writer\" }\n[A.fields]\nID = \"int\"\n"},
	} {
		t.Run(name, func(t *testing.T) {
			s := load(t, append(texts, "[Good.fields]\nID = \"int\"\n")...)
			if _, served := s.Registry().Lookup("CR_Classification"); served {
				t.Error("CR_Classification is served, want it left out")
			}
			if s.MistakenNames() != "CR_Classification" {
				t.Errorf("%q are left out, want CR_Classification", s.MistakenNames())
			}
			if len(s.Problems) == 0 {
				t.Error("no problem is reported")
			}
			lookup(t, s, "Good")
		})
	}
}

// TestPattern checks that a pattern stands for its matches, and is reported without any.
func TestPattern(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.toml": "[A.fields]\nID = 'int'\n",
		"b.toml": "[B.fields]\nID = 'int'\n",
		"c.txt":  "[",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	none := filepath.Join(dir, "*.none")
	s := Load(filepath.Join(dir, "*.toml"), none)
	if s.Served() != 2 || len(s.Problems) != 1 || s.Problems[0].File != none {
		t.Errorf("%d kinds are served, with problems %v, want 2 and one of %s", s.Served(), s.Problems, none)
	}
}

// TestNoFile checks that the other files are read if one is not regular or too large.
func TestNoFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name+Extension)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("a", "[A.fields]\nID = 'int'\n")
	if err := os.Truncate(write("large", ""), maxSize+1); err != nil {
		t.Fatal(err)
	}
	s := Load(dir, os.DevNull)
	expectProblems(t, s,
		os.DevNull+": cannot be read: it is not a regular file",
		filepath.Join(dir, "large.toml")+": cannot be read: it has more than 64 MiB",
	)
	lookup(t, s, "A")
}

// The values that draw chooses from.
var (
	drawnName = rapid.StringMatching(`[A-Za-z][a-z0-9_]{3,8}X`)
	drawnText = rapid.StringOfN(rapid.RuneFrom([]rune(`aé"\#=[]'.日 `+"\u0001\u007f")), 1, 12, -1)
)

// draw draws kinds that have no mistakes.
func draw(t *rapid.T) []*Declared {
	var drawn []*Declared
	for _, name := range rapid.SliceOfNDistinct(drawnName, 0, 4, strings.ToLower).Draw(t, "kinds") {
		drawn = append(drawn, drawKind(t, name))
	}
	return drawn
}

func drawKind(t *rapid.T, name string) *Declared {
	d := &Declared{
		Kind:     record.Kind{Name: name},
		Comments: []string{drawnText.Draw(t, "comment")},
		Omitted:  []string{"x\ny"},
		Notes:    make(map[string]string),
	}
	for _, name := range rapid.SliceOfNDistinct(drawnName, 1, 6, strings.ToLower).Draw(t, "fields") {
		d.Fields = append(d.Fields, drawField(t, name))
		d.Notes[name] = drawnText.Draw(t, "note")
	}
	d.Key = rapid.SliceOfN(rapid.SampledFrom(d.FieldNames()), 0, 2).Draw(t, "key")
	if len(d.Key) == 0 {
		d.Key = nil // as it is read
	}
	for _, list := range []*[]string{&d.Before, &d.CaptureFields, &d.Ignore} {
		if rapid.Bool().Draw(t, "named") {
			*list = []string{rapid.SampledFrom(d.FieldNames()).Draw(t, "field")}
		}
	}
	d.Capture = rapid.SampledFrom([]string{"", record.CaptureNever, record.CaptureOnDemand}).Draw(t, "capture")
	d.Events = rapid.SampledFrom([]string{"", "job"}).Draw(t, "events")
	d.Role = rapid.SampledFrom([]string{"", "writer"}).Draw(t, "role")
	d.Table = rapid.SampledFrom([]string{"", "dbo.T", "[my schema].[a.b]"}).Draw(t, "source")
	return d
}

func drawField(t *rapid.T, name string) record.Field {
	typ := rapid.SampledFrom(fieldTypes).Draw(t, "type")
	alwaysNullable := typ == record.Text || typ == record.Bytes
	f := record.Field{
		Name:   name,
		Type:   typ,
		Filter: typ.Filter(),
		Null:   record.Nullability(alwaysNullable || rapid.Bool().Draw(t, "null")),
	}
	if rapid.Bool().Draw(t, "renamed") {
		f.Column = drawnText.Draw(t, "column")
	}
	if typ == record.Guid {
		f.Blob = rapid.SampledFrom([]record.BlobForm{"", record.BlobNet, record.BlobRFC}).Draw(t, "blob")
	}
	return f
}

// expectRoundTrip writes kinds, reads them and compares them.
func expectRoundTrip(t interface{ Fatalf(string, ...any) }, written []*Declared) {
	var text strings.Builder
	if err := Write(&text, []string{"head", ""}, written); err != nil {
		t.Fatalf("%v", err)
	}
	read, problems := Parse("f", []byte(text.String()))
	if len(problems) > 0 || len(read) != len(written) {
		t.Fatalf("got %d kinds, with problems %v, want %d, from\n%s", len(read), problems, len(written), text.String())
	}
	for _, got := range read {
		i := slices.IndexFunc(written, func(d *Declared) bool { return d.Name == got.Name })
		if i < 0 {
			t.Fatalf("read a kind %s that was not written, from\n%s", got.Name, text.String())
		}
		if want := written[i].Kind; !reflect.DeepEqual(got.Kind, want) {
			t.Fatalf("got  %+v\nwant %+v\nfrom\n%s", got.Kind, want, text.String())
		}
	}
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { expectRoundTrip(t, draw(t)) })
}

// FuzzParse checks that every kind without mistakes can be written and read again, and is
// served.
func FuzzParse(f *testing.F) {
	f.Add([]byte(debtors))
	f.Add([]byte("[A]\nkey = [\n\"[x]\n[B.fields]\nx.y = {a={b=1}}\n[[C]]\n\"a.b\" = 1979-05-27"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := new(Set)
		s.add(parse("f", data))
		var right []*Declared
		for _, d := range s.Declared {
			if !d.wrong && len(d.Fields) > 0 {
				right = append(right, d)
			}
		}
		expectRoundTrip(t, right)
		s.build()
		lines := 1 + strings.Count(string(data), "\n")
		for _, p := range s.Problems {
			if strings.HasPrefix(p.Text, "no kind of the files") {
				t.Fatalf("a kind is not served: %s", p)
			}
			if p.Line < 1 || p.Line > lines {
				t.Fatalf("problem %s is not in the %d lines", p, lines)
			}
		}
	})
}

// TestFieldNamedChanged warns of a field of a captured kind that conditions cannot compare.
func TestFieldNamedChanged(t *testing.T) {
	const fields = "key = [\"ID\"]\n[A.fields]\nID = \"int\"\nChanged = \"DateTime?\"\n"
	expectProblems(t, load(t, "[A]\n"+fields))
	s := load(t, "[A]\ncapture = \"always\"\nevents = \"a\"\n"+fields)
	expectProblems(t, s, "1.toml:7: Changed: conditions of subscriptions cannot compare this field, "+
		"because Changed lists the fields that have changed there; give it another name, and set column")
	if kind := lookup(t, s, "A"); len(kind.Fields) != 2 {
		t.Errorf("got %d fields, want 2: the kind is served nevertheless", len(kind.Fields))
	}
}
