package condition_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/webhook/condition"
)

// debtor returns a kind with fields that a condition can name, and some that it cannot.
func debtor(tb testing.TB, added ...record.Field) *record.Kind {
	tb.Helper()
	fields := []record.Field{
		{Name: "No", Type: record.Text}, {Name: "Status", Type: record.Int}, {Name: "Limit", Type: record.Decimal, Null: record.Nullable}, {Name: "Name", Type: record.Text},
		{Name: "Saved", Type: record.DateTime}, {Name: "Photo", Type: record.Bytes}, {Name: "Note", Type: record.Text},
	}
	fields = append(fields, added...)
	for i := range fields {
		fields[i].Filter = fields[i].Type.Filter()
	}
	registry, err := record.NewRegistry(record.Kind{Name: "Debtor", Fields: fields, Key: []string{"No"}, Capture: record.CaptureOnDemand, Events: "debtor", Ignore: []string{"Saved"}})
	if err != nil {
		tb.Fatal(err)
	}
	return registry.Kinds()[0]
}

func parse(tb testing.TB, text string, kind *record.Kind) *condition.Condition {
	tb.Helper()
	c, err := condition.Parse(text, condition.Options{Kind: kind, Zone: time.UTC, Wide: []string{"Note"}})
	if err != nil {
		tb.Fatalf("%s: %v", text, err)
	}
	return c
}

