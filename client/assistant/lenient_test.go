package assistant_test

import (
	"strings"
	"testing"
)

// TestOtherForms calls tools with arguments in other forms than their schemas have.
func TestOtherForms(t *testing.T) {
	i := startDemo(t)
	for _, c := range []struct{ tool, arguments, same string }{
		{"query", `{"kind":"SO_Totals","fields":"InvoiceID","limit":3}`, `{"kind":"SO_Totals","fields":["InvoiceID"],"limit":3}`},
		{"query", `{"kind":"SO_Totals","fields":"InvoiceID, InvoiceTotal","order":"-InvoiceTotal,InvoiceID","limit":"3"}`, `{"kind":"SO_Totals","fields":["InvoiceID","InvoiceTotal"],"order":["-InvoiceTotal","InvoiceID"],"limit":3}`},
		{"query", `{"kind":"INMGT020POQty","fields":"Qty","skip":"2","limit":" 2 "}`, `{"kind":"INMGT020POQty","fields":["Qty"],"skip":2,"limit":2}`},
		{"query", `{"kind":"DB_Class","fields":"","order":null,"filter":null}`, `{"kind":"DB_Class"}`},
		{"totals", `{"kind":"SO_Totals","sum":"InvoiceTotal","filter":"{\"InvoiceTotalGreaterThan\":1000}"}`, `{"kind":"SO_Totals","sum":["InvoiceTotal"],"filter":{"InvoiceTotalGreaterThan":1000}}`},
		{"totals", `{"kind":"CR_Classification","by":"TermsDays","max":"TermsType","order":"-Count"}`, `{"kind":"CR_Classification","by":["TermsDays"],"max":["TermsType"],"order":["-Count"]}`},
		{"totals", `{"kind":"CR_Classification","filter":{"TermsDaysIn":30}}`, `{"kind":"CR_Classification","filter":{"TermsDaysIn":[30]}}`},
		{"find_kinds", `{"words":"invoice","skip":"0"}`, `{"words":"invoice"}`},
		{"query", `{"kind":"SO_Totals","fields":" [\"InvoiceID\", \"InvoiceTotal\"]","limit":3}`, `{"kind":"SO_Totals","fields":["InvoiceID","InvoiceTotal"],"limit":3}`},
		{"query", `{"kind":"SO_Totals","fields":"[]","limit":5.0,"skip":"1.0"}`, `{"kind":"SO_Totals","limit":5,"skip":1}`},
		{"query", `{"kind":"DB_Class","filter":"","limit":null}`, `{"kind":"DB_Class"}`},
	} {
		got, want := call(t, i, "", c.tool, c.arguments), call(t, i, "", c.tool, c.same)
		if got.IsError || want.IsError || withoutCursor(got) != withoutCursor(want) {
			t.Errorf("%s %s: %s\nwant %s", c.tool, c.arguments, got.message, want.message)
		}
	}
}

// TestFormsWithoutMeaning calls tools with arguments that are no numbers and no lists.
func TestFormsWithoutMeaning(t *testing.T) {
	i := startDemo(t)
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
		if got := call(t, i, "", "query", arguments); !got.IsError {
			t.Errorf("query %s returned %s, want an error", arguments, got.message)
		}
	}
}

// withoutCursor returns a result without its cursor, which differs each time.
func withoutCursor(r result) string {
	text, _, _ := strings.Cut(string(r.StructuredContent), `"next":"`)
	return text
}
