package executor_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
)

// keyCases are tables with the keys that their catalogue proves, in both databases. Their kinds
// have the fields A and Second, which is column B.
var keyCases = []struct {
	name  string
	table string
	want  []int
}{
	{
		name:  "None",
		table: "CREATE TABLE None (A int NOT NULL, B int)",
	},
	{
		name:  "OnePrimary",
		table: "CREATE TABLE OnePrimary (A int, B int NOT NULL PRIMARY KEY)",
		want:  []int{1},
	},
	{
		name:  "TwoPrimary",
		table: "CREATE TABLE TwoPrimary (A int NOT NULL, B int NOT NULL, PRIMARY KEY (B, A))",
		want:  []int{1, 0},
	},
	{
		name:  "OneUnique",
		table: "CREATE TABLE OneUnique (A int, B varchar(10) NOT NULL UNIQUE)",
		want:  []int{1},
	},
	{
		name:  "NullUnique",
		table: "CREATE TABLE NullUnique (A int NULL UNIQUE, B int NULL)",
	},
	{
		name:  "PrimaryFirst",
		table: "CREATE TABLE PrimaryFirst (A int NOT NULL UNIQUE, B int NOT NULL, PRIMARY KEY (B))",
		want:  []int{1},
	},
	{
		name:  "PartNull",
		table: "CREATE TABLE PartNull (A int NULL, B int NOT NULL, UNIQUE (A, B), UNIQUE (B, A))",
	},
	{
		name:  "Unmapped",
		table: "CREATE TABLE Unmapped (A int NOT NULL, B int NOT NULL, Z int NOT NULL PRIMARY KEY, UNIQUE (A, B))",
		want:  []int{0, 1},
	},
	{
		name:  "Viewed",
		table: "CREATE VIEW Viewed AS SELECT A, B FROM OnePrimary",
	},
	{
		name:  "Declared",
		table: "CREATE TABLE Declared (A int, B int NOT NULL PRIMARY KEY)",
		want:  []int{0},
	},
}

func checkKeys(t *testing.T, db executor.Database) {
	t.Helper()
	var kinds []record.Kind
	for _, c := range keyCases {
		kind := record.Kind{Name: c.name, Fields: []record.Field{
			{Name: "A", Type: record.Int},
			{Name: "Second", Column: "b", Type: record.Int},
		}}
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
			got, err := executor.Key(t.Context(), db, registry.Kinds()[i])
			if err != nil {
				t.Errorf("%s: finding the key: %v", c.name, err)
			} else if !slices.Equal(got, c.want) {
				t.Errorf("%s: the key is %v, want %v", c.name, got, c.want)
			}
		}
	}
}

// problemCases are tables of kinds that declare a key.
var problemCases = []struct {
	name   string
	key    []string
	tables []string // statements
	want   string   // part of the problem; empty if there is none
}{
	{
		name: "Unique",
		key:  []string{"B"},
		tables: []string{
			"CREATE TABLE Unique_ (A int, B varchar(10))",
			"INSERT INTO Unique_ VALUES (1, 'a'), (1, 'b')",
		},
	},
	{
		name: "Twice",
		key:  []string{"B"},
		tables: []string{
			"CREATE TABLE Twice_ (A int, B varchar(10))",
			"INSERT INTO Twice_ VALUES (1, 'a'), (2, 'b'), (3, 'b'), (4, 'b'), (5, 'a')",
		},
		want: "the number of rows with B = b is 3;",
	},
	{
		name: "Nulls",
		key:  []string{"B"},
		tables: []string{
			"CREATE TABLE Nulls_ (A int, B varchar(10))",
			"INSERT INTO Nulls_ VALUES (1, 'a'), (2, NULL)",
		},
		want: "the number of rows with B = null is 1;",
	},
	{
		name: "Pairs",
		key:  []string{"B", "A"},
		tables: []string{
			"CREATE TABLE Pairs_ (A int, B varchar(10))",
			"INSERT INTO Pairs_ VALUES (1, 'a'), (2, 'a'), (1, 'b')",
		},
	},
	{
		name: "SamePair",
		key:  []string{"B", "A"},
		tables: []string{
			"CREATE TABLE SamePair_ (A int, B varchar(10))",
			"INSERT INTO SamePair_ VALUES (1, 'a'), (2, 'a'), (1, 'a')",
		},
		want: "rows with B = a, A = 1 is 2;",
	},
	{
		name: "Proven",
		key:  []string{"B", "A"},
		tables: []string{
			"CREATE TABLE Proven_ (A int NOT NULL UNIQUE, B varchar(10))",
			"INSERT INTO Proven_ VALUES (1, NULL), (2, NULL)",
		},
	},
	{
		name: "OtherIndex",
		key:  []string{"B"},
		tables: []string{
			"CREATE TABLE OtherIndex_ (A int NOT NULL PRIMARY KEY, B varchar(10))",
			"INSERT INTO OtherIndex_ VALUES (1, NULL)",
		},
		want: "B = null is 1;",
	},
	{
		name: "Large",
		key:  []string{"B"},
		tables: []string{
			"CREATE TABLE Large_ (A int, B varchar(10))",
			"INSERT INTO Large_ VALUES (1, 'a')",
			`INSERT INTO Large_ VALUES (1, 'a'), (1, 'b'), (2, 'a'), (2, 'b'), (3, 'a'), (3, 'b'),
				(4, 'a'), (4, 'b'), (5, 'c')`,
			"INSERT INTO Large_ SELECT a.A, c.B FROM Large_ a, Large_ b, Large_ c, Large_ d, Large_ e",
		},
		want: "not checked: size",
	},
}

