package query

import (
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/dialect"
	"github.com/bizhook/whd/daemon/fault"
)

// TestNamesOfGroups checks that columns of a result that cannot have their names are
// reported with a remedy.
func TestNamesOfGroups(t *testing.T) {
	kind, _ := registry.Lookup("INMGT020POQty")
	for include, want := range map[string]string{
		"SUM(Qty),MAX(Qty) AS SumQty":           "Include would have two columns SumQty; name one with AS",
		"SUM(Qty) AS a,MAX(Qty) AS A":           "Include would have two columns A; name one with AS",
		"SUM(Qty) AS IN_LogicalID":              "Include would have two columns IN_LogicalID; name one with AS",
		"COUNT(*),SUM(Qty) AS v,MAX(Qty) AS ok": "Include cannot name a column v; choose another name after AS",
		"SUM(Qty) AS take":                      "Include cannot name a column take; choose another name after AS",
		"SUM(Qty) AS w,MAX(Qty)":                "",
	} {
		members := Members{text(GroupBy, "IN_LogicalID"), text(Include, include)}
		_, err := Parse(kind, members, inUTC)
		got := ""
		if err != nil {
			got = fault.From(err).Message
		}
		if got != want {
			t.Errorf("grouping with %s: got the error %q, want %q", include, got, want)
		}
	}
}

// TestNamesInMeta checks that no function of Include has the name of another member of Meta.
func TestNamesInMeta(t *testing.T) {
	kind, _ := registry.Lookup("INMGT020POQty")
	const advice = " in Meta; use another one"
	for _, c := range []struct{ include, group, want string }{
		{"SUM(Qty) AS Next", "", "Include has the alias Next, which is the name of the cursor" + advice},
		{"SUM(Qty) AS total", "", "Include has the alias total, which is the name of the notice that the rows were not counted" + advice},
		{"SUM(Qty) AS TotalAge", "", "Include has the alias TotalAge, which is the name of the age of the total" + advice},
		{"Total,SUM(Qty) AS TotalAge", "", "Include has the alias TotalAge, which is the name of the age of the total" + advice},
		{"SUM(Qty) AS Token", "", "Include has the alias Token, which is the name of the token of a copy" + advice},
		{"SUM(Qty) AS Held", "", "Include has the alias Held, which is the name of the reason why messages are held" + advice},

		// There is no notice if the request decides about the total.
		{"COUNT(*) AS Total", "", ""},
		{"SUM(Qty) AS Total,Total", "", ""},
		{"SUM(Qty) AS Total,NoTotal", "", ""},

		// The functions are columns of groups.
		{"SUM(Qty) AS Total,MAX(Qty) AS Token", "IN_LogicalID", ""},
		{"SUM(Qty) AS Sum,MAX(Qty) AS Tokens", "", ""},
	} {
		members := Members{text(Include, c.include)}
		if c.group != "" {
			members = append(members, text(GroupBy, c.group))
		}
		_, err := Parse(kind, members, inUTC)
		got := ""
		if err != nil {
			got = fault.From(err).Message
		}
		if got != c.want {
			t.Errorf("Include=%s: got the error %q, want %q", c.include, got, c.want)
		}
	}
}

// TestErrorsOfTimesOfDay checks that an error names the member of the request, once.
func TestErrorsOfTimesOfDay(t *testing.T) {
	times, err := record.NewRegistry(record.Kind{
		Name:   "T",
		Fields: []record.Field{{Name: "C", Type: record.TimeSpan, Filter: record.OrderedFilter}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for member, value := range map[string]string{
		"CBetween":  "PT1H,PT25H",
		"CIn":       "PT30H,PT1H,PT25H",
		"C":         "PT24H",
		"CLessThan": "PT25H",
	} {
		request, err := Parse(times.Kinds()[0], Members{text(member, value)}, inUTC)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := NewPlan(request, false)
		if err != nil {
			t.Fatal(err)
		}
		d := dialect.TSQL()
		d.Columns = []dialect.Column{{Type: "time"}}
		_, err = Compile(plan, d, "t")
		if err == nil {
			t.Errorf("%s=%s was compiled, want an error", member, value)
			continue
		}
		e := fault.From(err)
		namesMember := len(e.Fields) == 1 && e.Fields[0].Name == member
		if !namesMember || !strings.HasPrefix(e.Message, member+" must be from") {
			t.Errorf("%s=%s: got the error %v of %+v, want one about the values of %s",
				member, value, err, e.Fields, member)
		}
	}
}

// TestKindsWithoutKey checks that only users of kinds that they can declare get that advice.
func TestKindsWithoutKey(t *testing.T) {
	message, _ := record.System().Lookup("Message")
	erp, _ := registry.Lookup("INMGT020POQty")
	for kind, wantAdvice := range map[*record.Kind]bool{message: false, erp: true} {
		err := NewCursors([32]byte{}).Start(&Request{Kind: kind}, nil, nil)
		if err == nil || !strings.Contains(err.Error(), "Use Skip and Take") {
			t.Errorf("a page of %s: got the error %v, want the advice to use Skip and Take", kind.Name, err)
			continue
		}
		if got := strings.Contains(err.Error(), "declare its key in a file"); got != wantAdvice {
			t.Errorf("a page of %s: got the error %v, want the advice to declare a key: %v", kind.Name, err, wantAdvice)
		}
	}
}

// TestDeniedNull checks that a test for null with the value false, which is read like true, is
// reported.
func TestDeniedNull(t *testing.T) {
	kind, _ := registry.Lookup("INMGT020POQty")
	for _, test := range []struct {
		member  Member
		ignored string
		strict  string // the error if the request is strict
	}{
		{Member{Name: "QtyIsNull", Texts: []string{"false"}}, "QtyIsNull", "QtyIsNull must be true; use QtyIsNotNull"},
		{Member{Name: "qtyIsNotNull", Texts: []string{"0"}, Raw: "0"}, "qtyIsNotNull", "qtyIsNotNull must be true; use QtyIsNull"},
		{Member{Name: "QtyIsNull", Texts: []string{"true"}}, "", ""},
		{Member{Name: "QtyIsNull", Texts: []string{""}, Empty: true}, "", ""},
	} {
		r, err := Parse(kind, Members{test.member}, inUTC)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(r.Ignored, ","); got != test.ignored || len(r.Where) != 1 {
			t.Errorf("%v: got %q ignored and %d conditions, want %q and 1", test.member, got, len(r.Where), test.ignored)
		}
		_, err = Parse(kind, Members{test.member, {Name: Strict, Texts: []string{"true"}}}, inUTC)
		got := ""
		if err != nil {
			got = fault.From(err).Message
		}
		if got != test.strict {
			t.Errorf("%v, strict: got %q, want %q", test.member, got, test.strict)
		}
	}
}
