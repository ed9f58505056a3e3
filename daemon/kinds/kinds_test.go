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
index   = ["AccountNo", "LastSavedDateTime"]
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
	field := func(name string, of record.Type, null record.Nullability) record.Field {
		return record.Field{Name: name, Type: of, Filter: of.Filter(), Null: null}
	}
	phone := field("Phone", record.Text, record.Nullable)
	phone.Column = "Phone No."
	want := []record.Field{field("DebtorID", record.Text, record.Nullable), field("AccountNo", record.Int, record.NotNull), field("CreditLimit", record.Decimal, record.Nullable),
		field("LastSavedDateTime", record.DateTime, record.NotNull), phone, field("RowHash", record.Bytes, record.Nullable)}
	if !reflect.DeepEqual(kind.Fields, want) {
		t.Errorf("got fields %+v", kind.Fields)
	}
	if got := fmt.Sprintln(kind.Source(), kind.Summary, kind.Area, kind.Key, kind.Stamp, kind.Index, kind.Role); got != "dbo.DB_Main Debtors Debtors [DebtorID] RowHash [AccountNo LastSavedDateTime] writer\n" {
		t.Errorf("got %s", got)
	}
	if n := len(s.Registry().Kinds()); n != len(record.Kinds())+1 || s.Served() != 1 {
		t.Errorf("%d kinds, %d served", n, s.Served())
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
	if _, ok := s.Registry().Lookup("Inline"); !ok || s.Served() != 1 {
		t.Errorf("%d served", s.Served())
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
		`1.toml:17: multiline basic string not terminated by """`,
		"2.toml:4: literal strings cannot have new lines",
	)
	var got []string
	for _, kind := range s.Registry().Kinds()[len(record.Kinds()):] {
		got = append(got, kind.Name)
	}
	if strings.Join(got, " ") != "A D F G" {
		t.Errorf("served: %s", got)
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
events = "colour"

[CR_ClassificationQuery.fields]
ID = "int"
`)
	expectProblems(t, s,
		"1.toml:10: DB_Class.Class is built in as string and cannot be int; remove it from the file",
		"1.toml:13: events is not supported by this version yet, and is ignored",
		"1.toml:15: CR_ClassificationQuery cannot be the name of a kind: it is the operation of the built-in kind CR_Classification; choose another name and set source",
	)
	totals, _ := s.Registry().Lookup("SO_Totals")
	builtin, _ := record.Builtin().Lookup("SO_Totals")
	last := len(builtin.Fields)
	if len(totals.Fields) != last+1 || totals.Fields[last].Name != "Branch" || totals.Fields[1].Column != "Sum" || totals.Role != "admin" || totals.Summary != builtin.Summary {
		t.Errorf("got %+v", totals)
	}
	if colours, _ := s.Registry().Lookup("IN_Colours"); !slices.Equal(colours.Key, []string{"RecID"}) {
		t.Errorf("IN_Colours has the key %q in spite of no key in the file", colours.Key)
	}
	if class, _ := s.Registry().Lookup("DB_Class"); class.Fields[0].Type != record.Text || len(s.Registry().Kinds()) != len(record.Kinds()) {
		t.Errorf("got %+v", class)
	}
}

func TestUnreadable(t *testing.T) {
	dir := t.TempDir()
	s := Load(filepath.Join(dir, "missing.toml"), dir)
	if len(s.Problems) != 1 || s.Problems[0].Text != "cannot be read: no such file or directory" || s.Registry() != record.Builtin() {
		t.Errorf("problems %v", s.Problems)
	}
}

// draw draws kinds that have no mistakes.
func draw(t *rapid.T) []*Declared {
	name := rapid.StringMatching(`[A-Za-z][a-z0-9_]{3,8}X`)
	text := rapid.StringOfN(rapid.RuneFrom([]rune(`aé"\#=[]'.日 `+"\u0001\u007f")), 1, 12, -1)
	lower := strings.ToLower
	var all []*Declared
	for _, kind := range rapid.SliceOfNDistinct(name, 0, 4, lower).Draw(t, "kinds") {
		d := &Declared{Kind: record.Kind{Name: kind}, Comments: []string{text.Draw(t, "comment")}, Omitted: []string{"x\ny"}, Notes: make(map[string]string)}
		for _, f := range rapid.SliceOfNDistinct(name, 1, 6, lower).Draw(t, "fields") {
			of := rapid.SampledFrom(fieldTypes).Draw(t, "type")
			field := record.Field{Name: f, Type: of, Filter: of.Filter(), Null: record.Nullability(of == record.Text || of == record.Bytes || rapid.Bool().Draw(t, "null"))}
			if rapid.Bool().Draw(t, "renamed") {
				field.Column = text.Draw(t, "column")
			}
			d.Fields, d.Notes[f] = append(d.Fields, field), text.Draw(t, "note")
		}
		d.Key = rapid.SliceOfN(rapid.SampledFrom(d.FieldNames()), 0, 2).Draw(t, "key")
		if len(d.Key) == 0 {
			d.Key = nil
		}
		d.Role = rapid.SampledFrom([]string{"", "writer"}).Draw(t, "role")
		d.Table = rapid.SampledFrom([]string{"", "dbo.T", "[my schema].[a.b]"}).Draw(t, "source")
		all = append(all, d)
	}
	return all
}

// expectRoundTrip writes kinds and reads them.
func expectRoundTrip(t interface{ Fatalf(string, ...any) }, all []*Declared) {
	var text strings.Builder
	if err := Write(&text, []string{"head", ""}, all); err != nil {
		t.Fatalf("%v", err)
	}
	read, problems := Parse("f", []byte(text.String()))
	if len(problems) > 0 || len(read) != len(all) {
		t.Fatalf("%d kinds, %v, from\n%s", len(read), problems, text.String())
	}
	for _, got := range read {
		i := slices.IndexFunc(all, func(d *Declared) bool { return d.Name == got.Name })
		if !reflect.DeepEqual(got.Kind, all[i].Kind) {
			t.Fatalf("got  %+v\nwant %+v\nfrom\n%s", got.Kind, all[i].Kind, text.String())
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
		s.add(Parse("f", data))
		var right []*Declared
		for _, d := range s.Declared {
			if !d.wrong && len(d.Fields) > 0 {
				right = append(right, d)
			}
		}
		expectRoundTrip(t, right)
		s.build()
		for _, p := range s.Problems {
			if strings.HasPrefix(p.Text, "no kind of the files") || p.Line < 1 || p.Line > 1+strings.Count(string(data), "\n") {
				t.Fatalf("%s", p)
			}
		}
	})
}
