package assistant

import (
	"slices"
	"strings"
)

// trade has words of accountants, sellers and storekeepers that mean the same. Those that end
// with _ are the start of the names of an area's record kinds.
var trade = [][]string{
	{"customer", "client", "buyer", "debtor", "receivable", "db_"},
	{"supplier", "vendor", "creditor", "payable", "cr_"},
	{"invoice", "sale", "revenue", "turnover", "so_"},
	{"purchase", "buying", "procurement", "po_"},
	{"stock", "inventory", "item", "product", "article", "good", "part", "in_"},
	{"warehouse", "depot", "store", "logical"},
	{"stocktake", "stock take", "count"},
	{"freight", "shipping", "delivery", "cartage"},
	{"tax", "gst", "vat"},
	{"bom", "bill of material", "recipe", "component", "bm_"},
	{"job", "project", "jb_"},
	{"estimate", "quote", "quotation", "offer"},
	{"labour", "labor", "work", "hour"},
	{"staff", "employee", "worker", "hr_"},
	{"service", "repair", "sm_"},
	{"colour", "color"},
	{"ledger", "account", "gl_"},
	{"document", "attachment", "file", "scan"},
	{"bin", "shelf", "shelves", "location"},
	{"class", "category", "group", "classification"},
}

// synonyms returns the other words for a word of a search, which has been cut to its stem.
func synonyms(stem string) []string {
	var others []string
	for _, group := range trade {
		if !slices.ContainsFunc(group, func(word string) bool { return stemOf(word) == stem }) {
			continue
		}
		for _, word := range group {
			if stemOf(word) != stem {
				others = append(others, word)
			}
		}
	}
	return others
}

// stemOf returns a word without the ending of a plural, and without a last letter that plurals
// change: invoice and invoices have the same stem, and category and categories.
func stemOf(word string) string {
	for _, end := range []string{"ies", "es", "s", "e", "y"} {
		stem, hasEnd := strings.CutSuffix(word, end)
		if hasEnd && len(stem) >= 3 && !strings.HasSuffix(word, "ss") {
			return stem
		}
	}
	return word
}
