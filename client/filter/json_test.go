package filter

import (
	"reflect"
	"strings"
	"testing"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
)

// TestAddJSONSortsMembers: filters have the order of the sorted member names.
func TestAddJSONSortsMembers(t *testing.T) {
	for _, c := range []struct {
		kind, text string
		want       []client.Filter
	}{
		{kind: "SO_Totals", text: `{}`},
		{
			kind: "SO_Totals",
			text: `{"invoiceid":"D1","InvoiceTotalGreaterThan":1e3}`,
			want: []client.Filter{
				{Field: "InvoiceTotal", Operator: record.GreaterThan, Values: []string{"1e3"}},
				{Field: "InvoiceID", Values: []string{"D1"}},
			},
		},
		{
			kind: "SO_Totals",
			text: `{"InvoiceTotalBetween":[0.10000000000000000001,"20"]}`,
			want: []client.Filter{
				{Field: "InvoiceTotal", Operator: record.Between, Values: []string{"0.10000000000000000001", "20"}},
			},
		},
		{
			kind: "SO_Totals",
			text: `{"InvoiceIDIn":["a,b",""]}`,
			want: []client.Filter{
				{Field: "InvoiceID", Operator: record.In, Values: []string{"a,b", ""}},
			},
		},
		{
			kind: "BM_Inputs",
			text: `{"SubAssemblyExplodePolicyIn":"Af8="}`, // bytes in base64
			want: []client.Filter{
				{Field: "SubAssemblyExplodePolicy", Operator: record.In, Values: []string{"1", "255"}},
			},
		},
		{
			kind: "BM_Inputs",
			text: `{"SubAssemblyExplodePolicyIn":[1,"2"],"IsRatio":true}`,
			want: []client.Filter{
				{Field: "IsRatio", Values: []string{"true"}},
				{Field: "SubAssemblyExplodePolicy", Operator: record.In, Values: []string{"1", "2"}},
			},
		},
		{
			kind: "SO_Totals",
			text: `{"InvoiceTotal>":1,"sinceInvoiceTotal":2,"InvoiceTotalIds":[3],"InvoiceIDIsNull":true}`,
			want: []client.Filter{
				{Field: "InvoiceID", Operator: record.IsNull, Values: []string{"true"}},
				{Field: "InvoiceTotal", Operator: record.GreaterThan, Values: []string{"1"}},
				{Field: "InvoiceTotal", Operator: record.In, Values: []string{"3"}},
				{Field: "InvoiceTotal", Operator: record.GreaterThanOrEqualTo, Values: []string{"2"}},
			},
		},
		{
			kind: "IN_KitStockTakeMain",
			text: `{"LastSavedDateTimeGreaterThan":"-7d"}`,
			want: []client.Filter{
				{Field: "LastSavedDateTime", Operator: record.GreaterThan, Values: []string{"2026-07-01"}},
			},
		},
	} {
		var q client.Query
		if err := readerOf(t, c.kind).AddJSON(&q, c.text); err != nil {
			t.Errorf("%s: %v", c.text, err)
		}
		if !reflect.DeepEqual(q.Where, c.want) {
			t.Errorf("%s: got the filters %+v, want %+v", c.text, q.Where, c.want)
		}
		if q.Unchecked != nil {
			t.Errorf("%s: got the unchecked members %v, want none", c.text, q.Unchecked)
		}
	}
}

func TestAddJSONRefused(t *testing.T) {
	for text, want := range map[string]string{
		``:                                    "must be an object",
		`null`:                                "must be an object",
		`[]`:                                  "must be an object",
		`{} {}`:                               "must be an object",
		`{"Colour":1}`:                        "no member Colour",
		`{"InvoiceTotlGreaterThan":1}`:        "did you mean InvoiceTotalGreaterThan",
		`{"InvoiceIDGreaterThan":1}`:          "InvoiceID is text: use =",
		`{"InvoiceTotal":null}`:               "must be a text, a number or a bool",
		`{"InvoiceTotal":[1]}`:                "must be a text, a number or a bool",
		`{"InvoiceTotal":"x"}`:                "must be a number",
		`{"InvoiceTotalIn":1}`:                "must be an array",
		`{"InvoiceTotalIn":[]}`:               "must be an array",
		`{"InvoiceTotalIn":[[1]]}`:            "must be a text, a number or a bool",
		`{"InvoiceTotalBetween":[1]}`:         "needs an array of two",
		`{"InvoiceTotal":1,"invoicetotal":1}`: "duplicate condition",
		`{"InvoiceTotal>":1,"InvoiceTotalAbove":2}`: "duplicate condition",
		`{"InvoiceID>":"D1"}`:                       "InvoiceID is text: use =",
		`{"InvoiceTotal<>":1}`:                      "no member InvoiceTotal<>",
		`{"InvoiceTotalIsNull":false}`:              "use InvoiceTotalIsNotNull=true",
		`{"InvoiceTotalIsNull":"no"}`:               "use InvoiceTotalIsNull=true or InvoiceTotalIsNotNull=true",
		`{"InvoiceTotalIsNull":null}`:               "must be a text, a number or a bool",
	} {
		var q client.Query
		err := readerOf(t, "SO_Totals").AddJSON(&q, text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", text, err, want)
		}
	}
}

func TestAddUncheckedJSON(t *testing.T) {
	q := client.Query{Strict: true}
	err := readerOf(t, "SO_Totals").AddUncheckedJSON(&q, `{"Colour":{"a":1},"InvoiceTotal":1}`)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(q.Unchecked["Colour"]); got != `{"a":1}` {
		t.Errorf("the unchecked member Colour is %s, want that of the text", got)
	}
	if len(q.Where) != 1 {
		t.Errorf("got the filters %+v, want that of InvoiceTotal", q.Where)
	}
	if q.Strict {
		t.Error("the query with an unchecked member is strict")
	}
}
