package assistant

import (
	"slices"
	"strings"
)

// synonymGroups lists words that mean the same in accounting and stock keeping. An entry that ends
// in _ is the prefix of the kinds of an area.
var synonymGroups = [][]string{
	{"customer", "client", "buyer", "debtor", "receivable", "db_"},
	{"supplier", "vendor", "creditor", "payable", "cr_"},
	{"invoice", "sale", "revenue", "turnover", "so_"},
	{"purchase", "buying", "procurement", "po_"},
	{"stock", "inventory", "item", "product", "article", "good", "part", "in_"},
	{"warehouse", "depot", "store", "logical"},
	{"stocktake", "count"},
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

// synonyms returns the other words of the groups that contain a word, which is in the singular.
func synonyms(word string) []string {
	var others []string
	for _, group := range synonymGroups {
		isWord := func(entry string) bool { return singular(entry) == word }
		if slices.ContainsFunc(group, isWord) {
			others = append(others, slices.DeleteFunc(slices.Clone(group), isWord)...)
		}
	}
	return others
}

// plurals are the endings of plurals with those of the singular. The first one that a word has
// applies: "status" and "class" are no plurals.
var plurals = []struct{ ending, singular string }{
	{"ies", "y"},
	{"sses", "ss"},
	{"tuses", "tus"},
	{"xes", "x"},
	{"ches", "ch"},
	{"shes", "sh"},
	{"ss", "ss"},
	{"us", "us"},
	{"s", ""},
}

// minStem is the minimum length of a word without the ending of the plural: "gas" is no plural.
const minStem = 3

// singular returns the singular of a word.
func singular(word string) string {
	for _, p := range plurals {
		stem, ok := strings.CutSuffix(word, p.ending)
		if ok && len(stem+p.singular) >= minStem {
			return stem + p.singular
		}
	}
	return word
}