// TestMistakes lists each wrong member with the reason.
func TestMistakes(t *testing.T) {
	many := make([]record.Field, 130)
	for i := range many {
		many[i] = record.Field{Name: fmt.Sprint("F", i), Type: record.Int}
	}
	kind, wide := debtor(t), debtor(t, many...)
	for _, test := range []struct {
		kind *record.Kind
		text string
		want []string
	}{
		{kind, `[1]`, []string{`Where must be an object, such as {"StatusIn":[1,2]}`}},
		{kind, `{"Status":1,"status":2}`, []string{"Where has a member twice"}},
		{nil, `{"Total":1,"Total":2}`, []string{"Where has a member twice"}},
		{kind, `{"Name":"` + strings.Repeat("x", condition.MaxText) + `"}`, []string{"Where must be at most 8192 bytes long"}},
		{kind, `{"LimitBetween":[1]}`, []string{"Where.LimitBetween takes two values, not 1"}},
		{kind, `{"Stat":1}`, []string{"Where.Stat is unknown for Debtor; did you mean Status or StatusGreaterThanOrEqualTo or StatusGreaterThan?"}},
		{kind, `{"NameBetween":["a","b"],"NameGreaterThan":"a"}`, []string{"Where.NameBetween compares the order of text, which depends on the database", "Where.NameGreaterThan compares the order of text, which depends on the database"}},
		{kind, `{"Before.NameBetween":["a","b"]}`, []string{"Where.Before.NameBetween compares the order of text, which depends on the database"}},
		{kind, `{"Status":"x","Status\u0000":1}`, []string{"Where.Status must be a whole number from -2147483648 to 2147483647", "Where.Status? is unknown for Debtor; did you mean Status or StatusIn?"}},
		{kind, `{"Status":null}`, []string{"Where.Status must have a value; for missing values there are IsNull and IsNotNull"}},
		{kind, `{"StatusIn":[]}`, []string{"Where.StatusIn must have a value: an empty list or value is never met"}},
		{kind, `{"Status":[1,2]}`, []string{"Where.Status takes one value, not a list"}},
		{kind, `{"StatusContains":1}`, []string{"Where.StatusContains is not a filter of Status, which accepts Status, StatusGreaterThanOrEqualTo, StatusGreaterThan, StatusLessThan, StatusLessThanOrEqualTo, StatusNotEqualTo, StatusBetween, StatusIn"}},
		{kind, `{"Saved":"2026-01-01","Photo":"QUJD","Note":"x"}`, []string{"Where.Saved names Saved, which is not captured", "Where.Photo names Photo, which is not captured", "Where.Note names Note, which can have more than 4 KiB"}},
		{kind, `{"Before.":1}`, []string{"Where.Before. is unknown for Debtor"}},
		{kind, `{"Changed":""}`, []string{"Where.Changed must be a field or a list of fields"}},
		{kind, `{"Changed":[]}`, []string{"Where.Changed must be a field or a list of fields"}},
		{kind, `{"Changed":{"a":1}}`, []string{"Where.Changed must be a field or a list of fields"}},
		{kind, `{"Changed":["Status","Nam"]}`, []string{"Where.Changed names Nam, which is unknown for Debtor; did you mean Name?"}},
		{kind, `{"Changed":"Saved"}`, []string{"Where.Changed names Saved, which is not captured"}},
		{wide, `{"Changed":"Status"}`, []string{"Where.Changed is not known for Debtor, which has more than 128 captured fields; capture_fields can name fewer"}},
		{nil, `{"Changed":"Status"}`, []string{"Where.Changed is only for events that are published for changes of records"}},
		{nil, `{"Before.Status":1}`, []string{"Where.Before.Status is only for events that are published for changes of records"}},
		{nil, `{"Total":null}`, []string{"Where.Total must have a value; for missing values there are IsNull and IsNotNull"}},
		{nil, `{"TotalGreaterThan":"a"}`, []string{"Where.TotalGreaterThan compares the order of text, which depends on the database"}},
		{nil, `{"TotalIn":[1,"a"]}`, []string{"Where.TotalIn must be a list of values of one type"}},
		{nil, `{"Total":{"a":1}}`, []string{"Where.Total must be a value or a list of values, without nulls, lists or objects in it"}},
		{nil, `{"Customer.Country":"DE","Customer.NameIn":["a"]}`, []string{
			"Where.Customer.Country is not possible: conditions compare only top-level members of the body",
			"Where.Customer.NameIn is not possible: conditions compare only top-level members of the body"}},
		{nil, `{"":1,"A":2}`, []string{"Where. is not possible: the member has no name"}},
		{nil, `{"NameIsNull":false}`, []string{"Where.NameIsNull must be true; for the opposite use NameIsNotNull"}},
		{kind, `{"NameIsNotNull":"0","Before.NameIsNull":false}`, []string{"Where.NameIsNotNull must be true; for the opposite use NameIsNull", "Where.Before.NameIsNull must be true; for the opposite use NameIsNotNull"}},
		{nil, `{"TotalIn":[]}`, []string{"Where.TotalIn must have a value: an empty list or value is never met"}},
		{nil, `{"TotalBetween":[5,1]}`, []string{"Where.TotalBetween is never met: its first value is greater than its second one"}},
		{kind, `{"StatusBetween":[5,1],"Before.LimitBetween":[1.5,1.4]}`, []string{"Where.StatusBetween is never met: its first value is greater than its second one", "Where.Before.LimitBetween is never met: its first value is greater than its second one"}},
		{kind, `{"StatusGreaterThan":5,"StatusLessThan":5}`, []string{"Where.StatusLessThan is never met together with the other conditions on Status"}},
		{kind, `{"StatusBetween":[1,5],"StatusGreaterThanOrEqualTo":6}`, []string{"Where.StatusGreaterThanOrEqualTo is never met together with the other conditions on Status"}},
		{kind, `{"Status":1,"StatusNotEqualTo":1}`, []string{"Where.StatusNotEqualTo is never met together with the other conditions on Status"}},
		{kind, `{"Name":"a","NameIn":["b","c"]}`, []string{"Where.NameIn is never met together with the other conditions on Name"}},
		{kind, `{"LimitIsNull":true,"LimitLessThan":1}`, []string{"Where.LimitLessThan is never met together with the other conditions on Limit"}},
		{nil, `{"Total":1,"TotalIn":["1"]}`, []string{"Where.TotalIn is never met together with the other conditions on Total"}},
		{nil, `{"OpenGreaterThan":true}`, []string{"Where.OpenGreaterThan takes a number, not true or false"}},
		{nil, `{"NameContains":5}`, []string{"Where.NameContains takes a text, not a number"}},
		{nil, `{"PaidNotEqualTo":true}`, []string{"Where.PaidNotEqualTo takes a number or a text, not true or false"}},
		{nil, `{"TotalIsNull":"yes"}`, []string{"Where.TotalIsNull must be true"}},
		{kind, `{"NameIsNotNull":"yes","Before.NameIsNull":5}`, []string{"Where.NameIsNotNull must be true", "Where.Before.NameIsNull must be true"}},
		{nil, `{"StatusIn":5}`, []string{"Where.StatusIn must be a list of values, such as [1,2]; a member with the name StatusIn is compared by StatusInIn"}},
		{nil, `{"TotalIn":"1,2"}`, []string{`Where.TotalIn must be a list of values, such as ["a","b"]; a member with the name TotalIn is compared by TotalInIn`}},
		{nil, `{"TotalBetween":5}`, []string{"Where.TotalBetween must be a list of two values, such as [1,9]"}},
		{nil, `{"StatusNotIn":[1]}`, []string{"Where.StatusNotIn is no comparison: there is no NotIn; StatusNotEqualTo compares with one value"}},
		{nil, `{"TotalBiggerThan":1,"TotalSmallerThan":1,"totalgreaterthan":1,"TotalEquals":1}`, []string{
			"Where.TotalBiggerThan is no comparison; did you mean TotalGreaterThan?; a member of the body with this name is compared by TotalBiggerThanIn and a list",
			"Where.TotalSmallerThan is no comparison; did you mean TotalLessThan?; a member of the body with this name is compared by TotalSmallerThanIn and a list",
			"Where.totalgreaterthan is no comparison; did you mean totalGreaterThan?; a member of the body with this name is compared by totalgreaterthanIn and a list",
			"Where.TotalEquals is no comparison; did you mean Total?; a member of the body with this name is compared by TotalEqualsIn and a list"}},
		{nil, `{"Take":5}`, []string{"Where.Take is for queries, and no condition; a member of the body with this name is compared by TakeIn and a list"}},
	} {
		c, err := condition.Parse(test.text, condition.Options{Kind: test.kind, Zone: time.UTC, Wide: []string{"Note"}})
		var got []string
		if err != nil {
			for _, f := range fault.From(err).Fields {
				got = append(got, f.Name+" "+f.Message)
			}
		}
		if !slices.Equal(got, test.want) || !fault.Is(err, fault.Invalid) {
			t.Errorf("%.60s: %v, %q, want %q", test.text, c, got, test.want)
		}
	}
	if c, err := condition.Parse(" { } ", condition.Options{}); c != nil || err != nil {
		t.Errorf("no members: %v, %v", c, err)
	}
}

