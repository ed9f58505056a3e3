package encode

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestCamelCase compares names with those of ServiceStack's EmitCamelCaseNames.
func TestCamelCase(t *testing.T) {
	for name, want := range map[string]string{
		"InvoiceTotal":    "invoiceTotal",
		"RecID":           "recID",
		"ID":              "id",
		"URL":             "url",
		"HTTPCode":        "httpCode",
		"MD5Hash":         "mD5Hash",
		"Class":           "class",
		"A":               "a",
		"":                "",
		"SY_Plugin_RecID": "sY_Plugin_RecID",
		"IN_LogicalID":    "iN_LogicalID",
		"INMGT020POQty":   "inmgT020POQty",
		"BM_Inputs":       "bM_Inputs",
		"Cartage1Total":   "cartage1Total",
		"InvoiceTotalSum": "invoiceTotalSum",
		"invoiceID":       "invoiceID",
		"_Class":          "_Class",
		"Größe":           "größe",
		"Ä":               "Ä",
	} {
		got := []byte(name)
		toCamelCase(got)
		twice := append([]byte(nil), got...)
		toCamelCase(twice)
		if string(got) != want || string(twice) != want {
			t.Errorf("%s: %s, and from that %s, want %s", name, got, twice, want)
		}
	}
}

// TestCamelNames checks that only names of members change, and not those in dictionaries.
func TestCamelNames(t *testing.T) {
	for text, want := range map[string]string{
		`{"RecID":"RecID","URL":null}`:                                     `{"recID":"RecID","url":null}`,
		`[{"A":[{"B":{"C":"\"D\":"}}]},"E"]`:                               `[{"a":[{"b":{"c":"\"D\":"}}]},"E"]`,
		`{"Meta":{"Next":"X","SUM(Qty)":{"A":"}"}},"Total":1}`:             `{"meta":{"Next":"X","SUM(Qty)":{"A":"}"}},"total":1}`,
		`{"Headers":[{"Name":"X-A","Value":"b"}],"ID":1}`:                  `{"headers":[{"name":"X-A","value":"b"}],"id":1}`,
		"{\"Where\" :\n {\"InvoiceTotalGreaterThan\":1} , \"ItemNo\" : 2}": "{\"where\" :\n {\"InvoiceTotalGreaterThan\":1} , \"itemNo\" : 2}",
		`"Text"`: `"Text"`, `[]`: `[]`, `{}`: `{}`, ``: ``,
	} {
		got := string(CamelNames([]byte(text)))
		twice := string(CamelNames([]byte(got)))
		if got != want || twice != want {
			t.Errorf("%s\ngot   %s\nagain %s\nwant  %s", text, got, twice, want)
		}
	}
}

// TestDictionaries checks that the names in all maps of responses are data: a new map must be in the
// list of dictionaries.
func TestDictionaries(t *testing.T) {
	isListed := func(name string) bool {
		return slices.ContainsFunc(dictionaries, func(d string) bool { return strings.EqualFold(d, name) })
	}
	files, err := filepath.Glob("../../client/wire/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("got the files %q of package wire (%v), want some", files, err)
	}
	field := regexp.MustCompile("(?m)^\t([A-Z]\\w*) +map\\[")
	maps := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range field.FindAllStringSubmatch(string(text), -1) {
			maps++
			if !isListed(match[1]) {
				t.Errorf("%s: the map %s is not among the dictionaries", file, match[1])
			}
		}
	}
	if maps == 0 {
		t.Error("package wire has no maps, want some")
	}
}
