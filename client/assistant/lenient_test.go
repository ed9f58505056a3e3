package assistant_test

import (
	"strings"
	"testing"
)

// TestOtherForms calls tools with arguments in other forms than their schemas have, and with the
// arguments that they mean.
func TestOtherForms(t *testing.T) {
	daemon := startDemo(t)
	for _, c := range []struct{ tool, arguments, want string }{
		{
			tool:      "query",
			arguments: `{"kind":"SO_Totals","fields":"InvoiceID","limit":3}`,
			want:      `{"kind":"SO_Totals","fields":["InvoiceID"],"limit":3}`,
		},
		{
			tool:      "query",
			arguments: `{"kind":"SO_Totals","fields":"InvoiceID, InvoiceTotal","order":"-InvoiceTotal,InvoiceID","limit":"3"}`,
			want:      `{"kind":"SO_Totals","fields":["InvoiceID","InvoiceTotal"],"order":["-InvoiceTotal","InvoiceID"],"limit":3}`,
		},
		{
			tool:      "query",
			arguments: `{"kind":"INMGT020POQty","fields":"Qty","skip":"2","limit":" 2 "}`,
			want:      `{"kind":"INMGT020POQty","fields":["Qty"],"skip":2,"limit":2}`,
		},
		{
			tool:      "query",
			arguments: `{"kind":"DB_Class","fields":"","order":null,"filter":null}`,
			want:      `{"kind":"DB_Class"}`,
		},
		{
			tool:      "totals",
			arguments: `{"kind":"SO_Totals","sum":"InvoiceTotal","filter":"{\"InvoiceTotalGreaterThan\":1000}"}`,
			want:      `{"kind":"SO_Totals","sum":["InvoiceTotal"],"filter":{"InvoiceTotalGreaterThan":1000}}`,
		},
		{
			tool:      "totals",
			arguments: `{"kind":"CR_Classification","by":"TermsDays","max":"TermsType","order":"-Count"}`,
			want:      `{"kind":"CR_Classification","by":["TermsDays"],"max":["TermsType"],"order":["-Count"]}`,
		},
		{
			tool:      "totals",
			arguments: `{"kind":"CR_Classification","filter":{"TermsDaysIn":30}}`,
			want:      `{"kind":"CR_Classification","filter":{"TermsDaysIn":[30]}}`,
		},
		{
			tool:      "find_kinds",
			arguments: `{"words":"invoice","skip":"0"}`,
			want:      `{"words":"invoice"}`,
		},
		{
			tool:      "query",
			arguments: `{"kind":"SO_Totals","fields":" [\"InvoiceID\", \"InvoiceTotal\"]","limit":3}`,
			want:      `{"kind":"SO_Totals","fields":["InvoiceID","InvoiceTotal"],"limit":3}`,
		},
		{
			tool:      "query",
			arguments: `{"kind":"SO_Totals","fields":"[]","limit":5.0,"skip":"1.0"}`,
			want:      `{"kind":"SO_Totals","limit":5,"skip":1}`,
		},
		{
			tool:      "query",
			arguments: `{"kind":"DB_Class","filter":"","limit":null}`,
			want:      `{"kind":"DB_Class"}`,
		},
	} {
		got := call(t, daemon, "", c.tool, c.arguments)
		want := call(t, daemon, "", c.tool, c.want)
		if got.IsError || want.IsError {
			t.Errorf("%s: got %s for %s, and %s for %s, want no errors",
				c.tool, got.message, c.arguments, want.message, c.want)
		}
		if withoutCursor(got) != withoutCursor(want) {
			t.Errorf("%s %s: got %s, want that of %s: %s",
				c.tool, c.arguments, got.message, c.want, want.message)
		}
	}
}

// TestFormsWithoutMeaning calls tools with arguments that are no numbers and no lists.
func TestFormsWithoutMeaning(t *testing.T) {
	daemon := startDemo(t)
	for _, arguments := range []string{
		`{"kind":"DB_Class","limit":"null"}`,
		`{"kind":"DB_Class","limit":5.5}`,
		`{"kind":"DB_Class","limit":"NaN"}`,
		`{"kind":"DB_Class","skip":-1}`,
		`{"kind":"DB_Class","skip":2147483648}`,
		`{"kind":"DB_Class","skip":""}`,
		`{"kind":"DB_Class","fields":"[\"ClassID\""}`,
		`{"kind":"DB_Class","fields":"[1]"}`,
		`{"kind":"DB_Class","filter":"x"}`,
	} {
		if got := call(t, daemon, "", "query", arguments); !got.IsError {
			t.Errorf("query %s returned %s, want an error", arguments, got.message)
		}
	}
}

// withoutCursor returns a result without its cursor, which differs each time.
func withoutCursor(r result) string {
	text, _, _ := strings.Cut(string(r.StructuredContent), `"next":"`)
	return text
}