// TestStored parses conditions that earlier versions accepted.
func TestStored(t *testing.T) {
	for _, text := range []string{`{"TotalBetween":[5,1]}`, `{"Customer.Country":"DE"}`, `{"NameIsNull":false}`, `{"StatusIn":5}`, `{"Take":5}`, `{"TotalBiggerThan":1}`, `{"NameIsNull":"yes"}`} {
		c, err := condition.Parse(text, condition.Options{Stored: true})
		if err != nil || c.String() != text {
			t.Errorf("%s: got %v, %v", text, c, err)
		}
	}

	nameless, err := condition.Parse(`{"":1}`, condition.Options{Stored: true})
	if err != nil {
		t.Fatal(err)
	}
	if unmet := nameless.Unmet(&condition.Body{Data: []byte(`{"A":1}`)}); unmet == "" {
		t.Error("an event without the member meets its condition")
	}
}

// TestSatisfiable parses conditions on one field that some value meets.
func TestSatisfiable(t *testing.T) {
	for _, text := range []string{
		`{"StatusBetween":[5,5]}`,
		`{"StatusGreaterThanOrEqualTo":5,"StatusLessThanOrEqualTo":5}`,
		`{"Before.Status":1,"Status":2}`,
		`{"StatusIn":[1,2],"StatusNotEqualTo":1}`,
		`{"Name":"a","NameIn":["A "],"NameStartsWith":"a"}`,
		`{"LimitIsNotNull":true,"LimitLessThan":1}`,
	} {
		parse(t, text, debtor(t))
	}
}

