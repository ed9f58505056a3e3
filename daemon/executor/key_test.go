package executor_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
	"github.com/bizhook/whd/daemon/sqlite"
)

// keyCases are tables with the keys that their catalogue proves, in both databases.
var keyCases = []struct {
	name, table string
	want        []int
}{
	{"None", "CREATE TABLE None (A int NOT NULL, B int)", nil},
	{"OnePrimary", "CREATE TABLE OnePrimary (A int, B int NOT NULL PRIMARY KEY)", []int{1}},
	{"TwoPrimary", "CREATE TABLE TwoPrimary (A int NOT NULL, B int NOT NULL, PRIMARY KEY (B, A))", []int{1, 0}},
	{"OneUnique", "CREATE TABLE OneUnique (A int, B varchar(10) NOT NULL UNIQUE)", []int{1}},
	{"NullUnique", "CREATE TABLE NullUnique (A int NULL UNIQUE, B int NULL)", nil},
	{"PrimaryFirst", "CREATE TABLE PrimaryFirst (A int NOT NULL UNIQUE, B int NOT NULL, PRIMARY KEY (B))", []int{1}},
	{"PartNull", "CREATE TABLE PartNull (A int NULL, B int NOT NULL, UNIQUE (A, B), UNIQUE (B, A))", nil},
	{"Unmapped", "CREATE TABLE Unmapped (A int NOT NULL, B int NOT NULL, Z int NOT NULL PRIMARY KEY, UNIQUE (A, B))", []int{0, 1}},
	{"Viewed", "CREATE VIEW Viewed AS SELECT A, B FROM OnePrimary", nil},
	{"Declared", "CREATE TABLE Declared (A int, B int NOT NULL PRIMARY KEY)", []int{0}},
}

func checkKeys(t *testing.T, from executor.Database) {
	t.Helper()
	var kinds []record.Kind
	for _, c := range keyCases {
		kind := record.Kind{Name: c.name, Fields: []record.Field{{Name: "A", Type: record.Int}, {Name: "Second", Column: "b", Type: record.Int}}}
		if c.name == "Declared" {
			kind.Key = []string{"A"}
		}
		kinds = append(kinds, kind)
	}
	registry, err := record.NewRegistry(kinds...)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time from a cache
		for i, c := range keyCases {
			if got, err := executor.Key(t.Context(), from, registry.Kinds()[i]); err != nil || !slices.Equal(got, c.want) {
				t.Errorf("%s: the key is %v (%v), want %v", c.name, got, err, c.want)
			}
		}
	}
}

// problemCases are tables of kinds with the declared key B, or B and A.
var problemCases = []struct {
	name  string
	pair  bool
	table []string
	want  string
}{
	{"Unique", false, []string{"CREATE TABLE Unique_ (A int, B varchar(10))", "INSERT INTO Unique_ VALUES (1, 'a'), (1, 'b')"}, ""},
	{"Twice", false, []string{"CREATE TABLE Twice_ (A int, B varchar(10))", "INSERT INTO Twice_ VALUES (1, 'a'), (2, 'b'), (3, 'b'), (4, 'b'), (5, 'a')"}, "the number of rows with B = b is 3;"},
	{"Nulls", false, []string{"CREATE TABLE Nulls_ (A int, B varchar(10))", "INSERT INTO Nulls_ VALUES (1, 'a'), (2, NULL)"}, "the number of rows with B = null is 1;"},
	{"Pairs", true, []string{"CREATE TABLE Pairs_ (A int, B varchar(10))", "INSERT INTO Pairs_ VALUES (1, 'a'), (2, 'a'), (1, 'b')"}, ""},
	{"SamePair", true, []string{"CREATE TABLE SamePair_ (A int, B varchar(10))", "INSERT INTO SamePair_ VALUES (1, 'a'), (2, 'a'), (1, 'a')"}, "rows with B = a, A = 1 is 2;"},
	{"Proven", true, []string{"CREATE TABLE Proven_ (A int NOT NULL UNIQUE, B varchar(10))", "INSERT INTO Proven_ VALUES (1, NULL), (2, NULL)"}, ""},
	{"OtherIndex", false, []string{"CREATE TABLE OtherIndex_ (A int NOT NULL PRIMARY KEY, B varchar(10))", "INSERT INTO OtherIndex_ VALUES (1, NULL)"}, "B = null is 1;"},
	{"Large", false, []string{"CREATE TABLE Large_ (A int, B varchar(10))", "INSERT INTO Large_ VALUES (1, 'a')", "INSERT INTO Large_ VALUES (1, 'a'), (1, 'b'), (2, 'a'), (2, 'b'), (3, 'a'), (3, 'b'), (4, 'a'), (4, 'b'), (5, 'c')",
		"INSERT INTO Large_ SELECT a.A, c.B FROM Large_ a, Large_ b, Large_ c, Large_ d, Large_ e"}, "not checked: size"},
}

