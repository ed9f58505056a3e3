package discover

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/erp"
	"github.com/bizhook/whd/daemon/kinds"
	"github.com/bizhook/whd/daemon/kinds/kindstest"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
	"github.com/bizhook/whd/daemon/sqlite"
)

// written returns the file of a proposal, and the kinds that are read from it.
func written(t *testing.T, p Proposal) (string, *kinds.Set) {
	t.Helper()
	var out bytes.Buffer
	if err := kinds.Write(&out, nil, p.Kinds); err != nil {
		t.Fatal(err)
	}
	set := kinds.Load(file(t, out.String()))
	for _, problem := range set.Problems {
		t.Errorf("the proposal has a mistake: %s", problem)
	}
	return out.String(), set
}

// file writes a file of kinds, and returns its path.
func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "erp.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// fixture is the catalogue of the objects of kindstest.
func fixture(t *testing.T, server bool) (erp.Config, []Object) {
	t.Helper()
	objects := kindstest.Objects()
	var c erp.Config
	if server {
		c.DSN = mssqltest.Database(t)
		kindstest.LoadServer(t, c.DSN, objects)
	} else {
		c.Path = filepath.Join(t.TempDir(), "records.db")
		kindstest.LoadFile(t, c.Path, objects)
	}
	start := time.Now()
	read, err := Read(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("read %d objects in %v", len(read), time.Since(start))
	return c, read
}

// TestFixture: all 480 objects have a kind except those with a name that is built in, the
// file has no mistakes, and there is no difference.
func TestFixture(t *testing.T) {
	for name, server := range map[string]bool{"SQLite": false, "SQLServer": true} {
		t.Run(name, func(t *testing.T) {
			c, objects := fixture(t, server)
			proposeFixture(t, c, objects)
		})
	}
}

func proposeFixture(t *testing.T, c erp.Config, objects []Object) {
	if want := kindstest.Tables + kindstest.Views; len(objects) != want {
		t.Errorf("got %d objects, want %d", len(objects), want)
	}
	p := Propose(objects, Options{Views: true})
	for _, reason := range p.Skipped {
		if !strings.Contains(reason, "is built in") && !strings.Contains(reason, "the service's interface") {
			t.Errorf("left out for another reason than its name: %s", reason)
		}
	}
	if len(p.Kinds)+len(p.Skipped) != len(objects) || len(p.Skipped) > 5 {
		t.Errorf("got %d kinds of %d objects, want all but at most 5; left out: %q", len(p.Kinds), len(objects), p.Skipped)
	}

	text, set := written(t, p)
	if got := len(set.Registry().Kinds()) - len(record.Kinds()); got != len(p.Kinds) {
		t.Errorf("%d kinds are served, want %d", got, len(p.Kinds))
	}
	if lines := Diff(set.Declared, objects, c); len(lines) > 0 {
		t.Errorf("got %d differences, want none: %q", len(lines), lines[:min(len(lines), 5)])
	}
	second, _ := written(t, Propose(objects, Options{Views: true}))
	if second != text {
		t.Error("a second proposal has another file")
	}

	everyType, ok := set.Registry().Lookup("SY_EveryType")
	if !ok || !slices.Equal(everyType.Key, []string{"ID"}) || len(everyType.Fields) < 30 {
		t.Errorf("SY_EveryType: got %+v, want the key ID and at least 30 fields", everyType)
	}
	wide, ok := set.Registry().Lookup("IN_Wide")
	if !ok || !slices.Equal(wide.Key, []string{"No", "Part"}) || len(wide.Fields) != kindstest.WideColumns {
		t.Errorf("IN_Wide: got %+v, want the key No and Part, and %d fields", wide, kindstest.WideColumns)
	}
}

// columns returns columns of definitions such as ID:int.
func columns(definitions ...string) (columns []Column) {
	for _, definition := range definitions {
		name, columnType, _ := strings.Cut(definition, ":")
		columns = append(columns, Column{Name: name, Type: columnType})
	}
	return columns
}

// TestNames: names that are no identifiers, that clash, or that a request cannot use are
// replaced, with the reason in a comment.
func TestNames(t *testing.T) {
	unusual := columns("Notes:ntext", "Check:int", "CheckIn:int", "checkin_2:int", "Take:int", "a b:int", "a-b:int",
		"A_B:int", "Case:int", "CASE:int", "Über:int", "9:int", "%:int", "Where:hierarchyid", "Stamp:timestamp",
		"v:int", "changed:int")
	unusual = append(unusual, Column{Name: "Salary", Type: "money", Forbidden: true})
	p := Propose([]Object{
		{Schema: "Archive", Name: "Orders", Columns: columns("ID:int")},
		{Schema: "Sales", Name: "orders", Columns: columns("ID:int")},
		{Schema: "dbo", Name: "DB_Class", Columns: columns("Class:varchar")},
		{Schema: "dbo", Name: "DB_ClassQuery", Columns: columns("Class:varchar")},
		{Schema: "dbo", Name: "Price List", Columns: columns("ID:int")},
		{Schema: "dbo", Name: "Price-List", Columns: columns("ID:int")},
		{Schema: "dbo", Name: "Price_ListQuery", Columns: columns("ID:int")},
		{Schema: "dbo", Name: "Map", Columns: columns("Shape:geometry")},
		{Schema: "dbo", Name: "Broken", Columns: columns("ID:int"), Problem: "Invalid object name 'Gone'."},
		{Schema: "dbo", Name: "V", View: true, Columns: columns("ID:int")},
		{Schema: "my.dbo", Name: "a]b.c", Columns: unusual},
	}, Options{})
	text, _ := written(t, p)
	const want = `# No key: there is no primary key, and no unique index without nulls.
[Archive_Orders]
source = "Archive.Orders"

[Archive_Orders.fields]
ID = "int"

# No key: there is no primary key, and no unique index without nulls.
[Price_List]
source = "dbo.Price List"

[Price_List.fields]
ID = "int"

# No key: there is no primary key, and no unique index without nulls.
# Price_ListQuery is the name of another kind.
[Price_ListQuery_2]
source = "dbo.Price_ListQuery"

[Price_ListQuery_2.fields]
ID = "int"

# No key: there is no primary key, and no unique index without nulls.
# Price_List is the name of another kind.
[Price_List_2]
source = "dbo.Price-List"

[Price_List_2.fields]
ID = "int"

# No key: there is no primary key, and no unique index without nulls.
[Sales_orders]
source = "Sales.orders"

[Sales_orders.fields]
ID = "int"

# No key: there is no primary key, and no unique index without nulls.
[a_b_c]
source = "[my.dbo].[a]]b.c]"
stamp = "Stamp"

[a_b_c.fields]
Check = "int"
Notes = "string" # ntext, which SQL Server cannot compare or sort
CheckIn_2 = { type = "int", column = "CheckIn" } # CheckIn is a filter of Check
checkin_2_2 = { type = "int", column = "checkin_2" } # CheckIn_2 is another field
Take_2 = { type = "int", column = "Take" } # Take is a member of every query
a_b = { type = "int", column = "a b" }
a_b_2 = { type = "int", column = "a-b" } # a_b is another field
A_B_3 = { type = "int", column = "A_B" } # a_b is another field
Case = "int"
ber = { type = "int", column = "Über" }
_9 = { type = "int", column = "9" }
_ = { type = "int", column = "%" }
Stamp = "byte[]"
v_2 = { type = "int", column = "v" } # v is a member of every query
changed = "int" # conditions of subscriptions cannot compare this field, because Changed lists the fields that have changed there; give it another name, and set column
# CASE = "int" # left out: its name differs from the name of another column only in letter case
# Where = "hierarchyid" # left out: the type is not supported
# Salary = "money" # left out: the login has no permission to read it
`
	if text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
	for i, want := range []string{
		"dbo.DB_Class: DB_Class is built in",
		"dbo.DB_ClassQuery: DB_Class is built in",
		"dbo.Map: it has no column",
		"dbo.Broken: it cannot be read: Invalid object name 'Gone'.",
	} {
		if i >= len(p.Skipped) || !strings.HasPrefix(p.Skipped[i], want) {
			t.Errorf("left out: %q, want %q", p.Skipped, want)
		}
	}
}

// TestNotesOfColumnsWithTheSameIdentifier: a note belongs to its column, also if another one has
// the name of its field. The first field, which pages are sorted by, is one that can be sorted.
func TestNotesOfColumnsWithTheSameIdentifier(t *testing.T) {
	for _, test := range []struct {
		columns []string
		want    string
	}{
		{[]string{"A-B:xml", "A B:int", "C:int"}, `A_B_2 = { type = "int", column = "A B" } # A_B is another field
A_B = { type = "string", column = "A-B" } # xml, which SQL Server cannot compare or sort
C = "int"
`},
		{[]string{"A B:int", "A-B:xml", "A.B:ntext"}, `A_B = { type = "int", column = "A B" }
A_B_2 = { type = "string", column = "A-B" } # A_B is another field; xml, which SQL Server cannot compare or sort
A_B_3 = { type = "string", column = "A.B" } # A_B is another field; ntext, which SQL Server cannot compare or sort
`},
	} {
		object := Object{Schema: "dbo", Name: "T", Columns: columns(test.columns...)}
		text, _ := written(t, Propose([]Object{object}, Options{}))

		_, fields, _ := strings.Cut(text, "[T.fields]\n")
		if fields != test.want {
			t.Errorf("the fields of the columns %q: got\n%s\nwant\n%s", test.columns, fields, test.want)
		}
	}
}

// TestGuidBlobs: a column of GUIDs with blobs of 16 bytes has a note, since only the user knows the
// order of their bytes.
func TestGuidBlobs(t *testing.T) {
	objects := objectsOf(t, `
		CREATE TABLE Packed (ID uniqueidentifier NOT NULL PRIMARY KEY, Plain uniqueidentifier NOT NULL);
		INSERT INTO Packed VALUES (x'5bad8f0fcbd99f46a16570867728950e', '0f8fad5b-d9cb-469f-a165-70867728950e')`)

	text, _ := written(t, Propose(objects, Options{}))
	want := `[Packed]
source = "Packed"
key = ["ID"]

[Packed.fields]
ID = "Guid" # blobs of 16 bytes are returned as hexadecimal digits; if they are GUIDs, write { type = "Guid", blob = "net" } for the byte order of .NET, or blob = "rfc" for the byte order of the text
Plain = "Guid"
`
	if text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}

// objectsOf returns the objects of a file in which another program has executed statements.
func objectsOf(t *testing.T, statements string) []Object {
	t.Helper()
	path := filepath.Join(t.TempDir(), "records.db")
	conn, err := sqlite.Open(path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(conn.Exec(statements), conn.Close()); err != nil {
		t.Fatal(err)
	}
	objects, err := Read(t.Context(), erp.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// TestNullablePrimaryKey: a key that the table lets be null is a key, with a comment on when it
// is none.
func TestNullablePrimaryKey(t *testing.T) {
	objects := objectsOf(t, `
		CREATE TABLE Loose ("Area No" TEXT, Code TEXT, N int, PRIMARY KEY ("Area No", Code));
		CREATE TABLE Numbered (ID INTEGER PRIMARY KEY, N int);
		CREATE TABLE Strict (Code TEXT NOT NULL PRIMARY KEY);
		CREATE TABLE Unproven (Code TEXT UNIQUE)`)

	text, _ := written(t, Propose(objects, Options{}))
	want := `# The table allows null in its primary key (Area_No, Code). While a row has a null there, Cursor gets status 400, and changes are not captured.
[Loose]
source = "Loose"
key = ["Area_No", "Code"]

[Loose.fields]
Area_No = { type = "string", column = "Area No" }
Code = "string"
N = "int?"

[Numbered]
source = "Numbered"
key = ["ID"]

[Numbered.fields]
ID = "long"
N = "int?"

[Strict]
source = "Strict"
key = ["Code"]

[Strict.fields]
Code = "string"

# No key: there is no primary key, and no unique index without nulls.
[Unproven]
source = "Unproven"

[Unproven.fields]
Code = "string"
`
	if text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}

// TestSelection: patterns ignore letter case; views and columns are chosen.
func TestSelection(t *testing.T) {
	objects := []Object{
		{Schema: "dbo", Name: "DB_Main", Columns: columns("ID:int", "Name:varchar", "NameExt:varchar")},
		{Schema: "dbo", Name: "IN_Main", Columns: columns("ID:int")},
		{Schema: "dbo", Name: "DB_View", View: true, Columns: columns("ID:int")},
		{Schema: "sales", Name: "DB_Main2", Columns: columns("ID:int")},
	}
	for _, c := range []struct {
		options Options
		want    string
	}{
		{Options{}, "DB_Main IN_Main DB_Main2"},
		{Options{Views: true, Schemas: []string{"DBO"}, Names: []string{"db_*"}}, "DB_Main DB_View"},
		{Options{Names: []string{"x*", "*2"}}, "DB_Main2"},
		{Options{Columns: []string{"name*"}}, "DB_Main"},
	} {
		var names []string
		p := Propose(objects, c.options)
		for _, d := range p.Kinds {
			names = append(names, d.Name)
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%+v: got kinds %s, want %s", c.options, got, c.want)
		}
	}
	p := Propose(objects[:1], Options{Columns: []string{"name*"}})
	if p.Omitted != 1 || len(p.Kinds[0].Fields) != 2 {
		t.Errorf("%d columns are left out, and %d fields remain, want 1 and 2", p.Omitted, len(p.Kinds[0].Fields))
	}
}

// TestDiff changes a table, and expects a line for each change.
func TestDiff(t *testing.T) {
	t.Run("SQLite", func(t *testing.T) {
		c := erp.Config{Path: filepath.Join(t.TempDir(), "records.db")}
		conn, err := sqlite.Open(c.Path, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		diffChanges(t, c, "", func(statement string) {
			if err := conn.Exec(statement); err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
		})
	})
	t.Run("SQLServer", func(t *testing.T) {
		c := erp.Config{DSN: mssqltest.Database(t)}
		diffChanges(t, c, ", or the login has no right on it", func(statement string) {
			mssqltest.Exec(t, c.DSN, statement)
		})
	})
}

// tableChanges are the columns of a changed table T, with the differences from the first of them:
// SOURCE stands for the name of its table, and NO_RIGHT for the note on missing rights.
var tableChanges = []struct {
	columns string
	want    []string
}{
	{"Phone varchar(20) NOT NULL, Amount decimal(9,2) NOT NULL, Note varchar(9), Day date", nil},
	{"Phone nvarchar(40), Amount money NOT NULL, Note varchar(9), Day date", nil},
	{
		"Phone varchar(20) NOT NULL, Amount decimal(9,2) NOT NULL, Note varchar(9), City varchar(9) NOT NULL",
		[]string{"T.City: added: SOURCE has the column City, string"},
	},
	{
		"Phone varchar(20) NOT NULL, Amount decimal(9,2) NOT NULL",
		[]string{"T.Note: removed: SOURCE has no column NoteNO_RIGHT"},
	},
	{
		"PhoneNo varchar(20) NOT NULL, Amount decimal(9,2) NOT NULL, Note varchar(9)",
		[]string{"T.Phone: probably renamed: SOURCE has the column PhoneNo, not Phone"},
	},
	{
		"Phone varchar(20) NOT NULL, Amount datetime NOT NULL, Note varchar(9)",
		[]string{
			"T.Amount: the type changed: decimal cannot hold all values of the column Amount, which is datetime now",
		},
	},
	{
		"Phone varchar(20) NOT NULL, Amount decimal(9,2), Note varchar(9)",
		[]string{"T.Amount: the column may be null now: decimal?"},
	},
	{
		"Phone varchar(20) NOT NULL, Total decimal(9,2), Remark varchar(9)",
		[]string{
			"T.Amount: probably renamed: SOURCE has the column Total, not Amount",
			"T.Note: probably renamed: SOURCE has the column Remark, not Note",
		},
	},
}

// diffChanges creates the table of tableChanges with the columns of each, and drops it in the end.
func diffChanges(t *testing.T, c erp.Config, noRight string, exec func(statement string)) {
	t.Helper()
	create := func(columns string) {
		exec("CREATE TABLE T (ID int NOT NULL PRIMARY KEY, " + columns + ")")
	}
	read := func() []Object {
		objects, err := Read(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		return objects
	}
	create(tableChanges[0].columns)
	_, set := written(t, Propose(read(), Options{Columns: []string{"[^D]*"}}))
	texts := strings.NewReplacer("SOURCE", set.Declared[0].Source(), "NO_RIGHT", noRight)
	for _, change := range tableChanges {
		exec("DROP TABLE T")
		create(change.columns)
		got := strings.Join(Diff(set.Declared, read(), c), "\n")
		want := texts.Replace(strings.Join(change.want, "\n"))
		if got != want {
			t.Errorf("%s: got differences\n%s, want\n%s", change.columns, got, want)
		}
	}
	exec("DROP TABLE T")
	got := Diff(set.Declared, read(), c)
	if len(got) != 1 || !strings.Contains(got[0], "does not exist") {
		t.Errorf("without the table: got differences %q, want that it does not exist", got)
	}
}

// TestRights: columns that the login may not read are left out, and the other columns of
// the table are not.
func TestRights(t *testing.T) {
	dsn := mssqltest.Database(t)
	login := "whd_test_" + strings.ToLower(rand.Text()[:10])
	mssqltest.CreateLogin(t, login, "Abcdef12345")
	mssqltest.Exec(t, dsn,
		"CREATE USER "+login+" FOR LOGIN "+login,
		"CREATE TABLE Shown (ID int NOT NULL PRIMARY KEY, Name varchar(9))",
		"CREATE TABLE Staff (ID int NOT NULL PRIMARY KEY, Salary money)",
		"CREATE TABLE Secret (ID int NOT NULL PRIMARY KEY)",
		"CREATE TABLE Gone (ID int)",
		"CREATE VIEW Broken AS SELECT ID FROM Gone",
		"GRANT SELECT ON Shown TO "+login,
		"GRANT SELECT ON Staff (ID) TO "+login,
	)
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(login, "Abcdef12345")
	objects, err := Read(t.Context(), erp.Config{DSN: u.String()})
	if err != nil {
		t.Fatal(err)
	}
	p := Propose(objects, Options{Views: true})
	text, _ := written(t, p)
	for _, want := range []string{
		"[Shown.fields]\nID = \"int\"\nName = \"string\"\n",
		"[Staff.fields]\nID = \"int\"\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("got file\n%s\nwant\n%s", text, want)
		}
	}
	if strings.Contains(text, "\nSalary") {
		t.Errorf("got file\n%s\nwant no field Salary", text)
	}
	for _, reason := range p.Skipped {
		if !strings.Contains(reason, "cannot be read") { // a server may list them
			t.Errorf("left out for another reason than rights: %s", reason)
		}
	}

	set := kinds.Load(file(t, "[Staff.fields]\nID = \"int\"\nSalary = \"decimal?\"\n"))
	got := Diff(set.Declared, objects, erp.Config{DSN: dsn})
	if len(got) != 1 || !strings.HasPrefix(got[0], "Staff.Salary: ") {
		t.Errorf("got differences %q, want one of Staff.Salary", got)
	}

	first := objects[0]
	first.Columns[0].Forbidden = true // as on servers that list such columns
	set = kinds.Load(file(t, "["+first.Name+".fields]\nID = \"int\"\n# Name = \"string\"\n"))
	got = Diff(set.Declared, objects, erp.Config{DSN: dsn})
	want := []string{first.Name + ".ID: the login has no permission to read the column ID"}
	if !slices.Equal(got, want) {
		t.Errorf("got differences %q, want %q", got, want)
	}
}

// TestBrokenViewsOfFile checks that views which cannot be read do not prevent kinds of the other
// objects of an embedded file.
func TestBrokenViewsOfFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "records.db")
	conn, err := sqlite.Open(path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	err = conn.Exec(`CREATE TABLE Shown (ID INTEGER NOT NULL PRIMARY KEY, Class TEXT NOT NULL);
CREATE TABLE Gone (ID INTEGER NOT NULL PRIMARY KEY);
CREATE VIEW Broken AS SELECT ID FROM Gone;
CREATE VIEW Classes AS SELECT Class FROM Shown;
CREATE VIEW NoFunction AS SELECT gone(ID) AS ID FROM Shown;
DROP TABLE Gone`)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := Read(t.Context(), erp.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	problems := make(map[string]string)
	for _, o := range objects {
		problems[o.Name] = o.Problem
	}
	want := map[string]string{
		"Shown":      "",
		"Broken":     "no such table: main.Gone",
		"Classes":    "",
		"NoFunction": "no such function: gone",
	}
	if !maps.Equal(problems, want) {
		t.Errorf("got objects with problems %q, want %q", problems, want)
	}
	p := Propose(objects, Options{Views: true})
	if len(p.Kinds) != 2 {
		t.Errorf("got %d kinds, want those of Shown and Classes; left out: %q", len(p.Kinds), p.Skipped)
	}
}

// TestReadOfFileIsCancelled checks that a cancelled context ends the reading of an embedded file.
func TestReadOfFileIsCancelled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "records.db")
	kindstest.LoadFile(t, path, kindstest.Objects())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Read(ctx, erp.Config{Path: path}); err == nil {
		t.Error("reading a file with a cancelled context: got no error")
	}
}