// A change of a debtor, and others with parts of it.
const updated = `{"Op":"updated","KeyFields":{"No":"D1"},"Record":{"No":"D1","Status":2,"Name":"Ann"},"Changed":["Status","Limit"],"Before":{"Status":1,"Limit":10.50}}`

var (
	created = strings.Replace(updated, "updated", "created", 1)
	deleted = `{"Op":"deleted","KeyFields":{"No":"D1"},"Before":{"Status":1,"Limit":10.50}}`
)

// TestChanges evaluates conditions for changes.
func TestChanges(t *testing.T) {
	kind := debtor(t)
	known := &condition.Change{Fields: []string{"No", "Status", "Limit", "Name"}, Kept: []string{"Status", "Limit", "Name"}}
	for _, test := range []struct {
		body, text string
		known      *condition.Change
		unmet      string
	}{
		{updated, `{"Changed":"Status","Before.Status":1,"Status":2}`, known, ""},
		{updated, `{"Before.Status":2,"Status":2}`, known, "Before.Status"},
		{updated, `{"before.statusIn":[3,1],"CHANGED":"name, status"}`, known, ""},
		{updated, `{"Changed":["Name"]}`, known, "Changed"},
		{updated, `{"StatusNotEqualTo":2}`, known, "StatusNotEqualTo"},
		{updated, `{"LimitNotEqualTo":2}`, known, "LimitNotEqualTo"}, // null
		{updated, `{"LimitIsNull":true,"Before.LimitIsNotNull":true}`, known, ""},
		{updated, `{"Before.NameIsNull":true}`, known, ""},
		{updated, `{"Before.NameIsNull":true}`, &condition.Change{}, "Before.NameIsNull"}, // unknown
		{updated, `{"LimitIsNull":true}`, &condition.Change{}, "LimitIsNull"},             // not captured, for lack of the right
		{updated, `{"Before.LimitGreaterThan":10.499}`, known, ""},
		{updated, `{"No":"d1 "}`, known, ""},
		{created, `{"Changed":"Status"}`, known, "Changed"},
		{created, `{"Before.Status":1}`, known, "Before.Status"},
		{created, `{"Before.StatusIsNull":true}`, known, "Before.StatusIsNull"},
		{created, `{"Status":2}`, known, ""},
		{deleted, `{"Status":1,"LimitGreaterThan":10,"NameIsNull":"","NoStartsWith":"D"}`, known, ""},
		{deleted, `{"Status":2}`, known, "Status"},
		{deleted, `{"NameIsNull":true}`, &condition.Change{Fields: known.Fields}, "NameIsNull"},
		{deleted, `{"Before.Status":1}`, known, "Before.Status"},
		{deleted, `{"Changed":"Status"}`, known, "Changed"},
		{updated, `{"Status":2}`, nil, "Status"}, // posted
		{`{"Op":"updated","Record":{"Status":"2"},"Changed":[]}`, `{"Status":2}`, known, "Status"},
		{`{"Op":"updated","Changed":[]}`, `{"Changed":"Status"}`, known, "Changed"},
		{`no object`, `{"NameIsNotNull":1}`, known, "NameIsNotNull"},
	} {
		c := parse(t, test.text, kind)
		if got := c.Unmet(&condition.Body{Data: []byte(test.body), Change: test.known}); got != test.unmet {
			t.Errorf("%s for %s: %q is not met, want %q", test.text, test.body, got, test.unmet)
		}
	}
	c := parse(t, ` { "Status" : 1, "Before.Name": "x", "No":"1", "Changed":"Limit", "Before.NameIn":["X"] } `, kind)
	if got := c.Needs(false); !slices.Equal(got, []string{"Name"}) {
		t.Errorf("without deleted records %v", got)
	}
	if got := c.Needs(true); !slices.Equal(got, []string{"Name", "Status"}) {
		t.Errorf("with them %v", got)
	}
	if text := c.String(); text != `{"Status":1,"Before.Name":"x","No":"1","Changed":"Limit","Before.NameIn":["X"]}` || c.Kind() != kind {
		t.Errorf("%s of %v", text, c.Kind())
	}
}