func checkKeyProblems(t *testing.T, from executor.Database) {
	t.Helper()
	for _, c := range problemCases {
		kind := record.Kind{Name: c.name + "_", Key: []string{"B"}, Fields: []record.Field{{Name: "A", Type: record.Int}, {Name: "B", Type: record.Text}}}
		if c.pair {
			kind.Key = []string{"B", "A"}
		}
		registry, err := record.NewRegistry(kind)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := executor.KeyProblem(t.Context(), from, registry.Kinds()[0]); err != nil || !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s: %q (%v), want %q", c.name, got, err, c.want)
		}
	}
}

// newFile returns a pool of a new SQLite file, closed when the test ends, and a connection.
func newFile(t *testing.T) (*sqlite.Pool, *sqlite.Conn) {
	t.Helper()
	pool, err := sqlite.NewPool(filepath.Join(t.TempDir(), "records.db"), sqlite.Options{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pool.Close() })
	conn, err := pool.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return pool, conn
}

func TestKeysSQLite(t *testing.T) {
	pool, conn := newFile(t)
	for _, c := range keyCases {
		if err := conn.Exec(c.table); err != nil {
			t.Fatalf("%s: %v", c.table, err)
		}
	}
	for _, c := range problemCases {
		if err := conn.Exec(strings.Join(c.table, ";\n")); err != nil {
			t.Fatalf("%s: %v", c.table, err)
		}
	}
	err := conn.Exec(`CREATE TABLE Rowid (B integer PRIMARY KEY, A int);
CREATE TABLE Without (A int, B text PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE Nullable_ (A int NOT NULL, B text PRIMARY KEY);
CREATE TABLE IndexNull (A int NOT NULL, B text UNIQUE);
CREATE TABLE Partial (A int NOT NULL, B text);
CREATE UNIQUE INDEX p ON Partial (A) WHERE A > 5;
CREATE TABLE Expression (A int NOT NULL, B text);
CREATE UNIQUE INDEX e ON Expression (A, abs(A))`)
	if err != nil {
		t.Fatal(err)
	}
	pool.Put(conn)
	file := executor.NewFile(pool, (*record.Kind).Source, nil, nil)
	checkKeys(t, file)
	checkKeyProblems(t, file)
	for name, want := range map[string][]int{
		"Rowid":      {1},
		"Without":    {1},
		"Nullable_":  {1}, // pages check that it is not null
		"IndexNull":  nil,
		"Partial":    nil,
		"Expression": nil,
	} {
		registry, err := record.NewRegistry(record.Kind{Name: name, Fields: []record.Field{{Name: "A", Type: record.Int}, {Name: "B", Type: record.Int}}})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := executor.Key(t.Context(), file, registry.Kinds()[0]); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: the key is %v (%v), want %v", name, got, err, want)
		}
	}
}

func TestKeysSQLServer(t *testing.T) {
	dsn := mssqltest.Database(t)
	for _, c := range keyCases {
		mssqltest.Exec(t, dsn, c.table)
	}
	for _, c := range problemCases {
		mssqltest.Exec(t, dsn, c.table...)
	}
	pool, err := mssql.Open(mssql.Config{DSN: dsn, Connections: 1})
	if err != nil {
		t.Fatal(err)
	}
	names := func(kind *record.Kind) mssql.Table { return mssql.Table{Schema: "dbo", Name: kind.Name} }
	server := executor.NewServer(pool, 0, func() executor.Limits { return executor.Limits{} }, names)
	defer server.Close()
	checkKeys(t, server)
	checkKeyProblems(t, server)
}
