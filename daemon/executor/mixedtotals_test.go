package executor_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/row"
)

// TestMixedAggregates checks that the least and the greatest value are of the field's type, an empty
// text is null, and the sum of a text is an error.
func TestMixedAggregates(t *testing.T) {
	file := fileOf(t, `CREATE TABLE T (ID INTEGER PRIMARY KEY, Qty INTEGER, Price REAL, Day DATE);
INSERT INTO T VALUES
	(1, 5, 1.5, '2026-01-02'),
	(2, '', '', ''),
	(3, 'n/a', 'abc', 'n/a'),
	(4, 2.5, 7, 20260102),
	(5, 12, NULL, '2026-01-01 10:00:00'),
	(6, NULL, 2.0, NULL),
	(7, x'00', -1.0, x'00')`)
	kind := registered(t, record.Kind{Name: "T", Fields: []record.Field{
		nullable("ID", record.Long),
		nullable("Qty", record.Int),
		nullable("Price", record.Double),
		nullable("Day", record.DateTime),
	}})
	for include, want := range map[string]string{
		"MIN(Qty),MAX(Qty),COUNT(Qty),COUNT(DISTINCT Qty)": "5 12 5 5",
		"MIN(Price),MAX(Price),COUNT(Price)":               "-1 7 5",
		"MIN(Day),MAX(Day),COUNT(Day)":                     "2026-01-01T10:00:00.0000000 2026-01-02T00:00:00.0000000 5",
		"SUM(Price)":                                       "has a value that is not a number",
		"SUM(Qty)":                                         "has a value that is not a number",
	} {
		members := query.Members{
			{Name: query.Include, Texts: []string{include}},
			{Name: query.Take, Texts: []string{"0"}},
		}
		req, err := query.Parse(kind, members, query.Options{})
		if err != nil {
			t.Fatal(err)
		}
		tail, err := eachRow(t, file, *req, func([]row.Cell) {})
		var got []string
		for _, m := range tail.Meta {
			got = append(got, m.Value)
		}
		if err != nil {
			got = []string{fault.From(err).Message}
		}
		if text := strings.Join(got, " "); !strings.Contains(text, want) {
			t.Errorf("%s is %s, want %s", include, text, want)
		}
	}
}

// TestMixedGroups checks that all forms of a value are one group, and one row with DISTINCT, and
// that values that are not of the field's type are groups of their own.
func TestMixedGroups(t *testing.T) {
	file := fileOf(t, `CREATE TABLE T (ID INTEGER PRIMARY KEY, Paid BOOLEAN, Day DATE, Owner UNIQUEIDENTIFIER, Qty);
INSERT INTO T VALUES
	(1, 1, '2026-01-02', '0e984725-c51c-4bf4-9960-e1c80e27aba0', 12),
	(2, 'true', '2026-01-02T00:00:00', '0E984725-C51C-4BF4-9960-E1C80E27ABA0', '12'),
	(3, 'T', '2026-01-31 23:59:59', 'unknown', '12a'),
	(4, 0, '2026-02-30', '', ''),
	(5, 'false', 20260102, NULL, NULL),
	(6, '', '', NULL, 7),
	(7, 'maybe', NULL, NULL, 7.0)`)
	kind := registered(t, record.Kind{Name: "T", Fields: []record.Field{
		nullable("ID", record.Long),
		nullable("Paid", record.Bool),
		nullable("Day", record.DateTime),
		nullable("Owner", record.Guid),
		nullable("Qty", record.Int),
	}})

	for _, tt := range []struct {
		member, value string
		want          []string
	}{
		{member: "GroupBy", value: "Paid", want: []string{"null 1", "false 2", "true 3", "maybe 1"}},
		{member: "GroupBy", value: "Day:month", want: []string{"null 2", "20260102 1", "2026-01 3", "2026-02-30 1"}},
		{member: "GroupBy", value: "Owner", want: []string{"null 4", "0e984725-c51c-4bf4-9960-e1c80e27aba0 2", "unknown 1"}},
		{member: "GroupBy", value: "Qty", want: []string{"null 2", "7 2", "12 2", "12a 1"}},
		{member: "Fields", value: "distinct Paid", want: []string{"null", "false", "true", "maybe"}},
		{member: "Fields", value: "distinct Qty", want: []string{"null", "7", "12", "12a"}},
	} {
		members := query.Members{{Name: tt.member, Texts: []string{tt.value}}}
		got := readTexts(t, file, kind, members)
		slices.Sort(got)
		slices.Sort(tt.want)
		if !slices.Equal(got, tt.want) {
			t.Errorf("the rows of %s=%s are %q, want %q", tt.member, tt.value, got, tt.want)
		}
	}
}

// readTexts returns the rows of a request as texts, with blanks between the values.
func readTexts(t *testing.T, file *executor.File, kind *record.Kind, members query.Members) []string {
	t.Helper()
	req, err := query.Parse(kind, members, query.Options{})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := query.NewPlan(req, false)
	if err != nil {
		t.Fatal(err)
	}
	types := plan.Types()
	var rows []string
	_, err = eachRow(t, file, *req, func(cells []row.Cell) {
		texts := make([]string, len(cells))
		for i, cell := range cells {
			texts[i] = cell.Text(types[i])
			if cell.Null {
				texts[i] = "null"
			}
		}
		rows = append(rows, strings.Join(texts, " "))
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}
