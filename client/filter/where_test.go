package filter

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
)

// whereReader reads conditions on a debtor.
func whereReader(t *testing.T) WhereReader {
	t.Helper()
	fields := []record.Field{{Name: "No", Type: record.Text}, {Name: "Status", Type: record.Int}, {Name: "Limit", Type: record.Decimal}, {Name: "Open", Type: record.Bool}, {Name: "Saved", Type: record.DateTime}}
	for i := range fields {
		fields[i].Filter = fields[i].Type.Filter()
	}
	registry, err := record.NewRegistry(record.Kind{Name: "Debtor", Fields: fields})
	if err != nil {
		t.Fatal(err)
	}
	return WhereReader{Reader{Kind: registry.Kinds()[0], Now: time.Date(2026, 11, 26, 10, 0, 0, 0, time.UTC)}}
}

// TestWhere reads lines as a condition.
func TestWhere(t *testing.T) {
	captured, posted := whereReader(t), WhereReader{}
	for _, test := range []struct {
		reader WhereReader
		lines  []string
		want   string
	}{
		{captured, []string{"Status: 1 -> 2"}, `{"Before.Status":1,"Status":2}`},
		{captured, []string{"status:1->2", "LIMIT > 1000.50"}, `{"Before.Status":1,"Status":2,"LimitGreaterThan":1000.50}`},
		{captured, []string{"Status: -> 2"}, `{"Changed":["Status"],"Status":2}`},
		{captured, []string{"Status: 1 ->"}, `{"Before.Status":1,"Changed":["Status"]}`},
		{captured, []string{`No: "a b" -> " c"`}, `{"Before.No":"a b","No":" c"}`},
		{captured, []string{"limit, Status Changed", "Before.Status in 1,2", "Open=true"}, `{"Changed":["Limit","Status"],"Before.StatusIn":[1,2],"Open":true}`},
		{captured, []string{"No^=<D&", "Saved>=today"}, `{"NoStartsWith":"<D&","SavedGreaterThanOrEqualTo":"2026-11-26"}`},
		{captured, []string{"LimitIsNull=true", "Status in 1..3"}, `{"LimitIsNull":true,"StatusBetween":[1,3]}`},
		{captured, []string{`No="007"`, `No in 1,2`}, `{"No":"007","NoIn":["1","2"]}`},
		{posted, []string{"Total > 1e3", `Shop="12"`, "Paid=false", "Shop ^= n", "State in a,b"}, `{"TotalGreaterThan":1e3,"Shop":"12","Paid":false,"ShopStartsWith":"n","StateIn":["a","b"]}`},
		{captured, nil, `{}`},
	} {
		got, err := test.reader.Where(slices.Clone(test.lines))
		if err != nil || string(got) != test.want || !json.Valid(got) {
			t.Errorf("%q: %s (%v), want %s", test.lines, got, err, test.want)
		}
	}
	for _, test := range []struct {
		reader WhereReader
		line   string
		want   string
	}{
		{captured, "Stat: 1 -> 2", "Debtor has no field Stat; did you mean Status?"},
		{captured, "Status 1 -> 2", `a change has a colon: "Status: 1 -> 2"`},
		{captured, "Stat changed", "Debtor has no field Stat; did you mean Status?"},
		{captured, "Status: x -> 2", "Status must be a whole number"},
		{captured, "LimitIsNull=false", "LimitIsNull=false is not possible: use LimitIsNotNull=true"},
		{captured, "Before.LimitIsNull=false", "use LimitIsNotNull=true"},
		{captured, "Status", "Status must be followed by one of"},
		{posted, "Status: 1 -> 2", "the event is posted"},
		{posted, "Status changed", "the event is posted"},
		{posted, "Before.Status=1", "the event is posted"},
		{posted, "Status", "must be a member, an operator such as = and a value"},
	} {
		if _, err := test.reader.Where([]string{test.line}); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: %v, want %s", test.line, err, test.want)
		}
	}
	if _, err := captured.Where([]string{"Status=1", "Status: 2 -> 3"}); err == nil || !strings.Contains(err.Error(), "duplicate condition on Status") {
		t.Errorf("twice: %v", err)
	}
}
