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
	narrow := dialect.Column{Type: "varchar(30)", Collation: "Latin1_General_CI_AS", Items: func(_ record.Type, texts []string) string {
		if strings.HasPrefix(texts[0], "日") {
			return "" // the default
		}
		return "varchar(30)"
	}}
	short := dialect.Column{Type: "smallint", Items: func(_ record.Type, texts []string) string { return "small" + texts[0] }}
	for _, c := range []struct {
		kind, member string
		column       int
		known        dialect.Column
		item         string // a digit follows
		want         string
	}{
		{"DB_Class", "ClassIn", 0, dialect.Column{}, "x", "(SELECT v COLLATE DATABASE_DEFAULT FROM OPENJSON(@p1) WITH (v nvarchar(4000) '$'))"},
		{"DB_Class", "ClassIn", 0, narrow, "x", "(SELECT v COLLATE Latin1_General_CI_AS FROM OPENJSON(@p1) WITH (v varchar(30) '$'))"},
		{"DB_Class", "ClassIn", 0, narrow, "日", "(SELECT v COLLATE Latin1_General_CI_AS FROM OPENJSON(@p1) WITH (v nvarchar(4000) '$'))"},
		{"SY_Filters", "ItemNoIn", 4, dialect.Column{Type: "smallint"}, "1", "(SELECT v FROM OPENJSON(@p1) WITH (v int '$'))"},
		{"SY_Filters", "ItemNoIn", 4, short, "1", "(SELECT v FROM OPENJSON(@p1) WITH (v small1100 '$'))"},
		{"IN_KitStockTakeMain", "LastSavedDateTimeIn", 7, dialect.Column{}, "2019-05-01T10:00:00.", "(SELECT v FROM OPENJSON(@p1) WITH (v datetime2(7) '$'))"},
		{"IN_KitStockTakeMain", "LastSavedDateTimeIn", 7, dialect.Column{Type: "datetime"}, "2019-05-01T10:00:00.", "(SELECT v FROM OPENJSON(@p1) WITH (v datetime '$'))"},
		{"INMGT020POQty", "QtyIn", 1, dialect.Column{}, "1.00", "(SELECT v FROM OPENJSON(@p1) WITH (v decimal(6,5) '$'))"},
		{"INMGT020POQty", "QtyIn", 1, dialect.Column{Type: "money"}, "1.00", "(SELECT v FROM OPENJSON(@p1) WITH (v money '$'))"},
	} {
		kind, _ := registry.Lookup(c.kind)
		var items []string
		for n := range 60 {
			items = append(items, c.item+strconv.Itoa(100+n))
		}
		request, err := Parse(kind, Members{{Name: c.member, Texts: items, List: true}}, inUTC)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := NewPlan(request, false)
		if err != nil {
			t.Fatal(err)
		}
		d := dialect.TSQL()
		d.Columns = make([]dialect.Column, len(kind.Fields))
		d.Columns[c.column] = c.known
		s, err := Compile(plan, d, "t")
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(s.SQL, " IN "+c.want) || len(s.Args) != 1 {
			t.Errorf("%s: %s", c.member, s.SQL)
		}
		want := 60
		switch c.known.Type {
		case "datetime":
			want = 18
		case "money":
			want = 6
		}
		if kept := len(s.Args[0].List); kept != want {
			t.Errorf("%s: %d values of the list remain, want %d", c.member, kept, want)
		}
	}
}

// TestDateOfColumn checks that dates are cast to the type of the column.
func TestDateOfColumn(t *testing.T) {
	kind, _ := registry.Lookup("IN_KitStockTakeMain")
	request, err := Parse(kind, Members{{Name: "LastSavedDateTimeGreaterThan", Texts: []string{"2019-05-01T10:00:00.1250001"}}}, inUTC)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := NewPlan(request, false)
	if err != nil {
		t.Fatal(err)
	}
	d := dialect.TSQL()
	d.Columns = make([]dialect.Column, len(kind.Fields))
	d.Columns[7] = dialect.Column{Type: "datetime"}
	s, err := Compile(plan, d, "t")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(s.SQL, "[LastSavedDateTime] > CAST(@p1 AS datetime)") || s.Args[0].Value.Text != "2019-05-01T10:00:00.123" {
		t.Errorf("%s %v", s.SQL, s.Args)
	}
}

// TestListOfOneType checks that all values of a short list are cast to one type.
func TestListOfOneType(t *testing.T) {
	for _, c := range []struct {
		kind, member string
		column       int
		declared     string
		texts        []string
		want         string
	}{
		{"IN_KitStockTakeMain", "LastSavedDateTimeIn", 7, "datetime", []string{"2019-05-01T10:00:00.123", "2019-05-01T10:00:00.125", "2019-05-01T10:00:00.127"}, "(CAST(@p1 AS datetime), CAST(@p2 AS datetime))"},
		{"IN_KitStockTakeMain", "LastSavedDateTimeIn", 7, "datetime", []string{"2019-05-01T10:00:00.123", "0001-01-01"}, "(CAST(@p1 AS datetime))"},
		{"IN_KitStockTakeMain", "LastSavedDateTimeIn", 7, "datetime", []string{"2019-05-01T10:00:00.125", "0001-01-01"}, "(CAST(@p1 AS datetime2(7)), CAST(@p2 AS datetime2(7)))"},
		{"INMGT020POQty", "QtyIn", 1, "money", []string{"1.5", "1.00005", "2"}, "(CAST(@p1 AS money), CAST(@p2 AS money))"},
		{"INMGT020POQty", "QtyIn", 1, "money", []string{"1.00005", "922337203685478"}, "(CAST(@p1 AS decimal(6,5)), CAST(@p2 AS decimal(15,0)))"},
		{"INMGT020POQty", "QtyIn", 1, "decimal(19,4)", []string{"1.5", "1.00005"}, "(CAST(@p1 AS decimal(2,1)), CAST(@p2 AS decimal(6,5)))"},
	} {
		kind, _ := registry.Lookup(c.kind)
		request, err := Parse(kind, Members{{Name: c.member, Texts: c.texts, List: true}}, inUTC)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := NewPlan(request, false)
		if err != nil {
			t.Fatal(err)
		}
		d := dialect.TSQL()
		d.Columns = make([]dialect.Column, len(kind.Fields))
		d.Columns[c.column] = dialect.Column{Type: c.declared}
		s, err := Compile(plan, d, "t")
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(s.SQL, " IN "+c.want) {
			t.Errorf("%q: %s", c.texts, s.SQL)
		}
	}
}