// TestPosted evaluates conditions for posted events, by the types of JSON.
func TestPosted(t *testing.T) {
	const body = `{"Total":1e2,"Paid":false,"Shop":"Nord","Main":"x","CheckIn":true,"Like":"y","Lines":[1],"None":null,"total":1}`
	for _, test := range []struct{ body, text, unmet string }{
		{body, `{"TotalGreaterThan":99.99,"Paid":false,"ShopStartsWith":"n"}`, ""},
		{body, `{"TotalGreaterThanOrEqualTo":100,"TotalIn":[1,100.0],"TotalBetween":[99,101]}`, ""},
		{body, `{"Total":"1e2"}`, "Total"},
		{body, `{"total":1,"Main":"X","CheckIn":true,"Like":"y"}`, ""},
		{body, `{"shop":"Nord"}`, "shop"},
		{body, `{"Total":100,"total":2}`, "total"},
		{`{"Take":5,"RatherThan":1,"StatusIn":7}`, `{"TakeIn":[5],"RatherThanIn":[1],"StatusInIn":[7]}`, ""}, // names like operators
		{body, `{"TotalNotEqualTo":7,"NoneNotEqualTo":7}`, "NoneNotEqualTo"},
		{body, `{"LinesNotEqualTo":7}`, "LinesNotEqualTo"},
		{body, `{"NoneIsNull":true,"OtherIsNull":true,"LinesIsNotNull":true}`, ""},
		{body, `{"PaidIsNull":true}`, "PaidIsNull"},
		{`[1]`, `{"OtherIsNull":true}`, "OtherIsNull"},
		{`{"A":1`, `{"A":1}`, "A"},
		{`{"A":123456789012345678901234567890123456789}`, `{"ANotEqualTo":1}`, "ANotEqualTo"}, // more than 38 digits
		{``, `{"A":1}`, "A"},
	} {
		if got := parse(t, test.text, nil).Unmet(&condition.Body{Data: []byte(test.body)}); got != test.unmet {
			t.Errorf("%s for %s: %q is not met, want %q", test.text, test.body, got, test.unmet)
		}
	}
}

// BenchmarkDropped measures an event with a record of 60 fields that a condition drops, with
// the decoding of its body.
func BenchmarkDropped(b *testing.B) {
	fields := make([]record.Field, 60)
	var members strings.Builder
	for i := range fields {
		fields[i] = record.Field{Name: fmt.Sprint("CustomField", i), Type: record.Text}
		fmt.Fprintf(&members, `,"CustomField%d":"a text of a custom field"`, i)
	}
	c := parse(b, `{"Changed":"Status","CustomField59Contains":"TEXT","LimitIsNull":true,"Before.Status":1,"Status":3}`, debtor(b, fields...))
	body := []byte(strings.Replace(updated, `"Name":"Ann"`, `"Name":"Ann"`+members.String(), 1))
	known := &condition.Change{Fields: []string{"Limit"}, Kept: []string{"Status"}}
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if unmet := c.Unmet(&condition.Body{Data: body, Change: known}); unmet != "Status" {
			b.Fatal(unmet)
		}
	}
}