func checkKeyProblems(t *testing.T, db executor.Database) {
	t.Helper()
	for _, c := range problemCases {
		registry, err := record.NewRegistry(record.Kind{
			Name: c.name + "_",
			Key:  c.key,
			Fields: []record.Field{
				{Name: "A", Type: record.Int},
				{Name: "B", Type: record.Text},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		got, err := executor.KeyProblem(t.Context(), db, registry.Kinds()[0])
		if err != nil {
			t.Errorf("%s: checking the key: %v", c.name, err)
			continue
		}
		isNone := got == ""
		wantNone := c.want == ""
		if isNone != wantNone || !strings.Contains(got, c.want) {
			t.Errorf("%s: the problem is %q, want %q", c.name, got, c.want)
		}
	}
}

func TestKeysSQLite(t *testing.T) {
	pool, conn := newFile(t)
	for _, c := range keyCases {
		if err := conn.Exec(c.table); err != nil {
			t.Fatalf("%s: %v", c.table, err)
		}
	}
	for _, c := range problemCases {
		if err := conn.Exec(strings.Join(c.tables, ";\n")); err != nil {
			t.Fatalf("%s: %v", c.tables, err)
		}
	}
	err := conn.Exec(`CREATE TABLE Rowid (B integer PRIMARY KEY, A int);
CREATE TABLE Without (A int, B text PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE Nullable_ (A int NOT NULL, B text PRIMARY KEY);
CREATE TABLE IndexNull (A int NOT NULL, B text UNIQUE);
CREATE TABLE Partial (A int NOT NULL, B text);
CREATE UNIQUE INDEX p ON Partial (A) WHERE A > 5;
CREATE TABLE Expression (A int NOT NULL, B text);
CREATE UNIQUE INDEX e ON Expression (A, abs(A));
CREATE TABLE Finer (A int, B text NOT NULL COLLATE NOCASE);
CREATE UNIQUE INDEX f ON Finer (B COLLATE BINARY);
CREATE TABLE Coarser (A int, B text NOT NULL);
CREATE UNIQUE INDEX c ON Coarser (B COLLATE NOCASE);
CREATE TABLE Same (A int, B text NOT NULL COLLATE NOCASE UNIQUE)`)
	if err != nil {
		t.Fatal(err)
	}
	pool.Put(conn)
	file := executor.NewFile(pool, (*record.Kind).Source, nil, nil)
	checkKeys(t, file)
	checkKeyProblems(t, file)
	for _, c := range fileKeyCases {
		registry, err := record.NewRegistry(record.Kind{Name: c.table, Fields: []record.Field{
			{Name: "A", Type: record.Int},
			{Name: "B", Type: record.Int},
		}})
		if err != nil {
			t.Fatal(err)
		}
		got, err := executor.Key(t.Context(), file, registry.Kinds()[0])
		if err != nil {
			t.Errorf("%s: finding the key: %v", c.table, err)
		} else if !slices.Equal(got, c.want) {
			t.Errorf("%s: the key is %v, want %v", c.table, got, c.want)
		}
	}
}

// fileKeyCases are tables with keys of SQLite's own.
var fileKeyCases = []struct {
	table string
	want  []int
}{
	{table: "Rowid", want: []int{1}},
	{table: "Without", want: []int{1}},
	{table: "Nullable_", want: []int{1}}, // pages check that it is not null
	{table: "IndexNull"},
	{table: "Partial"},
	{table: "Expression"},
	{table: "Finer"}, // the index distinguishes texts that comparisons do not
	{table: "Coarser", want: []int{1}},
	{table: "Same", want: []int{1}},
}

func TestKeysSQLServer(t *testing.T) {
	dsn := mssqltest.Database(t)
	for _, c := range keyCases {
		mssqltest.Exec(t, dsn, c.table)
	}
	for _, c := range problemCases {
		mssqltest.Exec(t, dsn, c.tables...)
	}
	pool, err := mssql.Open(mssql.Config{DSN: dsn, Connections: 1})
	if err != nil {
		t.Fatal(err)
	}
	tableOf := func(kind *record.Kind) mssql.Table {
		return mssql.Table{Schema: "dbo", Name: kind.Name}
	}
	server := executor.NewServer(executor.ServerConfig{Pool: pool, Limits: noLimits, Names: tableOf})
	defer server.Close()
	checkKeys(t, server)
	checkKeyProblems(t, server)
}
