package assistant

import (
	"slices"
	"testing"

	"github.com/bizhook/whd/client/record"
)

// TestSearchedWords checks that a search finds names by whole words, by starts of words, by
// plurals and by synonyms, but not by letters within another word.
func TestSearchedWords(t *testing.T) {
	for _, c := range []struct {
		words, text string
		want        int
	}{
		{words: "invoices", text: "SO_InvoiceTotals", want: 2},
		{words: "invoice", text: "InvoicesOfCustomers", want: 2},
		{words: "categories", text: "IN_Category", want: 2},
		{words: "category", text: "ItemCategories", want: 2},
		{words: "purchases", text: "PurchaseNo", want: 2},
		{words: "warehouse", text: "Warehouses", want: 2},
		{words: "warehouses", text: "IN_LogicalID", want: 1},
		{words: "taxes", text: "VatRate", want: 1},
		{words: "classes", text: "DB_Class", want: 2},
		{words: "statuses", text: "KitStockTakeStatus", want: 2},
		{words: "stocktake", text: "IN_KitStockTakeMain", want: 2},
		{words: "count", text: "the stock takes of kits", want: 1},
		{words: "bom", text: "a bill of materials", want: 1},
		{words: "debtors", text: "CustomerName", want: 1},
		{words: "customers", text: "DB_Class", want: 1},
		{words: "customers", text: "OldDB_Class", want: 0},
		{words: "recid", text: "RecID", want: 2},
		{words: "qty", text: "INMGT020POQty", want: 2},

		{words: "count", text: "AccountNo", want: 0},
		{words: "stocktake", text: "Discounts", want: 0},
		{words: "store", text: "History", want: 0},
		{words: "depot", text: "History", want: 0},
		{words: "time", text: "JB_Estimate", want: 0},
		{words: "vat", text: "IsPrivate", want: 0},
		{words: "gst", text: "IsPrivate", want: 0},
		{words: "rate", text: "IsRatio", want: 0},
	} {
		got := matches(c.text, searchWords(c.words))
		if got != c.want {
			t.Errorf("%q in %s scores %d, want %d", c.words, c.text, got, c.want)
		}
	}
}

// TestNamesWithoutWordStarts searches a kind with names in lower case.
func TestNamesWithoutWordStarts(t *testing.T) {
	kinds := []*record.Kind{{Name: "salesinvoice"}, {Name: "TotalByMonth"}}
	for words, want := range map[string]*record.Kind{"invoices": kinds[0], "total": kinds[1]} {
		got := ranked(kinds, searchWords(words))
		if !slices.Equal(got, []*record.Kind{want}) {
			t.Errorf("%q finds %d kinds, want only %s", words, len(got), want.Name)
		}
	}
}
