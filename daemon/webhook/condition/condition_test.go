package condition_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/webhook/condition"
)

// debtor returns a kind with fields that a condition can name, and some that it cannot.
func debtor(tb testing.TB, added ...record.Field) *record.Kind {
	tb.Helper()
	fields := []record.Field{
		{Name: "No", Type: record.Text},
		{Name: "Status", Type: record.Int},
		{Name: "Limit", Type: record.Decimal, Null: record.Nullable},
		{Name: "Name", Type: record.Text},
		{Name: "Saved", Type: record.DateTime},
		{Name: "Photo", Type: record.Bytes},
		{Name: "Note", Type: record.Text},
	}
	fields = append(fields, added...)
	for i := range fields {
		fields[i].Filter = fields[i].Type.Filter()
	}
	registry, err := record.NewRegistry(record.Kind{
		Name:    "Debtor",
		Fields:  fields,
		Key:     []string{"No"},
		Capture: record.CaptureOnDemand,
		Events:  "debtor",
		Ignore:  []string{"Saved"},
	})
	if err != nil {
		tb.Fatal(err)
	}
	return registry.Kinds()[0]
}

// parse parses a condition on events of a kind, nil for posted ones.
func parse(tb testing.TB, text string, kind *record.Kind) *condition.Condition {
	tb.Helper()
	c, err := condition.Parse(text, condition.Options{Kind: kind, Zone: time.UTC, Wide: []string{"Note"}})
	if err != nil {
		tb.Fatalf("%s: %v", text, err)
	}
	return c
}

// TestNoMembers parses a condition without members, which is none.
func TestNoMembers(t *testing.T) {
	c, err := condition.Parse(" { } ", condition.Options{})
	if c != nil || err != nil {
		t.Errorf("parsing no members returned %v (%v), want no condition", c, err)
	}
}

// TestStored parses conditions that earlier versions accepted.
func TestStored(t *testing.T) {
	for _, text := range []string{
		`{"TotalBetween":[5,1]}`,
		`{"Customer.Country":"DE"}`,
		`{"NameIsNull":false}`,
		`{"StatusIn":5}`,
		`{"Take":5}`,
		`{"TotalBiggerThan":1}`,
		`{"NameIsNull":"yes"}`,
	} {
		c, err := condition.Parse(text, condition.Options{Stored: true})
		if err != nil {
			t.Errorf("parsing %s: %v", text, err)
			continue
		}
		if got := c.String(); got != text {
			t.Errorf("parsing %s returned %s, want the same text", text, got)
		}
	}

	nameless, err := condition.Parse(`{"":1}`, condition.Options{Stored: true})
	if err != nil {
		t.Fatal(err)
	}
	if unmet := nameless.Unmet(&condition.Body{Data: []byte(`{"A":1}`)}); unmet == "" {
		t.Error("an event without the member meets its condition, want unmet")
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

// Bodies of changes of a debtor.
const (
	updated = `{
	"Op": "updated",
	"KeyFields": {"No": "D1"},
	"Record": {"No": "D1", "Status": 2, "Name": "Ann"},
	"Changed": ["Status", "Limit"],
	"Before": {"Status": 1, "Limit": 10.50}
}`
	deleted = `{
	"Op": "deleted",
	"KeyFields": {"No": "D1"},
	"Before": {"Status": 1, "Limit": 10.50}
}`
)

var created = strings.Replace(updated, "updated", "created", 1)

// TestChanges evaluates conditions for changes.
func TestChanges(t *testing.T) {
	kind := debtor(t)
	known := &condition.Change{
		Fields: []string{"No", "Status", "Limit", "Name"},
		Kept:   []string{"Status", "Limit", "Name"},
	}
	for _, test := range []struct {
		body, text string
		known      *condition.Change
		unmet      string // the first member that is not met; empty if all are
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
		{deleted, `{"Status":1,"LimitGreaterThan":10,"NameIsNull":true,"NoStartsWith":"D"}`, known, ""},
		{deleted, `{"Status":2}`, known, "Status"},
		{deleted, `{"NameIsNull":true}`, &condition.Change{Fields: known.Fields}, "NameIsNull"},
		{deleted, `{"Before.Status":1}`, known, "Before.Status"},
		{deleted, `{"Changed":"Status"}`, known, "Changed"},
		{updated, `{"Status":2}`, nil, "Status"}, // posted
		{`{"Op":"updated","Record":{"Status":"2"},"Changed":[]}`, `{"Status":2}`, known, "Status"},
		{`{"Op":"updated","Changed":[]}`, `{"Changed":"Status"}`, known, "Changed"},
		{`no object`, `{"NameIsNotNull":true}`, known, "NameIsNotNull"},
	} {
		c := parse(t, test.text, kind)
		if got := c.Unmet(&condition.Body{Data: []byte(test.body), Change: test.known}); got != test.unmet {
			t.Errorf("%s for %s: %q is not met, want %q", test.text, test.body, got, test.unmet)
		}
	}
}

// TestNeeds checks the fields that a condition compares before a change, or in a deleted record.
func TestNeeds(t *testing.T) {
	c := parse(t, `{"Status":1,"Before.Name":"x","No":"1","Changed":"Limit","Before.NameIn":["X"]}`, debtor(t))
	for withDeleted, want := range map[bool][]string{false: {"Name"}, true: {"Name", "Status"}} {
		if got := c.Needs(withDeleted); !slices.Equal(got, want) {
			t.Errorf("with deleted records %v: the fields are %v, want %v", withDeleted, got, want)
		}
	}
}

// TestString removes the space between the members of a condition.
func TestString(t *testing.T) {
	const text = ` { "Status" : 1, "Before.Name": "x", "No":"1", "Changed":"Limit", "Before.NameIn":["X"] } `
	c := parse(t, text, debtor(t))
	const want = `{"Status":1,"Before.Name":"x","No":"1","Changed":"Limit","Before.NameIn":["X"]}`
	if got := c.String(); got != want {
		t.Errorf("the text is %s, want %s", got, want)
	}
}

func TestKind(t *testing.T) {
	kind := debtor(t)
	if got := parse(t, `{"Status":1}`, kind).Kind(); got != kind {
		t.Errorf("the kind is %v, want %v", got, kind)
	}
}

// TestPosted evaluates conditions for posted events, by the types of JSON.
func TestPosted(t *testing.T) {
	const body = `{
	"Total": 1e2,
	"Paid": false,
	"Shop": "Nord",
	"Main": "x",
	"CheckIn": true,
	"Like": "y",
	"Lines": [1],
	"None": null,
	"total": 1
}`
	for _, test := range []struct {
		body, text string
		unmet      string // the first member that is not met; empty if all are
	}{
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
		c := parse(t, test.text, nil)
		if got := c.Unmet(&condition.Body{Data: []byte(test.body)}); got != test.unmet {
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
	const text = `{"Changed":"Status","CustomField59Contains":"TEXT","LimitIsNull":true,"Before.Status":1,"Status":3}`
	c := parse(b, text, debtor(b, fields...))
	body := []byte(strings.Replace(updated, `"Name": "Ann"`, `"Name": "Ann"`+members.String(), 1))
	known := &condition.Change{Fields: []string{"Limit"}, Kept: []string{"Status"}}
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if unmet := c.Unmet(&condition.Body{Data: body, Change: known}); unmet != "Status" {
			b.Fatalf("%q is not met, want Status", unmet)
		}
	}
}
