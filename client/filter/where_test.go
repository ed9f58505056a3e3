package filter

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
)

// whereReader reads conditions on a debtor.
func whereReader(t *testing.T) WhereReader {
	t.Helper()
	fields := []record.Field{
		{Name: "No", Type: record.Text},
		{Name: "Status", Type: record.Int},
		{Name: "Limit", Type: record.Decimal},
		{Name: "Open", Type: record.Bool},
		{Name: "Saved", Type: record.DateTime},
	}
	for i := range fields {
		fields[i].Filter = fields[i].Type.Filter()
	}
	registry, err := record.NewRegistry(record.Kind{Name: "Debtor", Fields: fields})
	if err != nil {
		t.Fatal(err)
	}
	return WhereReader{Reader{Kind: registry.Kinds()[0], Now: time.Date(2026, 11, 26, 10, 0, 0, 0, time.UTC)}}
}

// postedReader reads conditions on a posted event.
var postedReader = WhereReader{}

// TestWhere reads lines as a condition.
func TestWhere(t *testing.T) {
	captured := whereReader(t)
	for _, test := range []struct {
		reader WhereReader
		lines  []string
		want   string
	}{
		{
			reader: captured,
			lines:  []string{"Status: 1 -> 2"},
			want:   `{"Before.Status":1,"Status":2}`,
		},
		{
			reader: captured,
			lines:  []string{"status:1->2", "LIMIT > 1000.50"},
			want:   `{"Before.Status":1,"Status":2,"LimitGreaterThan":1000.50}`,
		},
		{
			reader: captured,
			lines:  []string{"Status: -> 2"},
			want:   `{"Changed":["Status"],"Status":2}`,
		},
		{
			reader: captured,
			lines:  []string{"Status: 1 ->"},
			want:   `{"Before.Status":1,"Changed":["Status"]}`,
		},
		{
			reader: captured,
			lines:  []string{`No: "a b" -> " c"`},
			want:   `{"Before.No":"a b","No":" c"}`,
		},
		{
			reader: captured,
			lines:  []string{"limit, Status Changed", "Before.Status in 1,2", "Open=true"},
			want:   `{"Changed":["Limit","Status"],"Before.StatusIn":[1,2],"Open":true}`,
		},
		{
			reader: captured,
			lines:  []string{"No^=<D&", "Saved>=today"},
			want:   `{"NoStartsWith":"<D&","SavedGreaterThanOrEqualTo":"2026-11-26"}`,
		},
		{
			reader: captured,
			lines:  []string{"LimitIsNull=true", "Status in 1..3", "NoIsNotNull=1"},
			want:   `{"LimitIsNull":true,"StatusBetween":[1,3],"NoIsNotNull":true}`,
		},
		{
			reader: captured,
			lines:  []string{`No="007"`, `No in 1,2`},
			want:   `{"No":"007","NoIn":["1","2"]}`,
		},
		{
			reader: captured,
			want:   `{}`,
		},
		{
			reader: postedReader,
			lines:  []string{"Total > 1e3", `Shop="12"`, "Paid=false", "Shop ^= n", "State in a,b"},
			want:   `{"TotalGreaterThan":1e3,"Shop":"12","Paid":false,"ShopStartsWith":"n","StateIn":["a","b"]}`,
		},
	} {
		got, err := test.reader.Where(test.lines)
		if err != nil || string(got) != test.want {
			t.Errorf("Where(%q) = %s, %v; want %s", test.lines, got, err, test.want)
		}
		if !json.Valid(got) {
			t.Errorf("Where(%q) = %s, want valid JSON", test.lines, got)
		}
	}
}

func TestWhereRefused(t *testing.T) {
	captured := whereReader(t)
	for _, test := range []struct {
		reader WhereReader
		line   string
		want   string
	}{
		{captured, "Stat: 1 -> 2", "Debtor has no field Stat; did you mean Status?"},
		{captured, "Status 1 -> 2", `a change has a colon: "Status: 1 -> 2"`},
		{captured, "Shop.Status 1 -> 2", "Debtor has no field Shop"},
		{captured, "Stat changed", "Debtor has no field Stat; did you mean Status?"},
		{captured, "Status: x -> 2", "Status must be a whole number"},
		{captured, "LimitIsNull=false", "LimitIsNull=false is not possible: use LimitIsNotNull=true"},
		{captured, "Before.LimitIsNull=false", "use LimitIsNotNull=true"},
		{captured, "Status", "Status must be followed by one of"},
		{captured, "Changed=Status", `changed fields are written as "Status changed"`},
		{postedReader, "Status: 1 -> 2", "the event is posted"},
		{postedReader, "Status changed", "the event is posted"},
		{postedReader, "Before.Status=1", "the event is posted"},
		{postedReader, "Status", "must be a member, an operator such as = and a value"},
	} {
		_, err := test.reader.Where([]string{test.line})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("Where(%q): error %v, want %s", test.line, err, test.want)
		}
	}

	lines := []string{"Status=1", "Status: 2 -> 3"}
	_, err := captured.Where(lines)
	if want := "duplicate condition on Status"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("Where(%q): error %v, want %s", lines, err, want)
	}
}

// TestChangesInQueries checks the error for a condition of subscriptions in a query.
func TestChangesInQueries(t *testing.T) {
	reader := whereReader(t).Reader
	for _, text := range []string{"Status changed", "Status: 1 -> 2", "Before.Status=1", "Changed=Status"} {
		_, err := reader.ParseAll([]string{text})
		if err == nil || !strings.Contains(err.Error(), "only conditions of subscriptions, such as --when, compare changes") {
			t.Errorf("ParseAll(%q): error %v", text, err)
		}
	}
}
