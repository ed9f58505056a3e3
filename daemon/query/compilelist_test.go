package query

import (
	"strconv"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/dialect"
)

// TestListOfColumn checks that the items of a long list have the type and the
// collation of the column, if it can contain them.
func TestListOfColumn(t *testing.T) {
	narrow := dialect.Column{
		Type:      "varchar(30)",
		Collation: "Latin1_General_CI_AS",
		Items: func(_ record.Type, texts []string) string {
			if strings.HasPrefix(texts[0], "日") {
				return "" // the default
			}
			return "varchar(30)"
		},
	}
	short := dialect.Column{
		Type:  "smallint",
		Items: func(_ record.Type, texts []string) string { return "small" + texts[0] },
	}
	const numItems = 60
	for _, c := range []struct {
		field    typedField
		prefix   string // of the items, which end with 100 to 159
		want     string
		wantKept int // items that the column can contain
	}{
		{
			typedField{"DB_Class", "ClassIn", 0, dialect.Column{}}, "x",
			"(SELECT v COLLATE DATABASE_DEFAULT FROM OPENJSON(@p1) WITH (v nvarchar(4000) '$'))", numItems,
		},
		{
			typedField{"DB_Class", "ClassIn", 0, narrow}, "x",
			"(SELECT v COLLATE Latin1_General_CI_AS FROM OPENJSON(@p1) WITH (v varchar(30) '$'))", numItems,
		},
		{
			typedField{"DB_Class", "ClassIn", 0, narrow}, "日",
			"(SELECT v COLLATE Latin1_General_CI_AS FROM OPENJSON(@p1) WITH (v nvarchar(4000) '$'))", numItems,
		},
		{
			typedField{"SY_Filters", "ItemNoIn", 4, dialect.Column{Type: "smallint"}}, "1",
			"(SELECT v FROM OPENJSON(@p1) WITH (v int '$'))", numItems,
		},
		{
			typedField{"SY_Filters", "ItemNoIn", 4, short}, "1",
			"(SELECT v FROM OPENJSON(@p1) WITH (v small1100 '$'))", numItems,
		},
		{
			typedField{"IN_KitStockTakeMain", "LastSavedDateTimeIn", 7, dialect.Column{}}, "2019-05-01T10:00:00.",
			"(SELECT v FROM OPENJSON(@p1) WITH (v datetime2(7) '$'))", numItems,
		},
		{ // milliseconds that end with 0, 3 or 7
			typedField{"IN_KitStockTakeMain", "LastSavedDateTimeIn", 7, dialect.Column{Type: "datetime"}}, "2019-05-01T10:00:00.",
			"(SELECT v FROM OPENJSON(@p1) WITH (v datetime '$'))", 18,
		},
		{
			typedField{"INMGT020POQty", "QtyIn", 1, dialect.Column{}}, "1.00",
			"(SELECT v FROM OPENJSON(@p1) WITH (v decimal(6,5) '$'))", numItems,
		},
		{ // four decimals
			typedField{"INMGT020POQty", "QtyIn", 1, dialect.Column{Type: "money"}}, "1.00",
			"(SELECT v FROM OPENJSON(@p1) WITH (v money '$'))", 6,
		},
	} {
		var items []string
		for n := range numItems {
			items = append(items, c.prefix+strconv.Itoa(100+n))
		}
		s := c.field.compile(t, Member{Name: c.field.member, Texts: items, List: true})
		if !strings.HasSuffix(s.SQL, " IN "+c.want) || len(s.Args) != 1 {
			t.Errorf("%s with %d items is compiled to %s with %d arguments, want it to end with IN %s and one argument",
				c.field.member, numItems, s.SQL, len(s.Args), c.want)
			continue
		}
		if kept := len(s.Args[0].List); kept != c.wantKept {
			t.Errorf("%s: %d values of the list remain, want %d", c.field.member, kept, c.wantKept)
		}
	}
}

// typedField is a member of a kind, and the column of its field on SQL Server.
type typedField struct {
	kind, member string
	index        int // index of the field
	column       dialect.Column
}

// compile compiles a request with one member.
func (f typedField) compile(t *testing.T, m Member) Statement {
	t.Helper()
	kind, _ := registry.Lookup(f.kind)
	request, err := Parse(kind, Members{m}, inUTC)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := NewPlan(request, false)
	if err != nil {
		t.Fatal(err)
	}
	d := dialect.TSQL()
	d.Columns = make([]dialect.Column, len(kind.Fields))
	d.Columns[f.index] = f.column
	s, err := Compile(plan, d, "t")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestDateOfColumn checks that dates are cast to the type of the column.
func TestDateOfColumn(t *testing.T) {
	field := typedField{"IN_KitStockTakeMain", "LastSavedDateTimeGreaterThan", 7, dialect.Column{Type: "datetime"}}
	s := field.compile(t, Member{Name: field.member, Texts: []string{"2019-05-01T10:00:00.1250001"}})
	const wantSQL = "[LastSavedDateTime] > CAST(@p1 AS datetime)"
	const wantDate = "2019-05-01T10:00:00.123"
	if got := s.Args[0].Value.Text; !strings.HasSuffix(s.SQL, wantSQL) || got != wantDate {
		t.Errorf("a date after .1250001 is compiled to %s with %s, want %s with %s", s.SQL, got, wantSQL, wantDate)
	}
}

// TestListOfOneType checks that all values of a short list are cast to one type.
func TestListOfOneType(t *testing.T) {
	date := typedField{"IN_KitStockTakeMain", "LastSavedDateTimeIn", 7, dialect.Column{Type: "datetime"}}
	money := typedField{"INMGT020POQty", "QtyIn", 1, dialect.Column{Type: "money"}}
	decimal := typedField{"INMGT020POQty", "QtyIn", 1, dialect.Column{Type: "decimal(19,4)"}}
	for _, c := range []struct {
		field typedField
		texts []string
		want  string
	}{
		{
			date,
			[]string{"2019-05-01T10:00:00.123", "2019-05-01T10:00:00.125", "2019-05-01T10:00:00.127"},
			"(CAST(@p1 AS datetime), CAST(@p2 AS datetime))",
		},
		{
			date,
			[]string{"2019-05-01T10:00:00.123", "0001-01-01"},
			"(CAST(@p1 AS datetime))",
		},
		{
			date,
			[]string{"2019-05-01T10:00:00.125", "0001-01-01"},
			"(CAST(@p1 AS datetime2(7)), CAST(@p2 AS datetime2(7)))",
		},
		{
			money,
			[]string{"1.5", "1.00005", "2"},
			"(CAST(@p1 AS money), CAST(@p2 AS money))",
		},
		{
			money,
			[]string{"1.00005", "922337203685478"},
			"(CAST(@p1 AS decimal(6,5)), CAST(@p2 AS decimal(15,0)))",
		},
		{
			decimal,
			[]string{"1.5", "1.00005"},
			"(CAST(@p1 AS decimal(2,1)), CAST(@p2 AS decimal(6,5)))",
		},
	} {
		s := c.field.compile(t, Member{Name: c.field.member, Texts: c.texts, List: true})
		if !strings.HasSuffix(s.SQL, " IN "+c.want) {
			t.Errorf("%s=%q is compiled to %s, want it to end with IN %s", c.field.member, c.texts, s.SQL, c.want)
		}
	}
}
